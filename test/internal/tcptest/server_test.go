package tcptest

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

func TestServer_CloseEndsEveryConnection(t *testing.T) {
	t.Parallel()
	requests := make(chan string, 1)
	server, err := Start(func(conn net.Conn) {
		r, err := ReadRequest(bufio.NewReader(conn))
		if err != nil {
			t.Error(err)
			return
		}
		requests <- r.Method + " " + r.URL.Path
		_, _ = io.Copy(io.Discard, conn) // until it is closed
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		resp, err := http.Post(server.URL+"/a", "text/plain", strings.NewReader("body"))
		if err == nil {
			_ = resp.Body.Close()
		}
		ended <- err
	}()
	if got := <-requests; got != "POST /a" {
		t.Errorf("the request is %q", got)
	}
	server.Close()
	if err := <-ended; err == nil {
		t.Error("the client received a response")
	}
}

// lateListener accepts one connection, as if before it was closed.
type lateListener struct {
	net.Listener
	accepted []net.Conn
}

func (l *lateListener) Accept() (net.Conn, error) {
	if len(l.accepted) == 0 {
		return nil, net.ErrClosed
	}
	conn := l.accepted[0]
	l.accepted = nil
	return conn, nil
}

// A connection that Close could not see yet is closed as well; else the bubble deadlocks.
func TestServer_CloseEndsAConnectionThatWasJustAccepted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer here.Close()
		s := &Server{
			talk:     func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) },
			listener: &lateListener{accepted: []net.Conn{there}}, open: map[net.Conn]bool{}, closed: true,
		}
		s.accept()
		s.serving.Wait()
	})
}

func TestReadRequest_RefusesACutBody(t *testing.T) {
	t.Parallel()
	const whole = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody"
	for cut := range len(whole) {
		if _, err := ReadRequest(bufio.NewReader(strings.NewReader(whole[:cut]))); err == nil {
			t.Errorf("%q is a complete request", whole[:cut])
		}
	}
	if _, err := ReadRequest(bufio.NewReader(strings.NewReader(whole))); err != nil {
		t.Error(err)
	}
}
