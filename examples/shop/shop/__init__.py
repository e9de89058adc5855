"""A small shop: things to buy, carts to put them in, and a checkout."""
