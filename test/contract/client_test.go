package contract

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
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
	srv := start(t, mockserver.WithVirtualClock(time.Time{}))
	client, j := judged(t, srv, srv.SecretKey)
	ctx := t.Context()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	for _, list := range shippingtest.Lists() {
		for _, err := range list.All(ctx, client, srv.Wallets()[0]) {
			ok(err)
		}
	}
	replayed, err := client.Webhooks.Replay(ctx, &shipping.ReplayRequest{ShipmentID: srv.Shipments()[0], Event: "shipment.created"})
	ok(err)
	_, err = client.Webhooks.Replay(ctx, &shipping.ReplayRequest{DeliveryID: replayed.DeliveryID})
	ok(err)

	_, err = client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: srv.Shipments()[0]})
	ok(err)
	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{FileURL: "https://invoices.example/fail-once.pdf"})
	ok(err)
	id := draft.RequestID
	draft, err = client.Regulatory.UpdateItems(ctx, id, draft.LineItems)
	ok(err)
	_, err = client.Regulatory.UpdateAddresses(ctx, id, shipping.Addresses{
		Destination: &shipping.Address{Name: "Ada Brooks", City: "Newark", State: "NJ", Country: "US"},
		Origin:      draft.Addresses.Origin,
	})
	ok(err)
	_, err = client.Regulatory.UpdateShipping(ctx, id, shipping.ShippingDetails{CarrierSlug: "fedex", Incoterm: "DDP"})
	ok(err)
	_, err = client.Regulatory.UpdateProfile(ctx, id, "CUSTOMS", map[string]any{"incoterm": "DDP"})
	ok(err)
	_, err = client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: id, DocumentTypes: []shipping.DocumentType{"CUSTOMS", "WATCH"}})
	ok(err)
	advance(t, srv)
	if failed, err := client.Regulatory.Get(ctx, id); err != nil || failed.Status != "failed" {
		t.Fatalf("%+v, %v; want the status failed", failed, err)
	}
	_, err = client.Regulatory.Retry(ctx, id)
	ok(err)
	advance(t, srv)
	if done, err := client.Regulatory.Wait(ctx, id, nil); err != nil || done.Status != "completed" {
		t.Fatalf("%+v, %v; want the status completed", done, err)
	}
	_, err = client.Regulatory.PDF(ctx, id, "CUSTOMS")
	ok(err)

	j.allRequestsAllowed()
	if missing := j.missing(successes()); len(missing) > 0 {
		t.Errorf("never seen to succeed: %v; add a call to test/contract/client_test.go", missing)
	}
}

func advance(t *testing.T, srv *mockserver.Server) {
	t.Helper()
	if _, err := srv.Advance(time.Hour); err != nil {
		t.Fatal(err)
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
