// Package orders keeps what customers have bought.
package orders

import "example.com/shop/orders/price"

// Item is a product and how many of it.
type Item struct {
	Number string
	Count  int
	Price  price.Cents
}

// Order is a cart that has been paid for.
type Order struct {
	Customer string
	Items    []Item
	Shipping price.Cents
}

// Total is what the customer has paid.
func (o Order) Total() price.Cents {
	total := o.Shipping
	for _, item := range o.Items {
		total += item.Price.Times(item.Count)
	}
	return total
}
