package campaign

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
)

// patience is how long a client of the campaign waits for one attempt while the proxy strikes.
const patience = 150 * time.Millisecond

// A wire is a protocol between client and proxy, and what an exchange that the proxy aborts looks like on it.
type wire struct {
	name  string
	http2 bool
	// abort returns the frame to send instead of the RST_STREAM frame with INTERNAL_ERROR that net/http sends for an
	// aborted stream. Nil closes the connection.
	abort func(stream uint32) []byte
	// single allows one stream for each connection, so that an abort strikes no other exchange.
	single bool
	// dead is a port that nobody listens on.
	dead bool
}

// wires returns every protocol of the campaign. The HTTP/2 error codes are those after which net/http sends a
// request again, and some others.
func wires() []wire {
	return []wire{
		{name: "HTTP/1.1, closed"},
		{name: "HTTP/2, INTERNAL_ERROR", http2: true, abort: resetStream(0x2)},
		{name: "HTTP/2, PROTOCOL_ERROR", http2: true, abort: resetStream(0x1)},
		{name: "HTTP/2, REFUSED_STREAM", http2: true, abort: resetStream(0x7)},
		{name: "HTTP/2, CANCEL", http2: true, abort: resetStream(0x8)},
		{name: "HTTP/2, HTTP_1_1_REQUIRED", http2: true, abort: resetStream(0xd)},
		{name: "HTTP/2, GOAWAY", http2: true, abort: goAway, single: true},
		{name: "HTTP/2, closed", http2: true, single: true},
		{name: "connection refused", dead: true},
	}
}

const (
	frameHeader   = 9
	frameReset    = 0x3
	frameGoAway   = 0x7
	internalError = 0x2
)

// frame returns an HTTP/2 frame without flags.
func frame(kind byte, stream uint32, payload ...uint32) []byte {
	data := []byte{0, 0, byte(4 * len(payload)), kind, 0}
	data = binary.BigEndian.AppendUint32(data, stream)
	for _, word := range payload {
		data = binary.BigEndian.AppendUint32(data, word)
	}
	return data
}

func resetStream(code uint32) func(uint32) []byte {
	return func(stream uint32) []byte { return frame(frameReset, stream, code) }
}

// goAway claims that the stream was never processed.
func goAway(stream uint32) []byte { return frame(frameGoAway, 0, max(stream, 2)-2, 0) }

// framedConn is the server's side of an HTTP/2 connection. It replaces the frames that abort a stream.
type framedConn struct {
	net.Conn
	abort   func(stream uint32) []byte
	pending []byte // the start of a frame that is not complete
}

// Write is called by one goroutine at a time.
func (c *framedConn) Write(data []byte) (int, error) {
	c.pending = append(c.pending, data...)
	var out []byte
	for len(c.pending) >= frameHeader {
		size := frameHeader + int(binary.BigEndian.Uint32(append([]byte{0}, c.pending[:3]...)))
		if len(c.pending) < size {
			break
		}
		next := c.pending[:size]
		c.pending = c.pending[size:]
		if next[3] != frameReset || binary.BigEndian.Uint32(next[frameHeader:]) != internalError {
			out = append(out, next...)
			continue
		}
		if c.abort == nil {
			return 0, errors.Join(net.ErrClosed, c.Close())
		}
		out = append(out, c.abort(binary.BigEndian.Uint32(next[5:]))...)
	}
	if _, err := c.Conn.Write(out); err != nil {
		return 0, err
	}
	return len(data), nil
}

// framedListener decrypts its connections and hands them to net/http as unencrypted ones, so that a
// framedConn sees the frames.
type framedListener struct {
	net.Listener
	config *tls.Config
	abort  func(stream uint32) []byte
}

func (l framedListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &framedConn{Conn: tls.Server(connection, l.config), abort: l.abort}, nil
}

// open serves the handler on the wire and returns a client of it, which waits so long for one attempt.
func (w wire) open(t *testing.T, handler http.Handler, key string, timeout time.Duration) *shipping.Client {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "https://" + listener.Addr().String()
	transport := &http.Transport{MaxIdleConnsPerHost: 64, Protocols: new(http.Protocols)}
	t.Cleanup(transport.CloseIdleConnections)
	transport.Protocols.SetHTTP1(!w.http2)
	transport.Protocols.SetHTTP2(w.http2)
	if w.dead {
		_ = listener.Close()
		address = "https://127.0.0.1:1" // the closed port could be another test's by now
	} else {
		transport.TLSClientConfig = w.serve(t, listener, handler)
	}
	client, err := shipping.NewClient(key, shipping.WithBaseURL(address), shipping.WithHTTPClient(&http.Client{Transport: transport}),
		shipping.WithRetryPolicy(shipping.RetryPolicy{
			MaxAttempts: 2, MinWait: time.Millisecond, MaxWait: 4 * time.Millisecond, MaxRetryAfter: time.Millisecond,
			AttemptTimeout: timeout, ExtraLoad: -1,
		}))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// serve starts an HTTP server on the listener and returns what its clients trust.
func (w wire) serve(t *testing.T, listener net.Listener, handler http.Handler) *tls.Config {
	identity := httptest.NewTLSServer(nil) // has a certificate for 127.0.0.1
	identity.Close()
	protocol := "http/1.1"
	if w.http2 {
		protocol = "h2"
	}
	config := &tls.Config{Certificates: identity.TLS.Certificates, NextProtos: []string{protocol}}
	server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0), Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{}}
	server.Protocols.SetHTTP1(!w.http2)
	server.Protocols.SetUnencryptedHTTP2(w.http2)
	if w.single {
		server.HTTP2.MaxConcurrentStreams = 1
	}
	if w.http2 {
		listener = framedListener{listener, config, w.abort}
	} else {
		listener = tls.NewListener(listener, config)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return &tls.Config{
		RootCAs:            identity.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
		ClientSessionCache: tls.NewLRUClientSessionCache(0),
	}
}
