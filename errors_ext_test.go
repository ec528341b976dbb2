package shipping_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/redact"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/transport"
)

func TestErrors_SentinelOfEachStatus(t *testing.T) {
	t.Parallel()
	all := []error{
		shipping.ErrUnauthorized, shipping.ErrNotFound, shipping.ErrInvalidRequest, shipping.ErrRateLimited,
		shipping.ErrServer, shipping.ErrRedirected, shipping.ErrUnexpectedBody,
	}
	for want, statuses := range map[error][]int{
		shipping.ErrUnauthorized:   {401, 403},
		shipping.ErrNotFound:       {404, 410},
		shipping.ErrInvalidRequest: {400, 402, 405, 406, 409, 413, 415, 418, 422, 451, 499},
		shipping.ErrRateLimited:    {429},
		shipping.ErrServer:         {408, 425, 500, 501, 502, 503, 504, 520, 599},
		shipping.ErrRedirected:     {300, 301, 302, 303, 304, 307, 308, 399},
		shipping.ErrUnexpectedBody: {600, 999},
	} {
		for _, status := range statuses {
			client := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.Refusal(status, "m")),
				shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1}))
			_, err := client.Rates.List(t.Context(), nil)
			for _, sentinel := range all {
				if got := errors.Is(err, sentinel); got != (sentinel == want) {
					t.Errorf("%d is %q: %t (%v)", status, sentinel, got, err)
				}
			}
		}
	}
}

// Many errors did not state what to do, or gave the advice for another mistake.
func TestErrors_Texts(t *testing.T) {
	t.Parallel()
	const notAPI = "; check that the base address (WithBaseURL or SHIPPING_BASE_URL) is that of the service, not of " +
		"a web page"
	const noRedirect = "; redirects are not followed: check scheme, host and path of the base address"
	const proxies, ownProxy = "HTTP_PROXY and HTTPS_PROXY", ", or the Proxy of the http.Transport"
	const credentials = "; a proxy requires credentials: check the user and password in " + proxies +
		", or in the Proxy of the http.Transport"
	const scheme = " there: check scheme and port of the base address"
	const noTLS = "http: server gave HTTP response to HTTPS client"
	const garbled = `malformed HTTP response "\x15\x03\x01\x00\x02"`
	const page = "It works! This is the default page of a web server"
	const again = "; a read changes nothing: try again"
	const invalid = "; correct the request before you send it again"
	const another = "; another server may have sent it: check scheme, host and path of the base address (WithBaseURL or " +
		"SHIPPING_BASE_URL)"
	broken := httpmock.NewErrorResponder
	location := func(target string) http.Header { return http.Header{"Location": {target}} }
	for want, answer := range map[string]httpmock.Responder{ // ID stands for the request
		"400 Bad Request: wallet is required ID" + invalid: refusal(400, "wallet is required"),
		"401 Unauthorized: invalid token ID; check that the secret key belongs to this base address": refusal(401,
			"invalid token"),
		// Of the reference server, whose messages contain advice.
		"401 Unauthorized: use another ID; see /_mock/journal/req-1": refusal(401, "use another").
			HeaderSet(http.Header{"X-Mock-Why": {"/_mock/journal/req-1"}}),
		"404 Not Found: no request: use another ID; see /_mock/journal/req-1": refusal(404, "no request: use another").
			HeaderSet(http.Header{"X-Mock-Why": {"/_mock/journal/req-1"}}),
		"404 Not Found: the body is not JSON: 404 page not found ID" + another: body(404, "404 page not found"),
		"400 Bad Request: the body is not JSON: Client sent an HTTP request to an HTTPS server. ID" + another: body(400,
			"Client sent an HTTP request to an HTTPS server."),
		"404 Not Found ID" + another: body(404, ""),
		"403 Forbidden: no ID; if the secret key is not allowed to do this, use another key, or request the permission " +
			"from " +
			"the service": refusal(403, "no"),
		"403 Forbidden: the body is not JSON: RBAC: access denied ID; a proxy or firewall may have sent it: Error.Body " +
			"contains it": body(403, "RBAC: access denied"),
		"429 Too Many Requests: slow down ID; retry after 1m30s": refusal(429, "slow down").
			HeaderSet(http.Header{"Retry-After": {"90"}}),
		"500 Internal Server Error ID" + again + " later":                                      body(500, ""),
		"502 Bad Gateway ID; a gateway received no response from the service: try again later": body(502, ""),
		"503 Service Unavailable: busy ID" + again + " after 20s": refusal(503, "busy").
			HeaderSet(http.Header{"Retry-After": {"20"}}),
		"501 Not Implemented: no ID; the service does not support this operation: check its route and the base " +
			"address": refusal(501, "no"),

		"520: odd ID" + again + " later":                                                 refusal(520, "odd"),
		"200 OK: unexpected body ID: the body is HTML or XML, not JSON" + notAPI:         body(200, "<!doctype html>"),
		"200 OK: unexpected body ID: the body is not JSON: " + page + notAPI:             body(200, page),
		"200 OK: unexpected body ID: the body is not valid JSON, or ends early" + notAPI: body(200, `{"status":tr`),
		"200 OK with status false: not now ID":                                           refusal(200, "not now"),
		"200 OK: the response holds no regulatory request: status is missing ID":         success(`{}`),
		"200 OK: body too large ID: it has more than 1000 bytes; raise WithMaxResponseBytes": success(
			`"` + strings.Repeat("x", 2000) + `"`),
		"400 Bad Request: no (request RD-2)" + invalid: body(400,
			`{"status":false,"message":"no","data":{"request_id":"RD-2"}}`),
		// The target of a redirect was missing.
		"308 Permanent Redirect to https://elsewhere.test/login ID" + noRedirect: body(308, "<html>").
			HeaderSet(location("https://u:p@elsewhere.test/login?next=%2Fv1")),
		"302 Found to https://api.service.test/login ID" + noRedirect: body(302, "{}").HeaderSet(location("/login")),
		"no response ID: unexpected EOF" + again + " later":           broken(io.ErrUnexpectedEOF),
		// The method and the URL of a request for which httpmock has no responder were lost.
		"no response ID: no responder found, for GET https://api.service.test/v1/regulatory-documents/request/RD-1; the " +
			"Transport of the http.Client (WithHTTPClient) returned this error: if it is a mock, register a response to " +
			"this request": broken(httpmock.NoResponderFound),
		"no response ID: no complete response within 1s, the Timeout of the http.Client; raise it, or try again " +
			"later": broken(&transport.TimeoutError{After: time.Second, Of: "Timeout of the http.Client"}),
		"no response ID: no complete response within 1ns, the Timeout of the http.Client; set it with a unit, such as " +
			"30*time.Second: a bare number counts nanoseconds": broken(
			&transport.TimeoutError{After: 1, Of: "Timeout of the http.Client"}),
		"no response ID: x509: certificate signed by unknown authority; if you trust the CA, set SSL_CERT_FILE " +
			"to the file of its certificate, or RootCAs in the TLSClientConfig of the http.Transport " +
			"(WithHTTPClient)": broken(x509.UnknownAuthorityError{}),
		"no response ID: tls: failed to verify certificate: x509: certificate has expired or is not yet valid: ; check the " +
			"clock of this machine, and the certificate of the service": broken(
			&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}),

		"no response ID: x509: certificate is valid for a.test, not b.test; check the host of the base address": broken(
			x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"a.test"}}, Host: "b.test"}),
		"no response ID: dial tcp: connection refused; check that the service runs at https://api.service.test " +
			"(WithBaseURL), and that this machine can reach it": broken(shippingtest.ErrRefused()),
		"no response ID: proxyconnect tcp: dial tcp: connection refused; the proxy cannot be reached: check " + proxies +
			ownProxy: broken(&net.OpError{Op: "proxyconnect", Net: "tcp", Err: shippingtest.ErrRefused()}),
		"407 Proxy Authentication Required ID" + credentials: body(407, "<html>"),
		"no response ID: Proxy Authentication Required" + credentials: broken(
			errors.New("Proxy Authentication Required")), // of https
		"no response ID: Forbidden; a proxy refused the connection: allow https://api.service.test (WithBaseURL) there, or " +
			"change " + proxies + ownProxy: broken(errors.New("Forbidden")),
		"403 Forbidden: the body is HTML or XML, not JSON ID; a proxy or firewall may have sent it: Error.Body contains " +
			"it": body(403, "<html>"),
		"no response ID: " + noTLS + "; the service expects http://" + scheme: broken(http.ErrSchemeMismatch),
		"no response ID; the service expects https://" + scheme:               broken(errors.New(garbled)),
	} {
		want = "shipping: regulatory.get: " + strings.Replace(want, "ID", "(request RD-1)", 1)
		_, err := regulatory(t, shippingtest.NewService(answer), shipping.WithMaxResponseBytes(1000),
			shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1})).Get(t.Context(), "RD-1")
		if err == nil || err.Error() != want {
			t.Errorf("\n got %v\nwant %s", err, want)
		}
	}
}

// A failed call could not be matched with the log of the service, because the id of its response was nowhere.
func TestErrors_IDOfTheResponse(t *testing.T) {
	t.Parallel()
	long, key := strings.Repeat("x", 200), shippingtest.Key
	const d = "refusal.response_id=X-Trace"
	for name, test := range map[string]struct {
		header  http.Header
		dialect string
		id      string
		end     string // of the text of the error
	}{
		"none":              {http.Header{}, "", "", "no such request (request RD-1)"},
		"the usual one":     {http.Header{"X-Request-Id": {"7"}, "Request-Id": {"8"}}, "", "7", " [response id 7]"},
		"another":           {http.Header{"X-Request-Id": {" "}, "Request-Id": {"8"}}, "", "8", " [response id 8]"},
		"of a group":        {http.Header{"X-Correlation-Id": {"9"}}, "", "9", " [response id 9]"},
		"of the dialect":    {http.Header{"X-Request-Id": {"7"}, "X-Trace": {"10"}}, d, "10", " [response id 10]"},
		"not of the header": {http.Header{"X-Request-Id": {"7"}}, d, "", "no such request (request RD-1)"},
		"a long one": {http.Header{"X-Request-Id": {long}}, "", long[:128] + "…",
			" [response id " + long[:128] + "…]"},
		"the secret key": {http.Header{"X-Request-Id": {key}}, "", redact.Mark, " [response id " + redact.Mark + "]"},
		"a forged line":  {http.Header{"X-Request-Id": {"7\tlevel=INFO"}}, "", "7 level=INFO", " [response id 7 level=INFO]"},
		// Of the reference server, whose path can contain the name of a world, which is a part of the key.
		"explained": {http.Header{"X-Request-Id": {"req-7"}, "X-Mock-Why": {"/_mock/journal/req-7?world=a"}}, "",
			"req-7", " [response id req-7]; see /_mock/journal/req-7?world=a"},
		"explained, withheld": {http.Header{"X-Request-Id": {"req-7"}, "X-Mock-Why": {"/_mock/journal/req-7?world=" + key}},
			"", "req-7", " [response id req-7]; see /_mock/journal/req-7 with the key of this client"},
		"explained elsewhere": {http.Header{"X-Mock-Why": {"https://elsewhere.test"}}, "", "", "(request RD-1)"},
	} {
		var seen []shipping.Attempt
		client := shippingtest.NewClient(t, shippingtest.NewService(refusal(200, "no such request").HeaderSet(test.header)),
			shipping.WithDialect(shippingtest.Dialect(t, test.dialect)), shipping.WithObserver(shipping.Observer{
				Attempt: func(_ context.Context, _ string, a shipping.Attempt) { seen = append(seen, a) },
			}))
		_, err := client.Regulatory.Get(t.Context(), "RD-1")
		attempts := shippingtest.ErrorIn(t, err).Attempts
		shippingtest.Diff(t, name, seen, attempts)
		if got := attempts[0]; got.ResponseID != test.id || got.RequestID != "RD-1" ||
			!strings.HasSuffix(err.Error(), test.end) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		// The path stands at the end, also if something failed after the call.
		_, err = client.Regulatory.Wait(t.Context(), "RD-1", nil)
		if _, explanation, ok := strings.Cut(test.end, "; see "); ok && !strings.HasSuffix(err.Error(), explanation) {
			t.Errorf("%s, wait: %v", name, err)
		}
	}
}

func TestErrors_HeldBackByTheLimiter(t *testing.T) {
	t.Parallel()
	service := shippingtest.NewService(shippingtest.OK(`[]`))
	closed := shippingtest.Limiter(func(context.Context) error { return errors.New("closed for lunch") })
	_, err := shippingtest.NewClient(t, service, shipping.WithLimiter(closed)).Countries.List(t.Context())
	if want := "shipping: countries.list: no response: limiter: closed for lunch; this read was not sent"; err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	shippingtest.Diff(t, "requests that passed a closed limiter", 0, service.Count(""))
}

// A refusal for insufficient funds, the most frequent one of a wallet, matches ErrInsufficientFunds whatever its
// message is.
func TestErrors_InsufficientFunds(t *testing.T) {
	t.Parallel()
	const envelope = `{"status":false,"message":"insufficient_funds","data":{"error_code":%q}}`
	coded, long := fmt.Sprintf(envelope, "insufficient_funds"), fmt.Sprintf(envelope, strings.Repeat("x", 500))
	for name, test := range map[string]struct {
		answer httpmock.Responder
		code   string
		want   bool
	}{
		"the code":               {body(400, coded), "insufficient_funds", true},
		"the code, on a success": {body(200, coded), "insufficient_funds", true},
		"402":                    {refusal(402, "no"), "", true},
		"402 as a problem":       {problem(402), "", true},
		"402 of a proxy":         {body(402, "<html>"), "", false},
		"the code, on a failure": {body(500, coded), "insufficient_funds", false},
		"another code":           {body(400, fmt.Sprintf(envelope, "not_found")), "not_found", false},
		"a long code":            {body(400, long), strings.Repeat("x", 128) + "…", false},
	} {
		_, err := regulatory(t, shippingtest.NewService(test.answer)).Analyze(t.Context(), parcel)
		if failure := shippingtest.ErrorIn(t, err); failure.Code != test.code ||
			errors.Is(err, shipping.ErrInsufficientFunds) != test.want {
			t.Errorf("%s: code %q, %v, want %q and %t", name, failure.Code, err, test.code, test.want)
		}
		if test.want && !errors.Is(err, shipping.ErrInvalidRequest) {
			t.Errorf("%s: %v is not an invalid request", name, err)
		}
	}
}

// Methods of nil panicked: of the nil result of a failed call, and of the nil that errors.AsType returns for another
// error.
func TestNil_ReportsNothing(t *testing.T) {
	t.Parallel()
	failure, _ := errors.AsType[*shipping.Error](errors.New("another"))
	if failure.Retryable() || failure.NotSent() || failure.Refused() || failure.Timeout() {
		t.Error("a nil error reports something")
	}
	var record *shipping.RegulatoryRequest
	if _, offered := record.Offer("FDA"); offered {
		t.Error("a nil record offers a document")
	}
	var workflow *shipping.AnalyzeAndPollOptions
	var purchase *shipping.PurchaseOptions
	shippingtest.NoError(t, errors.Join(workflow.Validate(), purchase.Validate()))
}

// If Timeout compared only the caller's deadline, the deadlines of an attempt and of the HTTP client would not be
// timeouts.
func TestErrors_Timeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := httpmock.NewStringResponder(200, "").Delay(time.Hour)
		for name, test := range map[string]struct {
			policy          shipping.RetryPolicy
			client, timeout time.Duration
			answer          httpmock.Responder
			want            bool
		}{
			"the caller's deadline": {shipping.RetryPolicy{}, 0, time.Second, slow, true},
			"the bound of an attempt": {shipping.RetryPolicy{MaxAttempts: 1, AttemptTimeout: time.Second}, 0, time.Hour, slow,
				true},
			"that of the HTTP client": {shipping.RetryPolicy{MaxAttempts: 1}, time.Second, time.Hour, slow, true},
			"a refusal within time":   {shipping.RetryPolicy{}, 0, time.Hour, shippingtest.Refusal(400, "no"), false},
			"a connection that breaks": {shipping.RetryPolicy{MaxAttempts: 1}, 0, time.Hour, httpmock.NewErrorResponder(io.EOF),
				false},
		} {
			started := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), test.timeout)
			user := &http.Client{Transport: shippingtest.NewService(test.answer), Timeout: test.client}
			_, err := shippingtest.NewClient(t, nil, shipping.WithHTTPClient(user),
				shipping.WithRetryPolicy(test.policy)).Rates.List(ctx, nil)
			cancel()
			failure, _ := errors.AsType[*shipping.Error](err)
			if failure == nil || failure.Timeout() != test.want || os.IsTimeout(failure.Cause) != test.want ||
				time.Since(started) > time.Second {
				t.Errorf("%s: Timeout is not %t after %s for %v", name, test.want, time.Since(started), err)
			}
		}
	})
}

// An attempt that ends while it dials has sent nothing, so that it can be retried.
func TestErrors_AnAttemptThatEndsWhileDiallingSentNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		defer close(over)
		dialling := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			<-over
			return nil, shippingtest.ErrRefused()
		}}
		client := shippingtest.NewClient(t, dialling, shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 2}))
		_, err := client.Webhooks.Replay(t.Context(), &shipping.ReplayRequest{DeliveryID: "WD-1"})
		if failure := shippingtest.ErrorIn(t, err); len(failure.Attempts) != 2 || !failure.Timeout() ||
			!failure.NotSent() || errors.Is(err, context.DeadlineExceeded) { // the context of the caller has not ended
			t.Errorf("%+v", failure)
		}
	})
}

// endless sends a response that does not end until the context of the request does.
func endless(r *http.Request) (*http.Response, error) {
	body, end := io.Pipe()
	go func() {
		_, _ = io.WriteString(end, `{"status":true,`)
		<-r.Context().Done()
		end.CloseWithError(r.Context().Err())
	}()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, Request: r}, nil
}

// Errors of lost responses did not report whether the request may have been performed, or what to do about it.
func TestErrors_TextsOfOtherCalls(t *testing.T) {
	t.Parallel()
	analyze := func(ctx context.Context, c *shipping.Client) error {
		return shippingtest.Err(c.Regulatory.Analyze(ctx, parcel))
	}
	replay := func(ctx context.Context, c *shipping.Client) error {
		return shippingtest.Err(c.Webhooks.Replay(ctx, &shipping.ReplayRequest{DeliveryID: "WD-1"}))
	}
	get := func(ctx context.Context, c *shipping.Client) error {
		return shippingtest.Err(c.Regulatory.Get(ctx, "RD-1"))
	}
	list := func(ctx context.Context, c *shipping.Client) error {
		return shippingtest.Err(c.Rates.List(ctx, nil))
	}
	edit := func(ctx context.Context, c *shipping.Client) error {
		return shippingtest.Err(c.Regulatory.UpdateShipping(ctx, "RD-1", shipping.ShippingDetails{}))
	}
	ended := func(ctx context.Context, c *shipping.Client) error {
		ctx, end := context.WithCancel(ctx)
		end()
		return list(ctx, c)
	}
	broken, slow := shippingtest.NoResponse(), body(200, "").Delay(time.Hour)
	busy := body(503, "").HeaderSet(http.Header{"Retry-After": {"20"}})
	type row struct {
		response httpmock.Responder
		call     func(context.Context, *shipping.Client) error
		want     string
	}
	shippingtest.EachInBubble(t, map[string]row{
		"an analysis, lost": {broken, analyze,
			"no response: unexpected EOF; the service may have performed it: an analysis charges nothing, so analyze again"},
		"an analysis, no time": {slow, analyze,
			"no response: context deadline exceeded; the service may have performed it: an analysis charges nothing, so " +
				"analyze again"},
		"a replay, lost":    {broken, replay, "no response: unexpected EOF; the service may have performed it"},
		"a replay, no time": {slow, replay, "no response: context deadline exceeded; the service may have performed it"},
		"a read, no time": {slow, get,
			"no response (request RD-1): context deadline exceeded; a read changes nothing: give it more time"},
		"a read, cut off": {endless, get,
			"200 OK: truncated body (request RD-1): the context ended while the response was read: context deadline " +
				"exceeded; a read changes nothing: give it more time"},
		"an analysis, cut off": {endless, analyze,
			"200 OK: truncated body: the context ended while the response was read: context deadline exceeded; the service " +
				"may have performed it: an analysis"},
		"a page, too large": {success(`"` + strings.Repeat("x", 2000) + `"`), list,
			"it has more than 1000 bytes; request fewer records a page, or raise WithMaxResponseBytes"},
		"a context that has ended": {broken, ended, "this read was not sent: pass a context that has not ended"},
		"an assumed route": {body(405, ""), edit, "; the service's route may differ: write in the dialect " +
			`"routes += regulatory.shipping.update=`},
		"an analysis, busy": {busy, analyze, "so analyze again after 20s"},
		"an analysis, a gateway": {refusal(502, "bad gateway"), analyze,
			"502 Bad Gateway: bad gateway; the service may have performed it: an analysis charges nothing"},
	}, func(t *testing.T, tc row) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := tc.call(ctx, shippingtest.NewClient(t, shippingtest.NewService(tc.response),
			shipping.WithMaxResponseBytes(1000), shippingtest.WithRoutes()))
		shippingtest.Contains(t, "error", err, tc.want)
	})
}

// A program that follows the advice on a call that is no purchase must not buy: the advice follows from the status.
func TestErrors_OnlyAPurchaseIsPurchasedAgain(t *testing.T) {
	t.Parallel()
	const correct = "; correct the request before you send it again"
	const unknown = "; check the id, and that it belongs to the account of the secret key"
	const state = "; the state of the record may not allow it: read the record, or try again later"
	for status, advice := range map[int]string{402: correct, 404: unknown, 409: state, 410: unknown, 422: correct,
		423: state, 429: "; send fewer requests, for example with WithLimiter", 500: "; the service may have performed it"} {
		for _, call := range shippingtest.Calls() {
			op, want := shippingtest.Operation(call.Operation), advice
			if op.Charges {
				continue
			}
			if status == 500 && op.Retry == operations.Safe {
				want = "; a read changes nothing: try again later"
			}
			_, err := call.Do(t.Context(), shippingtest.NewClient(t, shippingtest.NewService(refusal(status, "no")),
				shippingtest.WithRoutes(), shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1})))
			text := strings.TrimSuffix(fmt.Sprint(err), ": an analysis charges nothing, so analyze again")
			if strings.Count(text, ";") != 1 || !strings.HasSuffix(text, want) {
				t.Errorf("%s, %d: %v, want %q", call.Operation, status, err, want)
			}
		}
	}
}

// The [shipping.Error] in the error of a purchase must not advise to purchase again either: a program may print it
// alone.
func TestErrors_NoCauseSaysToPurchaseAgain(t *testing.T) {
	t.Parallel()
	codes := shippingtest.PurchaseCodes(t)
	buys := regexp.MustCompile(`(, then |Regulatory\.)[Pp]urchase again`)
	synctest.Test(t, func(t *testing.T) {
		usual := []int{400, 402, 403, 404, 409, 410, 422, 423, 429} // with each documented code
		for n := range 105 * len(codes) {
			status, code := 400+n/len(codes), codes[n%len(codes)]
			if !slices.Contains(usual, status) && n%len(codes) != status%len(codes) {
				continue
			}
			refused := body(status, fmt.Sprintf(`{"status":false,"message":"no","data":{"error_code":%q}}`, code))
			for _, call := range shippingtest.Calls() {
				_, err := call.Do(t.Context(), shippingtest.NewClient(t, shippingtest.NewService(refused),
					shippingtest.WithRoutes(), shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1})))
				cause, ok := errors.AsType[*shipping.Error](err)
				text := strings.TrimSuffix(fmt.Sprint(cause), "; correct the request before you send it again")
				charges := shippingtest.Operation(call.Operation).Charges
				if state := "; the state of the record may not allow it: read the record"; charges &&
					(status == 409 || status == 423) != strings.HasSuffix(text, state) {
					t.Errorf("%s, %d: %q", call.Operation, status, text)
				}
				if !ok || cause.Operation != call.Operation || charges && strings.Contains(text, "again") {
					t.Errorf("%s, %d: %v", call.Operation, status, cause)
				}
				failed, isPurchase := errors.AsType[*shipping.RegulatoryError](err)
				if isPurchase && failed.Outcome != shipping.OutcomeNotCharged && buys.MatchString(err.Error()) {
					t.Errorf("%s, %d %s: %v", call.Operation, status, code, err)
				}
			}
		}
	})
}

// A nil context panicked in net/http.
func TestClient_ANilContextIsAnError(t *testing.T) {
	t.Parallel()
	var none context.Context
	const want = "context is nil: pass context.Background()"
	for _, call := range callsWithOptions() {
		service := shippingtest.NewService(call.Success())
		_, err := call.Do(none, shippingtest.NewClient(t, service, shippingtest.WithRoutes()))
		if !errors.Is(err, shipping.ErrInvalidRequest) || !strings.Contains(err.Error(), want) || service.Count("") != 0 {
			t.Errorf("%s: %v, %d requests", call.Operation, err, service.Count(""))
		}
	}
	for _, list := range shippingtest.Lists() {
		for _, err := range list.All(none, shippingtest.NewClient(t, shippingtest.NewService()), "VA-1") {
			shippingtest.WantError(t, "all of "+list.Name, err, shipping.ErrInvalidRequest)
		}
	}
}

// The reason of a refusal was shown only if it was a text under "message".
func TestError_ShowsTheReasonInAnyForm(t *testing.T) {
	t.Parallel()
	const notEnvelope = ": the response is JSON but not the documented envelope: "
	long := strings.Repeat("x", 300)
	type row struct {
		status     int
		body, want string
	}
	shippingtest.EachRow(t, map[string]row{
		"a list of messages": {400, `{"status":false,"message":["perPage is too small","page is not a number"]}`,
			"perPage is too small; page is not a number"},
		"the list, on a 200": {200, `{"status":false,"message":["perPage is too small"]}`, "perPage is too small"},
		"an object": {400, `{"status":false,"message":{"text":"This wallet is closed"}}`,
			"text: This wallet is closed"},
		"an error text": {400, `{"status":false,"error":"This wallet is closed"}`, "This wallet is closed"},
		"an error object": {400, `{"status":false,"error":{"code":"W17","message":"This wallet is closed"}}`,
			"This wallet is closed"},
		"an error flag": {400, `{"error":true,"message":"This wallet is closed"}`, "This wallet is closed"},
		"a list of errors": {400, `{"errors":[{"field":"wallet","message":"is closed"},{"title":"Bad","detail":"page"}]}`,
			"wallet: is closed; Bad: page"},
		"errors by field": {422, `{"status":false,"errors":{"wallet":["is closed","is another's"],"page":"is 0"}}`,
			"wallet: is closed; is another's; page: is 0"},
		"message and errors": {422, `{"message":"Invalid","errors":{"wallet":["is closed"]}}`, "Invalid: wallet: is closed"},
		"a text twice": {400, `{"statusCode":400,"message":["page is 0"],"error":"Bad Request","detail":"page is 0"}`,
			"page is 0"},
		"problem details": {400,
			`{"type":"about:blank","title":"Wallet not usable","status":400,"detail":"This wallet is closed"}`,
			"Wallet not usable: This wallet is closed"},
		"reason in the data": {400, `{"status":false,"data":{"reason":"This wallet is closed"}}`, "This wallet is closed"},
		"a bare text":        {400, `"This wallet is closed"`, "This wallet is closed"},
		"a bare list":        {400, `["This wallet is closed",7]`, "This wallet is closed; 7"},
		"line separators":    {400, `{"message":"This\u2028wallet is\u2029closed"}`, "This wallet is closed"},
		"no JSON":            {400, "no healthy\nupstream", "the body is not JSON: no healthy upstream"},
		"half a body":        {400, `{"wallet":["is closed"],`, `the body is not valid JSON, or ends early`},
		"unknown names":      {400, "{\"wallet\":[\"is closed\"],\n \"page\": 7}", `{"wallet":["is closed"], "page": 7}`},
		"a long body":        {400, `{"wallet":"` + long + `"}`, (`{"wallet":"` + long)[:200] + "…"},
		"a huge body": {400, `{"message":"This wallet is closed","wallet":"` + strings.Repeat(long, 300) + `"}`,
			"This wallet is closed"},
		"deep nesting": {400, `{"message":` + strings.Repeat(`{"a":`, 60) + `"x"` + strings.Repeat("}", 61),
			(`{"message":` + strings.Repeat(`{"a":`, 60))[:200] + "…"},
		"nothing": {400, `{"status":false,"data":null}`, ""},
		"the key": {400, `{"errors":{"key":["` + shippingtest.Key + `"]}}`,
			"[withheld: it contains the secret key]"},
		"the key, unknown": {400, `{"used":"` + shippingtest.Key + `"}`, "[withheld: it contains the secret key]"},
		// Such a status was reported as missing, without the reason.
		"status error": {200, `{"status":"error","message":"This wallet is closed"}`,
			"This wallet is closed" + notEnvelope + `its status is "error" instead of true or false`},
		"status success": {200, `{"status":"success","message":"Found","data":{"rates":[]}}`,
			"Found" + notEnvelope + `its status is "success" instead of true or false`},
		"status false": {200, `{"status":false,"message":"Maintenance"}`, "200 OK with status false: Maintenance"},
		// The advice was to check the base address.
		"another form": {200, `{"status":true,"data":[]}`, "unexpected body: data is of type array instead of object; the " +
			"response differs from the specification: read it with Client.Do, or ask the service"},
		"no envelope": {200, `[]`, "unexpected body: the response is JSON but not the documented envelope: it has no " +
			"status; check that the base address"},
		"status 200": {200, `{"status":200,"data":{"rates":[]}}`,
			`{"status":200,"data":{"rates":[]}}` + notEnvelope + "its status is 200 instead of true or false"},
		"no status": {200, `{"error":"This wallet is closed"}`, "This wallet is closed" + notEnvelope + "it has no status"},
	}, func(t *testing.T, test row) {
		client := shippingtest.NewClient(t, shippingtest.NewService(httpmock.NewStringResponder(test.status, test.body)))
		_, err := client.Rates.List(t.Context(), nil)
		if test.want == "" {
			want := "shipping: rates.list: 400 Bad Request; correct the request before you send it again"
			if err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
			return
		}
		if want := ": " + test.want; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if _, ok := err.(*shipping.Error); !ok || strings.Contains(err.Error(), "\n") {
			t.Errorf("%T of several lines: %v", err, err)
		}
	})
}
