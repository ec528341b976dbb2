package campaign

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// pipes is a network in memory, so that time is virtual: a listener whose connections dial makes.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p <- there
	return here, nil
}

// wires returns a client for each way to reach a handler: over HTTP/1.1, over HTTP/2, and over connections that are refused. An
// exchange that the handler aborts closes the connection, or ends the stream with INTERNAL_ERROR: test/wire ends it in every way.
func wires(t *testing.T, handler http.Handler, key string) (clients []*shipping.Client, end func()) {
	t.Helper()
	ends := []func(){}
	for _, http2 := range []bool{false, true} {
		network, protocols := make(pipes), new(http.Protocols)
		protocols.SetHTTP1(!http2)
		protocols.SetUnencryptedHTTP2(http2)
		server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0), Protocols: protocols}
		transport := &http.Transport{DialContext: network.dial, MaxIdleConnsPerHost: 64, Protocols: protocols}
		go func() { _ = server.Serve(network) }()
		clients = append(clients, newClient(t, key, transport))
		ends = append(ends, func() {
			transport.CloseIdleConnections()
			close(network)
			_ = server.Close()
		})
	}
	refused := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, shippingtest.ErrRefused() }}
	return append(clients, newClient(t, key, refused)), func() {
		for _, end := range ends {
			end()
		}
	}
}

func newClient(t *testing.T, key string, transport http.RoundTripper) *shipping.Client {
	t.Helper()
	client, err := shipping.NewClient(key, shipping.WithBaseURL(shippingtest.PlainBaseURL), shipping.WithHTTPClient(&http.Client{Transport: transport}),
		shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 2, ExtraLoad: -1}))
	if err != nil {
		t.Fatal(err)
	}
	return client
}
