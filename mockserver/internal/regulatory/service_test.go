package regulatory_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

const (
	naira   = "VA-1000000001" // well funded
	dollars = "VA-1000000002" // holds 10.00
	euros   = "VA-1000000003" // without an exchange rate

	parcel  = "SH-PARCEL"  // a watch and a supplement, from China to the US: CUSTOMS, FDA, WATCH
	perfume = "SH-PERFUME" // from China to the US: CUSTOMS, MSDS
	invoice = "https://invoices.example/1001.pdf"
)

// world is the smallest environment of a service: a virtual clock, exchange rates that may change, and ids that count.
// At the end of a test, its books and requests must be sound.
type world struct {
	*regulatory.Service
	t      testing.TB
	config regulatory.Config
	ledger *ledger.Ledger
	clock  *clock.Clock
	ids    int
	hooks  map[fault.Point]func(about string) error // what happens at the points of faults
	broken bool                                     // by the test
}

func newWorld(t testing.TB, adjust ...func(*regulatory.Config)) *world {
	t.Helper()
	w := &world{
		t: t, ledger: ledger.New(),
		clock: clock.Virtual(time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC)), hooks: map[fault.Point]func(string) error{},
	}
	for _, wallet := range [][3]string{{naira, "NGN", "1000000"}, {dollars, "USD", "10"}, {euros, "EUR", "10"}} {
		shippingtest.NoError(t, w.ledger.Open(ledger.Wallet{Reference: wallet[0], Currency: wallet[1]}))
		shippingtest.Must(w.ledger.Fund(wallet[0], amount(t, wallet[2]), "Opening balance", w.clock.Now(), w.id("TR")))(t)
	}
	rules := shippingtest.Must(compliance.Parse(shippingtest.Must(os.ReadFile("testdata/rules.json"))(t)))(t)
	w.config = regulatory.Config{
		Rules:         func() *compliance.Rules { return rules },
		ExchangeRates: map[string]shipping.Amount{"USD": amount(t, "1"), "NGN": amount(t, "1500.13")},
		Goods:         w.look, NewID: w.id,
		After: func(d time.Duration, label string, fn func()) { w.clock.After(d, label, fn) },
		Now:   w.clock.Now, Ledger: w.ledger, Times: regulatory.Times{Generation: 1},
		At: w.at, Charged: func(ledger.Entry, *regulatory.Record) {},
	}
	for _, f := range adjust {
		f(&w.config)
	}
	w.Service = regulatory.New(w.config)
	t.Cleanup(func() {
		if err := cmp.Or(w.Check(w.ledger), w.ledger.Check()); err != nil && !w.broken {
			t.Error(err)
		}
	})
	return w
}

func (w *world) at(point fault.Point, operation, about string) error {
	if (operation == shipping.OpPurchase) == (point == fault.Generation) {
		return fmt.Errorf("%q is at %s", operation, point)
	}
	if hook := w.hooks[point]; hook != nil {
		return hook(about)
	}
	return nil
}

var amount = shippingtest.Amount

// setRate changes how many naira a dollar buys.
func (w *world) setRate(rate string) { w.config.ExchangeRates["NGN"] = amount(w.t, rate) }

func (w *world) id(prefix string) string {
	w.ids++
	return fmt.Sprintf("%s-%016d", prefix, w.ids)
}

// advance moves the clock and returns the labels of what fell due, in order.
func (w *world) advance(d time.Duration) (labels []string) {
	w.t.Helper()
	for _, fired := range shippingtest.Must(w.clock.Advance(d))(w.t) {
		labels = append(labels, fired.Label)
	}
	return labels
}

// look returns the goods of the shipments and of the invoice.
func (w *world) look(in regulatory.AnalyzeInput) (regulatory.Consignment, bool) {
	item := func(description, code string, pieces regulatory.Quantity, price, weight string) regulatory.LineItem {
		return regulatory.LineItem{Description: description, HSCode: code, Quantity: pieces,
			UnitPrice: amount(w.t, price), Currency: "USD", Weight: amount(w.t, weight), OriginCountry: "CN"}
	}
	watch := item("Wristwatch", "9102.11", 1, "89.9", "0.12")
	items, ok := map[string][]regulatory.LineItem{
		parcel:  {watch, item("Food supplement & vitamins", "210690", 2, "12.5", "0.4")},
		perfume: {item("Eau de parfum", "330300", 2, "12.5", "0.4")}, "SH-EMPTY": {}, invoice: {watch},
	}[in.ShipmentID+in.FileURL]
	return regulatory.Consignment{
		Items: items,
		Addresses: regulatory.Addresses{
			Origin: regulatory.Address{Name: "Lin Wei", Line1: "18 Keji Road", City: "Shenzhen", Country: "CN"},
			Destination: regulatory.Address{Name: "Ada Brooks", Line1: "240 Market Street", City: "Newark", State: "NJ",
				Country: "US"},
		},
		Shipping: regulatory.Shipping{CarrierSlug: "dhl", Incoterm: "DAP"},
	}, ok
}

// record returns the record of a call that succeeds.
func (w *world) record(r *regulatory.Record, err error) *regulatory.Record {
	w.t.Helper()
	return shippingtest.Must(r, err)(w.t)
}

func (w *world) analyze(shipment string) *regulatory.Record {
	w.t.Helper()
	return w.record(w.Analyze(regulatory.AnalyzeInput{ShipmentID: shipment}))
}

// try makes a purchase that may fail.
func (w *world) try(r *regulatory.Record, slugs ...string) (regulatory.Receipt, error) {
	return w.Purchase(regulatory.PurchaseInput{RequestID: r.RequestID, DocumentTypes: slugs})
}

func (w *world) purchase(r *regulatory.Record, slugs ...string) regulatory.Receipt {
	w.t.Helper()
	return shippingtest.Must(w.try(r, slugs...))(w.t)
}

func (w *world) get(r *regulatory.Record) *regulatory.Record {
	w.t.Helper()
	return w.record(w.Get(r.RequestID))
}

func (w *world) balance(wallet string) string {
	balance, _ := w.ledger.Balance(wallet)
	return balance.StringFixed(2)
}

// refused returns a function for the results of a call, which must be a refusal with a code and texts. It returns the
// refusal.
func (w *world) refused(code regulatory.Code, says ...string) func(any, error) *regulatory.Refusal {
	return func(_ any, err error) *regulatory.Refusal {
		w.t.Helper()
		r, ok := errors.AsType[*regulatory.Refusal](err)
		if !ok || r.Code != code {
			w.t.Fatalf("error is %v, want a refusal %q", err, code)
		}
		for _, text := range says {
			shippingtest.Contains(w.t, "message", r.Message, text)
		}
		if r.Rule == "" || r.Payload()["error_code"] != code {
			w.t.Errorf("refusal rests on rule %q, its payload is %v", r.Rule, r.Payload())
		}
		return r
	}
}

func offers(r *regulatory.Record) string {
	var offers []string
	for _, offer := range r.AvailableDocuments {
		offers = append(offers, offer.DocumentType+" "+offer.Amount.StringFixed(2))
	}
	return strings.Join(offers, ", ")
}

// is requires that a request has a status and documents.
func (w *world) is(r *regulatory.Record, want string) {
	w.t.Helper()
	shippingtest.Diff(w.t, "the request", want, statusAndDocuments(w.get(r)))
}

func statusAndDocuments(r *regulatory.Record) string {
	var documents []string
	for _, doc := range r.Documents {
		documents = append(documents, doc.DocumentType+" "+string(doc.Status))
	}
	return string(r.Status) + ": " + strings.Join(documents, ", ")
}
