// Package wire handles HTTP for the server: requests and their bodies, replies before they are written, exchanges
// that faults can change in between, and connections, including in-memory ones. It does not depend on worlds.
package wire

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// Exchange is a request and its response while it is built.
type Exchange struct {
	*http.Request
	Body      []byte // of the request
	Operation string // empty if the request names none
	Stubbed   bool   // the operation is a stub, which the specification does not have
	Reply     Reply
	Began     time.Time
	Settled   bool     // the reply is complete, and the handler is skipped
	Struck    []Strike // the faults that struck, in the order of their rules

	// Faults of lists: respond with the page before the requested one, and with at most so many records (0: no limit).
	PreviousPage bool
	PageCap      int

	Unknown []string // names of unknown body fields
	// Misspelt completes the message of a refusal with the unknown fields whose names are similar to known ones.
	Misspelt string

	// Fields for the journal, the linter and the log. The journal sets ID.
	ID      string        // X-Request-Id of the response
	Arrived time.Time     // when the request arrived, and
	At      time.Time     // when its response was ready, by the clock of the world
	Virtual bool          // the clock of the world is virtual
	World   string        // its name
	Took    time.Duration // from Began until the response was ready
	Key     string        // the fingerprint of the request's key; empty if it has none

	Release func() // releases Advance after a delay; nil without one
	// Repeated is set if the operation is performed twice, and the response is that of the second time.
	Repeated bool
	// ArrivesIn is the time after which the operation is performed, although the exchange has ended; 0 if it is not.
	ArrivesIn time.Duration
	// How the response is sent.
	Ending Ending
	Hints  bool          // 103 first
	Tick   time.Duration // between two bytes of the body; 0 for all at once
}

// FromConsole reports whether the console sent the request.
func (x *Exchange) FromConsole() bool { return x.Header.Get("X-Mock-Console") != "" }

type Strike struct {
	Kind   string // of the fault
	Text   string // such as "rule 2: drop after the change"
	Defers bool   // the operation is performed later
}

type Ending uint8

const (
	EndAnswered Ending = iota
	EndDropped         // the connection closes without a response
	EndReset           // the connection is reset
)

// Status returns the HTTP status of the response, 0 if the connection ends without one.
func (x *Exchange) Status() int {
	if x.Ending != EndAnswered {
		return 0
	}
	return x.Reply.Status
}

// Faults names the faults that struck; empty if none did.
func (x *Exchange) Faults() string { return Strikes(x.Struck) }

func Strikes(all []Strike) string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = one.Text
	}
	return strings.Join(texts, ", ")
}

// Leave releases a waiting Advance, if there is one.
func (x *Exchange) Leave() {
	if x.Release != nil {
		x.Release()
		x.Release = nil
	}
}

// Send writes the response. A slow body is paced by pace: next waits for the next tick, or returns an error if the body
// is cut off.
func (x *Exchange) Send(rw http.ResponseWriter,
	pace func(each time.Duration, count int) (next func() error, stop func())) error {
	if x.Hints {
		rw.WriteHeader(http.StatusEarlyHints)
	}
	if x.Ending != EndAnswered {
		return x.disconnect(rw)
	}
	if x.Tick <= 0 {
		return x.Reply.Write(rw)
	}
	x.Reply.Encode()
	x.Reply.writeHeader(rw)
	out := http.NewResponseController(rw)
	next, stop := pace(x.Tick, len(x.Reply.Body)-1)
	defer stop()
	for i := range x.Reply.Body {
		if i > 0 {
			if err := next(); err != nil {
				return err
			}
		}
		LimitWrite(rw, writeTimeout)
		if _, err := rw.Write(x.Reply.Body[i : i+1]); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func (x *Exchange) disconnect(rw http.ResponseWriter) error {
	conn, _, err := http.NewResponseController(rw).Hijack()
	if err != nil && x.ProtoMajor == 2 {
		panic(http.ErrAbortHandler) // net/http recovers it and resets the stream of HTTP/2
	}
	if err != nil {
		// A writer without a connection, such as a recorder, gets a status.
		rw.WriteHeader(http.StatusBadGateway)
		return nil
	}
	inner := conn
	if secured, ok := conn.(*tls.Conn); ok {
		inner = secured.NetConn()
	}
	if tcp, ok := inner.(*net.TCPConn); ok && x.Ending == EndReset {
		if err := tcp.SetLinger(0); err != nil {
			return errors.Join(err, conn.Close())
		}
	}
	return conn.Close()
}

// SubstituteReply sets the reply that a fault changes, if the operation is not performed.
func (x *Exchange) SubstituteReply() {
	if !x.Settled {
		x.Reply = Succeed("OK", struct{}{})
		x.Settled = true
	}
}

// ControlPrefix begins the paths of the control surface. They need no key and are never faulted. Programs on this
// machine and programs that send the token may use them.
const ControlPrefix = "/_mock/"

// Handle adds a handler to a mux. It returns an error if the pattern is malformed, or in conflict with another one.
func Handle(mux *http.ServeMux, pattern string, handler http.Handler) (err error) {
	defer func() { // ServeMux panics
		if problem := recover(); problem != nil {
			err = fmt.Errorf("%v", problem)
		}
	}()
	mux.Handle(pattern, handler)
	return nil
}

// IsClean reports whether a path is absolute and has no empty, "." or ".." segment. ServeMux would redirect any other
// path, and hide a mistake of the client.
func IsClean(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.Contains(path, "//") && !strings.Contains(path+"/", "/./") &&
		!strings.Contains(path+"/", "/../")
}
