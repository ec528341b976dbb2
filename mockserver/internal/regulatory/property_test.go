package regulatory_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shipping-go/shipping"
	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// Whatever users do in whatever order, however rates move, connections break and documents fail: the
// ledger sums to zero, each request is debited at most once and for amounts that were on its draft
// from the first moment, and every change of state is in the table.
func TestAnySequenceOfOperationsKeepsTheBooks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		flaky := func(string) error {
			if rapid.IntRange(0, 9).Draw(rt, "connection") == 0 {
				return errors.New("connection lost")
			}
			return nil
		}
		for _, point := range fault.Points() {
			w.hooks[point] = flaky
		}
		known := map[string]*regulatory.Record{}
		prices := map[string]shipping.Amount{}
		pick := func() string {
			if len(known) == 0 {
				return "RD-9"
			}
			return rapid.SampledFrom(w.Records()).Draw(rt, "request").RequestID
		}
		slug := rapid.SampledFrom([]string{"CUSTOMS", "FDA", "MSDS", "OTHER", "WATCH", "PASSPORT"})
		inputs := []regulatory.AnalyzeInput{{ShipmentID: parcel}, {ShipmentID: perfume}, {FileURL: invoice, Wallet: dollars}, {FileURL: "https://a.example/"}, {Wallet: euros, ShipmentID: parcel}}
		for _, special := range regulatory.SpecialInputs() {
			inputs = append(inputs, regulatory.AnalyzeInput{ShipmentID: special.ShipmentID})
		}
		check := func(rt *rapid.T) {
			if err := errors.Join(w.Check(w.ledger), w.ledger.Check()); err != nil {
				rt.Fatal(err)
			}
			debits := map[string]int{}
			for _, e := range w.ledger.Journal() {
				if e.Kind == ledger.KindDebit {
					debits[e.Reference]++
				}
			}
			for _, r := range w.Records() {
				before := known[r.RequestID]
				if before != nil && before.Status != r.Status && !reachable(before.Status, r.Status, 3) {
					rt.Fatalf("request %s went from %s to %s", r.RequestID, before.Status, r.Status)
				}
				known[r.RequestID] = r
				for _, offer := range r.AvailableDocuments {
					key := r.RequestID + offer.DocumentType
					if earlier, priced := prices[key]; priced && earlier != offer.Amount {
						rt.Fatalf("request %s offers %s for %s after %s", r.RequestID, offer.DocumentType, offer.Amount, earlier)
					}
					prices[key] = offer.Amount
				}
				var sum shipping.Amount
				for _, doc := range r.Documents {
					sum = must[shipping.Amount](t)(sum.Add(prices[r.RequestID+doc.DocumentType]))
				}
				if debits[r.RequestID] > 1 || (len(r.Documents) > 0 && !sum.Equal(r.ChargedAmount)) {
					rt.Fatalf("request %s was debited %d times and charged %s for documents of %s", r.RequestID, debits[r.RequestID], r.ChargedAmount, sum)
				}
			}
		}
		ignore := func(*regulatory.Record, error) {} // refusals are part of the game
		rt.Repeat(map[string]func(*rapid.T){
			"":        check,
			"analyze": func(rt *rapid.T) { ignore(w.Analyze(rapid.SampledFrom(inputs).Draw(rt, "input"))) },
			"items": func(rt *rapid.T) {
				all := []regulatory.LineItem{w.watch(), w.supplement(), {}}
				ignore(w.UpdateItems(pick(), regulatory.ItemsUpdate{LineItems: rapid.SliceOfN(rapid.SampledFrom(all), 0, 3).Draw(rt, "items")}))
			},
			"addresses": func(rt *rapid.T) {
				country := rapid.SampledFrom([]string{"US", "NG", "CN", ""}).Draw(rt, "country")
				ignore(w.UpdateAddresses(pick(), regulatory.AddressesUpdate{Destination: &regulatory.Address{Country: country}}))
			},
			"profile": func(rt *rapid.T) {
				ignore(w.UpdateProfile(pick(), slug.Draw(rt, "slug"), regulatory.Profile{"details": json.RawMessage(`"x"`)}))
			},
			"purchase": func(rt *rapid.T) {
				id, slugs := pick(), rapid.SliceOfN(slug, 0, 3).Draw(rt, "slugs")
				if r, err := w.Get(id); err == nil && rapid.Bool().Draw(rt, "all") {
					slugs = nil
					for _, offer := range r.AvailableDocuments {
						slugs = append(slugs, offer.DocumentType)
					}
				}
				_, _ = w.Purchase(regulatory.PurchaseInput{RequestID: id, DocumentTypes: slugs})
			},
			"evidence": func(rt *rapid.T) { ignore(w.SubmitEvidence(pick(), slug.Draw(rt, "slug"))) },
			"retry":    func(*rapid.T) { ignore(w.Retry(pick())) },
			"advance":  func(rt *rapid.T) { w.advance(time.Duration(rapid.IntRange(0, 30).Draw(rt, "seconds")) * time.Second) },
			"rates": func(rt *rapid.T) {
				w.setRate(rapid.SampledFrom([]string{"1500.13", "1", "0.001", "99999.123456"}).Draw(rt, "rate"))
			},
		})
	})
}

// reachable reports whether the table leads from one state to another in at most that many steps.
func reachable(from, to regulatory.State, steps int) bool {
	if from == to {
		return true
	}
	for _, row := range regulatory.Transitions {
		if steps > 0 && row.To != "" && row.From == from && reachable(row.To, to, steps-1) {
			return true
		}
	}
	return false
}
