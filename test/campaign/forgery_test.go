package campaign

import (
	"fmt"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/randomtest"
)

// A forgery is what the campaign's proxy never does, because no client can distinguish it from the service: the
// client reports an outcome that the ledger contradicts.
type forgery struct {
	name string
	// why states what the true exchange is that this one equals.
	why        string
	delivery   delivery
	response   func(x *exchange, r *response) bool // to the purchase
	record     func(x *exchange, r *response) bool // read back
	later      bool                                // the service receives the purchase after the outcome was reported
	settled    bool                                // the outcome is that of SettlePurchase
	outcome    shipping.PurchaseOutcome
	chargedYet bool
}

func forgeries() []forgery {
	once, never := delivery{name: "delivered once", copies: 1}, delivery{name: "not delivered"}
	lost := fair(func(r *response) { r.silent = true })
	oldDraft := func(x *exchange, r *response) bool {
		x.order.mu.Lock()
		defer x.order.mu.Unlock()
		if x.order.draft != nil {
			*r = *x.order.draft
		}
		return true
	}
	confirmation := func(x *exchange, r *response) bool {
		*r = accepted(fmt.Sprintf(`{"request_id":%q,"status":"processing"}`, x.requestID))
		return true
	}
	processing := edit(func(data map[string]any) bool { data["status"] = "processing"; return true })
	failed := edit(func(data map[string]any) bool { data["status"] = "failed"; return true })
	others := edit(func(data map[string]any) bool {
		data["documents"], data["status"] = otherDocuments(), "completed"
		return true
	})
	return []forgery{
		{name: "a confirmation of a purchase that was not delivered", why: "it is the service's confirmation, byte for byte",
			delivery: never, response: confirmation, outcome: shipping.OutcomeCharged},
		{name: "a confirmation without data of a purchase that was not delivered", why: "the specification does not show the content of a confirmation",
			delivery: never, response: instead(200, "application/json", `{"status":true}`), outcome: shipping.OutcomeCharged},
		{name: "a refusal after the charge, then the old draft for longer than QuietFor", why: "a service that refuses for lack of funds sends the same two responses",
			delivery: once, response: envelope(400), record: oldDraft, outcome: shipping.OutcomeNotCharged, chargedYet: true},
		{name: "a refusal with 404 after the charge, and of each read", why: "a service that never had the request sends the same",
			delivery: once, response: envelope(404), record: envelope(404), outcome: shipping.OutcomeNotCharged, chargedYet: true},
		{name: "a refusal after the charge, then a completed record with other documents", why: "it is the record of a request that was purchased before",
			delivery: once, response: envelope(400), record: others, outcome: shipping.OutcomeNotCharged, chargedYet: true},
		{name: "a refusal, and the purchase is delivered after QuietFor", why: "whoever refuses has ended the purchase, or nothing ever ends it",
			delivery: never, response: envelope(400), later: true, outcome: shipping.OutcomeNotCharged, chargedYet: true},
		{name: "a lost response, then a record in processing, and nothing was delivered", why: "it is the record of a purchased request",
			delivery: never, response: lost, record: processing, outcome: shipping.OutcomeCharged},
		{name: "a lost response, then a failed record of a draft, and nothing was delivered", why: "a draft can fail only in generation, after its purchase",
			delivery: never, response: lost, record: failed, outcome: shipping.OutcomeCharged},
		{name: "a lost response, then the old draft for longer than QuietFor", why: "a purchase that never arrived leaves the same draft",
			delivery: once, response: lost, record: oldDraft, settled: true, outcome: shipping.OutcomeNotCharged, chargedYet: true},
		{name: "a lost response, and the purchase is delivered after QuietFor", why: "the specification bounds no time; QuietFor is the bound that the user sets",
			delivery: never, response: lost, later: true, settled: true, outcome: shipping.OutcomeNotCharged, chargedYet: true},
	}
}

// TestPurchaseCampaign_Forgeries documents the limit of the campaign. A row that fails here because the client
// reports the truth belongs into the faults of the campaign.
func TestPurchaseCampaign_Forgeries(t *testing.T) {
	t.Parallel()
	for number, row := range forgeries() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			o := randomtest.New(t)
			c := newCampaign(t, options{Options: o, seed: o.Seed(), patience: 100 * patience}, wires()[number%2])
			c.proxy.plan = func(o *order, kind string, n int) plan {
				p := plan{row.delivery, damage{name: row.name, apply: row.response}, c.schedule.random(o.number, kind, n)}
				if kind == readBack {
					p = plan{delivery{copies: 1}, damage{name: row.name, apply: row.record}, p.random}
				}
				return p
			}
			one := &trial{order: &order{}, subject: subject{documents: []int{0}}, known: true}
			c.purchase(t, one)
			outcome := one.outcome
			if row.settled {
				c.settle(t, one)
				outcome = one.settled
			}
			if row.later {
				if _, err := c.direct.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: one.requestID, DocumentTypes: one.documents}); err != nil {
					t.Fatal(err)
				}
			}
			if charged := c.isCharged(t, one); outcome != row.outcome || charged != row.chargedYet {
				t.Errorf("reported %q, charged %t; want %q and %t, because %s\n%q", outcome, charged, row.outcome, row.chargedYet, row.why, one.order.log)
			}
		})
	}
}
