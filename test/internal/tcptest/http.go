package tcptest

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Certificate returns a certificate for 127.0.0.1, and the settings of a client that trusts it. They allow HTTP/2.
func Certificate() (server, client *tls.Config) {
	authority := httptest.NewTLSServer(nil)
	defer authority.Close()
	client = authority.Client().Transport.(*http.Transport).TLSClientConfig
	return &tls.Config{Certificates: authority.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}, client
}

// ServeHTTP responds to the requests of one connection, over HTTP/1.1 or HTTP/2, until the connection ends.
func ServeHTTP(conn net.Conn, handler http.Handler) {
	var open sync.WaitGroup
	open.Add(1)
	server := &http.Server{
		Handler: handler, ErrorLog: log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, conn)
		},
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				open.Done()
			}
		},
	}
	_ = server.Serve(&single{conn: conn})
	open.Wait()
}

type connKey struct{}

// BreakOff ends the response to a request of [ServeHTTP]: the client receives the flushed bytes and the given bytes.
// With reset the client cannot write to the connection any more. Over HTTP/2 only the stream ends, without the bytes.
func BreakOff(r *http.Request, bytes []byte, reset bool) {
	conn := r.Context().Value(connKey{}).(net.Conn)
	if r.ProtoMajor == 1 {
		_, _ = conn.Write(bytes)
		if reset {
			Reset(conn)
		}
	}
	panic(http.ErrAbortHandler)
}

// single is a listener that accepts one connection.
type single struct {
	net.Listener
	conn net.Conn
}

func (s *single) Accept() (net.Conn, error) {
	conn := s.conn
	if s.conn = nil; conn == nil {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (s *single) Close() error { return nil }
