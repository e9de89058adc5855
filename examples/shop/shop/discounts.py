"""Discounts: each takes something off a cart's total."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from .cart import Cart
from .catalogue import Book
from .money import ZERO, Money


class Discount(ABC):
    """Takes something off."""

    @abstractmethod
    def off(self, cart: Cart) -> Money:
        """How much it takes off this cart."""


@dataclass(frozen=True)
class Percent(Discount):
    """A part of everything."""

    rate: int

    def off(self, cart: Cart) -> Money:
        return cart.total().percent(self.rate)


@dataclass(frozen=True)
class BookWeek(Discount):
    """A fixed amount for each book."""

    each: Money

    def off(self, cart: Cart) -> Money:
        books = sum(line.count for line in cart.lines if isinstance(line.product, Book))
        return self.each.times(books)


def best(discounts: list[Discount], cart: Cart) -> Money:
    """The largest of the discounts; they are not added up."""
    return max((discount.off(cart) for discount in discounts), default=ZERO)
