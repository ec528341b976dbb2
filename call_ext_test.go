package shipping_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// callsWithOptions are all methods that take options of a call.
func callsWithOptions() []shippingtest.Call {
	const completed = `{"request_id":"` + shippingtest.RequestID + `","status":"completed"}`
	return append(shippingtest.Calls(),
		shippingtest.Call{Operation: "settle", Data: completed,
			Do: func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
				return c.Regulatory.SettlePurchase(ctx, &shipping.PurchaseRequest{RequestID: shippingtest.RequestID}, o...)
			}}, shippingtest.Call{Operation: "wait", Data: completed,
			Do: func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
				return c.Regulatory.Wait(ctx, shippingtest.RequestID, nil, o...)
			}}, shippingtest.Call{Operation: "resume", Data: completed,
			Do: func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
				return c.Regulatory.Resume(ctx, shippingtest.RequestID, nil, o...)
			}}, shippingtest.Call{Operation: "workflow", Data: `{"request_id":"RD-1","status":"draft"}`,
			Do: func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
				return c.Regulatory.AnalyzeAndPoll(ctx, parcel, nil, o...)
			}})
}

// Every method honours every option of a call.
func TestCallOptions_WorkForEveryMethod(t *testing.T) {
	t.Parallel()
	for _, call := range callsWithOptions() {
		var response shipping.Response
		service := shippingtest.NewService(call.Success().HeaderSet(http.Header{"X-Answer": {"7"}}))
		_, err := call.Do(t.Context(), shippingtest.NewClient(t, service, shippingtest.WithRoutes()), nil,
			shipping.WithHeader("X-Ours", "1"),
			shipping.WithQuery("ours", "1"), shipping.WithResponse(&response))
		if err != nil {
			t.Errorf("%s: %v", call.Operation, err)
			continue
		}
		if got := service.Requests()[0]; got.Header.Get("X-Ours") != "1" || got.Query.Get("ours") != "1" {
			t.Errorf("%s sends %+v", call.Operation, got)
		}
		if response.StatusCode != http.StatusOK || response.Header.Get("X-Answer") != "7" ||
			string(response.Body) != call.Body() || len(response.Attempts) != 1 {
			t.Errorf("%s leaves the response %+v", call.Operation, response)
		}
	}
}

// The result of a call does not change when the next call reads its response into the same buffer.
func TestResponses_OutliveTheirBuffers(t *testing.T) {
	t.Parallel()
	pdf := strings.Repeat("%PDF-", 10_000)
	rates := `{"rates":[{"rate_id":"RT-1","carrier_name":"` + strings.Repeat("a", 10_000) + `"}]}`
	service := shippingtest.NewService(body(200, pdf), success(rates), body(200, strings.Repeat("x", 60_000)))
	client := shippingtest.NewClient(t, service, shippingtest.WithRoutes())
	document := shippingtest.Must(client.Regulatory.PDF(t.Context(), "RD-1", "FDA"))(t)
	page := shippingtest.Must(client.Rates.List(t.Context(), nil))(t)
	for range 10 {
		_, _ = client.Countries.List(t.Context())
	}
	if string(document) != pdf || page.Items[0].CarrierName != strings.Repeat("a", 10_000) {
		t.Error("a later response changed a document or a record")
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
	shippingtest.NoError(t, shippingtest.NewClient(t, service).Do(t.Context(), "post", "/v1/shipments/a%2Fb c", query,
		map[string]int{"weight": 2}, &out,
		shipping.WithQuery("expand", "carrier"), shipping.WithResponse(&response)))
	shippingtest.Diff(t, "request",
		wireRequest{"POST", "/v1/shipments/a%2Fb%20c", "expand=carrier&expand=parcel&expand=rate", `{"weight":2}`},
		asWire(service.Requests()[0]))
	if out.ShipmentID != "SH-1" || out.Cost != shippingtest.Amount(t, "1.1") || response.StatusCode != 200 {
		t.Errorf("out %+v, response %+v", out, response)
	}
	shippingtest.Diff(t, "the caller's query", url.Values{"expand": {"parcel", "rate"}}, query)
}

func TestDo_ResponsesWithoutABody(t *testing.T) {
	t.Parallel()
	for method, test := range map[string]struct {
		status int
		want   error
	}{
		"HEAD": {200, nil}, "DELETE": {204, nil}, "PATCH": {205, nil}, "GET": {200, shipping.ErrUnexpectedBody},
		"PUT": {500, shipping.ErrServer},
	} {
		out := "untouched"
		client := shippingtest.NewClient(t, shippingtest.NewService(body(test.status, "")), shippingtest.FastRetries())
		err := client.Do(t.Context(), method, "/v1/x", nil, nil, &out)
		if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) || out != "untouched" {
			t.Errorf("%s, %d: %v, %q", method, test.status, err, out)
		}
	}
}

func TestDo_ReadsRepeatAndOthersDoNot(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]int{"GET": 4, "HEAD": 4, "head": 4, "POST": 1, "PUT": 1, "PATCH": 1, "DELETE": 1,
		"OPTIONS": 1} {
		service := shippingtest.NewService(shippingtest.Refusal(503, "busy"))
		err := shippingtest.NewClient(t, service, shippingtest.FastRetries()).Do(t.Context(), method, "/v1/x", nil, nil, nil)
		shippingtest.WantError(t, method, err, shipping.ErrServer)
		shippingtest.Diff(t, method+": requests", want, service.Count(""))
	}
}

func TestDo_ThePurchaseRouteNeverRepeats(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"/v1/regulatory-documents/purchase", "/v1/regulatory-documents/purchase/", "/v1/regulatory-documents/%70urchase",
		"/v1//regulatory-documents//purchase",
	} {
		client := shippingtest.NewClient(t, shippingtest.Unreachable(), shippingtest.FastRetries())
		err := client.Do(t.Context(), http.MethodPost, path, nil, map[string]string{}, nil)
		// Even if nothing was sent.
		failure := shippingtest.ErrorIn(t, err)
		if !failure.NotSent() || len(failure.Attempts) != 1 ||
			!strings.Contains(err.Error(), "; this request was not sent: check that the service runs at "+shippingtest.BaseURL) {
			t.Errorf("%s: %d attempts, %v", path, len(failure.Attempts), err)
		}
	}
}

// A cookie is sent once with each attempt, also after a retry.
func TestRetry_SendsACookieOnce(t *testing.T) {
	t.Parallel()
	jar := shippingtest.Must(cookiejar.New(nil))(t)
	base := shippingtest.Must(url.Parse(shippingtest.BaseURL))(t)
	jar.SetCookies(base, []*http.Cookie{{Name: "session", Value: "1"}})
	service := shippingtest.NewService(refusal(503, "busy"))
	client := shippingtest.NewClient(t, nil, shippingtest.FastRetries(),
		shipping.WithHTTPClient(&http.Client{Jar: jar, Transport: service}))
	_, _ = client.Rates.List(t.Context(), nil, shipping.WithHeader("Cookie", "own=2"))
	var cookies []string
	for _, request := range service.Requests() {
		cookies = append(cookies, strings.Join(request.Header["Cookie"], ", "))
	}
	const both = "own=2; session=1"
	shippingtest.Diff(t, "cookies", []string{both, both, both, both}, cookies)
}

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
			shippingtest.Must(call.Do(t.Context(), shippingtest.NewClient(t, service, shippingtest.WithRoutes())))(t)
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
		"User-Agent":    {"shipping-go/0.1.0"},
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
	if err := errors.Join(
		shippingtest.Err(client.Rates.List(t.Context(), &shipping.RateListOptions{Page: 2, PerPage: 50})),
		shippingtest.Err(client.Rates.List(t.Context(), &shipping.RateListOptions{})), // zero options are not sent
		shippingtest.Err(client.Webhooks.List(t.Context(), &shipping.WebhookListOptions{PerPage: 1 << 30})),
		shippingtest.Err(client.Transactions.List(t.Context(),
			&shipping.TransactionListOptions{Wallet: "VA 1&perPage=9", Page: 3})),
		shippingtest.Err(client.Transactions.List(t.Context(), &shipping.TransactionListOptions{Wallet: "VA-1"},
			shipping.WithQuery("flow", "out"), shipping.WithQuery("tag", "a"), shipping.WithQuery("tag", "b"))),
	); err != nil {
		t.Error(err)
	}
	var got []string
	for _, request := range service.Requests() {
		got = append(got, request.Query.Encode())
	}
	shippingtest.Diff(t, "queries", []string{
		"page=2&perPage=50", "", "perPage=1073741824", "page=3&wallet=VA+1%26perPage%3D9", "flow=out&tag=a&tag=b&wallet=VA-1",
	}, got)
}

func TestWire_BodiesOfTheRequests(t *testing.T) {
	t.Parallel()
	const id = shippingtest.RequestID
	service := shippingtest.NewService(shippingtest.OK(`{"request_id":"` + id + `"}`))
	client, ctx := shippingtest.NewClient(t, service, shippingtest.WithRoutes()), t.Context()
	tea := shipping.LineItem{ItemID: "IT-1", Description: "tea", HSCode: "0902", Quantity: 2.5, Weight: 0.4,
		UnitPrice: shippingtest.Amount(t, "1234.50"), Currency: "USD", OriginCountry: "CN"}
	shippingtest.NoError(t, errors.Join(
		shippingtest.Err(client.Webhooks.Replay(ctx,
			&shipping.ReplayRequest{ShipmentID: "SH-1", Event: shipping.EventShipmentDelivered, WebhookID: "WA-1"})),
		shippingtest.Err(client.Regulatory.Analyze(ctx,
			&shipping.AnalyzeRequest{FileURL: "https://files.example.com/a.pdf?x=1"})),
		shippingtest.Err(client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: id,
			DocumentTypes: []shipping.DocumentType{"TEXTILE", "AMS"}, Draft: shippingtest.DraftRecord(id)})),
		shippingtest.Err(client.Regulatory.UpdateItems(ctx, id, []shipping.LineItem{tea})),
		shippingtest.Err(client.Regulatory.UpdateItems(ctx, id, nil)),
	))
	var got []string
	for _, request := range service.Requests() {
		got = append(got, request.Body)
	}
	shippingtest.Diff(t, "bodies", []string{
		`{"shipment_id":"SH-1","event":"shipment.delivered","webhook_id":"WA-1"}`,
		`{"file_url":"https://files.example.com/a.pdf?x=1"}`,
		`{"request_id":"` + id + `","document_types":["TEXTILE","AMS"]}`, // in the caller's order
		`{"line_items":[{"item_id":"IT-1","description":"tea","hs_code":"0902","quantity":2.5,"unit_price":1234.5,` +
			`"currency":"USD","weight":0.4,"origin_country":"CN"}]}`,
		`{"line_items":[]}`,
	}, got)
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
		shippingtest.Diff(t, address, want, got.Origin+got.Path)
		shippingtest.Diff(t, address, strings.TrimSuffix(want, "/v1/rates"), client.BaseURL())
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
		if _, err := regulatory(t, service).Get(t.Context(), id); err != nil {
			t.Errorf("%q: %v", id, err)
			continue
		}
		shippingtest.Diff(t, id, "/v1/regulatory-documents/request/"+want, service.Requests()[0].Path)
	}
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
		for _, remedy := range []string{"WithDialect", "SHIPPING_DIALECT"} {
			if err != nil && !strings.Contains(err.Error(), remedy) {
				t.Errorf("%s: %v does not name %s", call.Operation, err, remedy)
			}
		}
	}
	shippingtest.Diff(t, "requests on guessed routes", 0, service.Count(""))
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
			t.Errorf("%s: its row needs Again if it changes something: decide what a second request does. If that moves "+
				"money, it needs "+
				"Retry: Never, so that lint and the sweep report a second one; otherwise Retry: Unsent", operation.Name)
		}
	}
}

// A retry that ignores the deadline would wait in vain, and the call would return the end of its context instead of the
// error of the service.
func TestRetry_ADeadlineTooNearReturnsAtOnceWithTheServicesError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := shippingtest.NewService(shippingtest.Refusal(503, "busy").HeaderSet(http.Header{"Retry-After": {"30"}}))
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		started := time.Now()
		_, err := shippingtest.NewClient(t, service).Rates.List(ctx, nil)
		shippingtest.Diff(t, "time to detect that the time is too short", time.Duration(0), time.Since(started))
		shippingtest.WantError(t, "rates", err, shipping.ErrServer)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Error("the deadline has not passed, but the error reports it")
		}
		const want = "shipping: rates.list: 503 Service Unavailable: busy [not retried: the deadline would pass first]; " +
			"a read changes nothing: try again after 30s"
		shippingtest.Diff(t, "error", want, err.Error())
	})
}

// If each call had its own budget, calls one after another would send three times as many retries as calls.
func TestRetry_TheBudgetBoundsTheExtraLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := shippingtest.NewService(shippingtest.Refusal(503, "busy"))
		client := shippingtest.NewClient(t, service)
		const many = 2000
		var last error
		for range many {
			_, last = client.Rates.List(t.Context(), nil)
		}
		extra := service.Count("") - many
		if extra > many/10+10 || extra < many/10-10 {
			t.Errorf("%d calls to a failing service made %d retries, want about a tenth, at most that and the burst", many,
				extra)
		}
		if failure, _ := errors.AsType[*shipping.Error](last); failure == nil ||
			failure.NotRetried != "most requests of this program are failing" && len(failure.Attempts) == 1 {
			t.Errorf("the last error does not report why it was not retried: %v", last)
		}
	})
}

// If only the call that got the 429 waited, the calls of other goroutines would be sent during the pause.
func TestRetry_AfterA429EveryCallWaitsForTheSamePause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := shippingtest.NewService(slowDown, success(`[]`))
		client, another := shippingtest.NewClient(t, service), shippingtest.NewClient(t, service)
		list := func() {
			if _, err := client.Countries.List(t.Context()); err != nil {
				t.Error(err)
			}
		}
		var all sync.WaitGroup
		all.Go(list)
		synctest.Wait()
		started := time.Now()
		if _, err := another.Countries.List(t.Context()); err != nil || time.Since(started) != 0 {
			t.Errorf("another client waited %s: %v", time.Since(started), err)
		}
		for range 20 {
			all.Go(list)
		}
		all.Wait()
		for i, got := range service.Requests()[2:] {
			if since := got.At.Sub(started); since < 30*time.Second || since > 31*time.Second {
				t.Errorf("request %d followed %s after the 429, want 30 s and a little", i+3, since)
			}
		}
	})
}

// slowDown is a refusal that requests a pause.
var slowDown = refusal(429, "slow down").HeaderSet(http.Header{"Retry-After": {"30"}})

// A call that ignores its deadline would wait for the end of the pause, and return after 5 s without a request.
func TestRetry_APauseThatOutlastsTheDeadlineFailsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := shippingtest.NewService(slowDown, success(`[]`))
		client := shippingtest.NewClient(t, service)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := client.Countries.List(ctx)
		shippingtest.WantError(t, "first call", err, shipping.ErrRateLimited)
		started := time.Now()
		_, err = client.Countries.List(ctx)
		shippingtest.WantError(t, "second call", err, shipping.ErrRateLimited)
		if time.Since(started) != 0 || service.Count("") != 1 {
			t.Errorf("the second call took %s and %d requests were sent", time.Since(started), service.Count(""))
		}
		// RetryAfter is the rest of the pause, and not 0.
		shippingtest.Diff(t, "RetryAfter, the rest of the pause", 30*time.Second, shippingtest.ErrorIn(t, err).RetryAfter)
		const want = "not sent: an earlier call got a 429, and the pause of 30"
		if failure := shippingtest.ErrorIn(t, err); failure.StatusCode != 0 ||
			!strings.HasPrefix(failure.Cause.Error(), want) {
			t.Errorf("got %v", err)
		}
	})
}

// A date that is compared with the wrong clock, or a number without a limit, would send the next attempt too early, or
// hours later.
func TestRetryAfter_InAllItsForms(t *testing.T) {
	t.Parallel()
	const jitter = 250 * time.Millisecond
	// The bubble's clock starts at midnight UTC, 1 January 2000, and the dates below count from there.
	epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	in := func(d time.Duration) string { return epoch.Add(d).Format(http.TimeFormat) }
	for name, test := range map[string]struct {
		value, date string
		asked       time.Duration // Error.RetryAfter; the client waits so long before the next attempt, at most a minute
	}{
		"absent":                       {},
		"seconds":                      {value: "7", asked: 7 * time.Second},
		"seconds amid spaces":          {value: "  7\t", asked: 7 * time.Second},
		"a fraction":                   {value: "1.5", asked: 1500 * time.Millisecond},
		"zero":                         {value: "0"},
		"negative":                     {value: "-5"},
		"longer than is obeyed":        {value: "3600", asked: time.Hour},
		"more than an int64":           {value: "99999999999999999999999", asked: 365 * 24 * time.Hour},
		"more than a float64":          {value: "1e999"},
		"infinite":                     {value: "Inf"},
		"no number":                    {value: "NaN"},
		"hexadecimal":                  {value: "0x10"},
		"text":                         {value: "soon"},
		"seconds with a unit":          {value: "7s"},
		"a list":                       {value: "7, 8"},
		"date of RFC 1123":             {value: in(40 * time.Second), asked: 40 * time.Second},
		"date of RFC 850":              {value: "Saturday, 01-Jan-00 00:00:40 GMT", asked: 40 * time.Second},
		"date of asctime":              {value: "Sat Jan  1 00:00:40 2000", asked: 40 * time.Second},
		"date in the past":             {value: in(-time.Hour)},
		"date of a clock ahead":        {value: in(time.Hour + 20*time.Second), date: in(time.Hour), asked: 20 * time.Second},
		"date of a clock behind":       {value: in(20*time.Second - time.Hour), date: in(-time.Hour), asked: 20e9},
		"date beside a rubbish Date":   {value: in(20 * time.Second), date: "today", asked: 20 * time.Second},
		"date in a thousand years":     {value: "Fri, 31 Dec 2999 23:59:59 GMT", asked: 365 * 24 * time.Hour},
		"date without a day that fits": {value: "Fri, 99 Dec 1999 23:59:59 GMT"},
	} {
		for _, status := range []int{503, 429} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					answer := shippingtest.Refusal(status, "busy")
					if test.value != "" {
						answer = answer.HeaderSet(http.Header{"Retry-After": {test.value}})
					}
					if test.date != "" {
						answer = answer.HeaderSet(http.Header{"Date": {test.date}})
					}
					once := shipping.RetryPolicy{MaxAttempts: 1}
					_, err := shippingtest.NewClient(t, shippingtest.NewService(answer),
						shipping.WithRetryPolicy(once)).Rates.List(t.Context(), nil)
					if failure, _ := errors.AsType[*shipping.Error](err); failure == nil || failure.RetryAfter != test.asked {
						t.Errorf("RetryAfter is not %s: %+v", test.asked, failure)
					}
					service := shippingtest.NewService(answer, shippingtest.OK(`{"rates":[]}`))
					shippingtest.Must(shippingtest.NewClient(t, service).Rates.List(t.Context(), nil))(t)
					least := min(test.asked, time.Minute)
					most := least + jitter
					if status == http.StatusTooManyRequests && test.asked == 0 {
						most = jitter + jitter/2 // the pause that a 429 without a number brings
					}
					got := service.Requests()
					if wait := got[1].At.Sub(got[0].At); wait < least || wait > most {
						t.Errorf("the repeat of a %d followed after %s, want %s to %s", status, wait, least, most)
					}
				})
			})
		}
	}
}

func TestRetry_TheBudgetCanBeSwitchedOffOrChanged(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy shipping.RetryPolicy
		want   int // repeats of 100 calls, each with up to three
	}{
		"no bound":       {shipping.RetryPolicy{ExtraLoad: -1}, 300},
		"half":           {shipping.RetryPolicy{ExtraLoad: 0.5, Burst: 1}, 50},
		"a larger burst": {shipping.RetryPolicy{ExtraLoad: 1e-9, Burst: 25}, 25},
	} {
		test.policy.MinWait, test.policy.MaxWait = 1, 1
		service := shippingtest.NewService(shippingtest.Refusal(503, "busy"))
		client := shippingtest.NewClient(t, service, shipping.WithRetryPolicy(test.policy))
		for range 100 {
			_, _ = client.Rates.List(t.Context(), nil)
		}
		if extra := service.Count("") - 100; extra < test.want-1 || extra > test.want+1 {
			t.Errorf("%s: %d repeats, want %d", name, extra, test.want)
		}
	}
}
