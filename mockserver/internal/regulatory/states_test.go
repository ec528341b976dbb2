package regulatory_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/status"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// states brings a request into each state of the specification.
func states() map[regulatory.State]func(w *world) *regulatory.Record {
	bought := func(shipment, slug string, later time.Duration) func(w *world) *regulatory.Record {
		return func(w *world) *regulatory.Record {
			r := w.analyze(shipment)
			w.purchase(r, slug)
			w.advance(later)
			return r
		}
	}
	return map[regulatory.State]func(w *world) *regulatory.Record{
		regulatory.StateDraft:      func(w *world) *regulatory.Record { return w.analyze(parcel) },
		regulatory.StatePurchasing: bought("SH-MAGICHANGINPURCHASING", "WATCH", 0),
		regulatory.StateProcessing: bought(perfume, "MSDS", 0),
		regulatory.StateCompleted:  bought(parcel, "WATCH", time.Minute),
		regulatory.StateFailed:     bought("SH-MAGICFAILALWAYS", "WATCH", time.Minute),
	}
}

// triggers are the actions of a user, each applied to a request.
func triggers() map[regulatory.Trigger]func(w *world, r *regulatory.Record) (any, error) {
	return map[regulatory.Trigger]func(w *world, r *regulatory.Record) (any, error){
		regulatory.TriggerEdit: func(w *world, r *regulatory.Record) (any, error) {
			return w.UpdateItems(r.RequestID, regulatory.ItemsUpdate{LineItems: r.LineItems})
		},
		regulatory.TriggerPurchase: func(w *world, r *regulatory.Record) (any, error) {
			return w.try(r, "CUSTOMS")
		},
		regulatory.TriggerEvidence: func(w *world, r *regulatory.Record) (any, error) {
			return w.SubmitEvidence(r.RequestID, "MSDS")
		},
		regulatory.TriggerRetry: func(w *world, r *regulatory.Record) (any, error) { return w.Retry(r.RequestID) },
	}
}

// Every trigger of a user in every state has the effect of its row in the table, or is refused as that row states, and
// then changes and charges nothing.
func TestTransitions_EveryTriggerInEveryState(t *testing.T) {
	t.Parallel()
	for _, state := range regulatory.States() {
		reach := states()[state]
		if reach == nil {
			t.Errorf("no request reaches %s: add one to states in this file", state)
			continue
		}
		for trigger, pull := range triggers() {
			t.Run(string(state)+"/"+string(trigger), func(t *testing.T) {
				t.Parallel()
				row, rows := regulatory.Transition{}, 0
				for _, candidate := range regulatory.Transitions {
					if candidate.From == state && candidate.Trigger == trigger {
						row, rows = candidate, rows+1
					}
				}
				if rows != 1 || row.Rule == "" {
					t.Fatalf("transitions in states.go have %d rows for %s of a request that is %s, want one with a rule", rows,
						trigger, state)
				}
				w := newWorld(t)
				r := w.get(reach(w))
				if r.Status != state {
					t.Fatalf("the request is %s", r.Status)
				}
				left := w.balance(naira)
				_, err := pull(w, r)
				if row.To == "" {
					said := w.refused(row.Code, r.RequestID, string(state), row.Reason)(nil, err)
					if said.Data["status"] != state || w.get(r) != r || w.balance(naira) != left {
						t.Errorf("refused with %v, and the request is %s", said.Data, w.get(r).JSON())
					}
				} else if got := w.get(r).Status; err != nil || (got != row.To && got != regulatory.StateProcessing) {
					t.Errorf("the request is %s, %v; want %s", got, err, row.To)
				}
			})
		}
	}
}

// There were several lists of states, so that a new state was missing in some: a state file with it could not be read.
// The table of states agrees with that of transitions, and the other tests of states follow it.
func TestTransitions_UseTheStatesOfTheTable(t *testing.T) {
	t.Parallel()
	user := triggers()
	changes := map[regulatory.State]bool{}
	for _, row := range regulatory.Transitions {
		for _, state := range []regulatory.State{row.From, row.To} {
			if state != "" && !slices.Contains(regulatory.States(), state) {
				t.Errorf("row %+v: %q is not in the table of states", row, state)
			}
		}
		if user[row.Trigger] == nil && row.To != "" {
			changes[row.From] = true
		}
	}
	free := map[regulatory.State]bool{regulatory.StateDraft: true} // before or after a draft, without a purchase
	for range regulatory.States() {
		for _, row := range regulatory.Transitions {
			if row.From != "" && row.To == regulatory.StateDraft {
				free[row.From] = true
			}
			if free[row.From] && row.To != "" && row.Trigger != regulatory.TriggerPurchase {
				free[row.To] = true
			}
		}
	}
	for _, state := range regulatory.States() {
		if purchased := status.Of(string(state)).Purchased; purchased == free[state] {
			t.Errorf("%s: only a purchase leads to it from a draft: %t; Purchased in the table of internal/status is %t, so "+
				"that a lost purchase stays unknown, or is taken for charged", state, !free[state], purchased)
		}
		if changes[state] != state.Working() {
			t.Errorf("%s: changes without the user: %t; the table of states has %t (a trigger of users has a row in "+
				"triggers() of this file)", state, changes[state], state.Working())
		}
		if shipping.RequestStatus(state).Final() != state.Ended() {
			t.Errorf("%s ends a request: %t; the table of internal/status has %t, and a wait follows it", state, state.Ended(),
				!state.Ended())
		}
		if state.Working() && state.Ended() {
			t.Errorf("%s is both", state)
		}
	}
	if strange := regulatory.State("lost"); strange.Ended() || strange.Working() {
		t.Error("an unknown state has ended, or changes by itself")
	}
}

func TestTransitions_HoldTheTableOfTheSpecification(t *testing.T) {
	t.Parallel()
	allowed := map[[2]regulatory.State]bool{}
	for _, row := range regulatory.Transitions {
		if row.To != "" && row.From != row.To {
			allowed[[2]regulatory.State{row.From, row.To}] = true
		}
		if (row.To == "") != (row.Code != "") || (row.To == "") != (row.Reason != "") {
			t.Errorf("row %+v is neither allowed nor refused", row)
		}
	}
	shippingtest.Diff(t, "transitions", map[[2]regulatory.State]bool{
		{"", "draft"}: true, {"", "failed"}: true, {"draft", "purchasing"}: true, {"purchasing", "processing"}: true,
		{"processing", "completed"}: true, {"processing", "failed"}: true,
		{"failed", "processing"}: true, // our assumption
	}, allowed)
}

// Each golden file is the wire shape of a record, written by hand; fields stand in its order.
func TestRecord_GoldenFiles(t *testing.T) {
	t.Parallel()
	for file, reach := range map[string]func(t *testing.T, w *world) *regulatory.Record{
		"draft.json": func(t *testing.T, w *world) *regulatory.Record {
			return w.analyze(parcel)
		},
		"processing.json": func(t *testing.T, w *world) *regulatory.Record {
			r := w.analyze(parcel)
			w.record(w.UpdateProfile(r.RequestID, "FDA", regulatory.Profile{
				"product_code": json.RawMessage(` "54FGG99"`),
			}))
			w.advance(1250 * time.Millisecond)
			w.purchase(r, "WATCH", "FDA")
			w.advance(7 * time.Second)
			return w.get(r)
		},
		"failed_analysis.json": func(t *testing.T, w *world) *regulatory.Record {
			unknown := regulatory.AnalyzeInput{FileURL: "https://invoices.example/9.pdf"}
			w.refused(regulatory.CodeAnalysisFailed)(w.Analyze(unknown))
			return w.Records()[0]
		},
		"invoice_failed_generation.json": func(t *testing.T, w *world) *regulatory.Record {
			w.hooks[fault.Generation] = func(string) error { return errors.New("the printer is out of paper") }
			r := w.record(w.Analyze(regulatory.AnalyzeInput{FileURL: invoice, Wallet: dollars}))
			w.record(w.UpdateAddresses(r.RequestID,
				regulatory.AddressesUpdate{Destination: &regulatory.Address{
					Name: "Ngozi Obi", Company: "Obi & Co", Line1: "4 Marina", Line2: "Floor 2", City: "Lagos", State: "LA",
					PostalCode: "101241", Country: "NG", Phone: "+2348000000", Email: "ngozi@obi.example",
				}}))
			w.record(w.UpdateShipping(r.RequestID, regulatory.Shipping{
				CarrierSlug: "fedex", Service: "Priority", Incoterm: "DDP", ReasonForExport: "Gift", PortOfEntry: "Lagos",
				EstimatedArrival: "2026-01-31",
			}))
			w.purchase(r, "CUSTOMS")
			w.advance(3 * time.Second)
			return w.get(r)
		},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			golden := shippingtest.Must(os.ReadFile("testdata/" + file))(t)
			var want bytes.Buffer
			shippingtest.NoError(t, json.Compact(&want, golden))
			r := reach(t, newWorld(t))
			shippingtest.Diff(t, "record", want.String(), string(r.JSON()))
		})
	}
}

func TestSheet_ShowsAGeneratedDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.analyze(parcel)
	w.refused(regulatory.CodeNotFound, "purchase it first")(w.Sheet(r.RequestID, "WATCH"))
	w.purchase(r, "CUSTOMS", "WATCH")
	w.refused(regulatory.CodeNotGenerated, "WATCH", "generating")(w.Sheet(r.RequestID, "WATCH"))
	const meant = `no purchased document "watch": did you mean "WATCH"?`
	w.refused(regulatory.CodeNotFound, meant)(w.Sheet(r.RequestID, "watch"))
	w.advance(7 * time.Second)

	shippingtest.Diff(t, "sheet", []string{
		"Watch worksheet (WATCH)", "Request " + r.RequestID + " for " + parcel, "Generated on 2026-01-05",
		"Specimen of a test server. It is not a legal document.", "",
		"1 x Wristwatch, HS code 910211, origin CN, 89.9 USD each",
		"2 x Food supplement & vitamins, HS code 210690, origin CN, 12.5 USD each",
	}, shippingtest.Must(w.Sheet(r.RequestID, "WATCH"))(t))
	w.refused(regulatory.CodeNotFound, "RD-9")(w.Sheet("RD-9", "WATCH"))
}

// A manual document waits for its evidence however long that takes, and is generated after it: a timer of the purchase
// would generate it without.
func TestGeneration_ManualDocumentAwaitsEvidence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.analyze(perfume)
	w.purchase(r, "CUSTOMS", "MSDS")
	w.advance(24 * time.Hour)
	w.is(r, "processing: CUSTOMS generated, MSDS awaiting_evidence")
	w.refused(regulatory.CodeNoEvidenceAwaited, "CUSTOMS", "requires no evidence")(
		w.SubmitEvidence(r.RequestID, "CUSTOMS"))
	w.refused(regulatory.CodeNotFound, "FDA")(w.SubmitEvidence(r.RequestID, "FDA"))
	w.refused(regulatory.CodeNotFound, "RD-9")(w.SubmitEvidence("RD-9", "MSDS"))
	w.record(w.SubmitEvidence(r.RequestID, "MSDS"))
	w.is(r, "processing: CUSTOMS generated, MSDS generating")
	w.refused(regulatory.CodeNoEvidenceAwaited, "generating")(w.SubmitEvidence(r.RequestID, "MSDS"))
	w.advance(25 * time.Second)
	w.is(r, "completed: CUSTOMS generated, MSDS generated")
}

// A manual document is generated once its evidence has arrived, and is not retried if that fails. Evidence that is
// submitted before its timer must not count twice when the timer ends.
func TestGeneration_EvidenceMayComeByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *regulatory.Config) { c.Times.Evidence = time.Hour })
	early, late := w.analyze(perfume), w.analyze(perfume)
	w.purchase(early, "MSDS")
	w.purchase(late, "MSDS")
	w.record(w.SubmitEvidence(early.RequestID, "MSDS"))
	w.advance(25 * time.Second)
	w.is(early, "completed: MSDS generated")
	w.is(late, "processing: MSDS awaiting_evidence")
	w.hooks[fault.Generation] = func(string) error { return errors.New("illegible") }
	w.advance(time.Hour)
	if got := w.get(late); got.Status != regulatory.StateFailed || got.Documents[0].Attempts != 1 {
		t.Errorf("an hour later it is %s", got.JSON())
	}
	w.refused(regulatory.CodeNotRetryable, "only automated ones can be retried")(w.Retry(late.RequestID))
}

// The request does not end with the first document that ends: a client that stopped to poll then would miss the others.
func TestGeneration_OneFailedDocumentFailsTheRequestWhenAllHaveEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hooks[fault.Generation] = func(about string) error {
		if strings.HasSuffix(about, " WATCH") {
			return errors.New("the printer is out of paper")
		}
		return nil
	}
	r := w.analyze(parcel)
	w.purchase(r, "FDA", "WATCH")
	w.advance(7 * time.Second)
	w.is(r, "processing: FDA generating, WATCH failed")
	w.advance(5 * time.Second)
	w.is(r, "failed: FDA generated, WATCH failed")
	if got := w.get(r); got.FailureReason != "Generation failed: WATCH" ||
		got.Documents[1].Failure != "the printer is out of paper" {
		t.Errorf("in the end the request is %s", got.JSON())
	}
}

func TestRetry_GeneratesOnlyWhatFailedAndCostsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	failing := true
	w.hooks[fault.Generation] = func(about string) error {
		if failing && !strings.HasSuffix(about, " FDA") {
			return errors.New("not today")
		}
		return nil
	}
	r := w.analyze(parcel)
	w.purchase(r, "CUSTOMS", "FDA", "WATCH")
	w.advance(time.Minute)
	failed := w.get(r)
	left, generated := w.balance(naira), failed.Documents[1].GeneratedAt
	failing = false
	retried := w.record(w.Retry(r.RequestID))
	w.is(r, "processing: CUSTOMS generating, FDA generated, WATCH generating")
	if retried.FailureReason != "" || retried.Documents[0].Failure != "" || retried.Documents[0].Attempts != 2 {
		t.Errorf("retried the request is %s", retried.JSON())
	}
	w.advance(time.Minute)
	w.is(r, "completed: CUSTOMS generated, FDA generated, WATCH generated")
	shippingtest.Diff(t, "time of FDA", generated, w.get(r).Documents[1].GeneratedAt)
	shippingtest.Diff(t, "the record before the retry", regulatory.DocumentFailed, failed.Documents[0].Status)
	shippingtest.Diff(t, "balance after the retry", left, w.balance(naira))
}
