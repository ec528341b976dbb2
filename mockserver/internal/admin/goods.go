package admin

import "github.com/shipping-go/shipping/mockserver/goods"

func goodsRoutes() []Route {
	return []Route{
		route("POST", "shipments", "addShipment",
			"Add a shipment; each member has a default, and documents replaces what the items need",
			`{"line_items":[{"hs_code":"910211","quantity":2}],"to":{"country":"US"},`+
				`"documents":[{"document_type":"CUSTOMS","amount":1500}]}`, (*Admin).addShipment),
		route("POST", "invoices", "addInvoice", "Add an invoice; the server does not fetch it",
			`{"file_url":"https://shop.example/invoices/7.pdf","line_items":[{"description":"cotton shirt","quantity":40}]}`,
			(*Admin).addInvoice),
	}
}

type addedShipment struct {
	ShipmentID string `json:"shipment_id"`
}

func (s *Admin) addShipment(c *control, _ none, order goods.Shipment) (string, addedShipment, error) {
	id, err := c.world.AddShipment(order)
	return "Shipment added", addedShipment{id}, err
}

type addedInvoice struct {
	FileURL string `json:"file_url"`
}

func (s *Admin) addInvoice(c *control, _ none, order goods.Invoice) (string, addedInvoice, error) {
	url, err := c.world.AddInvoice(order)
	return "Invoice added", addedInvoice{url}, err
}
