/** An amount in cents, so that sums are exact. */
export interface Money {
  readonly cents: number;
}

export const ZERO: Money = { cents: 0 };

/** Adds amounts up. */
export function sum(amounts: readonly Money[]): Money {
  return { cents: amounts.reduce((cents, amount) => cents + amount.cents, 0) };
}

/** This amount, `count` times. */
export function times(amount: Money, count: number): Money {
  return { cents: amount.cents * count };
}

/** What a customer reads: `9.50 €`. */
export function show(amount: Money): string {
  return `${(amount.cents / 100).toFixed(2)} €`;
}
