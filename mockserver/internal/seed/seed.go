// Package seed makes the account that a world begins with: shipments, invoices, wallets with their history, rates, webhooks
// and the deliveries to them. All of it is a function of a [Plan], so the same plan gives the same account.
package seed

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// The size of a seeded world: several pages of a hundred of each record, except of those that a person looks at.
const (
	seededRates    = 250
	seededWebhooks = 130
	seededDebits   = 330
)

// seeder makes the state that worlds of a scenario begin with.
type seeder struct {
	*account.Account
	plan      Plan
	articles  map[string]article   // by a short name
	delivered []*delivery.Delivery // oldest first
}

// New returns the account that worlds of a plan begin with, and its delivery log, oldest first. Both follow from the
// seed, in the order of the steps. An error is a mistake in the catalogue.
func New(p Plan) (*account.Account, []*delivery.Delivery, error) {
	w := &seeder{plan: p, articles: articles(), Account: account.New(p.Seed)}
	steps := []func() error{w.seedShipments, w.seedInvoices, w.seedWallets, w.seedRates, w.seedWebhooks, w.seedDeliveries}
	if p.Empty {
		steps = []func() error{w.seedWallets}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, nil, fmt.Errorf("mockserver: seeding: %w", err)
		}
	}
	return w.Account, w.delivered, nil
}

// seedShipments makes the voyages, oldest first in memory and newest first in shipmentIDs.
func (w *seeder) seedShipments() error {
	towns, choices := places(), carriers()
	for i, v := range voyages() {
		items, err := w.items(v.goods)
		if err != nil {
			return err
		}
		c := choices[i%len(choices)]
		price, err := shipping.ParseAmount(c.price)
		if err != nil {
			return err
		}
		made := Epoch.Add(-v.age)
		s := &account.Shipment{
			ShipmentID: w.IDs.Coded("SH"), Status: v.status,
			AddressFrom: account.Address{AddressID: w.IDs.Numbered("AD"), Address: towns[v.from]},
			AddressTo:   account.Address{AddressID: w.IDs.Numbered("AD"), Address: towns[v.to]},
			Parcel:      account.Parcel{ParcelID: w.IDs.Numbered("PC"), Items: items},
			CarrierName: c.name, CarrierSlug: c.slug, TrackingNumber: strconv.Itoa(1_000_000_000 + w.IDs.Random.IntN(900_000_000)),
			Amount: price, Currency: "USD", Events: history(v, towns, made), User: w.User,
			CreatedAt: jsontext.Timestamp(made), UpdatedAt: jsontext.Timestamp(made),
		}
		if n := len(s.Events); n > 0 {
			s.UpdatedAt = s.Events[n-1].CreatedAt
		}
		w.Shipments[s.ShipmentID] = s
		w.ShipmentIDs = append(w.ShipmentIDs, s.ShipmentID)
	}
	return nil
}

// history returns the events of a shipment for its status.
func history(v voyage, towns map[string]regulatory.Address, made time.Time) []account.Progress {
	from, to := towns[v.from].City, towns[v.to].City
	steps := []struct {
		after              time.Duration
		text, where, state string
	}{
		{10 * time.Minute, "Shipment created", from, "pending"},
		{2 * time.Hour, "Carrier confirmed the pickup", from, "confirmed"},
		{20 * time.Hour, "Picked up and on its way", from, "in-transit"},
		{4 * day, "Delivered and signed for", to, "delivered"},
	}
	reached := slices.Index([]string{"pending", "confirmed", "in-transit", "delivered"}, v.status)
	events := []account.Progress{}
	for _, step := range steps[:reached+1] {
		events = append(events, account.Progress{CreatedAt: jsontext.Timestamp(made.Add(step.after)), Description: step.text, Location: step.where, Status: step.state})
	}
	return events
}

func (w *seeder) items(goods []order) ([]regulatory.LineItem, error) {
	items := make([]regulatory.LineItem, 0, len(goods))
	for _, o := range goods {
		a := w.articles[o.article]
		price, err := shipping.ParseAmount(a.price)
		if err != nil {
			return nil, fmt.Errorf("article %q: %w", o.article, err)
		}
		weight, err := shipping.ParseAmount(a.weight)
		if err != nil {
			return nil, fmt.Errorf("article %q: %w", o.article, err)
		}
		items = append(items, regulatory.LineItem{
			ItemID: w.IDs.Coded("IT"), Description: a.description, HSCode: a.hsCode, Quantity: regulatory.Quantity(o.pieces),
			UnitPrice: price, Currency: "USD", Weight: weight, OriginCountry: a.madeIn,
		})
	}
	return items, nil
}

// seedInvoices makes the commercial invoices that analysis can read.
func (w *seeder) seedInvoices() error {
	towns := places()
	for i, v := range []voyage{
		{from: "shenzhen", to: "newyork", goods: []order{{"powerbank", 500}, {"laptop", 20}, {"phonecase", 1000}}},
		{from: "lagos", to: "houston", goods: []order{{"bag", 40}, {"shirt", 120}, {"sneakers", 30}}},
		{from: "accra", to: "hamburg", goods: []order{{"cocoa", 600}}},
	} {
		items, err := w.items(v.goods)
		if err != nil {
			return err
		}
		url := fmt.Sprintf("https://invoices.example/INV-%d.pdf", 1001+i)
		w.Invoices[url] = regulatory.Consignment{
			Items:     items,
			Addresses: regulatory.Addresses{Origin: towns[v.from], Destination: towns[v.to]},
			Shipping:  regulatory.Shipping{CarrierSlug: "dhl-express", Service: "Express Worldwide", Incoterm: "DAP", ReasonForExport: "sale"},
		}
		w.InvoiceURLs = append(w.InvoiceURLs, url)
	}
	return nil
}

// seedRates makes groups of offers, each group for one parcel, oldest first.
func (w *seeder) seedRates() error {
	choices, money := carriers(), purses()
	var made time.Time
	var from, to, box string
	for i := range seededRates {
		c := choices[i%len(choices)]
		if i%len(choices) == 0 {
			made = Epoch.Add(-time.Duration(seededRates-i) * 4 * time.Hour)
			from, to, box = w.IDs.Numbered("AD"), w.IDs.Numbered("AD"), w.IDs.Numbered("PC")
		}
		purse := money[0]
		if i%5 == 4 {
			purse = money[1+i%3]
		}
		amount, err := w.priced(c.price, purse, 40+w.IDs.Random.IntN(400))
		if err != nil {
			return err
		}
		fee, err := w.priced("1", purse, 20+w.IDs.Random.IntN(60))
		if err != nil {
			return err
		}
		coverage, err := w.priced("100", purse, 100)
		if err != nil {
			return err
		}
		breakdown := json.RawMessage("[]")
		if w.plan.ObjectBreakdown {
			if breakdown, err = jsontext.Encode(map[string]shipping.Amount{"shipment_cost": amount, "insurance_fee": fee}); err != nil {
				return err
			}
		}
		record, err := jsontext.Encode(account.Rate{
			RateID: w.IDs.Numbered("RT"), Amount: amount, Currency: purse.currency, Breakdown: breakdown,
			CarrierName: c.name, CarrierSlug: c.slug, CarrierLogo: "https://logos.example/" + c.slug + ".svg",
			Description: c.service, CarrierReference: w.IDs.Numbered("CA"),
			DeliveryAddress: to, PickupAddress: from, Parcel: box,
			DeliveryDate: jsontext.Timestamp(made.Add(time.Duration(c.etaMinutes) * time.Minute)), DeliveryETA: c.etaMinutes, DeliveryTime: c.eta,
			PickupETA: 1440, PickupTime: "Within 24 hours",
			IncludesInsurance: c.insured, InsuranceFee: fee, InsuranceCoverage: coverage,
			Metadata: account.RateMetadata{LocalProductCode: c.localCode, ProductCode: c.code}, Used: i%9 == 0, User: w.User,
			CreatedAt: jsontext.Timestamp(made), UpdatedAt: jsontext.Timestamp(made),
		})
		if err != nil {
			return err
		}
		w.Add("rates", record)
	}
	return nil
}

// priced converts a price in US dollars into a purse's currency, at so many percent of it.
func (w *seeder) priced(dollars string, into purse, percent int) (shipping.Amount, error) {
	price, err := shipping.ParseAmount(dollars)
	if err != nil {
		return price, err
	}
	part, err := shipping.NewAmount(int64(percent), 2)
	if err != nil {
		return price, err
	}
	if price, err = price.Mul(part); err != nil {
		return price, err
	}
	rate, err := shipping.ParseAmount(into.perDollar)
	if err != nil {
		return price, err
	}
	price, err = price.Mul(rate)
	return price.Round(2), err
}

// seedWebhooks makes many old webhooks that are inactive or not subscribed to shipment events, and a few that are, so that
// a replay to all makes few deliveries.
func (w *seeder) seedWebhooks() error {
	for i := range seededWebhooks {
		made := jsontext.Timestamp(Epoch.Add(-time.Duration(seededWebhooks-i) * 20 * time.Hour))
		h := &account.Webhook{
			WebhookID: w.IDs.Numbered("WA"), StorageID: w.IDs.Storage(),
			Name: fmt.Sprintf("Shop %03d", i+1), URL: fmt.Sprintf("https://hooks.example/shops/%03d", i+1),
			Event: []string{"transaction.success", "transaction.failed"}, Active: i%4 != 0, Live: i%3 == 0,
			User: w.User, CreatedAt: made, UpdatedAt: made, Revision: i % 3,
		}
		h.ID = h.StorageID
		switch seededWebhooks - i {
		case 1:
			h.Name, h.Event, h.Active = "All shipment events", account.EventKinds(), true
		case 2:
			h.Name, h.Event, h.Active = "Deliveries only", []string{"shipment.delivered"}, true
		case 3:
			h.Name, h.Event, h.Active = "Switched off", account.EventKinds(), false
		case 4:
			h.Name, h.Event, h.Active = "Warehouse", []string{"shipment.created", "shipment.updated"}, true
		}
		if err := w.Webhooks.Add(h); err != nil {
			return err
		}
	}
	return nil
}

// seedDeliveries makes what the newest webhook was sent about the seeded shipments, oldest first.
func (w *seeder) seedDeliveries() error {
	receiver := w.Webhooks.All[len(w.Webhooks.All)-1]
	var log []*delivery.Delivery
	for _, id := range w.ShipmentIDs {
		s := w.Shipments[id]
		for i, step := range s.Events {
			event := "shipment.updated"
			switch step.Status {
			case "pending":
				event = "shipment.created"
			case "delivered":
				event = "shipment.delivered"
			}
			then := *s
			then.Status, then.UpdatedAt, then.Events = step.Status, step.CreatedAt, s.Events[:i+1]
			payload, err := then.Payload(event)
			if err != nil {
				return err
			}
			at := time.Time(step.CreatedAt)
			log = append(log, &delivery.Delivery{
				ID: w.IDs.Coded("WD"), EventID: w.IDs.Coded("WE"), WebhookID: receiver.WebhookID, URL: receiver.URL,
				Event: event, ShipmentID: id, State: delivery.Delivered, CreatedAt: at, Payload: payload,
				Attempts: []delivery.Attempt{{At: at.Add(time.Second), StatusCode: 200}},
			})
		}
	}
	slices.SortStableFunc(log, func(a, b *delivery.Delivery) int { return a.CreatedAt.Compare(b.CreatedAt) })
	w.delivered = log
	return nil
}

// Epoch is where every seeded history ends. It is fixed, so that a seed always gives the same times.
var Epoch = time.Date(2026, time.January, 5, 9, 30, 0, 0, time.UTC)
