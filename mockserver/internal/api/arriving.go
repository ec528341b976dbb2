package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// expect performs the operation of an exchange later, although its connection is closed.
func (s *API) expect(w *world.World, x *wire.Exchange) {
	u := x.Call.URL
	a := world.Arriving{Due: x.At.Add(x.ArrivesIn), Operation: x.Operation, Path: u.Path, Query: u.RawQuery, Body: x.Call.Body}
	if err := w.Expect(a, x.ID); err != nil {
		w.Log.Amend(x.ID, fault.ArriveLate(0).Kind, "and never takes effect: "+err.Error())
	}
}

// Perform performs the operation of an arriving request, which nobody gets a response to, and describes the result.
func (s *API) Perform(w *world.World, a world.Arriving) string {
	op := s.routes.operations[a.Operation]
	if op == nil || op.route == nil || !op.route.Matches(a.Path) { // such as in the state file of another version
		return "did not take effect, because " + a.Operation + " has another route"
	}
	r := &http.Request{Method: op.Method, URL: &url.URL{Path: a.Path, RawQuery: a.Query}, Header: http.Header{}}
	x := &wire.Exchange{Ctx: context.Background(), Operation: a.Operation, Call: wire.Call{Request: r, Route: op.route, Body: a.Body}}
	s.respond(w, x, op, nil)
	if x.Reply.Refusal.Code != "" {
		return "was refused (" + x.Reply.Refusal.Message + ")"
	}
	return "took effect"
}
