package world

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/goods"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// AddShipment adds a shipment as the newest one, and returns its id.
func (w *World) AddShipment(s goods.Shipment) (string, error) {
	w.Lock()
	defer w.Unlock()
	if w.Account.Shipments[s.ID] != nil {
		return "", fmt.Errorf("mockserver: the world has a shipment %q already: choose another id, or leave it out for a "+
			"new one", s.ID)
	}
	if s.ID != "" {
		if err := (regulatory.AnalyzeInput{ShipmentID: s.ID}).Addable(); err != nil {
			return "", fmt.Errorf("mockserver: %w", err)
		}
	}
	consignment, err := w.consignment(s.Items, s.From, s.To, s.Documents)
	if err != nil {
		return "", err
	}
	if s.ID == "" {
		s.ID = w.Account.IDs.Coded("SH")
	}
	ids, now := w.Account.IDs, jsontext.Timestamp{Time: w.Clock.Now()}
	w.Account.Shipments[s.ID] = &account.Shipment{
		ShipmentID: s.ID, Status: "confirmed",
		AddressFrom: account.Address{AddressID: ids.Numbered("AD"), Address: consignment.Addresses.Origin},
		AddressTo:   account.Address{AddressID: ids.Numbered("AD"), Address: consignment.Addresses.Destination},
		Parcel:      account.Parcel{ParcelID: ids.Numbered("PC"), Items: consignment.Items},
		Offers:      consignment.Offers, Events: []account.Progress{}, User: w.Account.User, CreatedAt: now, UpdatedAt: now,
	}
	w.Lint.Changed()
	w.Account.ShipmentIDs = append([]string{s.ID}, w.Account.ShipmentIDs...)
	return s.ID, nil
}

func (w *World) AddInvoice(in goods.Invoice) (string, error) {
	w.Lock()
	defer w.Unlock()
	if _, exists := w.Account.Invoices[in.URL]; exists {
		return "", fmt.Errorf("mockserver: the world has an invoice %q already: choose another URL, or leave it out for a "+
			"new one", in.URL)
	}
	if in.URL == "" {
		in.URL = "https://invoices.example/" + w.Account.IDs.Alphanumerics(16) + ".pdf"
	}
	if err := (regulatory.AnalyzeInput{FileURL: in.URL}).Addable(); err != nil {
		return "", fmt.Errorf("mockserver: %w", err)
	}
	consignment, err := w.consignment(in.Items, in.From, in.To, in.Documents)
	if err != nil {
		return "", err
	}
	w.Lint.Changed()
	w.Account.Invoices[in.URL] = consignment
	w.Account.InvoiceURLs = append(w.Account.InvoiceURLs, in.URL)
	return in.URL, nil
}

// consignment returns the input of an analysis, with the defaults of package goods. The caller holds the lock.
func (w *World) consignment(items []goods.Item, from, to shipping.Address,
	documents []goods.Document) (c regulatory.Consignment, err error) {
	if len(items) == 0 {
		items = []goods.Item{{Description: "Men's cotton shirt, woven", HSCode: "620520"}}
	}
	c.Items = make([]regulatory.LineItem, len(items))
	for i, item := range items {
		if c.Items[i], err = w.lineItem(item); err != nil {
			return c, fmt.Errorf("mockserver: line_items[%d]: %w", i, err)
		}
	}
	newYork := shipping.Address{City: "New York", State: "NY", Country: "US"}
	c.Addresses.Origin = regulatory.Address(cmp.Or(from, shipping.Address{City: "Lagos", Country: "NG"}))
	c.Addresses.Destination = regulatory.Address(cmp.Or(to, newYork))
	if documents != nil {
		if c.Offers, err = w.Regulatory.Offers(documents); err != nil {
			return c, fmt.Errorf("mockserver: %w", err)
		}
	}
	if err := c.Check(); err != nil {
		return c, fmt.Errorf("mockserver: %w", err)
	}
	text := jsontext.Of([]any{items, from, to, documents})
	if err := w.Room(len(text)); err != nil {
		return c, err
	}
	w.Stored(text)
	return c, nil
}

// lineItem returns an item of the server, with the defaults of package goods. Its values are checked later.
func (w *World) lineItem(item goods.Item) (made regulatory.LineItem, err error) {
	if item.Description == "" && item.HSCode == "" {
		return made, errors.New("an item needs an hs_code, or a description with a keyword")
	}
	if item.UnitPrice == (shipping.Amount{}) {
		if item.UnitPrice, err = shipping.NewAmount(10, 0); err != nil {
			return made, err
		}
	}
	return regulatory.LineItem{
		ItemID:      w.Account.IDs.Coded("IT"),
		Description: cmp.Or(item.Description, "Goods of the HS code "+item.HSCode), HSCode: item.HSCode,
		Quantity:  regulatory.Quantity(cmp.Or(item.Quantity, 1)),
		UnitPrice: item.UnitPrice, Currency: cmp.Or(item.Currency, "USD"), OriginCountry: item.OriginCountry,
	}, nil
}
