import { Cart, type Product } from "./cart.js";
import { show } from "./money.js";

const TEA: Product = { number: "TEA-01", name: "Green tea", price: { cents: 640 } };

/** The line at the foot of each page. */
export function foot(cart: Cart): string {
  return `In your cart: ${show(cart.total())}`;
}

/** A cart for somebody who only looks around. */
export function sample(): Cart {
  const cart = new Cart();
  cart.add(TEA, "2");
  return cart;
}
