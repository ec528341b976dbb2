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
	shutdownTimeout = time.Second      // for what is left of it once the server shuts down
	maxSkipped      = 256 << 10        // bytes of a body that nobody needs, as net/http has it
)

// Unread is what clients have not sent completely: the bodies of requests and, on new connections, the first
// request. It bounds how long they may take, so that none of them holds a connection or delays a shutdown.
type Unread struct {
	connections sync.Map // net.Conn

	mu      sync.Mutex
	bodies  map[*http.ResponseController]bool
	leaving bool
}

// begin sets the deadline of the body of a request, and returns the connection for end; nil if there is no body, or if
// it was read already.
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

// Skip reads a body that nobody needs, before the response: net/http would wait for it without a deadline. A body that
// does not end costs the connection, and the request nothing.
func (u *Unread) Skip(w http.ResponseWriter, r *http.Request) {
	conn := u.begin(w, r)
	if conn == nil {
		return
	}
	_, err := io.CopyN(io.Discard, r.Body, maxSkipped)
	u.end(conn, r, errors.Is(err, io.EOF))
}

// end removes the deadline of a complete body: net/http reads on, to notice a client that leaves. The rest of
// another one keeps its deadline, because net/http waits for it too before it writes the response.
func (u *Unread) end(conn *http.ResponseController, r *http.Request, complete bool) {
	if conn == nil {
		return
	}
	r.Body = http.NoBody // whatever is left of it, nobody reads it again
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.bodies, conn)
	if complete {
		_ = conn.SetReadDeadline(time.Time{})
	}
}

// Shutdown closes the connections that have sent no request, and gives bodies a moment to end.
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

// ConnState notes connections until they have sent their first request.
func (u *Unread) ConnState(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		u.connections.Store(conn, nil)
	case http.StateActive, http.StateHijacked, http.StateClosed:
		u.connections.Delete(conn)
	}
}
