package promises_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// serve starts a server on a real socket, and a client of it.
func serve(t *testing.T, handler http.HandlerFunc, options ...shipping.Option) (*shipping.Client, *httptest.Server) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := shipping.NewClient(shippingtest.Key, append([]shipping.Option{shipping.WithBaseURL(server.URL), shippingtest.FastRetries()}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return client, server
}

// dials is a transport that counts its connections.
func dials(count *atomic.Int32) *http.Transport {
	return &http.Transport{
		MaxIdleConnsPerHost: 8,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			count.Add(1)
			var dialer net.Dialer
			return dialer.DialContext(ctx, network, address)
		},
	}
}

func TestSockets_ConnectionsAreKeptAfterFailures(t *testing.T) {
	t.Parallel()
	var count atomic.Int32
	transport := dials(&count)
	defer transport.CloseIdleConnections()
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, strings.Repeat(" ", 100_000))
	}, shipping.WithHTTPClient(&http.Client{Transport: transport}), shipping.WithRetryPolicy(shipping.RetryPolicy{MinWait: 1, MaxWait: 1, ExtraLoad: -1}))
	for range 10 {
		_, err := client.Rates.List(t.Context(), nil)
		shippingtest.WantError(t, "rates", err, shipping.ErrServer)
	}
	if got := count.Load(); got != 1 {
		t.Errorf("40 requests in a row used %d connections, want 1", got)
	}
}

func TestSockets_RedirectsAreRefusedAndTheKeyStaysHome(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, target := range []string{other.URL, "/v1/countries"} {
			var reached atomic.Int32
			followed := func(*http.Request, []*http.Request) error { return nil }
			client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
				reached.Add(1)
				http.Redirect(w, r, target, status)
			}, shipping.WithHTTPClient(&http.Client{CheckRedirect: followed}))
			_, err := client.Rates.List(t.Context(), nil)
			shippingtest.WantError(t, "read", err, shipping.ErrRedirected)
			_, err = client.Webhooks.Replay(t.Context(), &shipping.ReplayRequest{DeliveryID: "WD-1"})
			shippingtest.WantError(t, "post", err, shipping.ErrRedirected)
			if got := reached.Load(); got != 2 {
				t.Errorf("%d to %s: two calls made %d requests", status, target, got)
			}
		}
	}
	if elsewhere.Load() != 0 {
		t.Errorf("another origin received %d requests", elsewhere.Load())
	}
}

func TestSockets_TheUsersHTTPClientIsNotChanged(t *testing.T) {
	t.Parallel()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	own := &http.Client{Transport: transport, Timeout: 3 * time.Second}
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, shippingtest.Envelope(`{"rates":[]}`))
	}, shipping.WithHTTPClient(own))
	if _, err := client.Rates.List(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if own.Transport != transport || own.Timeout != 3*time.Second || own.CheckRedirect != nil || own.Jar != nil {
		t.Errorf("the user's HTTP client was changed: %+v", own)
	}
	if http.DefaultClient.Timeout != 0 || http.DefaultClient.Transport != nil || http.DefaultClient.CheckRedirect != nil {
		t.Error("the shared default HTTP client was changed")
	}
}

func TestSockets_CompressedBodies(t *testing.T) {
	t.Parallel()
	compressed := func(body string) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = io.WriteString(w, body)
		_ = w.Close()
		return out.Bytes()
	}
	whole := compressed(shippingtest.Golden(t, "rates.json"))
	bomb := compressed(`{"status":true,"data":"` + strings.Repeat("x", 8<<20) + `"}`)
	for name, test := range map[string]struct {
		body []byte
		want error
	}{
		"whole": {whole, nil},
		"cut":   {whole[:len(whole)/2], shipping.ErrTruncated},
		"bomb":  {bomb, shipping.ErrBodyTooLarge},
		"none":  {[]byte("plain"), shipping.ErrConnection},
	} {
		client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(test.body)
		}, shipping.WithMaxResponseBytes(1<<20))
		_, err := client.Rates.List(t.Context(), nil)
		if test.want == shipping.ErrConnection { // net/http reports it in several ways
			if err == nil {
				t.Errorf("%s: no error", name)
			}
			continue
		}
		if !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", name, err, test.want)
		}
	}
}

func TestSockets_TruncatedBodiesAreAskedForAgain(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	body := shippingtest.Golden(t, "rates.json")
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if reached.Add(1) < 3 {
			w.Header().Set("Content-Length", "10000000")
			_, _ = io.WriteString(w, body[:100])
			return // net/http closes the connection on a short body
		}
		_, _ = io.WriteString(w, body)
	})
	page, err := client.Rates.List(t.Context(), nil)
	if err != nil || len(page.Items) != 3 || reached.Load() != 3 {
		t.Errorf("page %v, error %v after %d requests", page, err, reached.Load())
	}
}

func TestSockets_ATruncatedBodyKeepsStatusAndStart(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 404, 503} {
		client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"status":false,"mess`)
		}, shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1}))
		_, err := client.Rates.List(t.Context(), nil)
		shippingtest.WantError(t, "rates", err, shipping.ErrTruncated)
		if failure := shippingtest.ErrorIn(t, err); failure.StatusCode != status || string(failure.Body) != `{"status":false,"mess` {
			t.Errorf("%d: %+v", status, failure)
		}
	}
}

func TestSockets_ASlowBodyCountsAsTimeOfTheAttempt(t *testing.T) {
	t.Parallel()
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"status":true,`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1, AttemptTimeout: 500 * time.Millisecond}))
	_, err := client.Rates.List(t.Context(), nil)
	shippingtest.WantError(t, "rates", err, shipping.ErrTruncated)
	failure := shippingtest.ErrorIn(t, err)
	if failure.StatusCode != 200 || string(failure.Body) != `{"status":true,` || !failure.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v", failure)
	}
}

// nobodyThere is an address that refuses connections. A port that was just closed could be another test's by
// now.
const nobodyThere = "http://127.0.0.1:1"

func TestSockets_NobodyThere(t *testing.T) {
	t.Parallel()
	client, err := shipping.NewClient(shippingtest.Key, shipping.WithBaseURL(nobodyThere), shippingtest.FastRetries())
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
	shippingtest.WantError(t, "analyze", err, shipping.ErrConnection)
	if failure := shippingtest.ErrorIn(t, err); len(failure.Attempts) != 4 || !strings.HasSuffix(err.Error(), "nothing was sent: check host, port and network") {
		t.Errorf("a refused connection was tried %d times: %v", len(failure.Attempts), err)
	}
}

func TestSockets_AServerOfHTTPSOnly(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	client, err := shipping.NewClient(shippingtest.Key, shipping.WithBaseURL(server.URL), shippingtest.FastRetries())
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Rates.List(t.Context(), nil)
	shippingtest.WantError(t, "certificate of nobody", err, shipping.ErrConnection)
	if n := len(shippingtest.ErrorIn(t, err).Attempts); n != 1 {
		t.Errorf("a certificate that is refused was tried %d times", n)
	}
	_, err = client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA}, Draft: shippingtest.DraftRecord("RD-1"), Sole: true})
	if purchase, _ := errors.AsType[*shipping.PurchaseError](err); purchase == nil || purchase.Outcome != shipping.OutcomeNotCharged {
		t.Errorf("a purchase over a refused certificate: %v", err)
	}
}

func TestSockets_ManyCallsAtOnceShareOneClient(t *testing.T) {
	t.Parallel()
	body := shippingtest.Golden(t, "rates.json")
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("page") == "3" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, body)
	})
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			page, err := client.Rates.List(t.Context(), &shipping.RateListOptions{Page: i%4 + 1})
			switch {
			case i%4 == 2:
				shippingtest.WantError(t, "page 3", err, shipping.ErrNotFound)
			case err != nil || len(page.Items) != 3 || page.Items[0].RateID != "RT-0918273645":
				t.Errorf("page %d: %v", i%4+1, err)
			}
		})
	}
	all.Wait()
}
