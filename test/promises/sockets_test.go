package promises_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

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
