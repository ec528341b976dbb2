package citest

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// shop returns a desk with its own server. When the test ends, the ledger balances, and nothing was bought twice.
func shop(t *testing.T, opts ...mockserver.Option) (*Desk, *mockserver.Server) {
	t.Helper()
	server := mockserver.New(opts...)
	t.Cleanup(func() {
		server.CheckInvariants(t)
		server.Lint(t)
		server.Close()
	})
	return &Desk{Client: server.Client(t), Limit: limit(t, "250000")}, server
}

func limit(t *testing.T, text string) shipping.Budget {
	t.Helper()
	budget, err := shipping.ParseBudget(text + " NGN")
	if err != nil {
		t.Fatal(err)
	}
	return *budget
}

// first returns an order that needs several documents.
func first(server *mockserver.Server) Order {
	return Order{Number: "2026-0001", ShipmentID: server.Shipments()[0]}
}

// inject makes something go wrong.
func inject(t *testing.T, server *mockserver.Server, rule fault.Rule) {
	t.Helper()
	if err := server.Inject(rule); err != nil {
		t.Fatal(err)
	}
}

// The plainest test: a server, on a socket, whose documents are ready at once.
func TestAnOrderGetsItsDocuments(t *testing.T) {
	t.Parallel()
	desk, server := shop(t, mockserver.WithScenario("instant"))
	documents, err := desk.Prepare(t.Context(), first(server))
	if err != nil {
		t.Fatal(err)
	}
	if len(documents.Types) < 2 || server.Requests(shipping.OpPurchase) != 1 {
		t.Errorf("%+v after %d purchases", documents, server.Requests(shipping.OpPurchase))
	}
}

// In a synctest bubble, time advances when every goroutine waits: documents take hours on a slow day, and the test
// milliseconds. The server is made inside the bubble, without a socket.
func TestHoursPassInNoTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		desk, server := shop(t, mockserver.WithoutListener(),
			mockserver.WithDialect(shippingtest.Dialect(t, "time.generation=500")))
		started := time.Now()
		if _, err := desk.Prepare(t.Context(), first(server)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(started); took < 2*time.Hour {
			t.Errorf("the documents were there after %s", took)
		}
	})
}

// Whatever goes wrong, an order is paid for once, and calling Prepare again completes it.
func TestNothingThatGoesWrongChargesTwice(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]fault.Rule{
		"the answer to the purchase is lost": {Operation: shipping.OpPurchase, Nth: 1, Committed: true, Fault: fault.Drop()},
		"the purchase is lost":               {Operation: shipping.OpPurchase, Nth: 1, Fault: fault.Drop()},
		"the service dies after the charge":  {Operation: shipping.OpPurchase, Nth: 1, Point: fault.AfterCharge},
		"a gateway answers for it": {Operation: shipping.OpPurchase, Nth: 1, Committed: true,
			Fault: fault.HTML(http.StatusBadGateway)},
		"the analysis fails at first": {Operation: shipping.OpAnalyze, Nth: 1,
			Fault: fault.Status(http.StatusServiceUnavailable, nil)},
		"polling meets an outage": {Operation: shipping.OpGetRequest, First: 6,
			Fault: fault.Status(http.StatusServiceUnavailable, nil)},
		"polling is too fast": {Operation: shipping.OpGetRequest, Nth: 2,
			Fault: fault.RateLimit(fault.RetryAfterSeconds, 20*time.Second)},
		"answers come in pieces": {Operation: shipping.OpGetRequest, First: 2, Fault: fault.Truncate(40)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				desk, server := shop(t, mockserver.WithoutListener())
				inject(t, server, rule)
				order := first(server)
				_, err := desk.Prepare(t.Context(), order)
				for tries := 1; err != nil && tries < 3; tries++ {
					t.Logf("asked again after: %v", err)
					_, err = desk.Prepare(t.Context(), order)
				}
				if err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// Callers that bring an order at the same moment take turns: otherwise each of them would pay for it.
func TestConcurrentOrdersArePaidForOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		desk, server := shop(t, mockserver.WithoutListener())
		var asking sync.WaitGroup
		for range 8 {
			asking.Go(func() {
				if _, err := desk.Prepare(t.Context(), first(server)); err != nil {
					t.Error(err)
				}
			})
		}
		asking.Wait()
		if n := server.Requests(shipping.OpPurchase); n != 1 {
			t.Errorf("%d purchases", n)
		}
	})
}

func TestAnOrderThatCostsTooMuchIsHeld(t *testing.T) {
	t.Parallel()
	desk, server := shop(t, mockserver.WithScenario("instant"))
	desk.Limit = limit(t, "100")
	_, err := desk.Prepare(t.Context(), first(server))
	if !errors.Is(err, ErrHeld) || server.Requests(shipping.OpPurchase) != 0 {
		t.Errorf("%d purchases: %v", server.Requests(shipping.OpPurchase), err)
	}
	desk.Limit = limit(t, "250000") // a person has looked at it
	if _, err := desk.Prepare(t.Context(), first(server)); err != nil || server.Requests(shipping.OpAnalyze) != 1 {
		t.Errorf("%d analyses: %v", server.Requests(shipping.OpAnalyze), err)
	}
}

// The journal contains the requests that your code sent, and the responses.
func TestAFailedGenerationIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		desk, server := shop(t, mockserver.WithoutListener())
		inject(t, server, fault.Rule{Point: fault.Generation, First: 1})
		_, err := desk.Prepare(t.Context(), first(server))
		if !errors.Is(err, shipping.ErrRequestFailed) || !strings.Contains(err.Error(), "2026-0001") {
			t.Errorf("the error: %v", err)
		}
		calls := server.Find(journal.Query{Operation: shipping.OpPurchase})
		if len(calls) != 1 || calls[0].Status != http.StatusOK || !strings.Contains(calls[0].RequestBody, "document_types") {
			t.Errorf("purchases: %+v", calls)
		}
	})
}
