package promises_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// failures are the responses that each method must survive, with the expected error.
func failures() map[string]struct {
	answer httpmock.Responder
	want   error
	status int
} {
	type failure = struct {
		answer httpmock.Responder
		want   error
		status int
	}
	html := "<html><body>Bad gateway</body></html>"
	return map[string]failure{
		"400 in the envelope":              {shippingtest.Refusal(400, "a rule"), shipping.ErrInvalidRequest, 400},
		"401 in the envelope":              {shippingtest.Refusal(401, "no key"), shipping.ErrUnauthorized, 401},
		"403 in the envelope":              {shippingtest.Refusal(403, "not yours"), shipping.ErrUnauthorized, 403},
		"404 in the envelope":              {shippingtest.Refusal(404, "no such thing"), shipping.ErrNotFound, 404},
		"405 without a body":               {httpmock.NewStringResponder(405, ""), shipping.ErrInvalidRequest, 405},
		"410 in the envelope":              {shippingtest.Refusal(410, "gone"), shipping.ErrNotFound, 410},
		"422 with data as a list":          {httpmock.NewStringResponder(422, `{"status":false,"message":"m","data":["a","b"]}`), shipping.ErrInvalidRequest, 422},
		"429 in the envelope":              {shippingtest.Refusal(429, "slow down"), shipping.ErrRateLimited, 429},
		"500 as HTML":                      {httpmock.NewStringResponder(500, html), shipping.ErrServer, 500},
		"502 without a body":               {httpmock.NewStringResponder(502, ""), shipping.ErrServer, 502},
		"503 as an array":                  {httpmock.NewStringResponder(503, `[]`), shipping.ErrServer, 503},
		"599, which has no name":           {httpmock.NewStringResponder(599, `"down"`), shipping.ErrServer, 599},
		"301 to elsewhere":                 {httpmock.NewStringResponder(301, "").HeaderSet(http.Header{"Location": {"https://elsewhere.test/"}}), shipping.ErrRedirected, 301},
		"308 to elsewhere":                 {httpmock.NewStringResponder(308, "").HeaderSet(http.Header{"Location": {"https://elsewhere.test/"}}), shipping.ErrRedirected, 308},
		"302 to nowhere":                   {httpmock.NewStringResponder(302, ""), shipping.ErrRedirected, 302},
		"302 to a broken address":          {httpmock.NewStringResponder(302, "").HeaderSet(http.Header{"Location": {"http://[broken"}}), shipping.ErrRedirected, 302},
		"200 as HTML":                      {httpmock.NewStringResponder(200, html), shipping.ErrUnexpectedBody, 200},
		"200 as text":                      {httpmock.NewStringResponder(200, "OK"), shipping.ErrUnexpectedBody, 200},
		"200 without a body":               {httpmock.NewStringResponder(200, ""), shipping.ErrUnexpectedBody, 200},
		"200 with spaces only":             {httpmock.NewStringResponder(200, " \r\n"), shipping.ErrUnexpectedBody, 200},
		"204":                              {httpmock.NewStringResponder(204, ""), shipping.ErrUnexpectedBody, 204},
		"200 that ends early":              {httpmock.NewStringResponder(200, `{"status":true,"data":{"ra`), shipping.ErrUnexpectedBody, 200},
		"200 as null":                      {httpmock.NewStringResponder(200, `null`), shipping.ErrUnexpectedBody, 200},
		"200 as an array":                  {httpmock.NewStringResponder(200, `[{"rate_id":"RT-1"}]`), shipping.ErrUnexpectedBody, 200},
		"200 without status":               {httpmock.NewStringResponder(200, `{"data":{}}`), shipping.ErrUnexpectedBody, 200},
		"200 with an unreadable status":    {httpmock.NewStringResponder(200, `{"status":{},"data":{}}`), shipping.ErrUnexpectedBody, 200},
		"200 with status false":            {httpmock.NewStringResponder(200, `{"status":false,"message":"no"}`), shipping.ErrInvalidRequest, 200},
		"200 with status false and a list": {httpmock.NewStringResponder(200, `{"status":false,"message":"no","data":["SH-1"]}`), shipping.ErrInvalidRequest, 200},
		"201 with status false":            {httpmock.NewStringResponder(201, `{"status":"false","message":"no"}`), shipping.ErrInvalidRequest, 201},
		"a connection that breaks":         {httpmock.NewErrorResponder(io.ErrUnexpectedEOF), shipping.ErrConnection, 0},
	}
}

func TestFailures_EveryMethodSurvivesEveryAnswer(t *testing.T) {
	t.Parallel()
	for _, call := range shippingtest.Calls() {
		for name, failure := range failures() {
			if call.Operation == "do" && failure.status == http.StatusNoContent {
				continue // a success; see TestDo_AnswersWithoutABody
			}
			t.Run(call.Operation+"/"+name, func(t *testing.T) {
				t.Parallel()
				if call.Operation == shipping.OpDocumentPDF && failure.status/100 == 2 {
					failure.want = shipping.ErrUnexpectedBody // an envelope is not a PDF either
				}
				synctest.Test(t, func(t *testing.T) {
					service := shippingtest.NewService(failure.answer)
					client := shippingtest.NewClient(t, service, shipping.WithProvisionalRoutes(), shippingtest.FastRetries())
					err := call.Do(t.Context(), client)
					checkFailure(t, call, err, failure.want, failure.status, failure.answer)
				})
			})
		}
	}
}

// checkFailure checks the fields that every error of a call must have.
func checkFailure(t *testing.T, call shippingtest.Call, err, want error, status int, answer httpmock.Responder) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v is not %q", err, want)
	}
	failure, ok := errors.AsType[*shipping.Error](err)
	if !ok {
		t.Fatalf("error %T holds no *Error", err)
	}
	if failure.StatusCode != status || failure.Operation != call.Operation {
		t.Errorf("status %d of %s, want %d of %s", failure.StatusCode, failure.Operation, status, call.Operation)
	}
	if _, body := shippingtest.Sent(t, answer); status != 0 && string(failure.Body) != body {
		t.Errorf("Body is %q, want %q", failure.Body, body)
	}
	if len(failure.Attempts) == 0 {
		t.Error("no attempt is reported")
	}
	if text := err.Error(); !strings.HasPrefix(text, "shipping: ") || strings.Contains(text, "\n") || strings.Contains(text, "  ") ||
		strings.Contains(text, " :") || !strings.Contains(text, call.Operation) {
		t.Errorf("the error does not read well: %q", text)
	}
}

// There is one classification of failures: a read is retried if and only if its error reports Retryable.
func TestFailures_RetriesAgreeWithRetryable(t *testing.T) {
	t.Parallel()
	rows := failures()
	for name, err := range map[string]error{
		"a scheme mismatch": http.ErrSchemeMismatch, "a refused certificate": &tls.CertificateVerificationError{Err: x509.HostnameError{}},
		"a refused connection": shippingtest.ErrRefused(), "a response of TLS": errors.New(`malformed HTTP response "\x15\x03\x01"`),
	} {
		row := rows["a connection that breaks"]
		row.answer = httpmock.NewErrorResponder(err)
		rows[name] = row
	}
	for _, status := range []int{200, 302, 400, 408, 429, 501, 503} {
		row := rows["a connection that breaks"]
		row.answer, row.status, row.want = shippingtest.Truncated(status, `{"st`), status, shipping.ErrTruncated
		rows[fmt.Sprint(status, " cut off")] = row
	}
	for name, row := range rows {
		service := shippingtest.NewService(row.answer)
		_, err := shippingtest.NewClient(t, service, shippingtest.FastRetries()).Rates.List(t.Context(), nil)
		failure := shippingtest.ErrorIn(t, err)
		if retried := service.Count("") > 1; retried != failure.Retryable() {
			t.Errorf("%s: retried: %t, Retryable: %t (%v)", name, retried, failure.Retryable(), err)
		}
		if failure.StatusCode != row.status || !errors.Is(err, row.want) {
			t.Errorf("%s: status %d, want %d, and %v: %v", name, failure.StatusCode, row.status, row.want, err)
		}
		if failure.NotSent() {
			t.Errorf("%s: the transport of a user does not prove that nothing was sent", name)
		}
	}
}

func TestFailures_DataOfAnotherTypeIsNotAnEmptyPage(t *testing.T) {
	t.Parallel()
	other := map[string][]string{
		shipping.OpReplayWebhook: {`[]`, `"queued"`},
		shipping.OpAnalyze:       {`[]`, `"none"`, `null`, `{}`, `{"status":"draft"}`, `{"request":[]}`},
		shipping.OpGetRequest:    {`[]`, `"none"`, `null`, `{}`, `{"request_id":"RD-1"}`, `{"request_id":"RD-2","status":"draft"}`},
		shipping.OpRetryRequest:  {`[]`, `null`},
	}
	for _, list := range shippingtest.Lists() {
		other[list.Operation] = []string{`{}`, `{"` + list.Name + `":[]}`, `"none"`, `true`, `7`}
		if list.Paged {
			other[list.Operation] = []string{`[]`, `[{}]`, `"none"`, `true`, `7`, `{"` + list.Name + `":"none"}`, `{"` + list.Name + `":7}`, `{"` + list.Name + `":{"0":{}}}`}
		}
	}
	for _, call := range shippingtest.Calls() {
		for _, data := range other[call.Operation] {
			err := call.Do(t.Context(), shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(data)), shipping.WithProvisionalRoutes()))
			if !errors.Is(err, shipping.ErrUnexpectedBody) {
				t.Errorf("%s with data %s: error %v, want an unexpected body", call.Operation, data, err)
			}
		}
	}
}

func TestFailures_CancelledContextSendsNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	service := shippingtest.NewService(shippingtest.Refusal(500, "reached"))
	client := shippingtest.NewClient(t, service, shipping.WithProvisionalRoutes())
	for _, call := range shippingtest.Calls() {
		shippingtest.WantError(t, call.Operation, call.Do(ctx, client), context.Canceled, shipping.ErrConnection)
	}
	if service.Count("") != 0 {
		t.Errorf("%d requests were sent for calls that had ended before", service.Count(""))
	}
}

func TestFailures_CancellationKeepsItsCause(t *testing.T) {
	t.Parallel()
	shutdown := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(shutdown)
	_, err := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.Refusal(500, "reached"))).Rates.List(ctx, nil)
	shippingtest.WantError(t, "rates", err, context.Canceled, shutdown)
}

func TestFailures_ZeroClientsAndServices(t *testing.T) {
	t.Parallel()
	var zero shipping.Client
	for _, call := range shippingtest.Calls() {
		shippingtest.WantError(t, call.Operation, call.Do(t.Context(), &zero), shipping.ErrNoClient)
	}
	var none *shipping.Client
	shippingtest.WantError(t, "Do of a nil client", none.Do(t.Context(), "GET", "/v1/rates", nil, nil, nil), shipping.ErrNoClient)
	if none.BaseURL() != "" || zero.BaseURL() != "" {
		t.Error("a client without an address has one")
	}
	for _, err := range (shipping.RatesService{}).All(t.Context(), nil) {
		shippingtest.WantError(t, "walk", err, shipping.ErrNoClient)
	}
	_, err := shipping.RegulatoryService{}.Wait(t.Context(), "RD-1", nil)
	shippingtest.WantError(t, "wait", err, shipping.ErrNoClient)
	synctest.Test(t, func(t *testing.T) {
		_, err := shipping.RegulatoryService{}.SettlePurchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1"})
		shippingtest.WantError(t, "settle", err, shipping.ErrNoClient)
	})
}

// oddTransport breaks the promises of http.RoundTripper.
type oddTransport struct{ response *http.Response }

func (o oddTransport) RoundTrip(*http.Request) (*http.Response, error) { return o.response, nil }

func TestFailures_TransportsThatBreakTheirPromiseDoNotPanic(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]*http.Response{
		"neither response nor error": nil,
		"no body and no header":      {StatusCode: 200},
		"no body, failed":            {StatusCode: 503},
		"status out of range":        {StatusCode: -1, Body: http.NoBody},
	} {
		_, err := shippingtest.NewClient(t, oddTransport{response}, shippingtest.FastRetries()).Rates.List(t.Context(), nil)
		if _, ok := errors.AsType[*shipping.Error](err); !ok {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestResponse_IsThereWhenTheCallFails(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]httpmock.Responder{
		"a refusal":              shippingtest.Refusal(404, "no").HeaderSet(http.Header{"X-Request-Id": {"7"}}),
		"no envelope":            httpmock.NewStringResponder(200, "<html>").HeaderSet(http.Header{"X-Request-Id": {"7"}}),
		"a body larger than 100": shippingtest.OK(`"` + strings.Repeat("x", 200) + `"`).HeaderSet(http.Header{"X-Request-Id": {"7"}}),
	} {
		var response shipping.Response
		_, err := shippingtest.NewClient(t, shippingtest.NewService(answer), shipping.WithMaxResponseBytes(100)).Countries.List(t.Context(), shipping.WithResponse(&response))
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

func TestLimits_BodiesAreBounded(t *testing.T) {
	t.Parallel()
	const limit = 1000
	body := func(n int) string {
		const frame = `{"status":true,"message":"","data":[]}`
		return frame + strings.Repeat(" ", n-len(frame))
	}
	for n, want := range map[int]error{limit - 1: nil, limit: nil, limit + 1: shipping.ErrBodyTooLarge, 100 * limit: shipping.ErrBodyTooLarge} {
		for _, announced := range []bool{true, false} {
			service := shippingtest.NewService(httpmock.NewStringResponder(200, body(n)))
			var transport http.RoundTripper = service
			if !announced {
				transport = unannounced{service}
			}
			_, err := shippingtest.NewClient(t, transport, shipping.WithMaxResponseBytes(limit)).Countries.List(t.Context())
			if !errors.Is(err, want) {
				t.Errorf("a body of %d bytes (announced: %t) with a limit of %d: error %v, want %v", n, announced, limit, err, want)
			}
			if err != nil && service.Count("") != 1 {
				t.Errorf("a body that is too large was asked for %d times", service.Count(""))
			}
		}
	}
}

// unannounced leaves Content-Length out.
type unannounced struct{ next http.RoundTripper }

func (u unannounced) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := u.next.RoundTrip(r)
	if err == nil {
		response.ContentLength = -1
	}
	return response, err
}

func TestLimits_ErrorsKeepAStartOfTheBody(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("y", 3<<20)
	for name, transport := range map[string]func(http.RoundTripper) http.RoundTripper{
		"announced":   func(next http.RoundTripper) http.RoundTripper { return next },
		"unannounced": func(next http.RoundTripper) http.RoundTripper { return unannounced{next} },
	} {
		for _, body := range []string{long, `{"status":false,"message":"no","data":"` + long[:500_000] + `"}`} {
			_, err := shippingtest.NewClient(t, transport(shippingtest.NewService(httpmock.NewStringResponder(400, body)))).Rates.List(t.Context(), nil)
			failure, ok := errors.AsType[*shipping.Error](err)
			if !ok || failure.StatusCode != 400 {
				t.Fatalf("%s: %v", name, err)
			}
			if string(failure.Body) != body[:64<<10] {
				t.Errorf("%s: Body holds %d bytes, want the first %d", name, len(failure.Body), 64<<10)
			}
			if len(failure.Data) > 64<<10 {
				t.Errorf("%s: Data holds %d bytes", name, len(failure.Data))
			}
			if len(err.Error()) > 1000 {
				t.Errorf("%s: the error is %d characters long", name, len(err.Error()))
			}
		}
	}
}

func TestFailures_AnAttemptIsToldForEachRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		service := shippingtest.NewService(shippingtest.Refusal(503, "busy"), httpmock.NewErrorResponder(broken), shippingtest.Refusal(502, "bad"), shippingtest.Refusal(404, "no"))
		_, err := shippingtest.NewClient(t, service).Rates.List(t.Context(), nil)
		failure, _ := errors.AsType[*shipping.Error](err)
		if failure == nil {
			t.Fatal(err)
		}
		var statuses []int
		for i, attempt := range failure.Attempts {
			statuses = append(statuses, attempt.StatusCode)
			if (i == 1) != errors.Is(attempt.Err, broken) {
				t.Errorf("attempt %d failed with %v", i+1, attempt.Err)
			}
		}
		if !slices.Equal(statuses, []int{503, 0, 502, 404}) {
			t.Errorf("attempts ended with %v", statuses)
		}
	})
}
