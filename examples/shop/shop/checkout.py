"""From a cart to an order."""

from __future__ import annotations

from dataclasses import dataclass, field

from .cart import Cart
from .catalogue import Catalogue
from .discounts import Discount, best
from .money import ZERO, Money


@dataclass(frozen=True)
class Order:
    """A cart that has been paid for."""

    customer: str
    goods: Money
    discount: Money
    shipping: Money

    def total(self) -> Money:
        return self.goods - self.discount + self.shipping


@dataclass
class Checkout:
    """Turns carts into orders."""

    discounts: list[Discount] = field(default_factory=list)

    def shipping(self, cart: Cart) -> Money:
        """One parcel: the dearest item decides."""
        return max((line.product.shipping() for line in cart.lines), default=ZERO)

    def order(self, customer: str, cart: Cart) -> Order:
        """Closes a cart."""
        return Order(
            customer, cart.total(), best(self.discounts, cart), self.shipping(cart)
        )


def gift(catalogue: Catalogue, customer: str) -> Order:
    """A mug as a present."""
    cart = Cart()
    cart.add(catalogue.find("MUG-01"), "1")
    return Checkout().order(customer, cart)
