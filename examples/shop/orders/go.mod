module example.com/shop/orders

go 1.21
