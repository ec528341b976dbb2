package wire

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// InMemoryURL is the base address of a server without a listener. Names under .invalid never
// resolve, so a client with the wrong transport fails instead of reaching someone.
const InMemoryURL = "http://mockserver.invalid"

type PipeListener struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func NewPipeListener() *PipeListener {
	return &PipeListener{accepted: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *PipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.accepted:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *PipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *PipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "memory" }

func (l *PipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.accepted <- pipeConn{server}:
		return client, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: pipeAddr{}, Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: pipeAddr{}, Err: ctx.Err()}
	}
}

func (l *PipeListener) Transport() *http.Transport {
	// Connections in memory are not encrypted, even for https addresses.
	return &http.Transport{DialContext: l.dial, DialTLSContext: l.dial, MaxIdleConnsPerHost: 16}
}

// pipeConn is the server's end of a connection in memory.
type pipeConn struct{ net.Conn }

type inMemoryKey struct{}

// MarkInMemory marks the context of a connection in memory, so that handlers can detect requests of this process.
func MarkInMemory(ctx context.Context, conn net.Conn) context.Context {
	if _, ok := conn.(pipeConn); ok {
		return context.WithValue(ctx, inMemoryKey{}, true)
	}
	return ctx
}

func IsInMemory(r *http.Request) bool { return r.Context().Value(inMemoryKey{}) != nil }
