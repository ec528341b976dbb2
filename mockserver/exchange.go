package mockserver

import (
	"context"
	"net/http"
	"net/url"

	"github.com/shipping-go/shipping"
)

// handler answers an operation in a world. It takes the world's lock itself, so that nothing slow,
// such as reading a body, happens under it.
type handler func(w *world, c *call) reply

// handlers is the other half of the operation table: who answers what.
func handlers() map[string]handler {
	return map[string]handler{
		shipping.OpListRates:        (*world).listRates,
		shipping.OpListCountries:    (*world).listCountries,
		shipping.OpListWebhooks:     (*world).listWebhooks,
		shipping.OpReplayWebhook:    (*world).replayWebhook,
		shipping.OpListTransactions: (*world).listTransactions,
		shipping.OpAnalyze:          (*world).analyze,
		shipping.OpPurchase:         (*world).purchase,
		shipping.OpGetRequest:       (*world).getRequest,
		shipping.OpUpdateItems:      (*world).updateItems,
		shipping.OpUpdateAddresses:  (*world).updateAddresses,
		shipping.OpUpdateShipping:   (*world).updateShipping,
		shipping.OpUpdateProfile:    (*world).updateProfile,
		shipping.OpRetryRequest:     (*world).retryRequest,
		shipping.OpDocumentPDF:      (*world).documentPDF,
	}
}

// call is what a handler gets to see of a request.
type call struct {
	*http.Request
	body   []byte
	buffer []byte // empty, with memory to append the answer to
}

// query returns the query parameters; what is malformed among them counts as absent.
func (c *call) query() url.Values {
	if c.URL.RawQuery == "" {
		return nil
	}
	return c.URL.Query()
}

// exchange answers an operation into memory first, and writes afterwards. That is what lets a fault
// strike before anything has happened, or after the change is made and before the caller hears of it.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request, op *operation) {
	buffer := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buffer)
	x := &exchange{ctx: r.Context(), cut: -1}
	home, refusal := s.authenticate(r, op)

	rule := s.faults.next(op.Name)
	if rule != nil && !rule.Committed {
		rule.Fault.strike(x, home)
	}
	if !x.settled {
		if refusal == nil {
			x.reply = s.answer(home, w, r, op, (*buffer)[:0])
		} else {
			x.reply = *refusal
		}
		if x.reply.pooled {
			*buffer = x.reply.body // it may have grown
		}
		x.settled = true
		if rule != nil && rule.Committed {
			rule.Fault.strike(x, home)
		}
	}
	if x.dropped {
		s.drop(w, r, op.Name, home)
		return
	}
	if x.cut >= 0 {
		x.truncate()
	}
	s.finish(w, r, op.Name, home, &x.reply)
}

// exchange is an answer in the making.
type exchange struct {
	ctx     context.Context
	reply   reply
	settled bool // the reply is there, and no handler is to be asked
	dropped bool // the connection is to be closed without an answer
	cut     int  // bytes of the body to send; -1 for all
}

// answer reads the body where the operation has one and asks the handler.
func (s *Server) answer(home *world, w http.ResponseWriter, r *http.Request, op *operation, buffer []byte) reply {
	c := &call{Request: r, buffer: buffer}
	if op.Method != http.MethodGet {
		body, refusal := readBody(w, r, home.assume.maxBody())
		if refusal != nil {
			return *refusal
		}
		c.body = body
	}
	return op.answer(home, c)
}

// finish writes a reply and journals it.
func (s *Server) finish(w http.ResponseWriter, r *http.Request, operation string, home *world, p *reply) {
	id := home.calls.add(Call{At: home.clock.Now(), Operation: operation, Method: r.Method, Path: r.URL.Path, Status: p.status})
	w.Header()["X-Request-Id"] = []string{id}
	if err := p.write(w); err != nil {
		s.config.logger.Debug("the answer was not taken", "operation", operation, "error", err)
	}
}

// drop closes the connection without an answer and journals it with status 0.
func (s *Server) drop(w http.ResponseWriter, r *http.Request, operation string, home *world) {
	home.calls.add(Call{At: home.clock.Now(), Operation: operation, Method: r.Method, Path: r.URL.Path})
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		// A writer that is no connection, such as a recorder: the nearest thing it can show.
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	_ = conn.Close()
}
