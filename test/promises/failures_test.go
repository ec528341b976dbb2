package promises_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

func TestFailures_DataOfAnotherTypeIsNotAnEmptyPage(t *testing.T) {
	t.Parallel()
	other := map[string][]string{
		shipping.OpReplayWebhook: {`[]`, `"queued"`},
		shipping.OpAnalyze:       {`[]`, `"none"`, `null`, `{}`, `{"status":"draft"}`, `{"request":[]}`},
		shipping.OpGetRequest: {`[]`, `"none"`, `null`, `{}`, `{"request_id":"RD-1"}`,
			`{"request_id":"RD-2","status":"draft"}`},
		operations.RetryRequest: {`[]`, `null`},
	}
	for _, list := range shippingtest.Lists() {
		other[list.Operation] = []string{`{}`, `{"` + list.Name + `":[]}`, `"none"`, `true`, `7`}
		if list.Paged {
			other[list.Operation] = []string{`[]`, `[{}]`, `"none"`, `true`, `7`, `{"` + list.Name + `":"none"}`,
				`{"` + list.Name + `":7}`, `{"` + list.Name + `":{"0":{}}}`}
		}
	}
	for _, call := range shippingtest.Calls() {
		for _, data := range other[call.Operation] {
			_, err := call.Do(t.Context(), shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(data)),
				shippingtest.WithRoutes()))
			shippingtest.WantError(t, call.Operation+" with data "+data, err, shipping.ErrUnexpectedBody)
		}
	}
}

func TestFailures_ZeroClientsAndServices(t *testing.T) {
	t.Parallel()
	var zero shipping.Client
	for _, call := range shippingtest.Calls() {
		_, err := call.Do(t.Context(), &zero)
		shippingtest.WantError(t, call.Operation, err, shipping.ErrInvalidRequest)
	}
	var none *shipping.Client
	shippingtest.WantError(t, "Do of a nil client", none.Do(t.Context(), "GET", "/v1/rates", nil, nil, nil),
		shipping.ErrInvalidRequest)
	if none.BaseURL() != "" || zero.BaseURL() != "" {
		t.Error("a client without an address has one")
	}
	for _, err := range (shipping.RatesService{}).All(t.Context(), nil) {
		shippingtest.WantError(t, "walk", err, shipping.ErrInvalidRequest)
	}
	_, err := shipping.RegulatoryService{}.Wait(t.Context(), "RD-1", nil)
	shippingtest.WantError(t, "wait", err, shipping.ErrInvalidRequest)
	synctest.Test(t, func(t *testing.T) {
		_, err := shipping.RegulatoryService{}.SettlePurchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1"})
		shippingtest.WantError(t, "settle", err, shipping.ErrInvalidRequest)
	})
}

func TestResponse_IsThereWhenTheCallFails(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]httpmock.Responder{
		"a refusal":   shippingtest.Refusal(404, "no").HeaderSet(http.Header{"X-Request-Id": {"7"}}),
		"no envelope": httpmock.NewStringResponder(200, "<html>").HeaderSet(http.Header{"X-Request-Id": {"7"}}),
		"a body larger than 100": shippingtest.OK(`"` + strings.Repeat("x", 200) +
			`"`).HeaderSet(http.Header{"X-Request-Id": {"7"}}),
	} {
		var response shipping.Response
		_, err := shippingtest.NewClient(t, shippingtest.NewService(answer),
			shipping.WithMaxResponseBytes(100)).Countries.List(t.Context(), shipping.WithResponse(&response))
		if err == nil {
			t.Errorf("%s is not a failure", name)
		}
		status, body := shippingtest.Sent(t, answer)
		if response.StatusCode != status || response.Header.Get("X-Request-Id") != "7" || len(response.Attempts) != 1 {
			t.Errorf("%s leaves the response %+v", name, response)
		}
		if !strings.HasPrefix(body, string(response.Body)) || len(response.Body) == 0 {
			t.Errorf("%s leaves the body %q", name, response.Body)
		}
	}
}

// A compressed response is read. The vectors contain those that are cut, wrong, or too large.
func TestResponse_Compressed(t *testing.T) {
	t.Parallel()
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, err := io.WriteString(w, shippingtest.Golden(t, "rates.json"))
	shippingtest.NoError(t, errors.Join(err, w.Close()))
	server := startHostile(t, func(to net.Conn, _ *http.Request) {
		_, _ = io.WriteString(to, wireAnswer("200 OK", compressed.String(), "Content-Encoding: gzip"))
	})
	page := shippingtest.Must(server.client(t).Rates.List(t.Context(), nil))(t)
	shippingtest.Diff(t, "rates", 3, len(page.Items))
}

func TestLimits_ErrorsKeepAStartOfTheBody(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("y", 3<<20)
	for _, body := range []string{long, `{"status":false,"message":"no","data":"` + long[:500_000] + `"}`} {
		_, err := shippingtest.NewClient(t, shippingtest.NewService(httpmock.NewStringResponder(400,
			body))).Rates.List(t.Context(), nil)
		failure := shippingtest.ErrorIn(t, err)
		if failure.StatusCode != 400 || string(failure.Body) != body[:64<<10] || len(failure.Data) > 64<<10 ||
			len(err.Error()) > 1000 {
			t.Errorf("status %d, %d bytes of the body, want the first %d, and %d of data: %.1000v", failure.StatusCode,
				len(failure.Body), 64<<10, len(failure.Data), err)
		}
	}
}

// A workflow that edits the draft purchases once at the price of the edited draft, whatever the service has decided.
func TestChoices_Workflow(t *testing.T) {
	t.Parallel()
	choices := shippingtest.Choices(t)
	choices["default"] = shippingtest.Dialect(t, "reference")
	for name, d := range choices {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { workflow(t, mockserver.WithDialect(d)) })
		})
	}
}

func workflow(t *testing.T, decided mockserver.Option) {
	srv := mockserver.New(mockserver.WithoutListener(), decided)
	defer srv.Close()
	shippingtest.NoError(t, srv.Err())
	client := srv.Client(t, shippingtest.WithRoutes())
	var price shipping.Amount
	edited := false
	budget := shipping.Budget{Amount: shippingtest.Amount(t, "1000000"), Currency: "NGN"}
	record, err := client.Regulatory.AnalyzeAndPoll(t.Context(), &shipping.AnalyzeRequest{ShipmentID: srv.Shipments()[0]},
		&shipping.AnalyzeAndPollOptions{
			Edit: func(ctx context.Context, draft *shipping.RegulatoryRequest) error {
				edited = true
				items := slices.Clone(draft.LineItems)
				if len(items) == 0 {
					t.Error("the draft has no line items")
				}
				items = append(items, shipping.LineItem{Description: "Wristwatch", HSCode: "910211", Quantity: 1,
					UnitPrice: shippingtest.Amount(t, "100"), Currency: "USD", Weight: 0.1, OriginCountry: "CN"})
				_, err := client.Regulatory.UpdateItems(ctx, draft.RequestID, items)
				return err
			},
			Select: func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
				watch, offered := draft.Offer("WATCH")
				if !offered {
					return nil, errors.New("the edited draft does not offer WATCH")
				}
				price = watch.Amount
				return []shipping.DocumentType{"WATCH"}, nil
			},
			Budget: &budget,
		})
	if err != nil || record.Status != shipping.StatusCompleted || !edited {
		t.Fatalf("%+v, %v", record, err)
	}
	if debited, _ := shippingtest.Debits(t, client, srv.Wallets()[0]); debited != price {
		t.Errorf("debited %s; the price was %s", debited, price)
	}
	pdf, err := client.Regulatory.PDF(t.Context(), record.RequestID, "WATCH")
	if err != nil || len(pdf) == 0 {
		t.Errorf("PDF: %d bytes, %v", len(pdf), err)
	}
	shippingtest.Diff(t, "purchases", 1, srv.Requests(shipping.OpPurchase))
	srv.CheckInvariants(t)
}
