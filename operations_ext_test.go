package shipping_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// wireRequest is the expected request of a call.
type wireRequest struct{ Method, Path, Query, Body string }

func asWire(got shippingtest.Request) wireRequest {
	return wireRequest{got.Method, got.Path, got.Query.Encode(), got.Body}
}

func TestWire_EachOperationAsInTheTableOfEndpoints(t *testing.T) {
	t.Parallel()
	for _, call := range shippingtest.Calls() {
		t.Run(call.Operation, func(t *testing.T) {
			t.Parallel()
			service := shippingtest.NewService(call.Success())
			if _, err := call.Do(t.Context(), shippingtest.NewClient(t, service, shipping.WithProvisionalRoutes())); err != nil {
				t.Fatal(err)
			}
			if service.Count("") != 1 {
				t.Fatalf("%d requests were sent, want 1", service.Count(""))
			}
			got := service.Requests()[0]
			want := wireRequest{Body: call.Sent}
			want.Method, want.Path = call.Request()
			if want.Method == http.MethodGet {
				want.Query, want.Body = call.Sent, ""
			}
			shippingtest.Diff(t, "request", want, asWire(got))
			shippingtest.Diff(t, "headers", wantHeader(call, got.Method), got.Header)
		})
	}
}

// wantHeader is every header the client sends, and no other.
func wantHeader(call shippingtest.Call, method string) http.Header {
	header := http.Header{
		"Accept":        {"application/json"},
		"User-Agent":    {"shipping-go/" + shipping.Version},
		"Authorization": {"Bearer " + shippingtest.Key},
	}
	if call.Operation == operations.DocumentPDF { // requires none, and is sent none
		header.Del("Authorization")
		header.Set("Accept", "application/pdf")
	}
	if method != http.MethodGet {
		header.Set("Content-Type", "application/json")
	}
	return header
}

func TestWire_QueryParametersOfTheLists(t *testing.T) {
	t.Parallel()
	service := shippingtest.NewService(shippingtest.OK(`{"rates":[],"webhooks":[],"transactions":[]}`))
	client := shippingtest.NewClient(t, service)
	for _, err := range []error{
		errorOf(client.Rates.List(t.Context(), &shipping.RateListOptions{Page: 2, PerPage: 50})),
		errorOf(client.Rates.List(t.Context(), &shipping.RateListOptions{})), // zero options are not sent
		errorOf(client.Webhooks.List(t.Context(), &shipping.WebhookListOptions{PerPage: 1 << 30})),
		errorOf(client.Transactions.List(t.Context(), &shipping.TransactionListOptions{Wallet: "VA 1&perPage=9", Page: 3})),
		errorOf(client.Transactions.List(t.Context(), &shipping.TransactionListOptions{Wallet: "VA-1"},
			shipping.WithQuery("flow", "out"), shipping.WithQuery("tag", "a"), shipping.WithQuery("tag", "b"))),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	var got []string
	for _, request := range service.Requests() {
		got = append(got, request.Query.Encode())
	}
	shippingtest.Diff(t, "queries", []string{
		"page=2&perPage=50", "", "perPage=1073741824", "page=3&wallet=VA+1%26perPage%3D9", "flow=out&tag=a&tag=b&wallet=VA-1",
	}, got)
}

func errorOf[T any](_ T, err error) error { return err }

func TestWire_BodiesOfTheRequests(t *testing.T) {
	t.Parallel()
	amount := shippingtest.Amount(t, "1234.50")
	for name, test := range map[string]struct {
		do   func(ctx context.Context, c *shipping.Client) error
		want string
	}{
		"replay by shipment and event, limited to a webhook": {func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Webhooks.Replay(ctx, &shipping.ReplayRequest{ShipmentID: "SH-1", Event: shipping.EventShipmentDelivered, WebhookID: "WA-1"}))
		}, `{"shipment_id":"SH-1","event":"shipment.delivered","webhook_id":"WA-1"}`},
		"analyze an invoice": {func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{FileURL: "https://files.example.com/a.pdf?x=1"}))
		}, `{"file_url":"https://files.example.com/a.pdf?x=1"}`},
		"purchase in the caller's order": {func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: shippingtest.RequestID, DocumentTypes: []shipping.DocumentType{"TEXTILE", "AMS"}, Draft: shippingtest.DraftRecord(shippingtest.RequestID)}))
		}, `{"request_id":"` + shippingtest.RequestID + `","document_types":["TEXTILE","AMS"]}`},
		"items with exact money": {func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.UpdateItems(ctx, shippingtest.RequestID, []shipping.LineItem{{
				ItemID: "IT-1", Description: "tea", HSCode: "0902", Quantity: 2.5, UnitPrice: amount, Currency: "USD", Weight: 0.4, OriginCountry: "CN",
			}}))
		}, `{"line_items":[{"item_id":"IT-1","description":"tea","hs_code":"0902","quantity":2.5,"unit_price":1234.5,"currency":"USD","weight":0.4,"origin_country":"CN"}]}`},
		"no items": {func(ctx context.Context, c *shipping.Client) error {
			return errorOf(c.Regulatory.UpdateItems(ctx, shippingtest.RequestID, nil))
		}, `{"line_items":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := shippingtest.NewService(shippingtest.OK(`{"request_id":"` + shippingtest.RequestID + `"}`))
			if err := test.do(t.Context(), shippingtest.NewClient(t, service, shipping.WithProvisionalRoutes())); err != nil {
				t.Fatal(err)
			}
			if got := service.Requests()[0].Body; got != test.want {
				t.Errorf("body\n%s, want\n%s", got, test.want)
			}
		})
	}
}

func TestWire_BaseURLWithAndWithoutVersionSlashAndPrefix(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://api.service.test":             "https://api.service.test/v1/rates",
		"https://api.service.test/":            "https://api.service.test/v1/rates",
		"https://api.service.test/v1":          "https://api.service.test/v1/rates",
		"https://api.service.test/v1/":         "https://api.service.test/v1/rates",
		"https://api.service.test//":           "https://api.service.test/v1/rates",
		" https://API.service.test\n":          "https://api.service.test/v1/rates",
		"https://api.service.test/sandbox":     "https://api.service.test/sandbox/v1/rates",
		"https://api.service.test/sandbox/v1/": "https://api.service.test/sandbox/v1/rates",
		"https://api.service.test/a%2Fb/v1":    "https://api.service.test/a%2Fb/v1/rates",
		"https://api.service.test/sandboxv1":   "https://api.service.test/sandboxv1/v1/rates",
		"http://127.0.0.1:8080/v1":             "http://127.0.0.1:8080/v1/rates",
		"http://[::1]:8080":                    "http://[::1]:8080/v1/rates",
		"http://localhost:1234":                "http://localhost:1234/v1/rates",
		"http://mock:1234":                     "http://mock:1234/v1/rates",
		"http://10.1.2.3":                      "http://10.1.2.3/v1/rates",
		"http://shipping.internal":             "http://shipping.internal/v1/rates",
	} {
		service := shippingtest.NewService(shippingtest.OK(`{"rates":[]}`))
		client := shippingtest.NewClient(t, service, shipping.WithBaseURL(address))
		if _, err := client.Rates.List(t.Context(), nil); err != nil {
			t.Errorf("%q: %v", address, err)
			continue
		}
		got := service.Requests()[0]
		if got.Origin+got.Path != want {
			t.Errorf("%q leads to %s%s, want %s", address, got.Origin, got.Path, want)
		}
		if base := strings.TrimSuffix(want, "/v1/rates"); client.BaseURL() != base {
			t.Errorf("%q: BaseURL returns %s, want %s", address, client.BaseURL(), base)
		}
	}
}

func TestWire_PathParametersAreEscaped(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"RD-1":        "RD-1",
		"a/b":         "a%2Fb",
		"a?b=c":       "a%3Fb=c",
		"50%":         "50%25",
		"%2e%2e":      "%252e%252e",
		"../purchase": "..%2Fpurchase",
		"a b#c":       "a%20b%23c",
		"...":         "...",
		"заявка":      url.PathEscape("заявка"),
		"{x}":         "%7Bx%7D",
		"a;b,c":       "a%3Bb%2Cc",
		"a\r\nX: y":   "a%0D%0AX:%20y",
		"\xff":        "%FF",
	} {
		service := shippingtest.NewService(shippingtest.OK(`{"status":"draft"}`))
		if _, err := shippingtest.NewClient(t, service).Regulatory.Get(t.Context(), id); err != nil {
			t.Errorf("%q: %v", id, err)
			continue
		}
		if got := service.Requests()[0].Path; got != "/v1/regulatory-documents/request/"+want {
			t.Errorf("%q becomes %s, want …/%s", id, got, want)
		}
	}
}

// An option adds a header, and replaces one that the client sends by default.
func TestWire_HeadersOfOptions(t *testing.T) {
	t.Parallel()
	service := shippingtest.NewService(shippingtest.OK(`{"rates":[]}`))
	_, err := shippingtest.NewClient(t, service, shipping.WithUserAgent("acme/1.2")).Rates.List(t.Context(), nil,
		shipping.WithHeader("x-tenant", "a"), shipping.WithHeader("X-Tenant", "b"), shipping.WithHeader("Accept", "application/vnd.api+json"))
	if err != nil {
		t.Fatal(err)
	}
	shippingtest.Diff(t, "headers", http.Header{
		"Authorization": {"Bearer " + shippingtest.Key}, "X-Tenant": {"a", "b"}, "Accept": {"application/vnd.api+json"},
		"User-Agent": {"acme/1.2 shipping-go/" + shipping.Version},
	}, service.Requests()[0].Header)
}

func TestProvisionalRoutes_SendNothingUnlessEnabled(t *testing.T) {
	t.Parallel()
	service := shippingtest.NewService(shippingtest.Refusal(400, "no"))
	client := shippingtest.NewClient(t, service)
	for _, call := range shippingtest.Calls() {
		if !shippingtest.Operation(call.Operation).Provisional {
			continue
		}
		_, err := call.Do(t.Context(), client)
		shippingtest.WantError(t, call.Operation, err, shipping.ErrInvalidRequest)
		if err != nil && !strings.Contains(err.Error(), "WithProvisionalRoutes()") {
			t.Errorf("%s: %v does not name the remedy", call.Operation, err)
		}
	}
	if service.Count("") != 0 {
		t.Errorf("%d requests were sent on guessed routes", service.Count(""))
	}
}

func TestProvisionalRoutes_CanBeReplacedByTheRealOnes(t *testing.T) {
	t.Parallel()
	service := shippingtest.NewService(httpmock.NewStringResponder(200, "%PDF-1.7"))
	client := shippingtest.NewClient(t, service, shipping.WithRoute(operations.DocumentPDF, "/v2/forms/{document_type}/{request_id}"),
		shipping.WithRoute(operations.RetryRequest, "PATCH /v1/again/{request_id}"))
	if _, err := client.Regulatory.PDF(t.Context(), "RD-1", "FDA"); err != nil {
		t.Fatal(err)
	}
	_, _ = client.Regulatory.Retry(t.Context(), "RD-1") // the response is not a record
	_, _ = client.Regulatory.UpdateShipping(t.Context(), "RD-1", shipping.ShippingDetails{})
	got := service.Requests()
	shippingtest.Diff(t, "replaced route", wireRequest{"GET", "/v2/forms/FDA/RD-1", "", ""}, asWire(got[0]))
	shippingtest.Diff(t, "replaced route and method", wireRequest{"PATCH", "/v1/again/RD-1", "", "{}"}, asWire(got[1]))
	shippingtest.Diff(t, "route that was not replaced", wireRequest{"PUT", "/v1/regulatory-documents/request/RD-1/shipping", "", "{}"}, asWire(got[2]))
	if got[0].Header.Get("Authorization") != "" {
		t.Error("the PDF operation requires no authorization, yet the key was sent on its replaced route")
	}
}

func TestOperations_OnlyReadingsRepeat(t *testing.T) {
	t.Parallel()
	for _, operation := range operations.All() {
		if operation.Charges && operation.Retry != operations.Never {
			t.Errorf("%s charges the wallet and is retried", operation.Name)
		}
		if operation.Method == http.MethodGet && operation.Retry != operations.Safe {
			t.Errorf("%s reads and is not retried: its row needs Retry: Safe", operation.Name)
		}
		if operation.Method != http.MethodGet && operation.Retry == operations.Safe {
			t.Errorf("%s changes something and is retried after any failure", operation.Name)
		}
		if (operation.Method != http.MethodGet) != (operation.Again != "") {
			t.Errorf("%s: its row needs Again if it changes something: decide what a second request does. If that moves money, it needs "+
				"Retry: Never, so that lint and the sweep report a second one; otherwise Retry: Unsent", operation.Name)
		}
	}
}
