"""Amounts of money."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Money:
    """An amount in cents, so that sums are exact."""

    cents: int

    def __add__(self, other: Money) -> Money:
        return Money(self.cents + other.cents)

    def __sub__(self, other: Money) -> Money:
        return Money(self.cents - other.cents)

    def times(self, count: int) -> Money:
        """This amount, `count` times."""
        return Money(self.cents * count)

    def percent(self, rate: int) -> Money:
        """That many percent of this amount, rounded down."""
        return Money(self.cents * rate // 100)

    def __str__(self) -> str:
        return f"{self.cents // 100}.{self.cents % 100:02} €"


ZERO = Money(0)
