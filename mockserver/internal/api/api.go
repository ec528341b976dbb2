// Package api serves the operations of the service according to the specification, each request in its world. The
// routes below /_mock/ are those of package admin.
package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/redact"
	"github.com/shipping-go/shipping/mockserver/internal/inject"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

type Config struct {
	Worlds     *world.Worlds
	Operations []operations.Operation // the operation table
	Logger     *slog.Logger
}

// API serves the operations of the service. It finds the world of a request, calls the handler of the
// operation, applies faults, and journals the exchange before the response is sent.
type API struct {
	Config
	mux       *http.ServeMux
	routes    map[string]*operation // by method and route
	countries func() wire.Reply
	active    atomic.Int64 // requests in progress
}

// operation is a row of the table and its handler.
type operation struct {
	operations.Operation
	handle handler
	stub   bool // not in the table
}

// handler serves an operation in a world. It takes the world's lock itself, so that nothing slow,
// such as reading a body, happens under the lock.
type handler func(w *world.World, x *wire.Exchange) wire.Reply

// Active returns how many requests to operations have no complete response and journal entry yet.
func (s *API) Active() int { return int(s.active.Load()) }

// ServeHTTP serves a request whose path is clean; see [wire.IsClean].
func (s *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *API) serve(w http.ResponseWriter, r *http.Request) { s.exchange(w, r, s.routes[r.Pattern]) }

// exchange serves an operation: it builds the response in memory first and writes it afterwards, so that a fault
// can strike before the operation, or after the change and before the response is sent.
func (s *API) exchange(rw http.ResponseWriter, r *http.Request, op *operation) {
	s.active.Add(1)
	defer s.active.Add(-1)
	x := &wire.Exchange{Request: r, Began: time.Now(), Operation: op.Name, Stubbed: op.stub}
	defer x.Leave()
	w, refusal := s.authenticate(x, op)
	defer w.Use()()
	x.Arrived = w.Clock.At(x.Began)
	switch {
	case r.Body == http.NoBody:
	case refusal != nil || op.Method == http.MethodGet:
		wire.Skip(rw, r)
	case op.stub:
		x.Body, refusal = wire.ReadAny(rw, r)
	default:
		x.Body, refusal = wire.ReadBody(rw, r)
	}
	faults := w.Faults.Match(inject.Request{Operation: op.Name, Target: r.RequestURI, Body: x.Body, Now: w.Now()})
	faults.Before(x, w)
	if refusal != nil || op.Method == http.MethodGet {
		x.ArrivesIn = 0 // the operation would change nothing
	}
	if !x.Settled {
		s.respond(w, x, op, refusal)
		if x.Repeated && op.Method != http.MethodGet && x.Reply.Then == nil {
			s.respond(w, x, op, refusal)
		}
		if x.Reply.Then != nil {
			x.Reply.Then(x)
		} else {
			faults.After(x, w)
		}
	}
	s.finish(rw, w, x, op)
}

// expect performs the operation of an exchange later, although the exchange has ended.
func (s *API) expect(w *world.World, x *wire.Exchange, op *operation) {
	err := w.Expect(world.Arriving{Due: x.At.Add(x.ArrivesIn), Operation: op.Name, Size: len(x.Body),
		Perform: func() string {
			late := &wire.Exchange{
				Request: x.WithContext(context.WithoutCancel(x.Context())), Operation: op.Name, Stubbed: op.stub, Body: x.Body,
			}
			s.respond(w, late, op, nil)
			if late.Reply.Refusal.Code != "" {
				return "was refused (" + late.Reply.Refusal.Message + ")"
			}
			return "took effect"
		}}, x.ID)
	if err != nil {
		w.Log.Amend(x.ID, "and never takes effect: "+err.Error())
	}
}

// respond calls the handler, unless the request is refused first.
func (s *API) respond(w *world.World, x *wire.Exchange, op *operation, refusal *wire.Reply) {
	x.Settled = true
	if refusal == nil && x.URL.RawQuery != "" && !op.stub {
		refusal = checkQuery(w, x)
	}
	if refusal != nil {
		x.Reply = *refusal
	} else {
		x.Reply = op.handle(w, x)
	}
	if !op.stub {
		shape(w, op.Name, &x.Reply)
	}
	if record := x.Reply.Record; record != nil && op.Name == shipping.OpAnalyze {
		w.Faults.Analyzed(record.RequestID, x.Body)
	}
}

// finish journals, lints and logs an exchange, and sends its response. op is nil if the request names no operation.
func (s *API) finish(rw http.ResponseWriter, w *world.World, x *wire.Exchange, op *operation) {
	if !x.Stubbed {
		shape(w, x.Operation, &x.Reply) // the fault may have set a refusal
	}
	x.Reply.WithoutKeys()
	if len(x.Struck) == 0 {
		x.Reply.Revalidate(x.Request)
	}
	ready := time.Now()
	x.At, x.Took, x.Virtual, x.World = w.Clock.At(ready), ready.Sub(x.Began), w.Clock.IsVirtual(), w.Name()
	w.Log.See(x)
	w.Lint.See(x)
	s.log(x)
	if x.ArrivesIn > 0 { // before the response is sent
		s.expect(w, x, op)
	}
	x.Leave() // the client may read the response slowly
	rw.Header().Set(w.Dialect().Refusal.ResponseID, x.ID)
	if len(x.Struck) > 0 || x.Reply.Refusal.Code != "" {
		rw.Header().Set("X-Mock-Why", whyPath(w, x.ID))
	}
	if err := x.Send(rw, func(each time.Duration, count int) (next func() error, stop func()) {
		return w.Ticks(x.Context(), each, count, "the next byte of a slow body")
	}); err != nil {
		s.Logger.Debug("the client did not read the response", "operation", x.Operation, "error", err)
	}
}

// log logs an exchange, before its response is sent: sending may end the goroutine of the request.
func (s *API) log(x *wire.Exchange) {
	if !s.Logger.Enabled(x.Context(), slog.LevelInfo) {
		return
	}
	attributes := []slog.Attr{
		slog.String("method", x.Method), slog.String("path", wire.Redact(x.URL.Path)), slog.Int("status", x.Status()),
		slog.Duration("duration", x.Took), slog.String("world", x.World), slog.String("request_id", x.ID),
	}
	for _, optional := range []struct{ name, text string }{
		{"operation", x.Operation}, {"fault", wire.Redact(x.Faults())}, {"refused", wire.Redact(x.Reply.Refusal.Message)},
	} {
		if optional.text != "" {
			attributes = append(attributes, slog.String(optional.name, optional.text))
		}
	}
	s.Logger.LogAttrs(x.Context(), slog.LevelInfo, "request", attributes...)
}

// ruleBroken returns the refusal of a request that breaks a rule of the specification.
func ruleBroken(message string) wire.Reply {
	return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, message)
}

// full returns the refusal of a valid request for which the server has no room.
func full(err error) wire.Reply {
	return wire.Refused(http.StatusServiceUnavailable, wire.CodeFull, err.Error())
}

func whyPath(w *world.World, requestID string) string {
	path := wire.ControlPrefix + "journal/" + requestID
	if w.Name() != world.HomeName {
		path += "?world=" + url.QueryEscape(w.Name())
	}
	return path
}

// authenticate returns the world of an exchange, and sets the fingerprint of its key. If the request is refused, it
// returns the world without an account and the refusal.
//
// Specification: "Authentication" (Authorization: Bearer <SECRET_KEY>; none for the PDF operation).
// Assumption: operations for which the specification does not show it need it too. A key may open a new world; see
// Server.Open.
func (s *API) authenticate(x *wire.Exchange, op *operation) (*world.World, *wire.Reply) {
	scheme, key := Bearer(x.Request)
	x.Key = wire.Fingerprint(key)
	err := world.ErrKeyForm
	if strings.EqualFold(scheme, "Bearer") {
		var w *world.World
		if w, err = s.Worlds.OfKey(key); err == nil {
			return w, nil
		}
	}
	if op.Open {
		return s.keyless(x), nil
	}
	var message string
	switch {
	case errors.Is(err, world.ErrTooManyWorlds):
		return s.Worlds.Unauthenticated, new(full(err))
	case errors.Is(err, world.ErrNotOpened):
		message = "unknown secret key: open its world with POST " + wire.ControlPrefix + "worlds, because this server " +
			"opens none by its key (-one-world, or in Go WithOneWorld)"
	case !errors.Is(err, world.ErrKeyForm):
		message = "the secret key opens no world: " + strings.TrimPrefix(err.Error(), world.ErrNoWorld.Error()+": ")
		if redact.New(key).In(message) {
			message = "the secret key has a contradictory scenario, or a number out of range: use terms that GET " +
				wire.ControlPrefix + " lists, such as instant"
		}
	case scheme == "":
		message = "the Authorization header is missing: send Authorization: Bearer <SECRET_KEY>"
	case !strings.EqualFold(scheme, "Bearer") || key == "":
		message = "the Authorization header is malformed: write it as Bearer, a space and the secret key"
	default:
		message = "unknown secret key: use the secret_key that the server printed on start, or that of a world (in Go: " +
			"Server.SecretKey, World.SecretKey)"
	}
	p := wire.Refused(http.StatusUnauthorized, wire.CodeUnauthorized, message)
	p.Header = http.Header{"Www-Authenticate": {`Bearer realm="shipping"`}}
	return s.Worlds.Unauthenticated, &p
}

// keyless returns the world of a request to an open operation, if the key opens no world: the world of the open stub,
// or the first opened world with the regulatory request in the path. Otherwise it is the home world if the request has
// no key, and the world without an account if the key is wrong.
func (s *API) keyless(x *wire.Exchange) *world.World {
	if w := s.openStub(x.Request); x.Stubbed && w != nil {
		return w
	}
	if id := x.PathValue("request_id"); id != "" {
		for _, w := range s.Worlds.Worlds() {
			if w.HasRequest(id) {
				return w
			}
		}
	}
	if x.Header.Get("Authorization") != "" {
		return s.Worlds.Unauthenticated
	}
	return s.Worlds.Home()
}

func Bearer(r *http.Request) (scheme, key string) {
	scheme, key, _ = strings.Cut(r.Header.Get("Authorization"), " ")
	return scheme, strings.TrimSpace(key)
}
