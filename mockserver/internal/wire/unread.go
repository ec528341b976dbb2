package wire

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Timeouts of bodies.
const (
	bodyTimeout     = 30 * time.Second // for the whole body of a request
	shutdownTimeout = time.Second      // for the rest of it when the server shuts down
	maxSkipped      = 256 << 10        // bytes of an unused body, as in net/http
)

// Unread tracks what clients have not sent completely: the bodies of requests and, on new connections, the first
// request. It limits the time for both, so that no client holds a connection or delays a shutdown.
type Unread struct {
	connections sync.Map // net.Conn

	mu      sync.Mutex
	bodies  map[*http.ResponseController]bool
	leaving bool
}

// begin sets the deadline of the body of a request, and returns the connection for end; nil if the request has no body or
// the body was read already.
func (u *Unread) begin(w http.ResponseWriter, r *http.Request) *http.ResponseController {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	conn := http.NewResponseController(w)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.bodies == nil {
		u.bodies = map[*http.ResponseController]bool{}
	}
	u.bodies[conn] = true
	timeout := bodyTimeout
	if u.leaving {
		timeout = shutdownTimeout
	}
	// A writer without deadlines, such as a recorder, has no slow client.
	_ = conn.SetReadDeadline(time.Now().Add(timeout))
	return conn
}

// Skip reads an unused body before the response is written, because net/http would wait for it without a deadline. If
// the body does not end, the connection is closed after the response.
func (u *Unread) Skip(w http.ResponseWriter, r *http.Request) {
	conn := u.begin(w, r)
	if conn == nil {
		return
	}
	_, err := io.CopyN(io.Discard, r.Body, maxSkipped)
	u.end(conn, r, errors.Is(err, io.EOF))
}

// end removes the deadline of a complete body: net/http reads on, to detect a client that disconnects. An incomplete
// body keeps its deadline, because net/http waits for it before it writes the response.
func (u *Unread) end(conn *http.ResponseController, r *http.Request, complete bool) {
	if conn == nil {
		return
	}
	r.Body = http.NoBody // the rest is not read
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.bodies, conn)
	if complete {
		_ = conn.SetReadDeadline(time.Time{})
	}
}

// Shutdown closes the connections that have sent no request, and waits briefly for bodies.
func (u *Unread) Shutdown() {
	u.connections.Range(func(conn, _ any) bool {
		_ = conn.(net.Conn).Close()
		return true
	})
	u.mu.Lock()
	defer u.mu.Unlock()
	u.leaving = true
	for conn := range u.bodies {
		_ = conn.SetReadDeadline(time.Now().Add(shutdownTimeout))
	}
}

// ConnState tracks connections until they have sent their first request.
func (u *Unread) ConnState(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		u.connections.Store(conn, nil)
	case http.StateActive, http.StateHijacked, http.StateClosed:
		u.connections.Delete(conn)
	}
}
