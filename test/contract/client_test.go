package contract

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// judged returns a client whose every exchange is checked against the document.
func judged(t *testing.T, srv *mockserver.Server, key string) (*shipping.Client, *judge) {
	t.Helper()
	j := newJudge(t)
	client, err := shipping.NewClient(key,
		shipping.WithBaseURL(srv.URL), shipping.WithHTTPClient(&http.Client{Transport: j}), shipping.WithProvisionalRoutes())
	if err != nil {
		t.Fatal(err)
	}
	return client, j
}

func TestClient_EveryMethodSendsWhatIsDocumented(t *testing.T) {
	t.Parallel()
	j := newJudge(t)
	for _, call := range shippingtest.Calls() {
		if !operations.Exists(call.Operation) {
			continue // Do sends what the caller gives
		}
		service := shippingtest.NewService(call.Success())
		if _, err := call.Do(t.Context(), shippingtest.NewClient(t, service, shipping.WithProvisionalRoutes())); err != nil {
			t.Fatal(err)
		}
		for _, sent := range service.Requests() {
			request := httptest.NewRequest(sent.Method, sent.Path+"?"+sent.Query.Encode(), strings.NewReader(sent.Body))
			request.Header = sent.Header
			in, err := j.input(request)
			if err == nil {
				err = openapi3filter.ValidateRequest(t.Context(), in)
			}
			if err != nil || in.Route.Operation.OperationID != call.Operation {
				t.Errorf("%s: %v", call.Operation, err)
			}
		}
	}
}

func TestClient_EveryRefusalIsReadFromWhatIsDocumented(t *testing.T) {
	t.Parallel()
	srv := start(t)
	client, j := judged(t, srv, srv.SecretKey)
	stranger, _ := judged(t, srv, "sk_of_nobody")
	tests := []struct {
		name string
		call func(ctx context.Context) error
		want error
	}{
		{"wrong key", func(ctx context.Context) error { _, err := stranger.Rates.List(ctx, nil); return err }, shipping.ErrUnauthorized},
		{"unknown wallet", func(ctx context.Context) error {
			_, err := client.Transactions.List(ctx, &shipping.TransactionListOptions{Wallet: "VA-0"})
			return err
		}, shipping.ErrNotFound},
		{"unknown webhook", func(ctx context.Context) error {
			_, err := client.Webhooks.Replay(ctx, &shipping.ReplayRequest{ShipmentID: srv.Shipments()[0], Event: "shipment.created", WebhookID: "WA-0"})
			return err
		}, shipping.ErrInvalidRequest},
		{"failed analysis", func(ctx context.Context) error {
			_, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: "SH-MAGICFAILANALYSIS"})
			return err
		}, shipping.ErrInvalidRequest},
		{"unknown request", func(ctx context.Context) error { _, err := client.Regulatory.Get(ctx, "RD-NOWHERE"); return err }, shipping.ErrNotFound},
		{"purchase of an unknown request", func(ctx context.Context) error {
			_, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: "RD-NOWHERE", DocumentTypes: []shipping.DocumentType{"FDA"}})
			return err
		}, shipping.ErrNotFound},
		{"document of an unknown request", func(ctx context.Context) error {
			_, err := client.Regulatory.PDF(ctx, "RD-NOWHERE", "FDA")
			return err
		}, shipping.ErrNotFound},
	}
	for _, test := range tests {
		if err := test.call(t.Context()); !errors.Is(err, test.want) {
			t.Errorf("%s: %v; want %v", test.name, err, test.want)
		}
	}
	j.allRequestsAllowed()
}

// The document and the client know the same document types.
func TestClient_KnowsTheDocumentTypesOfTheDocument(t *testing.T) {
	t.Parallel()
	document := rules(t)
	var listed []shipping.DocumentType
	for _, value := range document.Components.Schemas["DocumentType"].Value.Enum {
		listed = append(listed, shipping.DocumentType(value.(string)))
	}
	if !slices.Equal(listed, shipping.DocumentTypes()) {
		t.Errorf("the document has %v; the client has %v", listed, shipping.DocumentTypes())
	}
}
