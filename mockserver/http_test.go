package mockserver_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

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
	for name, injected := range map[string]fault.Fault{"drop": fault.Drop(), "reset": fault.Reset()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
