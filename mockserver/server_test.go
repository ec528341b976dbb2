package mockserver_test

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
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// A server that could not start was reached at the URL mockserver.invalid, which failed in a program's own client as an
// unknown host, after four attempts.
func TestNew_AServerThatDidNotStartRespondsWithTheReason(t *testing.T) {
	t.Parallel()
	taken := shippingtest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	for want, opts := range map[string][]mockserver.Option{
		"choose another address":     {mockserver.WithAddr(taken.Addr().String())},
		`unknown scenario "lowfund"`: {mockserver.WithScenario("lowfund")},
		"is only a port":             {mockserver.WithAddr("4010")},
	} {
		srv := mockserver.New(opts...)
		defer srv.Close()
		shippingtest.Contains(t, "Err", srv.Err(), want)
		for _, client := range []*http.Client{{Transport: srv.Transport()}, {Transport: &http.Transport{}}} {
			attempts := 0
			observe := shipping.Observer{Attempt: func(context.Context, string, shipping.Attempt) { attempts++ }}
			c := shippingtest.Must(shipping.NewClient(srv.SecretKey, shipping.WithBaseURL(srv.URL),
				shipping.WithHTTPClient(client), shipping.WithObserver(observe)))(t)
			if _, err := c.Rates.List(t.Context(), nil); err == nil || !strings.Contains(err.Error(), want) || attempts != 1 {
				t.Errorf("after %d attempts: %v, want %q in it", attempts, err, want)
			}
		}
	}
}

// With GODEBUG=fips140=only the PDF route panicked, because a library named fonts by their SHA-1.
func TestServer_WithFIPS140Only(t *testing.T) {
	t.Parallel()
	only := exec.Command(os.Args[0],
		"-test.run=^(TestWorlds_APDFWithoutAKeyIsFound|TestReplay_IsReallyDeliveredAndSigned)$", "-test.v")
	only.Env = append(os.Environ(), "GODEBUG=fips140=only")
	if out, err := only.CombinedOutput(); err != nil || strings.Count(string(out), "--- PASS") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestRoutes_RefusesWhatItCannotServe(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ operation, route, want string }{
		{"rates.create", "/v1/rates", "but only these operations can have a route"},
		{operations.RetryRequest, "/v1/{request_id}/{", "whose placeholder {} is unknown"},
		{operations.RetryRequest, "/v1//{request_id}", "no empty or dot segments"},
		{operations.RetryRequest, "/v1/{request_id}/{request_id}", "duplicate wildcard name"},
		{operations.DocumentPDF, "/v1/{request_id}/{document_type}/pdf",
			`some requests are also those of regulatory.get, "GET /v1/regulatory-documents/request/{request_id}"`},
		{operations.RetryRequest, "/_mock/{request_id}", "outside /_mock/"},
	} {
		srv := mockserver.New(mockserver.WithoutListener(), dialectOf(t, "routes="+test.operation+"="+test.route))
		defer srv.Close()
		shippingtest.Contains(t, test.route, srv.Err(), test.want)
	}
}

// When Advance returns, each request whose injected latency has passed has its response and its journal entry, with the
// time at which the latency ended. If Advance did not wait for their goroutines, it would return before some entries,
// or the others would have the time of its end. Two latencies of one request made Advance wait without end: it waited for
// the response, which waited for the second.
func TestAdvance_WaitsForDelayedCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := mockserver.New(mockserver.WithoutListener(), virtual())
		defer srv.Close()
		inject(t, srv, fault.Rule{Fault: fault.Latency(time.Second / 4)},
			fault.Rule{Fault: fault.Latency(3 * time.Second / 4), Committed: true})
		began := srv.Now()
		var answered sync.WaitGroup
		for range 20 {
			answered.Go(func() { get(t, srv, "/v1/rates?perPage=1") })
		}
		synctest.Wait()
		advance(t, srv, time.Hour)
		calls := srv.Journal()
		if len(calls) != 20 {
			t.Fatalf("%d calls in the journal", len(calls))
		}
		for _, c := range calls {
			shippingtest.Diff(t, "latency", time.Second, c.At.Sub(began))
			shippingtest.Diff(t, "duration", fault.Duration(time.Second), c.Duration)
		}
		answered.Wait()
	})
}

// Closing a world or its server ends waiting requests at once, whatever injected fault they wait for, and the waits of
// the test itself. One that listened only to its timer and its client would hold the close for an hour, or without end.
func TestClose_EndsWhatWaits(t *testing.T) {
	t.Parallel()
	rules := map[string]fault.Rule{"latency after the change": {Fault: fault.Latency(time.Hour), Committed: true}}
	atOnce := []string{"rate-limit", "gateway-timeout"} // the response is sent
	for _, kind := range fault.Kinds() {
		if slices.Contains(kind.Needs, "duration") && !slices.Contains(atOnce, kind.Kind) &&
			!strings.HasSuffix(kind.Kind, "-"+fault.Notification) {
			kind.Example.Duration = fault.Duration(time.Hour)
			rules[kind.Kind] = fault.Rule{Fault: kind.Example}
		}
	}
	for name, rule := range rules {
		for _, scenario := range []string{"default", "virtual"} {
			synctest.Test(t, func(t *testing.T) {
				srv := mockserver.New(mockserver.WithoutListener())
				defer srv.Close()
				w := srv.NewWorld(t, scenario)
				subscribe(t, w, notify.InboxURL+"?status=503", "test")
				sent := emit(t, w, notify.Event{Kind: "test"})
				shippingtest.NoError(t, w.Inject(rule))
				var errs [3]error
				var waiting sync.WaitGroup
				waiting.Go(func() { _, errs[0] = w.Await(t.Context(), journal.Query{Operation: shipping.OpPurchase}, 0) })
				waiting.Go(func() { _, errs[1] = w.WaitDelivery(t.Context(), sent.ID) })
				waiting.Go(func() {
					req := newRequest(t, srv, http.MethodGet, "/v1/rates", "")
					req.Header.Set("Authorization", "Bearer "+w.SecretKey)
					_, errs[2] = attempt(w.Transport(), req)
				})
				synctest.Wait()
				began := time.Now()
				if w.Close(); scenario == "virtual" {
					srv.Close()
				}
				waiting.Wait()
				if slices.Contains(errs[:], nil) || time.Since(began) > time.Minute {
					t.Errorf("%s, %s: after %v the waits ended with %v", name, scenario, time.Since(began), errs)
				}
			})
		}
	}
}

// Ticks for which no client waits any more are dropped. One that the end of its client does not stop would stay pending
// on the virtual clock, and strike at the next Advance.
func TestFaults_LeaveNothingBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var waited []string // kinds, with the bytes that come before the wait
		for _, kind := range fault.Kinds() {
			srv := mockserver.New(mockserver.WithoutListener(), virtual())
			defer srv.Close()
			inject(t, srv, fault.Rule{Fault: kind.Example})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			got, err := attempt(srv.Transport(), newRequest(t, srv, "GET", "/v1/rates?page=2", "").WithContext(ctx))
			if !errors.Is(err, context.DeadlineExceeded) {
				continue
			}
			waited = append(waited, fmt.Sprint(kind.Kind, " ", len(got.body)))
			synctest.Wait()
			shippingtest.Diff(t, kind.Kind+": timers that are left", 0, srv.Pending())
		}
		shippingtest.Diff(t, "kinds that wait", []string{"latency 0", "slow-body 1"}, waited)
	})
}

func TestServer_ServesTLSThatItsClientTrusts(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithTLS(), mockserver.WithHosts("mock.internal", "127.0.0.7"))
	shippingtest.Must(srv.Client(t).Rates.List(t.Context(), nil))(t)
	port := strings.TrimPrefix(srv.URL, "https://127.0.0.1:")
	client := trusting(t, srv)
	for _, host := range []string{"127.0.0.1", "localhost", "mock.internal", "127.0.0.7"} {
		resp := shippingtest.Must(client.Get("https://" + net.JoinHostPort(host, port) + "/_mock/healthz"))(t)
		resp.Body.Close()
		shippingtest.Diff(t, host, [2]int{http.StatusOK, 2}, [2]int{resp.StatusCode, resp.ProtoMajor})
	}
	if resp, err := http.Get(srv.URL); err == nil {
		resp.Body.Close()
		t.Error("a stranger trusts the certificate")
	}
	get(t, srv, "/v1/rates").want(t, http.StatusOK)
}

// trusting returns a client over HTTP/2 that trusts the certificate of the server and connects to it, whatever the
// host.
func trusting(t *testing.T, srv *mockserver.Server) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(srv.CA()) {
		t.Fatalf("no certificate: %s", srv.CA())
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(srv.URL, "https://"))
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// A connection of HTTP/2 cannot be taken over, so a dropped answer resets its stream.
func TestFaults_DropStreamsOfHTTP2(t *testing.T) {
	t.Parallel()
	faults := map[string]fault.Fault{"drop": fault.Drop(), "reset": fault.Reset()}
	shippingtest.EachRow(t, faults, func(t *testing.T, injected fault.Fault) {
		srv := start(t, mockserver.WithTLS())
		inject(t, srv, fault.Rule{Operation: shipping.OpListRates, Nth: 1, Fault: injected})
		client := trusting(t, srv).Transport
		if got, err := attempt(client, newRequest(t, srv, http.MethodGet, "/v1/rates", "")); err == nil {
			t.Errorf("answered with %d", got.status)
		}
		next := shippingtest.Must(attempt(client, newRequest(t, srv, http.MethodGet, "/v1/rates", "")))(t)
		next.want(t, http.StatusOK)
	})
}

// connect opens a connection in memory and sends a text. It closes with the test, whose time must be virtual: net/http
// keeps a connection that it has hung up on for half a second.
func connect(t *testing.T, srv *mockserver.Server, text string) net.Conn {
	t.Helper()
	conn := shippingtest.Must(srv.Transport().(*http.Transport).DialContext(t.Context(), "tcp", "any"))(t)
	t.Cleanup(func() {
		conn.Close()
		time.Sleep(time.Second)
	})
	if text != "" {
		shippingtest.Must(conn.Write([]byte(text)))(t)
	}
	return conn
}

// A connection that sends a part of a header, or nothing, is closed within two minutes, also after a request. Without
// the timeouts of the server it would stay open without end.
func TestServer_ClosesIdleConnections(t *testing.T) {
	shippingtest.EachInBubble(t, map[string]string{
		"in the middle of a header": "GET /v1/rates HTTP/1.1\r\nHost: loc", "before a request": "",
		"after a request": "GET /_mock/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
	}, func(t *testing.T, said string) {
		srv := start(t, mockserver.WithoutListener())
		conn := connect(t, srv, said)
		began := time.Now()
		got, _ := io.ReadAll(conn)
		whole := strings.HasSuffix(said, "\r\n\r\n")
		if waited := time.Since(began); whole != (len(got) > 0) || waited > 2*time.Minute {
			t.Errorf("closed after %v: %s", waited, got)
		}
	})
}

// A request body that never ends holds neither its connection nor, beyond its deadline, a shutdown, whatever the
// request is. A handler that read the body without a deadline would never return.
func TestServer_ClosesConnectionsWithEndlessBodies(t *testing.T) {
	requests := map[string]string{
		"operation":              "POST /v1/webhooks/replay",
		"operation without body": "GET /v1/rates",
		"control surface":        "POST /_mock/faults",
		"index":                  "GET /_mock/",
		"unknown control route":  "POST /_mock/nothing",
		"unknown path":           "POST /v1/nothing",
		"wrong method":           "DELETE /v1/rates",
	}
	for name, line := range requests {
		for _, shutdown := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/shutdown %v", name, shutdown), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv := start(t, mockserver.WithoutListener())
					head := line + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + srv.SecretKey +
						"\r\nContent-Length: 100\r\n\r\n{"
					conn := connect(t, srv, head)
					began, most := time.Now(), 31*time.Second
					read := make(chan error, 1)
					go func() {
						_, err := io.Copy(io.Discard, conn)
						read <- err
					}()
					synctest.Wait()
					if shutdown {
						most = 4 * time.Second
						ctx, cancel := context.WithTimeout(t.Context(), most)
						defer cancel()
						shippingtest.WantError(t, "shutdown", srv.Shutdown(ctx), context.DeadlineExceeded)
					}
					if err := <-read; err != nil || time.Since(began) > most {
						t.Errorf("hung up after %v: %v", time.Since(began), err)
					}
				})
			})
		}
	}
}

// Connections that have sent no complete request, such as those that browsers open ahead of time, do not delay a
// shutdown: net/http alone waits five seconds for each of them.
func TestShutdown_ClosesConnectionsWithoutARequest(t *testing.T) {
	for _, said := range []string{"", "GET /v1/ra"} {
		synctest.Test(t, func(t *testing.T) {
			srv := start(t, mockserver.WithoutListener())
			connect(t, srv, said)
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			shippingtest.NoError(t, srv.Shutdown(ctx))
		})
	}
}
