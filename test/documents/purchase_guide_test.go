package documents_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// The purchase of the README is a careful one: lint finds nothing in it. It polled every 10 ms, and whoever copied it had
// findings.
func TestPurchaseGuide_Buy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := mockserver.New(mockserver.WithoutListener())
		defer server.Close()
		client, ctx, shipmentID := server.Client(t), t.Context(), server.Shipments()[0]

		limit, err := shipping.ParseBudget("250000.00 NGN")
		if err != nil {
			log.Fatal(err)
		}

		request, err := client.Regulatory.AnalyzeAndPoll(ctx,
			&shipping.AnalyzeRequest{ShipmentID: shipmentID},
			&shipping.AnalyzeAndPollOptions{
				Select: shipping.SelectAutomated, // without Select nothing is bought
				Budget: limit,                    // checked against the prices stored on the draft
			})

		if err != nil || request.Status != shipping.StatusCompleted {
			t.Fatalf("%+v, %v", request, err)
		}
		server.CheckInvariants(t)
		server.Lint(t)
	})
}

// A purchase of unknown outcome that did not reach the service is settled as not charged, and one that did as charged.
func TestPurchaseGuide_Settle(t *testing.T) {
	for committed, want := range map[bool]shipping.PurchaseOutcome{false: shipping.OutcomeNotCharged, true: shipping.OutcomeCharged} {
		synctest.Test(t, func(t *testing.T) {
			server := mockserver.New(mockserver.WithoutListener())
			defer server.Close()
			client, ctx := server.Client(t), t.Context()
			draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: server.Shipments()[0]})
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range []fault.Rule{
				{Operation: shipping.OpPurchase, Committed: committed, Fault: fault.Drop()},
				{Operation: shipping.OpGetRequest, Fault: fault.Drop()}, // no read-back either
			} {
				if err := server.Inject(rule); err != nil {
					t.Fatal(err)
				}
			}
			_, err = client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
				RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{"CUSTOMS"}, Draft: draft,
			})
			server.ClearFaults()

			unclear, ok := errors.AsType[*shipping.PurchaseError](err)
			if !ok || unclear.Outcome != shipping.OutcomeUnknown {
				log.Fatal(err)
			}
			bought, err := client.Regulatory.SettlePurchase(ctx, unclear.Purchase)
			verdict, ok := errors.AsType[*shipping.PurchaseError](err)
			switch {
			case err == nil:
				fmt.Println("settled: charged", bought.TransactionID)
			case ok:
				fmt.Println("settled:", verdict.Outcome)
			default:
				log.Fatal(err)
			}

			got := shipping.OutcomeCharged
			if verdict != nil {
				got = verdict.Outcome
			}
			if got != want {
				t.Errorf("committed %t: settled as %s, want %s", committed, got, want)
			}
		})
	}
}

// A purchase that was stored before it was sent is settled in another process, from JSON: also one that was refused, because
// somebody else had purchased the documents.
func TestPurchaseGuide_Killed(t *testing.T) {
	drop := fault.Rule{Operation: shipping.OpPurchase, First: 1, Fault: fault.Drop()}
	charged := drop
	charged.Committed = true
	refused := fault.Rule{Operation: shipping.OpPurchase, First: 1, Fault: fault.Respond(400, nil, `{"status":false,"message":"no","data":null}`)}
	unread := fault.Rule{Operation: shipping.OpGetRequest, Fault: fault.Drop()}
	for name, test := range map[string]struct {
		rule    fault.Rule
		charged bool
	}{
		"never charged": {drop, false}, "charged": {charged, true}, "refused": {refused, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			server := mockserver.New(mockserver.WithoutListener())
			defer server.Close()
			client, ctx, shipmentID := server.Client(t), t.Context(), server.Shipments()[0]
			limit, err := shipping.ParseBudget("250000.00 NGN")
			if err != nil {
				t.Fatal(err)
			}
			var database []byte
			store := func(purchase *shipping.PurchaseRequest) (err error) {
				database, err = json.Marshal(purchase)
				return err
			}
			remove := func() error {
				database = nil
				return nil
			}
			stored := func() *shipping.PurchaseRequest {
				var purchase shipping.PurchaseRequest
				if err := json.Unmarshal(database, &purchase); err != nil {
					t.Fatal(err)
				}
				return &purchase
			}
			finish := func(err error) {
				unclear, ok := errors.AsType[*shipping.PurchaseError](err)
				switch {
				case err == nil, ok && unclear.Outcome != shipping.OutcomeUnknown:
					err = remove()
				case ok:
					err = store(unclear.Purchase)
				}
				if err != nil {
					log.Fatal(err)
				}
			}
			draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: shipmentID})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(server.Inject(test.rule), server.Inject(unread)); err != nil {
				t.Fatal(err)
			}

			purchase, err := client.Regulatory.Prepare(ctx, draft, &shipping.AnalyzeAndPollOptions{
				Select: shipping.SelectAutomated, Budget: limit,
			})
			if err != nil {
				log.Fatal(err)
			}
			purchase.Sole = true // nobody else purchases from this draft
			if err := store(purchase); err != nil {
				log.Fatal(err)
			}
			_, err = client.Regulatory.Purchase(ctx, purchase)
			finish(err)

			if err == nil || database == nil {
				t.Fatalf("%s: %v, and the database has %q", name, err, database)
			}
			server.ClearFaults()

			_, err = client.Regulatory.SettlePurchase(ctx, stored())
			finish(err)

			if got := err == nil; got != test.charged || database != nil {
				t.Errorf("%s: settled with %v, and the database has %q", name, err, database)
			}
		})
	}
}
