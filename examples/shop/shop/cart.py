"""The cart: what somebody is about to buy."""

from __future__ import annotations

from dataclasses import dataclass

from .catalogue import Product
from .money import ZERO, Money


@dataclass
class Line:
    """A product and how many of it."""

    product: Product
    count: int

    def price(self) -> Money:
        return self.product.price.times(self.count)


class Cart:
    """Products on their way to the checkout."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def add(self, product: Product, count: int = 1) -> Line:
        """Puts a product in, beside what is there of it already."""
        if count < 1:
            raise ValueError("count must be at least 1")
        for line in self.lines:
            if line.product == product:
                line.count += count
                return line
        line = Line(product, count)
        self.lines.append(line)
        return line

    def remove(self, product: Product) -> None:
        """Takes all of a product out."""
        self.lines = [line for line in self.lines if line.product != product]

    def total(self) -> Money:
        """What everything costs, without shipping."""
        total = ZERO
        for line in self.lines:
            total += line.price()
        return total

    def __len__(self) -> int:
        return sum(line.count for line in self.lines)
