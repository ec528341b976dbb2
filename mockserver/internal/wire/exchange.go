// Package wire is HTTP as the server sees it: requests with their bodies, replies before they are written, exchanges
// that faults can change in between, and connections, in memory too. It knows no operation and no world.
package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Call is what a handler gets to see of a request.
type Call struct {
	*http.Request
	Body   []byte
	Buffer []byte     // empty, with memory to append the answer to
	edited url.Values // what a fault made of the query; nil where none did

	Unknown []string // names of body fields that the operation does not know
}

// Query returns the query parameters; what is malformed among them counts as absent.
func (c *Call) Query() url.Values {
	switch {
	case c.edited != nil:
		return c.edited
	case c.URL.RawQuery == "":
		return nil
	default:
		return c.URL.Query()
	}
}

// Exchange is an answer in the making.
type Exchange struct {
	Ctx       context.Context
	Operation string // empty where the request names none
	Call      Call
	Reply     Reply
	Began     time.Time
	Settled   bool     // the reply is there, and no handler is to be asked
	Struck    []Strike // the faults that struck, in the order of their rules

	// What observers see besides. The journal sets ID.
	ID      string    // X-Request-Id of the response
	At      time.Time // by the clock of the world
	Virtual bool      // the clock of the world is virtual
	World   string    // its name
	Key     string    // the fingerprint of the request's key; empty if it has none

	Release func() // ends what Advance waits for, after a delay; nil if it waits for nothing
	// How the answer is sent.
	Ending Ending
	Hints  bool          // 103 first
	Tick   time.Duration // between two bytes of the body; 0 for all at once
}

// Strike is a fault that struck an exchange.
type Strike struct {
	Kind string // of the fault
	Text string // such as "rule 2: drop after the change"
}

// Ending is how an exchange ends.
type Ending uint8

const (
	EndAnswered Ending = iota
	EndDropped         // the connection closes without an answer
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

// Ticks lets a body be sent byte by byte: Wait returns when the next tick has passed, or why it returns before.
type Ticks interface {
	Wait(ctx context.Context) error
	Stop()
}

// Leave ends what Advance waits for.
func (x *Exchange) Leave() {
	if x.Release != nil {
		x.Release()
		x.Release = nil
	}
}

// Send ends the exchange on the wire. A slow body takes its ticks from pace.
func (x *Exchange) Send(rw http.ResponseWriter, pace func(each time.Duration, count int) Ticks) error {
	if x.Hints {
		rw.WriteHeader(http.StatusEarlyHints)
	}
	if x.Ending != EndAnswered {
		return x.hangUp(rw)
	}
	if x.Tick <= 0 {
		return x.Reply.Write(rw)
	}
	x.Reply.writeHeader(rw)
	out := http.NewResponseController(rw)
	ticks := pace(x.Tick, len(x.Reply.Body)-1)
	defer ticks.Stop()
	for i := range x.Reply.Body {
		if i > 0 {
			if err := ticks.Wait(x.Ctx); err != nil {
				return err
			}
		}
		if _, err := rw.Write(x.Reply.Body[i : i+1]); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// hangUp closes or resets the connection.
func (x *Exchange) hangUp(rw http.ResponseWriter) error {
	conn, _, err := http.NewResponseController(rw).Hijack()
	if err != nil && x.Call.ProtoMajor == 2 {
		panic(http.ErrAbortHandler) // how net/http is told to reset a stream of HTTP/2; it recovers
	}
	if err != nil {
		// A writer that is no connection, such as a recorder: the nearest thing it can show.
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

// StandIn gives a fault that spoils an answer one to spoil, where the operation never happens.
func (x *Exchange) StandIn() {
	if !x.Settled {
		x.Reply = Succeed(nil, "OK", []byte("{}"))
		x.Settled = true
	}
}

// EditQuery changes the query that the handler will see. The request itself is left as it came.
func (x *Exchange) EditQuery(edit func(url.Values)) {
	query := x.Call.Query()
	if query == nil {
		query = url.Values{}
	}
	edit(query)
	x.Call.edited = query
}
