package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/redact"
)

const (
	testKey = "sk_test_8mK3vQ9rT2xW7yZ4bN6c"
	address = "https://api.service.test/v1/rates"
)

// hooks records the reports of a call.
type hooks struct {
	statuses []int
	errs     []error
	waits    []time.Duration
	reason   string
}

func (h *hooks) Attempted(_ context.Context, a Attempt) {
	h.statuses, h.errs = append(h.statuses, a.StatusCode), append(h.errs, a.Err)
}
func (h *hooks) Retrying(_ context.Context, wait time.Duration) { h.waits = append(h.waits, wait) }
func (h *hooks) NotRetried(reason string)                       { h.reason = reason }

// newClient returns a client of a transport, with a policy.
func newClient(next http.RoundTripper, policy Policy, edit ...func(*Config)) *Client {
	config := Config{HTTP: &http.Client{Transport: next}, Key: redact.New(testKey), Policy: policy.WithDefaults(), MaxBody: 1 << 20}
	for _, edit := range edit {
		edit(&config)
	}
	return New(config)
}

// answering returns a transport that gives responses in turn.
func answering(first httpmock.Responder, then ...httpmock.Responder) *httpmock.MockTransport {
	mock := httpmock.NewMockTransport()
	for _, next := range then {
		first = first.Then(next)
	}
	mock.RegisterResponder(http.MethodGet, address, first)
	mock.RegisterResponder(http.MethodPost, address, first)
	return mock
}

func status(code int) httpmock.Responder { return httpmock.NewStringResponder(code, "body") }

func newCall(method string, retry operations.Retry) (Call, *hooks) {
	target, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	h := &hooks{}
	call := Call{Method: method, URL: target, Header: http.Header{"Authorization": {"Bearer " + testKey}}, Retry: retry, Hooks: h}
	if method == http.MethodPost {
		call.Body = []byte(`{"a":1}`)
	}
	return call, h
}

// unsent is a transport of the client's own that never gets a connection.
func unsent() *http.Transport {
	dial := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	return &http.Transport{DialContext: dial, DialTLSContext: dial}
}

func TestDo_RetriesOnTheConditionOfTheCall(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		next                http.RoundTripper
		never, unsent, safe int // attempts
	}{
		"success":        {answering(status(200)), 1, 1, 1},
		"refusal":        {answering(status(400)), 1, 1, 1},
		"busy":           {answering(status(503)), 1, 1, 4},
		"no connection":  {unsent(), 1, 4, 4},
		"lost":           {answering(httpmock.NewErrorResponder(io.EOF)), 1, 1, 4},
		"not retryable":  {answering(httpmock.NewErrorResponder(http.ErrSchemeMismatch)), 1, 1, 1},
		"no route there": {answering(status(501)), 1, 1, 1},
	} {
		for retry, want := range map[operations.Retry]int{operations.Never: test.never, operations.Unsent: test.unsent, operations.Safe: test.safe, 99: test.never} {
			synctest.Test(t, func(t *testing.T) {
				call, h := newCall(http.MethodPost, retry)
				response, err := newClient(test.next, Policy{}).Do(t.Context(), call)
				if len(h.statuses) != want || len(h.waits) != want-1 {
					t.Errorf("%s, retry %d: %d attempts and %d waits, want %d attempts", name, retry, len(h.statuses), len(h.waits), want)
				}
				if (response == nil) == (err == nil) {
					t.Errorf("%s: response %v, error %v", name, response, err)
				}
			})
		}
	}
}

func TestDo_SendsTheCallWithEachAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var bodies, keys []string
		note := func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			bodies, keys = append(bodies, string(body)), append(keys, r.Header.Get("Authorization"))
			if r.ContentLength != int64(len(body)) {
				t.Errorf("Content-Length %d of %d bytes", r.ContentLength, len(body))
			}
			return httpmock.NewStringResponse(503, ""), err
		}
		call, _ := newCall(http.MethodPost, operations.Safe)
		response, err := newClient(answering(note), Policy{MaxAttempts: 2}).Do(t.Context(), call)
		if err != nil || response.StatusCode != 503 {
			t.Errorf("%+v, %v", response, err)
		}
		body, key := `{"a":1}`, "Bearer "+testKey
		if diff := cmp.Diff([][]string{{body, body}, {key, key}}, [][]string{bodies, keys}); diff != "" {
			t.Error(diff)
		}
	})
}

// A call whose context ends before a retry has both: the last response, and the reason.
func TestDo_AContextThatEndsKeepsTheLastResponse(t *testing.T) {
	t.Parallel()
	stop := errors.New("shutting down")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		call, h := newCall(http.MethodGet, operations.Safe)
		busy := status(503).HeaderSet(http.Header{"Retry-After": {"50"}})
		time.AfterFunc(time.Second, func() { cancel(stop) })
		response, err := newClient(answering(busy), Policy{}).Do(ctx, call)
		if !errors.Is(err, stop) || response == nil || response.StatusCode != 503 || string(response.Body) != "body" || h.reason != "" {
			t.Errorf("%+v, %v, %q", response, err, h.reason)
		}
	})
}

func TestDo_AWaitThatWouldOutlastTheDeadlineIsNotBegun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		started := time.Now()
		call, h := newCall(http.MethodGet, operations.Safe)
		busy := status(503).HeaderSet(http.Header{"Retry-After": {"50"}})
		response, err := newClient(answering(busy), Policy{}).Do(ctx, call)
		if err != nil || response.StatusCode != 503 || h.reason != "the deadline would pass first" || time.Since(started) != 0 {
			t.Errorf("%+v, %v, %q after %s", response, err, h.reason, time.Since(started))
		}
	})
}

func TestDo_OnePauseForAllCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := status(429).HeaderSet(http.Header{"Retry-After": {"30"}})
		client := newClient(answering(slow, status(200)), Policy{MaxAttempts: 1})
		call, _ := newCall(http.MethodGet, operations.Safe)
		if response, err := client.Do(t.Context(), call); err != nil || response.StatusCode != 429 {
			t.Fatal(response, err)
		}
		time.Sleep(10 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		call, h := newCall(http.MethodGet, operations.Safe)
		_, err := client.Do(ctx, call)
		paused, ok := errors.AsType[*PausedError](err)
		if !ok || paused.Left != 20*time.Second || !NotSent(err) || !HeldBack(err) || len(h.statuses) != 0 {
			t.Errorf("%v after %d attempts", err, len(h.statuses))
		}
		started := time.Now()
		call, _ = newCall(http.MethodGet, operations.Safe)
		if _, err := client.Do(t.Context(), call); err != nil || time.Since(started) < 20*time.Second || time.Since(started) > 21*time.Second {
			t.Errorf("%v after %s", err, time.Since(started))
		}
	})
}

type limiter func(context.Context) error

func (l limiter) Wait(ctx context.Context) error { return l(ctx) }

func TestDo_TheLimiterHoldsBack(t *testing.T) {
	t.Parallel()
	closed := errors.New("closed")
	call, h := newCall(http.MethodPost, operations.Unsent)
	_, err := newClient(answering(status(200)), Policy{}, func(c *Config) {
		c.Limiter = limiter(func(context.Context) error { return closed })
	}).Do(t.Context(), call)
	if !errors.Is(err, closed) || !HeldBack(err) || len(h.statuses) != 0 || err.Error() != "limiter: closed" {
		t.Errorf("%v after %d attempts", err, len(h.statuses))
	}
}

func TestDo_NothingThatItReturnsShowsTheKey(t *testing.T) {
	t.Parallel()
	header := http.Header{"X-Echo": {"Bearer " + testKey}, "Retry-After": {"0"}}
	cut := func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: header.Clone(), Request: r, ContentLength: -1,
			Body: io.NopCloser(io.MultiReader(strings.NewReader(`"`+testKey), iotest.ErrReader(errors.New("after "+testKey))))}, nil
	}
	for name, responder := range map[string]httpmock.Responder{
		"an error": httpmock.NewErrorResponder(errors.New("malformed header: " + testKey)),
		"a header": httpmock.NewStringResponder(200, "{}").HeaderSet(header),
		"a cut":    cut,
	} {
		call, h := newCall(http.MethodPost, operations.Never)
		response, err := newClient(answering(responder), Policy{}).Do(t.Context(), call)
		texts := []string{}
		if response != nil {
			texts = append(texts, response.Header.Get("X-Echo"))
		}
		if partial, ok := errors.AsType[*BodyError](err); ok {
			texts = append(texts, partial.Header.Get("X-Echo"), string(partial.Body))
		}
		for _, err := range append(h.errs, err) {
			if err != nil {
				texts = append(texts, err.Error())
			}
		}
		if len(texts) == 0 || slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, testKey[8:]) }) {
			t.Errorf("%s: %q", name, texts)
		}
	}
}

func TestDo_AnAttemptThatTakesTooLong(t *testing.T) {
	t.Parallel()
	silent := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	}
	synctest.Test(t, func(t *testing.T) {
		call, h := newCall(http.MethodGet, operations.Safe)
		started := time.Now()
		client := newClient(answering(silent), Policy{MaxAttempts: 2, MinWait: 1, MaxWait: 1}, func(c *Config) { c.HTTP.Timeout = 7 * time.Second })
		_, err := client.Do(t.Context(), call)
		if late, ok := errors.AsType[*TimeoutError](err); !ok || late.After != 7*time.Second || !late.Timeout() || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if took := time.Since(started).Round(time.Second); took != 14*time.Second || len(h.statuses) != 2 {
			t.Errorf("%d attempts took %s", len(h.statuses), took)
		}
	})
}

func TestDo_RedirectsAreReturned(t *testing.T) {
	t.Parallel()
	for _, location := range []string{"https://elsewhere.test/", "", "http://[broken"} {
		call, h := newCall(http.MethodGet, operations.Safe)
		redirect := status(302).HeaderSet(http.Header{"Location": {location}})
		response, err := newClient(answering(redirect), Policy{}).Do(t.Context(), call)
		if err != nil || response.StatusCode != 302 || len(h.statuses) != 1 {
			t.Errorf("%q: %+v, %v", location, response, err)
		}
	}
}

func TestDo_TheUsersClientIsNotChanged(t *testing.T) {
	t.Parallel()
	mock := answering(status(200))
	user := &http.Client{Transport: mock, Timeout: time.Minute}
	call, _ := newCall(http.MethodGet, operations.Safe)
	if _, err := New(Config{HTTP: user, Policy: Policy{}.WithDefaults(), MaxBody: 100}).Do(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	if user.Transport != mock || user.Timeout != time.Minute || user.CheckRedirect != nil {
		t.Errorf("%+v", user)
	}
}

// A failed response keeps the start of a large body; a success with one is an error.
func TestDo_BodiesAreBounded(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("x"), 2<<20)
	for code, want := range map[int]error{200: ErrBodyTooLarge, 500: nil} {
		call, _ := newCall(http.MethodGet, operations.Never)
		response, err := newClient(answering(httpmock.NewBytesResponder(code, long)), Policy{}).Do(t.Context(), call)
		if !errors.Is(err, want) || want == nil && (!response.Truncated || len(response.Body) > 1<<20) {
			t.Errorf("%d: %v, %v", code, err, want)
		}
	}
}

func TestRetryable(t *testing.T) {
	t.Parallel()
	cut := func(status int, err error) error { return &BodyError{StatusCode: status, Err: err} }
	for _, test := range []struct {
		status int
		err    error
		want   bool
	}{
		{0, nil, false},
		{200, nil, false}, {302, nil, false}, {400, nil, false}, {404, nil, false}, {600, nil, false},
		{408, nil, true}, {425, nil, true}, {429, nil, true}, {500, nil, true}, {502, nil, true}, {503, nil, true}, {599, nil, true},
		{501, nil, false}, {505, nil, false},
		{503, context.Canceled, true}, // it ended before a retry
		{0, io.EOF, true}, {0, &TimeoutError{}, true}, {0, &unsentError{&PausedError{}, true}, true},
		{0, http.ErrSchemeMismatch, false}, {0, &unsentError{tls.RecordHeaderError{}, false}, false},
		{0, &tls.CertificateVerificationError{}, false}, {0, &net.AddrError{}, false},
		{200, cut(200, ErrTruncated), true}, {503, cut(503, ErrTruncated), true}, {429, cut(429, ErrTruncated), true},
		{400, cut(400, ErrTruncated), false}, {302, cut(302, ErrTruncated), false}, {200, cut(200, ErrBodyTooLarge), false},
	} {
		if got := Retryable(test.status, test.err); got != test.want {
			t.Errorf("%d, %v: %t", test.status, test.err, got)
		}
	}
}
