package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
	"pgregory.net/rapid"

	"github.com/shipping-go/shipping/internal/operations"
	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
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

func (h *hooks) Header(context.Context, int) (http.Header, error) { return nil, nil }

func (h *hooks) Attempted(_ context.Context, a Attempt) {
	h.statuses, h.errs = append(h.statuses, a.StatusCode), append(h.errs, a.Err)
}
func (h *hooks) Retrying(_ context.Context, wait time.Duration) { h.waits = append(h.waits, wait) }
func (h *hooks) NotRetried(reason string)                       { h.reason = reason }

// newClient returns a client of a transport, with a policy.
func newClient(next http.RoundTripper, policy Policy, edit ...func(*Config)) *Client {
	config := Config{HTTP: &http.Client{Transport: next}, Key: redact.New(testKey), Policy: policy.WithDefaults(),
		MaxBody: 1 << 20}
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
	call := Call{Method: method, URL: target, Header: http.Header{"Authorization": {"Bearer " + testKey}}, Retry: retry,
		Hooks: h}
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
		if !errors.Is(err, stop) || response == nil || response.StatusCode != 503 || string(response.Body) != "body" ||
			h.reason != "" {
			t.Errorf("%+v, %v, %q", response, err, h.reason)
		}
	})
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
		{408, nil, true}, {425, nil, true}, {429, nil, true}, {500, nil, true}, {502, nil, true}, {503, nil, true},
		{599, nil, true},
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

// A transport that breaks its contract ends a call without a panic, and proves nothing.
func TestDo_OverATransportThatBreaksItsContract(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		response *http.Response
		err      error
		fails    bool
	}{
		"neither":            {nil, nil, true},
		"no body":            {&http.Response{StatusCode: 200}, nil, false},
		"no status":          {&http.Response{Body: http.NoBody}, nil, false},
		"a refused dial":     {nil, &net.OpError{Op: "dial", Err: errNoConnection}, true},
		"evidence of a call": {nil, &unsentError{error: errNoConnection}, true},
	} {
		call, h := newCall(http.MethodPost, operations.Unsent)
		_, err := newClient(answering(func(*http.Request) (*http.Response, error) { return test.response, test.err }),
			Policy{}).Do(t.Context(), call)
		if (err != nil) != test.fails || NotSent(err) || len(h.statuses) != 1 {
			t.Errorf("%s: %d attempts, %v", name, len(h.statuses), err)
		}
	}
}

// A call that ends while it waits for a retry was never sent if it is retried only on evidence of that. A call
// whose attempt was under way may have been, whatever its transport returns.
func TestDo_EvidenceIfTheContextEnds(t *testing.T) {
	t.Parallel()
	cause := error(&unsentError{error: errNoConnection}) // of another call
	underWay := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	withCause := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, context.Cause(r.Context()) // as net/http does
	}
	for name, test := range map[string]struct {
		next    http.RoundTripper
		retry   operations.Retry
		notSent bool
	}{
		"waiting after no connection": {unsent(), operations.Unsent, true},
		"waiting, safe":               {unsent(), operations.Safe, false},
		"waiting after a response":    {answering(status(503)), operations.Safe, false},
		"under way":                   {answering(underWay), operations.Unsent, false},
		"under way, sent once":        {answering(underWay), operations.Never, false},
		"under way, with the cause":   {answering(withCause), operations.Unsent, false},
		"sent once, with the cause":   {answering(withCause), operations.Never, false},
		"lost, then under way": {answering(httpmock.NewErrorResponder(http.ErrServerClosed), underWay),
			operations.Safe, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(cause) })
			call, _ := newCall(http.MethodPost, test.retry)
			_, err := newClient(test.next, Policy{MinWait: time.Hour, MaxWait: 2 * time.Hour}).Do(ctx, call)
			if NotSent(err) != test.notSent || HeldBack(err) != test.notSent || !errors.Is(err, cause) {
				t.Errorf("%s: not sent: %t, held back: %t: %v", name, NotSent(err), HeldBack(err), err)
			}
		})
	}
}

// The error of another call proves nothing about the call that returns it.
func TestEvidence_IsOfTheCallItself(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"unsent": &unsentError{error: errNoConnection}, "held back": &unsentError{&PausedError{time.Second}, true},
		"late": &TimeoutError{After: 1, evidence: &unsentError{error: errNoConnection}},
	} {
		if !NotSent(err) {
			t.Errorf("%s is evidence", name)
		}
		for _, wrapped := range []error{
			errors.Join(context.Canceled, err), truncatedError{err}, limiterError{err}, &BodyError{Err: err},
			&TimeoutError{After: 1},
			&unsentError{err, false}, nil,
		} {
			own, _ := wrapped.(*unsentError)
			if _, paused := Paused(wrapped); NotSent(wrapped) != (own != nil) || HeldBack(wrapped) || paused {
				t.Errorf("%s, wrapped as %T, is evidence", name, wrapped)
			}
		}
	}
	if _, partial := Partial(errors.Join(&BodyError{StatusCode: 404, Err: ErrTruncated})); partial {
		t.Error("a response of another call")
	}
}

// Whatever the policy and however often it failed, a wait is not negative, lies within its own bound and
// the policy's, and its bound doubles until it is the longest.
func TestRetry_BackoffStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	wait := rapid.OneOf(rapid.Int64Range(0, int64(time.Minute)), rapid.Int64()) // a usual one, or any
	rapid.Check(t, func(t *rapid.T) {
		policy := Policy{
			MinWait: max(0, time.Duration(wait.Draw(t, "MinWait"))), MaxWait: max(0, time.Duration(wait.Draw(t, "MaxWait"))),
			MaxRetryAfter: max(0, time.Duration(wait.Draw(t, "MaxRetryAfter"))),
		}.WithDefaults()
		attempt := rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(1, math.MaxInt)).Draw(t, "attempt")
		bound := policy.MinWait
		for range min(attempt-1, 64) {
			bound = min(2*bound, policy.MaxWait)
		}
		bound = min(bound, policy.MaxWait)
		if got := policy.backoff(attempt); got < 0 || got > bound || bound > LongestWait {
			t.Fatalf("after attempt %d the wait is %s, want 0 to %s", attempt, got, bound)
		}
		asked := time.Duration(wait.Draw(t, "Retry-After"))
		header := http.Header{"Retry-After": {strconv.FormatInt(int64(asked/time.Second), 10)}}
		read, there := RetryAfter(header, time.Now())
		if want := min(max(asked.Truncate(time.Second), 0), LongestWait); !there || read != want {
			t.Fatalf("Retry-After %s is read as %s, %v, want %s", header.Get("Retry-After"), read, there, want)
		}
		if got := policy.clamp(read); got <= 0 || got > max(policy.MaxRetryAfter, policy.MinWait) {
			t.Fatalf("asked to wait %s, it waits %s; at most %s", read, got, policy.MaxRetryAfter)
		}
	})
}

func TestBodiesAreReadWholeWhateverLengthTheyAnnounce(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 512, unannouncedBody, unannouncedBody + 1, 300_000} {
		text := strings.Repeat("x", size)
		for _, announced := range []int64{-1, 0, int64(size), int64(size) + 1} {
			got, err := new(buffers).read(strings.NewReader(text), announced, max(int64(size), announced))
			if err != nil || string(got) != text {
				t.Errorf("%d bytes announced as %d: %d bytes, %v", size, announced, len(got), err)
			}
			got, err = new(buffers).read(strings.NewReader(text+"x"), announced, int64(size))
			if !errors.Is(err, ErrBodyTooLarge) || len(got) > size || cap(got) > 2<<20 {
				t.Errorf("%d bytes announced as %d, and one too many: %d bytes, %v", size, announced, len(got), err)
			}
		}
	}
}
