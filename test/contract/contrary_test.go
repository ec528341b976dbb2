package contract

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
)

// The document of a server that chooses otherwise at each open point is valid, and describes its responses.
func TestDocument_FollowsTheOtherChoices(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*assumption.Set){
		"contrary":                func(*assumption.Set) {},
		"refused in the envelope": func(a *assumption.Set) { a.ProblemRefusals, a.AnalyzeFailureOK = false, false },
		"with all that the server holds": func(a *assumption.Set) {
			a.MinimalRecord, a.MinimalPurchase = false, false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithVirtualClock(time.Time{}), mockserver.WithAssumptions(assumption.Contrary), mockserver.WithAssumptions(edit))
			resp, err := http.Get(srv.URL + "/_mock/openapi.json")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			document, err := openapi3.NewLoader().LoadFromData(text)
			if err != nil {
				t.Fatal(err)
			}
			if err := document.Validate(t.Context()); err != nil {
				t.Error(err)
			}
			j := newJudge(t)
			var closed any
			if err := json.Unmarshal(text, &closed); err != nil {
				t.Fatal(err)
			}
			closeObjects(closed)
			if text, err = json.Marshal(closed); err != nil {
				t.Fatal(err)
			}
			if j.document, err = openapi3.NewLoader().LoadFromData(text); err != nil {
				t.Fatal(err)
			}
			if j.router, err = gorillamux.NewRouter(j.document); err != nil {
				t.Fatal(err)
			}
			everyChoice(t, srv, j)
		})
	}
}

// everyChoice makes the calls whose responses the assumptions change. The judge checks each.
func everyChoice(t *testing.T, srv *mockserver.Server, j *judge) {
	t.Helper()
	client := srv.Client(t, shipping.WithHTTPClient(&http.Client{Transport: j}), shipping.WithProvisionalRoutes())
	ctx := t.Context()
	if _, err := client.Rates.List(ctx, nil); err != nil {
		t.Error(err)
	}
	if _, err := client.Transactions.List(ctx, &shipping.TransactionListOptions{Wallet: srv.Wallets()[0], Page: 3}); err != nil {
		t.Error(err)
	}
	for _, source := range []shipping.AnalyzeRequest{{ShipmentID: "SH-MAGICFAILANALYSIS"}, {ShipmentID: "SH-NOSUCH"}} {
		if _, err := client.Regulatory.Analyze(ctx, &source); err == nil {
			t.Errorf("%+v succeeded", source)
		}
	}
	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: srv.Shipments()[0]})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Regulatory.UpdateItems(ctx, draft.RequestID, nil); err == nil {
		t.Error("a draft without items")
	}
	if _, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{shipping.DocumentCustoms}}); err != nil {
		t.Fatal(err)
	}
	for _, wait := range []time.Duration{0, time.Minute, time.Hour} {
		if _, err := srv.Advance(wait); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Regulatory.Get(ctx, draft.RequestID); err != nil {
			t.Error(err)
		}
	}
}
