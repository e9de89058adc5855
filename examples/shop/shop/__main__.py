"""Buys something: `python -m shop`."""

from .cart import Cart
from .catalogue import sample
from .checkout import Checkout
from .discounts import BookWeek, Percent
from .greetings import receipt
from .money import Money


def main() -> None:
    catalogue = sample()
    cart = Cart()
    cart.add(catalogue.find("BOOK-01"))
    cart.add(catalogue.find("TEA-01"), 2)
    checkout = Checkout([Percent(5), BookWeek(Money(300))])
    print(receipt(checkout.order("Mia", cart), "ja"))


if __name__ == "__main__":
    main()
