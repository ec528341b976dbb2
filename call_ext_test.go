package shipping_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// callsWithOptions are all methods that take options of a call.
func callsWithOptions() []shippingtest.Call {
	const completed = `{"request_id":"` + shippingtest.RequestID + `","status":"completed"}`
	return append(shippingtest.Calls(), shippingtest.Call{Operation: "settle", Data: completed, Do: func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
		return c.Regulatory.SettlePurchase(ctx, &shipping.PurchaseRequest{RequestID: shippingtest.RequestID}, o...)
	}}, shippingtest.Call{Operation: "wait", Data: completed, Do: func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
		return c.Regulatory.Wait(ctx, shippingtest.RequestID, nil, o...)
	}}, shippingtest.Call{Operation: "resume", Data: completed, Do: func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
		return c.Regulatory.Resume(ctx, shippingtest.RequestID, nil, o...)
	}}, shippingtest.Call{Operation: "workflow", Data: `{"request_id":"RD-1","status":"draft"}`, Do: func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
		return c.Regulatory.AnalyzeAndPoll(ctx, parcel, nil, o...)
	}})
}

// Every method honours every option of a call.
func TestCallOptions_WorkForEveryMethod(t *testing.T) {
	t.Parallel()
	for _, call := range callsWithOptions() {
		var response shipping.Response
		service := shippingtest.NewService(call.Success().HeaderSet(http.Header{"X-Answer": {"7"}}))
		_, err := call.Do(t.Context(), shippingtest.NewClient(t, service, shipping.WithProvisionalRoutes()), nil, shipping.WithHeader("X-Ours", "1"),
			shipping.WithQuery("ours", "1"), shipping.WithResponse(&response))
		if err != nil {
			t.Errorf("%s: %v", call.Operation, err)
			continue
		}
		if got := service.Requests()[0]; got.Header.Get("X-Ours") != "1" || got.Query.Get("ours") != "1" {
			t.Errorf("%s sends %+v", call.Operation, got)
		}
		if response.StatusCode != http.StatusOK || response.Header.Get("X-Answer") != "7" || string(response.Body) != call.Body() || len(response.Attempts) != 1 {
			t.Errorf("%s leaves the response %+v", call.Operation, response)
		}
	}
}

func TestDo_AnyOtherOperation(t *testing.T) {
	t.Parallel()
	service := shippingtest.NewService(shippingtest.OK(`{"shipment_id":"SH-1","cost":1.10}`))
	var out struct {
		ShipmentID string          `json:"shipment_id"`
		Cost       shipping.Amount `json:"cost"`
	}
	query := url.Values{"expand": {"parcel", "rate"}}
	var response shipping.Response
	err := shippingtest.NewClient(t, service).Do(t.Context(), "post", "/v1/shipments/a%2Fb c", query, map[string]int{"weight": 2}, &out,
		shipping.WithQuery("expand", "carrier"), shipping.WithResponse(&response))
	if err != nil {
		t.Fatal(err)
	}
	shippingtest.Diff(t, "request", wireRequest{"POST", "/v1/shipments/a%2Fb%20c", "expand=carrier&expand=parcel&expand=rate", `{"weight":2}`}, asWire(service.Requests()[0]))
	if out.ShipmentID != "SH-1" || out.Cost != shippingtest.Amount(t, "1.1") || response.StatusCode != 200 {
		t.Errorf("out %+v, response %+v", out, response)
	}
	shippingtest.Diff(t, "the caller's query", url.Values{"expand": {"parcel", "rate"}}, query)
}

func TestDo_AnswersWithoutABody(t *testing.T) {
	t.Parallel()
	out := "untouched"
	for name, test := range map[string]struct {
		method string
		answer httpmock.Responder
		want   error
	}{
		"HEAD":                 {"HEAD", httpmock.NewStringResponder(200, ""), nil},
		"HEAD of nothing":      {"HEAD", httpmock.NewStringResponder(404, ""), shipping.ErrNotFound},
		"DELETE with 204":      {"DELETE", httpmock.NewStringResponder(204, ""), nil},
		"DELETE with 200":      {"DELETE", httpmock.NewStringResponder(200, ""), shipping.ErrUnexpectedBody},
		"GET with empty body":  {"GET", httpmock.NewStringResponder(200, ""), shipping.ErrUnexpectedBody},
		"PATCH with 205":       {"PATCH", httpmock.NewStringResponder(205, ""), nil},
		"PUT that fails empty": {"PUT", httpmock.NewStringResponder(500, ""), shipping.ErrServer},
	} {
		err := shippingtest.NewClient(t, shippingtest.NewService(test.answer), shippingtest.FastRetries()).Do(t.Context(), test.method, "/v1/x", nil, nil, &out)
		if !errors.Is(err, test.want) || test.want != nil && err == nil {
			t.Errorf("%s: error %v, want %v", name, err, test.want)
		}
	}
	if out != "untouched" {
		t.Errorf("a response without a body wrote %q", out)
	}
}

func TestDo_ReadsRepeatAndOthersDoNot(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]int{"GET": 4, "HEAD": 4, "head": 4, "POST": 1, "PUT": 1, "PATCH": 1, "DELETE": 1, "OPTIONS": 1} {
		service := shippingtest.NewService(shippingtest.Refusal(503, "busy"))
		err := shippingtest.NewClient(t, service, shippingtest.FastRetries()).Do(t.Context(), method, "/v1/x", nil, nil, nil)
		shippingtest.WantError(t, method, err, shipping.ErrServer)
		if got := service.Count(""); got != want {
			t.Errorf("%s: %d requests, want %d", method, got, want)
		}
	}
}

func TestDo_ThePurchaseRouteNeverRepeats(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"/v1/regulatory-documents/purchase", "/v1/regulatory-documents/purchase/", "/v1/regulatory-documents/%70urchase", "/v1//regulatory-documents//purchase",
	} {
		unsent := &http.Transport{DialTLSContext: func(context.Context, string, string) (net.Conn, error) { return nil, shippingtest.ErrRefused() }}
		err := shippingtest.NewClient(t, unsent, shippingtest.FastRetries()).Do(t.Context(), http.MethodPost, path, nil, map[string]string{}, nil)
		// Even if nothing was sent.
		failure := shippingtest.ErrorIn(t, err)
		if !failure.NotSent() || len(failure.Attempts) != 1 || !strings.Contains(err.Error(), "; nothing was sent: check that the service runs at "+shippingtest.BaseURL) {
			t.Errorf("%s: %d attempts, %v", path, len(failure.Attempts), err)
		}
	}
}

// A cookie is sent once with each attempt, also after a retry.
func TestRetry_SendsACookieOnce(t *testing.T) {
	t.Parallel()
	var cookies []string
	client, err := shipping.NewClient(shippingtest.Key, shipping.WithBaseURL(shippingtest.BaseURL), shippingtest.FastRetries(), shipping.WithHTTPClient(&http.Client{
		Jar: fixedJar{}, CheckRedirect: func(*http.Request, []*http.Request) error { panic("no redirect is followed") },
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			cookies = append(cookies, strings.Join(r.Header["Cookie"], "; "))
			return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: http.NoBody}, nil
		}),
	}))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = client.Rates.List(t.Context(), nil, shipping.WithHeader("Cookie", "own=2"))
	for _, cookie := range cookies {
		if cookie != "own=2; session=1" {
			t.Errorf("%q", cookies)
			break
		}
	}
	if len(cookies) < 2 {
		t.Errorf("%d attempts", len(cookies))
	}
}

// fixedJar is a cookie jar with one cookie.
type fixedJar struct{}

func (fixedJar) SetCookies(*url.URL, []*http.Cookie) {}
func (fixedJar) Cookies(*url.URL) []*http.Cookie {
	return []*http.Cookie{{Name: "session", Value: "1"}}
}

// A transport can return what none should. A purchase is then neither sent again nor taken for unsent, and nothing
// panics.
func TestPurchase_OverATransportThatBreaksItsContract(t *testing.T) {
	t.Parallel()
	whole := func() *http.Response {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"status":true,"message":"","data":{"request_id":"RD-1","status":"processing"}}`))}
	}
	for name, respond := range map[string]func() (*http.Response, error){
		"a response and an error": func() (*http.Response, error) { return whole(), errors.New("and an error") },
		"neither":                 func() (*http.Response, error) { return nil, nil },
		"no body, no header":      func() (*http.Response, error) { return &http.Response{StatusCode: 200}, nil },
		"no status":               func() (*http.Response, error) { return &http.Response{Body: http.NoBody}, nil },
		"a negative status":       func() (*http.Response, error) { return &http.Response{StatusCode: -200, Body: http.NoBody}, nil },
		"the error of a dial":     func() (*http.Response, error) { return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED} },
		"a context that ended":    func() (*http.Response, error) { return nil, context.Canceled },
		"a deadline of somewhere": func() (*http.Response, error) { return nil, context.DeadlineExceeded },
		"a purchase's own failure": func() (*http.Response, error) {
			return nil, &shipping.RegulatoryError{Outcome: shipping.OutcomeNotCharged}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			purchases := 0
			client := shippingtest.NewClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					purchases++
					return respond()
				}
				return nil, errors.New("unreachable")
			}))
			_, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: shippingtest.DraftRecord("RD-1")})
			failed, ok := err.(*shipping.RegulatoryError)
			if !ok || failed.Outcome != shipping.OutcomeUnknown || purchases != 1 {
				t.Errorf("%s: %v after %d purchases", name, err, purchases)
			}
		})
	}
}
