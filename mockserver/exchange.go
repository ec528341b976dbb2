package mockserver

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/shipping-go/shipping"
)

// handler answers an operation in a world. It takes the world's lock itself, so that nothing slow,
// such as reading a body, happens under it.
type handler func(w *World, c *call) reply

// handlers is the other half of the operation table: who answers what.
func handlers() map[string]handler {
	return map[string]handler{
		shipping.OpListRates:        (*World).listRates,
		shipping.OpListCountries:    (*World).listCountries,
		shipping.OpListWebhooks:     (*World).listWebhooks,
		shipping.OpReplayWebhook:    (*World).replayWebhook,
		shipping.OpListTransactions: (*World).listTransactions,
		shipping.OpAnalyze:          (*World).analyze,
		shipping.OpPurchase:         (*World).purchase,
		shipping.OpGetRequest:       (*World).getRequest,
		shipping.OpUpdateItems:      (*World).updateItems,
		shipping.OpUpdateAddresses:  (*World).updateAddresses,
		shipping.OpUpdateShipping:   (*World).updateShipping,
		shipping.OpUpdateProfile:    (*World).updateProfile,
		shipping.OpRetryRequest:     (*World).retryRequest,
		shipping.OpDocumentPDF:      (*World).documentPDF,
	}
}

// call is what a handler gets to see of a request.
type call struct {
	*http.Request
	world  *World // whose world it is about
	body   []byte
	buffer []byte     // empty, with memory to append the answer to
	edited url.Values // what a fault made of the query; nil where none did

	unknown []string // names of body fields that the operation does not know
}

// query returns the query parameters; what is malformed among them counts as absent.
func (c *call) query() url.Values {
	switch {
	case c.edited != nil:
		return c.edited
	case c.URL.RawQuery == "":
		return nil
	default:
		return c.URL.Query()
	}
}

// exchange is an answer in the making.
type exchange struct {
	ctx       context.Context
	operation string // empty where the request names none
	call      call
	reply     reply
	began     time.Time
	settled   bool       // the reply is there, and no handler is to be asked
	struck    *armedRule // the rule that struck; may be nil

	waited bool // Advance waits for what the exchange does after its delay
	// How the answer is sent.
	ending ending
	hints  bool          // 103 first
	tick   time.Duration // between two bytes of the body; 0 for all at once
}

// ending is how an exchange ends.
type ending uint8

const (
	endAnswered ending = iota
	endDropped         // the connection closes without an answer
	endReset           // the connection is reset
)

// exchange answers an operation into memory first, and writes afterwards. That is what lets a fault
// strike before anything has happened, or after the change is made and before the caller hears of it.
func (s *Server) exchange(rw http.ResponseWriter, r *http.Request, op *operation) {
	buffer := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buffer)
	x := &exchange{ctx: r.Context(), began: time.Now(), operation: op.Name, call: call{Request: r, buffer: (*buffer)[:0]}}
	w, refusal := s.authenticate(r, op)
	x.call.world = w
	defer x.leave()
	switch {
	case r.Body == http.NoBody:
	case refusal != nil || op.Method == http.MethodGet:
		s.unread.skip(rw, r)
	default:
		x.call.body, refusal = s.readBody(rw, r, w.assume.maxBody(), w.assume.RequireContentType && op.Name != shipping.OpReplayWebhook)
	}
	var rule *armedRule
	if w.faults.armed.Load() {
		rule = w.faults.next(&sighting{operation: op.Name, target: r.RequestURI, body: x.call.body, now: w.clock.Now()})
	}
	if rule != nil && !rule.Committed {
		x.strike(rule, w)
	}
	if !x.settled {
		x.answer(w, op, refusal)
		if x.reply.pooled {
			*buffer = x.reply.body // it may have grown
		}
		switch {
		case x.reply.struck != nil:
			x.strike(x.reply.struck, w)
		case rule != nil && rule.Committed:
			x.strike(rule, w)
		}
	}
	if w.beforeReply.Load() != nil {
		if held := w.beforeReply.Swap(nil); held != nil {
			x.leave() // what is held back may advance the clock
			(*held)()
		}
	}
	s.finish(rw, w, x)
}

func (x *exchange) strike(rule *armedRule, w *World) {
	x.struck = rule
	rule.Fault.strike(x, w)
}

// answer asks the handler, unless the request is refused before.
func (x *exchange) answer(w *World, op *operation, refusal *reply) {
	x.settled = true
	if refusal == nil {
		refusal = w.assume.checkQuery(op.Name, &x.call)
	}
	if refusal != nil {
		x.reply = *refusal
		return
	}
	x.reply = op.answer(w, &x.call)
	if record := x.reply.record; record != nil && op.Name == shipping.OpAnalyze {
		w.faults.analyzed(record.RequestID, x.call.body)
	}
	if w.assume.CheckResponses {
		w.checkResponse(op.Name, &x.reply)
	}
}

// finish journals an exchange and ends it.
func (s *Server) finish(rw http.ResponseWriter, w *World, x *exchange) {
	x.reply.withoutKeys()
	if x.struck == nil { // a fault spoils the plain form, which whoever looks at it can read
		x.reply.negotiate(x.call.Header)
	}
	id := w.note(x)
	x.leave() // the caller may take its time to read the reply
	s.metrics.see(x)
	s.logAccess(w, x, id)
	rw.Header()["X-Request-Id"] = []string{id}
	if x.struck != nil || x.reply.refusal.code != "" {
		rw.Header()["X-Mock-Why"] = []string{w.whyPath(id)}
	}
	if err := x.send(rw, w); err != nil {
		s.config.logger.Debug("the answer was not taken", "operation", x.operation, "error", err)
	}
}

// send ends the exchange on the wire.
func (x *exchange) send(rw http.ResponseWriter, w *World) error {
	if x.ending != endAnswered {
		return x.hangUp(rw)
	}
	if x.hints {
		rw.WriteHeader(http.StatusEarlyHints)
	}
	if x.tick <= 0 {
		return x.reply.write(rw)
	}
	x.reply.writeHeader(rw)
	out := http.NewResponseController(rw)
	ticks := w.ticks(x.tick, len(x.reply.body)-1, "the next byte of a slow body")
	defer ticks.stop()
	for i := range x.reply.body {
		if i > 0 {
			if err := ticks.wait(x.ctx); err != nil {
				return err
			}
		}
		if _, err := rw.Write(x.reply.body[i : i+1]); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// hangUp closes or resets the connection.
func (x *exchange) hangUp(rw http.ResponseWriter) error {
	conn, _, err := http.NewResponseController(rw).Hijack()
	if err != nil && x.call.ProtoMajor == 2 {
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
	if tcp, ok := inner.(*net.TCPConn); ok && x.ending == endReset {
		if err := tcp.SetLinger(0); err != nil {
			return errors.Join(err, conn.Close())
		}
	}
	return conn.Close()
}

// standIn gives a fault that spoils an answer one to spoil, where the operation never happens.
func (x *exchange) standIn() {
	if !x.settled {
		x.reply = succeed(nil, "OK", []byte("{}"))
		x.settled = true
	}
}
