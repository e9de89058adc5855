"""What the shop sells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .money import Money


class UnknownProduct(KeyError):
    """Nothing in the catalogue has this number."""


@dataclass(frozen=True)
class Product:
    """Something to buy."""

    number: str
    name: str
    price: Money

    def shipping(self) -> Money:
        """What it costs to send one of these."""
        return Money(490)


@dataclass(frozen=True)
class Book(Product):
    """A product that is sent by cheap mail."""

    author: str

    def shipping(self) -> Money:
        return Money(120)


@dataclass(frozen=True)
class Download(Product):
    """A product that weighs nothing."""

    def shipping(self) -> Money:
        return Money(0)


class Catalogue:
    """All products, by number."""

    def __init__(self, products: Iterable[Product]) -> None:
        self._products = {product.number: product for product in products}

    def find(self, number: str) -> Product:
        """The product of a number.

        Raises `UnknownProduct` if there is none.
        """
        try:
            return self._products[number]
        except KeyError:
            raise UnknownProduct(number) from None

    def cheaper_than(self, limit: Money) -> list[Product]:
        """Products below a price, the cheapest first."""
        found = [product for product in self if product.price < limit]
        return sorted(found, key=lambda product: product.price)

    def __iter__(self) -> Iterator[Product]:
        return iter(self._products.values())


def sample() -> Catalogue:
    """A catalogue to play with."""
    return Catalogue(
        [
            Product("MUG-01", "Mug", Money(950)),
            Product("TEA-01", "Green tea", Money(640)),
            Book("BOOK-01", "The Lathe", Money(1890), author="U. Klein"),
            Download("SONG-01", "Kettle Song", Money(129)),
        ]
    )
