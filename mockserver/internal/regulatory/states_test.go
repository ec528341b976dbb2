package regulatory_test

import (
	"slices"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/status"
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
		if row.From == regulatory.StateDraft && row.Trigger != regulatory.TriggerPurchase &&
			status.Of(string(row.To)).Purchased {
			t.Errorf("%s leads from a draft to %s, which is Purchased in the table of internal/status: a lost purchase "+
				"would be taken for charged",
				row.Trigger, row.To)
		}
	}
	for _, state := range regulatory.States() {
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
