// Package seed makes the account that a world begins with: shipments, invoices, wallets with their history, rates,
// webhooks and the deliveries to them. All of it is a function of a [Plan], so the same plan gives the same account.
package seed

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/splitmix"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// Plan determines the initial state of a world. Worlds of one plan share this state.
type Plan struct {
	Seed            uint64
	Empty, LowFunds bool
	Computed        int           // transactions of the first wallet, computed; 0: the seeded ones
	Payments        int           // seeded payments; 0: the usual number
	Shipments       int           // seeded shipments; 0: the usual number
	Later           time.Duration // from Epoch to the history's end
}

// Usual returns the plan of a server without options.
func Usual() Plan { return Plan{Seed: 1} }

func (p *Plan) debits() int {
	switch {
	case p.Empty || p.Computed > 0:
		return 0
	case p.Payments > 0:
		return p.Payments
	default:
		return seededDebits
	}
}

// End is where the history ends.
func (p *Plan) End() time.Time { return Epoch.Add(p.Later) }

// Recent returns the whole days from Epoch until a time.
func Recent(now time.Time) time.Duration { return max(0, now.Sub(Epoch)).Truncate(day) }

// Stored estimates the number of records in an account of the plan.
func (p *Plan) Stored() int {
	if p.Empty {
		return 0
	}
	return p.debits() + seededRates + seededWebhooks + p.Shipments
}

// The size of a seeded world: several pages of a hundred records of each kind, and fewer of those that people read.
const (
	seededRates    = 250
	seededWebhooks = 130
	seededDebits   = 330
)

// seeder makes the state that worlds of a scenario begin with.
type seeder struct {
	*account.Account
	plan Plan
	catalogue
	delivered []*notify.Delivery // oldest first
	err       error              // the first mistake in the catalogue
}

// New returns the account that worlds of a plan begin with, and its delivery log, oldest first. Both follow from the
// seed, in the order of the steps. An error is a mistake in the catalogue.
func New(p Plan) (*account.Account, []*notify.Delivery, error) {
	w := &seeder{plan: p, Account: account.New(p.Seed)}
	w.catalogue, w.err = readCatalogue()
	if p.Empty {
		w.seedWallets()
	} else {
		w.seedShipments()
		w.seedInvoices()
		w.seedWallets()
		w.seedRates()
		w.seedWebhooks()
		w.seedDeliveries()
	}
	if w.err != nil {
		return nil, nil, fmt.Errorf("mockserver: seeding: %w", w.err)
	}
	return w.Account, w.delivered, nil
}

// check stores an error if it is the first one.
func (w *seeder) check(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *seeder) amount(text string) shipping.Amount {
	amount, err := shipping.ParseAmount(text)
	w.check(err)
	return amount
}

// seedShipments makes the consignments of the catalogue, newest first. If the plan has more shipments, they repeat,
// 50 days earlier each time.
func (w *seeder) seedShipments() {
	for i := range cmp.Or(w.plan.Shipments, len(w.Consignments)) {
		v := w.Consignments[i%len(w.Consignments)]
		items, c := w.items(v.Goods), w.Carriers[i%len(w.Carriers)]
		made := w.plan.End().Add(-time.Duration(v.Hours)*time.Hour - time.Duration(i/len(w.Consignments))*50*day)
		s := &account.Shipment{
			ShipmentID: w.IDs.Coded("SH"), Status: v.Status,
			AddressFrom: account.Address{AddressID: w.IDs.Numbered("AD"), Address: w.Places[v.From]},
			AddressTo:   account.Address{AddressID: w.IDs.Numbered("AD"), Address: w.Places[v.To]},
			Parcel:      account.Parcel{ParcelID: w.IDs.Numbered("PC"), Items: items},
			CarrierName: c.Name, CarrierSlug: c.Slug, TrackingNumber: strconv.Itoa(1_000_000_000 +
				w.IDs.Random.IntN(900_000_000)),
			Amount: w.amount(c.Price), Currency: "USD", Events: w.events(v, made), User: w.User,
			CreatedAt: jsontext.Timestamp{Time: made}, UpdatedAt: jsontext.Timestamp{Time: made},
		}
		if n := len(s.Events); n > 0 {
			s.UpdatedAt = s.Events[n-1].CreatedAt
		}
		w.Shipments[s.ShipmentID] = s
		w.ShipmentIDs = append(w.ShipmentIDs, s.ShipmentID)
	}
}

// events returns the events of a shipment for its status.
func (w *seeder) events(v consignment, made time.Time) []account.Progress {
	from, to := w.Places[v.From].City, w.Places[v.To].City
	steps := []struct {
		after              time.Duration
		text, where, state string
	}{
		{10 * time.Minute, "Shipment created", from, "pending"},
		{2 * time.Hour, "Carrier confirmed the pickup", from, "confirmed"},
		{20 * time.Hour, "Picked up and on its way", from, "in-transit"},
		{4 * day, "Delivered and signed for", to, "delivered"},
	}
	reached := slices.Index([]string{"pending", "confirmed", "in-transit", "delivered"}, v.Status)
	events := []account.Progress{}
	for _, step := range steps[:reached+1] {
		events = append(events, account.Progress{CreatedAt: jsontext.Timestamp{Time: made.Add(step.after)},
			Description: step.text, Location: step.where, Status: step.state})
	}
	return events
}

func (w *seeder) items(goods []order) []regulatory.LineItem {
	var items []regulatory.LineItem
	for _, o := range goods {
		a := w.Articles[o.Article]
		items = append(items, regulatory.LineItem{
			ItemID: w.IDs.Coded("IT"), Description: a.Description, HSCode: a.HSCode, Quantity: regulatory.Quantity(o.Pieces),
			UnitPrice: w.amount(a.Price), Currency: "USD", Weight: w.amount(a.Weight), OriginCountry: a.MadeIn,
		})
	}
	return items
}

func (w *seeder) seedInvoices() {
	for i, v := range w.catalogue.Invoices {
		url := fmt.Sprintf("https://invoices.example/INV-%d.pdf", 1001+i)
		w.Account.Invoices[url] = regulatory.Consignment{
			Items:     w.items(v.Goods),
			Addresses: regulatory.Addresses{Origin: w.Places[v.From], Destination: w.Places[v.To]},
			Shipping: regulatory.Shipping{CarrierSlug: "dhl-express", Service: "Express Worldwide", Incoterm: "DAP",
				ReasonForExport: "sale"},
		}
		w.InvoiceURLs = append(w.InvoiceURLs, url)
	}
}

// seedRates makes groups of offers, each group for one parcel, oldest first.
func (w *seeder) seedRates() {
	choices, money := w.Carriers, w.Wallets
	var made time.Time
	var from, to, box string
	for i := range seededRates {
		c := choices[i%len(choices)]
		if i%len(choices) == 0 {
			made = w.plan.End().Add(-time.Duration(seededRates-i) * 4 * time.Hour)
			from, to, box = w.IDs.Numbered("AD"), w.IDs.Numbered("AD"), w.IDs.Numbered("PC")
		}
		wallet := money[0]
		if i%5 == 4 {
			wallet = money[1+i%3]
		}
		amount := w.priced(c.Price, wallet, 40+w.IDs.Random.IntN(400))
		fee := w.priced("1", wallet, 20+w.IDs.Random.IntN(60))
		coverage := w.priced("100", wallet, 100)
		w.List("rates").PrependValue(account.Rate{
			RateID: w.IDs.Numbered("RT"), Amount: amount, Currency: wallet.Currency, Breakdown: json.RawMessage("[]"),
			CarrierName: c.Name, CarrierSlug: c.Slug, CarrierLogo: "https://logos.example/" + c.Slug + ".svg",
			Description: c.Service, CarrierReference: w.IDs.Numbered("CA"),
			DeliveryAddress: to, PickupAddress: from, Parcel: box,
			DeliveryDate: jsontext.Timestamp{Time: made.Add(time.Duration(c.Minutes) * time.Minute)}, DeliveryETA: c.Minutes,
			DeliveryTime: c.ETA,
			PickupETA:    1440, PickupTime: "Within 24 hours",
			IncludesInsurance: c.Insured, InsuranceFee: fee, InsuranceCoverage: coverage,
			Metadata: account.RateMetadata{LocalProductCode: c.LocalCode, ProductCode: c.Code}, Used: i%9 == 0, User: w.User,
			CreatedAt: jsontext.Timestamp{Time: made}, UpdatedAt: jsontext.Timestamp{Time: made},
		})
	}
}

// priced converts a percentage of a price in US dollars into a wallet's currency.
func (w *seeder) priced(dollars string, into walletSeed, percent int) shipping.Amount {
	part, err := shipping.NewAmount(int64(percent), 2)
	w.check(err)
	for _, factor := range []string{dollars, into.PerDollar} {
		part, err = part.Mul(w.amount(factor))
		w.check(err)
	}
	return part.Round(2)
}

// seedWebhooks makes many old webhooks that are inactive or not subscribed to shipment events, and a few others, so
// that a replay to all makes few deliveries.
func (w *seeder) seedWebhooks() {
	for i := range seededWebhooks {
		made := jsontext.Timestamp{Time: w.plan.End().Add(-time.Duration(seededWebhooks-i) * 20 * time.Hour)}
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
		w.Webhooks.Add(h)
	}
}

// seedDeliveries makes the deliveries about the seeded shipments to the newest webhook, oldest first.
func (w *seeder) seedDeliveries() {
	receiver := w.Webhooks.All[len(w.Webhooks.All)-1]
	for _, id := range w.ShipmentIDs[:min(len(w.ShipmentIDs), len(w.Consignments))] {
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
			at := step.CreatedAt.Time
			w.delivered = append(w.delivered, &notify.Delivery{
				ID: w.IDs.Coded("WD"), EventID: w.IDs.Coded("WE"), WebhookID: receiver.WebhookID, URL: receiver.URL,
				Event: event, ShipmentID: id, State: notify.Delivered, CreatedAt: at, Payload: then.Payload(event),
				Attempts: []notify.DeliveryAttempt{{At: at.Add(time.Second), StatusCode: 200}},
			})
		}
	}
	slices.SortStableFunc(w.delivered, func(a, b *notify.Delivery) int { return a.CreatedAt.Compare(b.CreatedAt) })
}

const day = 24 * time.Hour

// Epoch is the end of the seeded history by default. It is fixed, so that a seed always gives the same times.
var Epoch = time.Date(2026, time.January, 5, 9, 30, 0, 0, time.UTC)

// seedWallets opens the wallets and plays their history in the order of time: a first funding each,
// then shipments paid for, with more funding wherever a wallet would run dry.
func (w *seeder) seedWallets() {
	money := w.Wallets
	wallets := make([]string, len(money))
	at := w.plan.End().Add(-150 * day)
	for i, p := range money {
		w.ExchangeRates[p.Currency] = w.amount(p.PerDollar)
		wallets[i] = w.IDs.Numbered("VA")
		w.openWallet(ledger.Wallet{Reference: wallets[i], Currency: p.Currency, Name: p.Name}, p, at)
		at = at.Add(time.Minute)
	}
	debits := w.plan.debits()
	step := w.plan.End().Sub(at) / time.Duration(debits+2)
	for i := range debits {
		at = at.Add(step)
		which := w.chooseWallet(money)
		w.payForShipment(wallets[which], money[which], i, at)
	}
	if w.plan.LowFunds {
		w.drain(wallets, at.Add(step))
	}
}

// openWallet opens a wallet with its first funding, or with nothing in an empty world. The computed transactions of the
// plan precede it in the first wallet. Their number is even, so that they add up to 0; if the plan has an even number
// in all, the wallet gets another funding.
func (w *seeder) openWallet(wallet ledger.Wallet, p walletSeed, at time.Time) {
	w.check(w.Ledger.Open(wallet))
	fundings := 1
	if rows := w.plan.Computed; rows > 0 && len(w.Ledger.Wallets()) == 1 {
		fundings = 2 - rows%2
		w.Compute(wallet, splitmix.Mix(w.plan.Seed+1), rows-fundings, at)
	}
	w.TransactionsOf(wallet.Reference)
	for ; fundings > 0 && !w.plan.Empty; fundings-- {
		w.check(w.Fund(wallet.Reference, w.amount(p.Opening), "Wallet funded: opening balance",
			at.Add(-time.Duration(fundings-1)*time.Second)))
	}
}

// drain leaves one unit in each wallet.
func (w *seeder) drain(wallets []string, at time.Time) {
	for _, wallet := range wallets {
		balance, _ := w.Ledger.Balance(wallet)
		rest, err := balance.Sub(w.amount("1"))
		w.check(err)
		id := w.IDs.Coded("TR")
		e, err := w.Ledger.Debit(wallet, rest, id, "Transfer to savings", at, id)
		w.check(err)
		w.check(w.AddTransaction(e, account.TransactionDetails{}))
	}
}

func (w *seeder) chooseWallet(money []walletSeed) int {
	drawn := w.IDs.Random.IntN(100)
	for i, p := range money {
		if drawn -= p.Share; drawn < 0 {
			return i
		}
	}
	return 0
}

// payForShipment debits a wallet, which is funded again if it would run dry. Every 40th payment is reversed.
func (w *seeder) payForShipment(wallet string, p walletSeed, number int, at time.Time) {
	amount := w.priced("100", p, 4+w.IDs.Random.IntN(120))
	id, how := w.IDs.Coded("TR"), account.TransactionDetails{Pending: number >= w.plan.debits()-3,
		Reversed: number%40 == 20}
	if number%5 != 0 { // every fifth is about no shipment, and every seventh has no reference
		how.About.ShipmentID = w.ShipmentIDs[w.IDs.Random.IntN(len(w.ShipmentIDs))]
	}
	if number%7 != 0 {
		how.TxRef = "SHP-" + w.IDs.Alphanumerics(12)
	}
	if balance, _ := w.Ledger.Balance(wallet); balance.Cmp(amount) < 0 {
		w.check(w.Fund(wallet, w.amount(p.Opening), "Wallet funded", at))
	}
	e, err := w.Ledger.Debit(wallet, amount, id, "Payment for shipment label", at, id)
	w.check(err)
	w.check(w.AddTransaction(e, how))
	if !how.Reversed {
		return
	}
	back, err := w.Ledger.Reverse(id, "Reversal of "+id, at, w.IDs.Coded("TR"))
	w.check(err)
	w.check(w.AddTransaction(back, account.TransactionDetails{About: how.About, TxRef: how.TxRef}))
}
