package mockserver_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
)

const late = 30 * time.Second

// lateFaults are the faults that take effect late, each with the status of its response, 0 if the connection closes.
var lateFaults = map[int]func(time.Duration) fault.Fault{0: fault.ArriveLate,
	http.StatusGatewayTimeout: fault.GatewayTimeout}

// lose sends a request whose response is lost. It returns the status of the response, 0 if the connection closes.
func lose(t *testing.T, srv *mockserver.Server, method, path, body string) int {
	t.Helper()
	req := newRequest(t, srv, method, path, body)
	req.GetBody = nil // net/http cannot repeat the request
	got, err := attempt(srv.Transport(), req)
	if err != nil {
		return 0
	}
	return got.status
}

// purchaseArrivesLate analyzes a shipment and loses a purchase that a fault lets arrive late. It returns the id of the
// request.
func purchaseArrivesLate(t *testing.T, srv *mockserver.Server, f fault.Fault) string {
	t.Helper()
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	inject(t, srv, fault.Rule{Operation: shipping.OpPurchase, First: 1, Fault: f})
	status := lose(t, srv, http.MethodPost, regulatoryPath+"/purchase",
		`{"request_id":"`+draft.ID+`","document_types":["CUSTOMS"]}`)
	shippingtest.Diff(t, "kind of the fault", lateFaults[status](late).Kind, f.Kind)
	return draft.ID
}

// faultOf returns the fault of the one request of an operation that a fault struck.
func faultOf(t *testing.T, srv *mockserver.Server, operation string) string {
	t.Helper()
	struck := srv.Find(journal.Query{Operation: operation, Faulted: true})
	if len(struck) != 1 {
		t.Fatalf("faults struck %d requests of %s, want 1", len(struck), operation)
	}
	return struck[0].Fault
}

// charged requires that a request was purchased, or that it is a draft.
func charged(t *testing.T, srv *mockserver.Server, id string, want bool) {
	t.Helper()
	if got := lookUp(t, srv, id); (got.TransactionID != "") != want || (got.Status != "draft") != want {
		t.Errorf("status %s and transaction %q, want charged: %v", got.Status, got.TransactionID, want)
	}
}

// No fault took effect after the client had given up, as a request does that a proxy delivers late, or that a
// gateway no longer waits for.
func TestFaultLate_TakesEffectAfterTheExchange(t *testing.T) {
	t.Parallel()
	for _, f := range lateFaults {
		srv, kind := start(t, mockserver.WithoutListener(), virtual()), "rule 1: "+f(late).Kind
		id := purchaseArrivesLate(t, srv, f(late))
		advance(t, srv, late-time.Second)
		charged(t, srv, id, false)
		shippingtest.Diff(t, "fault on its way", kind, faultOf(t, srv, shipping.OpPurchase))
		advance(t, srv, time.Second)
		charged(t, srv, id, true)
		shippingtest.Diff(t, "fault", kind+", took effect at 2026-01-05T09:30:30Z", faultOf(t, srv, shipping.OpPurchase))
		shippingtest.Diff(t, "purchases that were sent", 1, srv.Requests(shipping.OpPurchase))
		srv.CheckInvariants(t)
	}
}

// A gateway responds after its own time, and the service performs the operation later than that.
func TestFaultGatewayTimeout_AfterALatency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := mockserver.New(mockserver.WithoutListener())
		defer srv.Close()
		draft, began := analyzeShipment(t, srv, srv.Shipments()[0]), time.Now()
		inject(t, srv, fault.Rule{Operation: shipping.OpPurchase, Fault: fault.Latency(29 * time.Second)},
			fault.Rule{Operation: shipping.OpPurchase, Fault: fault.GatewayTimeout(91 * time.Second)})
		purchase(t, srv, draft.ID, "CUSTOMS").want(t, http.StatusGatewayTimeout)
		shippingtest.Diff(t, "time of the response", 29*time.Second, time.Since(began))
		time.Sleep(91*time.Second - 1)
		charged(t, srv, draft.ID, false)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		charged(t, srv, draft.ID, true)
	})
}

// Every operation that changes something can arrive late, also one with the id in its path. One that reads changes
// nothing.
func TestFaultArriveLate_StrikesEveryOperationThatChanges(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	inject(t, srv, fault.Rule{Fault: fault.ArriveLate(late)})
	const effect = ", took effect at 2026-01-05T09:30:30Z"
	for operation, request := range map[string]struct{ method, path, body, result string }{
		shipping.OpAnalyze: {"POST", regulatoryPath + "/analyze", `{"shipment_id":"` + srv.Shipments()[0] + `"}`, effect},
		shipping.OpReplayWebhook: {"POST", "/v1/webhooks/replay",
			`{"shipment_id":"` + srv.Shipments()[0] + `","event":"shipment.created"}`, effect},
		operations.UpdateAddresses: {"PUT", regulatoryPath + "/request/" + draft.ID + "/addresses",
			`{"origin":{"country":"US"}}`, effect},
		operations.RetryRequest: {"POST", regulatoryPath + "/request/" + draft.ID + "/retry", ``, ", was refused ("},
		shipping.OpPurchase:     {"POST", regulatoryPath + "/purchase", `[`, ", was refused ("},
		shipping.OpListRates:    {"GET", "/v1/rates", `{}`, ""},
	} {
		lose(t, srv, request.method, request.path, request.body)
		defer func() {
			if got := faultOf(t, srv, operation); !strings.HasPrefix(got, "rule 1: arrive-late"+request.result) ||
				request.result == "" && got != "rule 1: arrive-late" {
				t.Errorf("the fault of %s is %q", operation, got)
			}
		}()
	}
	before := len(srv.Deliveries())
	advance(t, srv, late)
	if got := len(srv.Deliveries()) - before; got == 0 {
		t.Error("the replay sent nothing")
	}
}

// Clearing the faults performs a request that is on its way; a reset discards it. A timer that a reset forgets would
// purchase in the new world.
func TestFaultArriveLate_EndsWithItsFaultOrItsWorld(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	id := purchaseArrivesLate(t, srv, fault.ArriveLate(late))
	do(t, srv, http.MethodDelete, "/_mock/faults", "").want(t, http.StatusOK)
	charged(t, srv, id, true)
	purchaseArrivesLate(t, srv, fault.ArriveLate(late))
	srv.Reset()
	shippingtest.Diff(t, "functions that the clock calls after a reset", 0, len(advance(t, srv, late)))
	srv.CheckInvariants(t)
}

// A rule without limits must not fill the memory of the server.
func TestFaultArriveLate_HasALimit(t *testing.T) {
	t.Parallel()
	const most = 1000
	srv := start(t, mockserver.WithoutListener(), virtual())
	inject(t, srv, fault.Rule{Operation: shipping.OpAnalyze, Fault: fault.ArriveLate(late)})
	for range most + 1 {
		lose(t, srv, http.MethodPost, regulatoryPath+"/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`)
	}
	shippingtest.Diff(t, "requests that arrived", most, len(advance(t, srv, late)))
	for i, one := range srv.Find(journal.Query{Operation: shipping.OpAnalyze}) {
		want := ", took effect at "
		if i == most {
			want = ", and never takes effect: 1000 requests are on their way, which is the limit"
		}
		if !strings.Contains(one.Fault, want) {
			t.Fatalf("the fault of request %d is %q, want %q in it", i+1, one.Fault, want)
		}
	}
}
