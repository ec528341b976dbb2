package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// Nights share shipments. In the first, the response to a purchase is lost, another purchase is lost before it takes
// effect, and the budget suffices for a part.
func TestNights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := mockserver.New(mockserver.WithScenario("shipments30"), mockserver.WithoutListener())
		defer server.Close()
		lost := []fault.Rule{
			{Operation: shipping.OpPurchase, Nth: 1, Committed: true, Fault: fault.Drop()},
			{Operation: shipping.OpPurchase, Nth: 2, Fault: fault.Drop()},
		}
		if err := server.Inject(lost...); err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir()
		j := job{client: server.Client(t), wallet: server.Wallets()[0], folder: folder,
			list: filepath.Join(folder, "shipments.txt")}
		for _, run := range []struct {
			night, budget      string
			from, to           int
			fails, again, buys bool
		}{
			{"2026-11-26", "250000 NGN", 0, 20, true, true, true},     // an unknown purchase, and over budget
			{"2026-11-26", "250000 NGN", 0, 20, true, false, true},    // again: the purchase is settled, and the rest is over budget
			{"2026-11-27", "2000000 NGN", 10, 30, false, false, true}, // the budget of another night
			{"2026-11-28", "2000000 NGN", 0, 30, false, false, true},
			{"2026-11-29", "1 NGN", 0, 30, false, false, false}, // no new shipments
			{"2026-11-30", "1 NGN", 0, 0, false, false, false},  // no shipments at all
		} {
			var err error
			if j.budget, err = shipping.ParseBudget(run.budget); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(j.list, []byte(strings.Join(server.Shipments()[run.from:run.to], "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			j.night = run.night
			before := server.Requests(shipping.OpPurchase)
			if again, err := j.run(t.Context()); (err != nil) != run.fails || again != run.again {
				t.Errorf("%s: %v, again %v; want an error: %v, again %v", run.night, err, again, run.fails, run.again)
			}
			if bought := server.Requests(shipping.OpPurchase) > before; bought != run.buys {
				t.Errorf("%s: bought %v, want %v", run.night, bought, run.buys)
			}
			server.CheckInvariants(t)
			server.Lint(t) // nothing was bought twice
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if again, err := j.run(ended); err == nil || !again {
			t.Errorf("after SIGTERM: %v, again %v", err, again)
		}
		before, err := os.ReadFile(filepath.Join(folder, "wallet.csv"))
		if err != nil {
			t.Fatal(err)
		}
		busy := fault.Rule{Operation: shipping.OpListTransactions, Fault: fault.Status(503, nil)}
		if err := server.Inject(busy); err != nil {
			t.Fatal(err)
		}
		if again, err := j.run(t.Context()); err == nil || !again {
			t.Errorf("a list that the service cannot read now: %v, again %v", err, again)
		}
		if after, err := os.ReadFile(filepath.Join(folder, "wallet.csv")); !bytes.Equal(after, before) {
			t.Errorf("the file of the last night is gone: %v", err)
		}
		for name, least := range map[string]int{"rates.csv": 80, "wallet.csv": 200, "documents.csv": 1} {
			text, err := os.ReadFile(filepath.Join(folder, name))
			if lines := strings.Count(string(text), "\n"); err != nil || lines < least {
				t.Errorf("%s has %d lines: %v", name, lines, err)
			}
		}
	})
}
