import { sum, times, type Money } from "./money.js";

/** Something to buy. */
export interface Product {
  readonly number: string;
  readonly name: string;
  readonly price: Money;
}

interface Line {
  readonly product: Product;
  count: number;
}

/** Products on their way to the checkout. */
export class Cart {
  readonly #lines = new Map<string, Line>();

  /** Puts a product in, beside what is there of it already. */
  add(product: Product, count = 1): void {
    const line = this.#lines.get(product.number);
    if (line) {
      line.count += count;
    } else {
      this.#lines.set(product.number, { product, count });
    }
  }

  /** What everything costs, without shipping. */
  total(): Money {
    return sum([...this.#lines.values()].map(({ product, count }) => times(product.price, count)));
  }
}
