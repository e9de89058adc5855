package orders

import "example.com/shop/orders/price"

// Book holds all orders, the oldest first.
type Book struct {
	orders []Order
}

// Add writes an order down.
func (b *Book) Add(order Order) {
	b.orders = append(b.orders, order)
}

// Revenue is what all orders come to.
func (b *Book) Revenue() price.Cents {
	var revenue price.Cents
	for _, order := range b.orders {
		revenue += order.Total()
	}
	return revenue
}

// Mug is an order for mugs.
func Mug(customer string) Order {
	mug := Item{Number: "MUG-01", Count: "1", Price: 950}
	return Order{Customer: customer, Items: []Item{mug}}
}
