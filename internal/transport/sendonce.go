package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
)

// errNotResent is returned instead of a second request.
var errNotResent = errors.New("the connection or the HTTP/2 stream ended after the request was written; it was not " +
	"sent again")

// sendOnce sends a request that is not safe to retry at most once, and marks failures before the request was
// sent.
//
// net/http itself sends some requests again, inside one RoundTrip:
//   - over HTTP/2, every request after GOAWAY, REFUSED_STREAM or PROTOCOL_ERROR, although the service may
//     have read it;
//   - over HTTP/1.1, after a kept connection broke, requests with the method GET, HEAD, OPTIONS or TRACE
//     or with an Idempotency-Key, although the service may have read them;
//   - over either, requests of which nothing was written. This retry is harmless, and sendOnce allows it.
//
// A failed connection is evidence that nothing was sent if the transport is the client's own. A user's *http.Transport
// may pass the request to a Proxy function, or to a RoundTripper of RegisterProtocol or TLSNextProto, which may send
// it. Its errors are evidence only if nothing has read the body of the request, because sending reads the body. A
// request without a body has no such evidence. Dialers and the functions that prepare a tunnel do not receive the
// request, so they cannot send it. Any other transport, even one that embeds an *http.Transport, may send a request
// several times, so its errors are not evidence.
func (s *sending) sendOnce(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // the body of the response is in memory by then
	own := s.client.own
	p := &progress{replayable: replayable(r.Method), own: own}
	if r.Body == nil || r.Body == http.NoBody {
		p.cancel = cancel
	}
	traced := r.WithContext(httptrace.WithClientTrace(ctx, p.trace()))
	if r.GetBody != nil {
		traced.GetBody = func() (io.ReadCloser, error) {
			if p.isWritten() {
				return nil, errNotResent
			}
			body, err := r.GetBody()
			if err != nil || own {
				return body, err
			}
			return &watchedBody{body, p, p.isBodyRead()}, nil
		}
		if !own {
			traced.Body = &watchedBody{ReadCloser: r.Body, progress: p}
		}
	}
	response, err := s.receive(traced)
	if err == nil {
		return response, nil
	}
	return nil, p.explain(r, s.client.plain, err)
}

// explain returns the error of an attempt, with the evidence about the request. transport is nil if it is not an
// *http.Transport.
func (p *progress) explain(r *http.Request, transport *http.Transport, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, responded := Partial(err)
	switch {
	case responded:
		return err
	case p.stopped && r.Context().Err() == nil:
		return errNotResent
	case transport != nil && p.connecting && !p.written && (p.own || p.cancel == nil && !p.bodyRead):
		p.unsent = true
		return &unsentError{error: connectError(transport, r, err)}
	}
	return err
}

// connectError adds what net/http leaves out to the error of a connection that was not established.
func connectError(transport *http.Transport, r *http.Request, err error) error {
	if record, ok := err.(tls.RecordHeaderError); ok && string(record.RecordHeader[:]) == "HTTP/" {
		return http.ErrSchemeMismatch // http.Client replaces this error only if it is not wrapped
	}
	if transport.Proxy != nil {
		if proxy, _ := transport.Proxy(r); proxy != nil {
			return fmt.Errorf("proxy %s: %w", proxy.Host, err)
		}
	}
	return err
}

// replayable reports whether net/http sends a request with this method again after it was written to an HTTP/1.1
// connection.
func replayable(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// watchedBody is the body of a request if the transport is not the client's own. Such a transport may replace the
// context of the request, and so lose the hooks of progress. Then the body is read only once, and not at all once there
// is evidence that nothing was sent.
type watchedBody struct {
	io.ReadCloser
	progress *progress
	again    bool // a body of this request was read before
}

func (b *watchedBody) Read(data []byte) (int, error) {
	if !b.progress.readBody(b.again) {
		return 0, errNotResent
	}
	return b.ReadCloser.Read(data)
}

// progress is how far a transport has come with one request. Its hooks run on several goroutines.
//
// It stops a second request in one of two ways. If the request has a body, the transport calls GetBody, which fails. If
// it has no body, cancel ends its context: HTTP/2 checks the context before it writes a request. HTTP/1.1 does not, so
// its connection is closed.
type progress struct {
	replayable bool
	own        bool               // the transport is the client's own
	cancel     context.CancelFunc // nil if the request has a body

	mu         sync.Mutex
	traced     bool // the hooks are called
	bodyRead   bool // not noted for the client's own transport
	connecting bool // the transport requested a connection and has not received it
	written    bool // the request may have been read, and net/http would send it again nevertheless
	overHTTP2  bool // written over HTTP/2
	stopped    bool // by cancel
	unsent     bool // there is evidence that nothing was sent
}

func (p *progress) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) {
			p.connection(true)
		},
		GotConn: func(got httptrace.GotConnInfo) {
			if p.connection(false) && !p.speaksHTTP2(got.Conn) {
				_ = got.Conn.Close()
			}
		},
		WroteHeaderField: p.headerField,
	}
}

// connection notes whether a connection is being obtained or was obtained. It reports whether the request must not be
// written to it.
func (p *progress) connection(connecting bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connecting, p.traced = connecting, true
	if p.written && p.cancel != nil {
		p.stopped = true
		p.cancel()
	}
	return p.stopped
}

// headerField is called for each field of the header before any of it is written to the network. Names
// that start with a colon are HTTP/2's.
func (p *progress) headerField(name string, _ []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case strings.HasPrefix(name, ":"):
		p.written, p.overHTTP2 = true, true
	case p.replayable, name == "Idempotency-Key", name == "X-Idempotency-Key":
		p.written = true
	}
}

func (p *progress) isWritten() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.written
}

// readBody notes that a body of the request is read, and reports whether that is allowed.
func (p *progress) readBody(again bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bodyRead = true
	return !p.unsent && (p.traced || !again)
}

func (p *progress) isBodyRead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bodyRead
}

// speaksHTTP2 reports whether a connection speaks HTTP/2, so that other requests share it. With TLS, the connection
// itself shows it; without TLS, a transport uses one protocol on all its connections.
func (p *progress) speaksHTTP2(conn net.Conn) bool {
	if secure, ok := conn.(*tls.Conn); ok {
		return secure.ConnectionState().NegotiatedProtocol == "h2"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.overHTTP2
}
