// Package price knows amounts of money.
package price

import "fmt"

// Cents is an amount, whole, so that sums are exact.
type Cents int64

// Times is this amount, n times.
func (c Cents) Times(n int) Cents {
	return c * Cents(n)
}

func (c Cents) String() string {
	return fmt.Sprintf("%d.%02d €", c/100, c%100)
}
