package documents_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

// The purchase of the README is a careful one: lint finds nothing in it. It polled every 10 ms, and whoever copied it
// had findings.
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
				Budget: limit,                    // checked against the most that the draft can cost
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
	for committed, want := range map[bool]shipping.PurchaseOutcome{false: shipping.OutcomeNotCharged,
		true: shipping.OutcomeCharged} {
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

			unclear, ok := errors.AsType[*shipping.RegulatoryError](err)
			if !ok || unclear.Outcome != shipping.OutcomeUnknown {
				log.Fatal(err)
			}
			bought, err := client.Regulatory.SettlePurchase(ctx, unclear.Purchase)
			verdict, ok := errors.AsType[*shipping.RegulatoryError](err)
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

// database keeps the purchase of each shipment, as JSON.
type database interface {
	load(shipmentID string) (*shipping.PurchaseRequest, error) // nil without one
	store(shipmentID string, purchase *shipping.PurchaseRequest) error
	remove(shipmentID string) error
}

// buyOnce buys the documents of a shipment once, however often it is killed and called again.
func buyOnce(ctx context.Context, client *shipping.Client, db database, shipmentID string,
	limit *shipping.Budget) error {
	purchase, err := db.load(shipmentID)
	if err != nil {
		return err
	}
	if purchase == nil { // the first time
		draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: shipmentID})
		if err != nil {
			return err
		}
		options := &shipping.AnalyzeAndPollOptions{Select: shipping.SelectAutomated, Budget: limit}
		purchase, err = client.Regulatory.Prepare(ctx, draft, options)
		if err != nil || len(purchase.DocumentTypes) == 0 {
			return err
		}
		purchase.Sole = true // nobody else purchases from this draft
		if err := db.store(shipmentID, purchase); err != nil {
			return err
		}
		_, err = client.Regulatory.Purchase(ctx, purchase)
		return finish(ctx, client, db, shipmentID, purchase, err)
	}
	_, err = client.Regulatory.SettlePurchase(ctx, purchase) // takes up to five minutes
	return finish(ctx, client, db, shipmentID, purchase, err)
}

func finish(ctx context.Context, client *shipping.Client, db database, shipmentID string,
	purchase *shipping.PurchaseRequest, err error) error {
	failed, ok := errors.AsType[*shipping.RegulatoryError](err)
	switch {
	case err == nil, ok && failed.Outcome == shipping.OutcomePurchasedBefore:
		_, err = client.Regulatory.Wait(ctx, purchase.RequestID, nil)
		return err // the purchase stays in the database: the shipment is paid
	case ok && failed.Outcome == shipping.OutcomeNotCharged:
		return errors.Join(err, db.remove(shipmentID)) // the next call purchases again
	case ok:
		return errors.Join(err, db.store(shipmentID, failed.Purchase)) // the next call settles it
	}
	return err
}

// memory is a database that a program can no longer write once it was killed.
type memory struct {
	killed context.Context
	rows   map[string][]byte
}

func (m memory) load(shipmentID string) (purchase *shipping.PurchaseRequest, err error) {
	if row, found := m.rows[shipmentID]; found {
		err = json.Unmarshal(row, &purchase)
	}
	return purchase, err
}

func (m memory) store(shipmentID string, purchase *shipping.PurchaseRequest) error {
	row, err := json.Marshal(purchase)
	if err == nil && m.killed.Err() == nil {
		m.rows[shipmentID] = row
	}
	return err
}

func (m memory) remove(shipmentID string) error {
	if m.killed.Err() == nil {
		delete(m.rows, shipmentID)
	}
	return nil
}

// The guide's program that can be killed paid twice: it removed the purchase that was charged.
func TestPurchaseGuide_Killed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit, err := shipping.ParseBudget("250000.00 NGN")
		if err != nil {
			t.Fatal(err)
		}
		rows := map[int]map[string][]byte{} // by run
		config := sweep.Config{Restart: true, Timeout: time.Hour, Options: []mockserver.Option{mockserver.WithoutListener()}}
		report, err := sweep.Sweep(t.Context(), config, func(ctx context.Context, a sweep.Execution) sweep.Outcome {
			if rows[a.Run] == nil {
				rows[a.Run] = map[string][]byte{}
			}
			client := a.World.Client(t)
			if err := buyOnce(ctx, client, memory{ctx, rows[a.Run]}, a.World.Shipments()[0], limit); err != nil {
				return sweep.Outcome{How: err.Error()}
			}
			return sweep.Outcome{Success: true, How: "success"}
		})
		if err != nil || len(report.Failing()) > 0 || len(report.Results) < 40 {
			var text strings.Builder
			t.Errorf("%v, %d runs: %v\n%s", err, len(report.Results), report.WriteText(&text), &text)
		}
	})
}
