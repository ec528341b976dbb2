package contract

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// The document of a server that chooses otherwise at an open point is valid, and describes its responses.
func TestDocument_FollowsTheOtherChoices(t *testing.T) {
	t.Parallel()
	documents := map[string]*openapi3.T{} // in closed form, by text: most choices do not change it
	choices := shippingtest.Choices(t)
	choices["strict"], choices["reference"] = shippingtest.Dialect(t, "strict"), shippingtest.Dialect(t, "reference")
	for name, d := range choices {
		srv := start(t, mockserver.WithVirtualClock(time.Time{}), mockserver.WithDialect(d))
		text := documentOf(t, srv)
		if documents[text] == nil {
			document, err := openapi3.NewLoader().LoadFromData([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := document.Validate(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if documents[text], err = closed([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyChoice(t, srv, newJudge(t, documents[text]))
		})
	}
}

// documentOf returns the document that a server serves.
func documentOf(t *testing.T, srv *mockserver.Server) string {
	t.Helper()
	resp := shippingtest.Must((&http.Client{Transport: srv.Transport()}).Get(srv.URL + "/_mock/openapi.json"))(t)
	defer resp.Body.Close()
	text := shippingtest.Must(io.ReadAll(resp.Body))(t)
	return string(text)
}

// everyChoice makes the calls whose responses the assumptions change. The judge checks each.
func everyChoice(t *testing.T, srv *mockserver.Server, j *judge) {
	t.Helper()
	client := srv.Client(t, shipping.WithHTTPClient(&http.Client{Transport: j}), shippingtest.WithRoutes())
	ctx := t.Context()
	for _, list := range shippingtest.Lists() {
		route := shippingtest.Operation(list.Operation).Route
		caller{t, j, srv}.send(http.MethodGet, route+"?"+list.Query(srv.Wallets()[0]), "")
	}
	if _, err := client.Transactions.List(ctx,
		&shipping.TransactionListOptions{Wallet: srv.Wallets()[0], Page: 3}); err != nil {
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
	shippingtest.Must(client.Regulatory.Purchase(ctx,
		&shipping.PurchaseRequest{RequestID: draft.RequestID,
			DocumentTypes: []shipping.DocumentType{"CUSTOMS"}}))(t)
	for _, wait := range []time.Duration{0, time.Minute, time.Hour} {
		shippingtest.Must(srv.Advance(wait))(t)
		if _, err := client.Regulatory.Get(ctx, draft.RequestID); err != nil {
			t.Error(err)
		}
	}
}
