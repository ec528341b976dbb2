package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/operations"
)

// unreachable cannot be dialled: no program listens on port 0.
const unreachable = "127.0.0.1:0"

// failover sends a request to one address and then, if that fails, to another, as a gateway with a standby does.
type failover struct {
	address string
	// detached hides the first request from the hooks of the context.
	detached bool
	// err is returned instead of the error of the second request.
	err error
}

func (f failover) RoundTrip(r *http.Request) (*http.Response, error) {
	next := &http.Transport{DisableKeepAlives: true}
	ctx := r.Context()
	if f.detached {
		ctx = context.Background()
	}
	first := r.Clone(ctx)
	first.URL.Scheme, first.URL.Host = "http", f.address
	if response, err := next.RoundTrip(first); err == nil {
		return response, nil
	}
	if f.err != nil {
		return nil, f.err
	}
	second := r.Clone(r.Context())
	if r.GetBody != nil {
		second.Body, _ = r.GetBody()
	}
	return next.RoundTrip(second)
}

// noCachedConnection makes net/http send a request again on another connection.
type noCachedConnection struct{ error }

func (noCachedConnection) IsHTTP2NoCachedConnError() {}

// late returns before it sends the request.
type late struct {
	next http.RoundTripper
	body io.Reader
}

func (l *late) RoundTrip(r *http.Request) (*http.Response, error) {
	l.body = r.Body
	return l.next.RoundTrip(r.WithContext(r.Context()))
}

// embedding has all methods of an http.Transport.
type embedding struct{ *http.Transport }

// registered returns a transport that passes requests to a RoundTripper.
func registered(next http.RoundTripper) *http.Transport {
	transport := &http.Transport{}
	transport.RegisterProtocol("http", next)
	return transport
}

// writing writes to an address before it fails, as a dialer that has to log in to a gateway does.
func writing(ctx context.Context, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	_, _ = io.WriteString(conn, "login")
	_ = conn.Close()
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("login refused")}
}

func proxy(scheme, address string) func(*http.Request) (*url.URL, error) {
	return http.ProxyURL(&url.URL{Scheme: scheme, Host: address})
}

// transportCase is a transport whose request goes to an address that cannot be dialled.
type transportCase struct {
	transport http.RoundTripper
	scheme    string // by default http
	bodyless  bool
	evidence  bool
	received  int32 // by the service
}

// transports are the cases of a service at an address.
func transports(address string) map[string]transportCase {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return writing(ctx, address) }
	dialOnly := func(_, _ string) (net.Conn, error) { return writing(context.Background(), address) }
	refuse := func(context.Context, *url.URL, *http.Request, *http.Response) error { return errors.New("refused") }
	first, hidden := failover{address: address}, failover{address: address, detached: true}
	overHTTP2 := &http.Transport{Protocols: new(http.Protocols)}
	overHTTP2.Protocols.SetUnencryptedHTTP2(true)
	return map[string]transportCase{
		"none":                 {nil, "", false, true, 0},
		"none, without a body": {nil, "", true, true, 0},
		"plain":                {&http.Transport{}, "", false, true, 0},
		"plain, over TLS":      {&http.Transport{ForceAttemptHTTP2: true}, "https", false, true, 0},
		"cloned":               {http.DefaultTransport.(*http.Transport).Clone(), "https", false, true, 0},
		// Nothing shows whether a RoundTripper that is registered with the transport has sent a request without a body.
		"plain, without a body": {&http.Transport{}, "", true, false, 0},
		"embedded":              {embedding{&http.Transport{}}, "", false, false, 0},

		// A RoundTripper that is registered for the scheme can send the request elsewhere.
		"registered":                 {registered(first), "", false, false, 1},
		"registered, detached":       {registered(hidden), "", false, false, 1},
		"registered, without a body": {registered(hidden), "", true, false, 1},
		// It has sent nothing if it has not read the body.
		"registered, not sent": {registered(&http.Transport{}), "", false, true, 0},
		// net/http calls it before its own connection, for which it does not read the body either.
		"registered, skipped": {registered(httpError{http.ErrSkipAltProtocol}), "", false, true, 0},

		// A dialer does not know the request: whatever it has sent, the request was not in it.
		"DialContext": {&http.Transport{DialContext: dial}, "", false, true, 0},
		//lint:ignore SA1019 programs use it
		"Dial":           {&http.Transport{Dial: dialOnly}, "", false, true, 0},
		"DialTLSContext": {&http.Transport{DialTLSContext: dial}, "https", false, true, 0},
		//lint:ignore SA1019 programs use it
		"DialTLS": {&http.Transport{DialTLS: dialOnly}, "https", false, true, 0},

		// A proxy has not seen the request if it was not reached, or if it refused the tunnel.
		"Proxy":           {&http.Transport{Proxy: proxy("http", unreachable)}, "", false, true, 0},
		"Proxy, SOCKS":    {&http.Transport{Proxy: proxy("socks5", unreachable)}, "", false, true, 0},
		"Proxy, tunnel":   {&http.Transport{Proxy: proxy("http", address)}, "https", false, true, 0},
		"Proxy, reached":  {&http.Transport{Proxy: proxy("http", address)}, "", false, false, 1},
		"Proxy, in error": {&http.Transport{Proxy: failingProxy}, "", false, false, 0},
		"OnProxyConnectResponse": {&http.Transport{Proxy: proxy("http", address), OnProxyConnectResponse: refuse}, "https",
			false, true, 0},
		"ProxyConnectHeader": {&http.Transport{Proxy: proxy("http", address),
			ProxyConnectHeader: http.Header{"X-Pass": {"1"}}}, "https", false, true, 0},
		"GetProxyConnectHeader": {&http.Transport{Proxy: proxy("http", address), GetProxyConnectHeader: noHeader}, "https",
			false, true, 0},
		// The function receives the request, and can send it.
		"Proxy, sending": {&http.Transport{Proxy: func(r *http.Request) (*url.URL, error) {
			_, _ = failover{address, true, io.EOF}.RoundTrip(r)
			return nil, nil
		}}, "", false, false, 1},

		// A function of TLSNextProto returns a RoundTripper, after which net/http can connect again.
		"TLSNextProto": {upgrading(failover{address, true, noCachedConnection{io.EOF}}), "https", false, false, 1},
		"Protocols":    {overHTTP2, "", false, true, 0},
	}
}

// A connection that fails is evidence that nothing was sent if nothing behind the transport can have sent the request.
// Without evidence it is not sent again.
func TestSendOnce_EvidenceOfATransport(t *testing.T) {
	t.Parallel()
	for name := range transports("") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var received atomic.Int32
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodConnect {
					w.WriteHeader(http.StatusForbidden)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				received.Add(1)
				panic(http.ErrAbortHandler)
			}))
			defer service.Close()
			test := transports(service.Listener.Addr().String())[name]
			call, h := newCall(http.MethodPost, operations.Unsent)
			call.URL = &url.URL{Scheme: cmp.Or(test.scheme, "http"), Host: unreachable, Path: "/"}
			if test.bodyless {
				call.Body = nil
			}
			_, err := newClient(test.transport, Policy{MaxAttempts: 3, MinWait: 1, MaxWait: 1}).Do(t.Context(), call)
			attempts := map[bool]int{false: 1, true: 3}[test.evidence]
			if NotSent(err) != test.evidence || len(h.errs) != attempts || received.Load() != test.received {
				t.Errorf("evidence: %t, want %t; %d attempts, want %d; %d requests received, want %d: %v",
					NotSent(err), test.evidence, len(h.errs), attempts, received.Load(), test.received, err)
			}
		})
	}
}

type httpError struct{ error }

func (e httpError) RoundTrip(*http.Request) (*http.Response, error) { return nil, e.error }

func failingProxy(*http.Request) (*url.URL, error) { return nil, errors.New("no proxy") }

func noHeader(context.Context, *url.URL, string) (http.Header, error) {
	return nil, errors.New("no header")
}

// upgrading returns a transport whose first connection negotiates a protocol that next implements. Its second
// connection fails.
func upgrading(next http.RoundTripper) *http.Transport {
	var dialled atomic.Bool
	return &http.Transport{
		DialTLSContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			if dialled.Swap(true) {
				return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused")}
			}
			here, there := net.Pipe()
			certificate := httptest.NewUnstartedServer(nil)
			certificate.StartTLS()
			defer certificate.Close()
			config := certificate.TLS.Clone()
			config.NextProtos = []string{"other"}
			go func() { _ = tls.Server(there, config).HandshakeContext(context.Background()) }()
			return tls.Client(here, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"other"}}), nil
		},
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{
			"other": func(string, *tls.Conn) http.RoundTripper { return next },
		},
	}
}

// The default transport is the client's own unless the program has changed who sends its requests. A copy has none of
// the protocols that are registered with it.
func TestNew_WhoseTheDefaultTransportIs(t *testing.T) {
	before := http.DefaultTransport
	defer func() { http.DefaultTransport = before }()
	protocol := registered(httpError{io.EOF})
	for name, test := range map[string]struct {
		standard http.RoundTripper
		own      bool
	}{
		"net/http's own":      {before, true},
		"registered protocol": {protocol, true},
		"TLSNextProto":        {upgrading(httpError{io.EOF}), false},
		"replaced":            {httpError{io.EOF}, false},
	} {
		http.DefaultTransport = test.standard
		c := New(Config{})
		if c.own != test.own {
			t.Errorf("%s: own: %t", name, c.own)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+unreachable, nil)
		if err != nil {
			t.Fatal(err)
		}
		if response, err := c.next.RoundTrip(request); c.own && err == io.EOF {
			t.Errorf("%s: the registered protocol is used: %v", name, response)
		}
	}
}

// asking reports that a field of the header was written, and asks for the request a second time.
type asking struct{ field string }

func (a asking) RoundTrip(r *http.Request) (*http.Response, error) {
	trace := httptrace.ContextClientTrace(r.Context())
	trace.GetConn("")
	trace.GotConn(httptrace.GotConnInfo{})
	trace.WroteHeaderField(a.field, nil)
	trace.GetConn("")
	if r.Body == nil {
		return nil, r.Context().Err()
	}
	_, err := r.GetBody()
	return nil, err
}

// A request is not given a second time once a part of it may have been read, if net/http would repeat it. test/wire
// shows when net/http asks.
func TestSendOnce_IsNotGivenASecondTime(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		method, field string
		bodyless      bool
	}{
		{http.MethodPost, ":method", false}, {http.MethodPost, ":method", true}, {http.MethodPost, "Idempotency-Key", false},
		{http.MethodPost, "X-Idempotency-Key", true}, {http.MethodOptions, "Accept", false},
		{http.MethodOptions, "Accept", true},
	} {
		call, h := newCall(http.MethodPost, operations.Never)
		call.Method = test.method
		if test.bodyless {
			call.Body = nil
		}
		_, err := newClient(asking{test.field}, Policy{}).Do(t.Context(), call)
		if err != errNotResent || NotSent(err) || len(h.errs) != 1 {
			t.Errorf("%+v: %v after %d attempts", test, err, len(h.errs))
		}
	}
}

// A RoundTripper that returns before it sends the request cannot send it after the client has reported that nothing was
// sent.
func TestSendOnce_ABodyCannotBeReadAfterTheEvidence(t *testing.T) {
	t.Parallel()
	next := &late{next: &http.Transport{}}
	call, _ := newCall(http.MethodPost, operations.Never)
	call.URL = &url.URL{Scheme: "http", Host: unreachable, Path: "/"}
	_, err := newClient(registered(next), Policy{}).Do(t.Context(), call)
	if !NotSent(err) {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(next.body); err == nil || len(body) > 0 {
		t.Errorf("%q was read: %v", body, err)
	}
}

// A request that was written, and is stopped before its next connection, may have arrived, even if its context has
// ended.
func TestSendOnce_AWrittenRequestMayHaveArrived(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	request := httptest.NewRequestWithContext(ended, http.MethodPost, "/", http.NoBody)
	for written, unsent := range map[bool]bool{false: true, true: false} {
		p := &progress{own: true, cancel: func() {}, written: written}
		p.connection(true)
		if err := p.explain(request, &http.Transport{}, context.Canceled); NotSent(err) != unsent {
			t.Errorf("written %t: %v, not sent %t", written, err, NotSent(err))
		}
	}
}

// HTTP/1.1 does not check the context before it writes, so the connection of a stopped request is closed, unless other
// requests share it.
func TestSendOnce_AStoppedRequestGetsNoConnection(t *testing.T) {
	t.Parallel()
	for shared, want := range map[bool]error{false: io.ErrClosedPipe, true: os.ErrDeadlineExceeded} {
		conn, other := net.Pipe()
		defer other.Close()
		if err := conn.SetDeadline(time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		p := &progress{cancel: func() {}, written: true, overHTTP2: shared}
		p.trace().GetConn("")
		p.trace().GotConn(httptrace.GotConnInfo{Conn: conn})
		if _, err := conn.Write([]byte("POST")); !errors.Is(err, want) {
			t.Errorf("shared %t: the connection returns %v", shared, err)
		}
	}
}
