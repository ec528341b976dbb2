package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// expect performs the operation of an exchange later, although its connection is closed.
func (s *API) expect(w *world.World, x *wire.Exchange) {
	a := world.Arriving{Due: x.At.Add(x.ArrivesIn), Operation: x.Operation, Path: x.URL.Path, Query: x.URL.RawQuery, Body: x.Body}
	if err := w.Expect(a, x.ID); err != nil {
		w.Log.Amend(x.ID, fault.ArriveLate(0).Kind, "and never takes effect: "+err.Error())
	}
}

// Perform performs the operation of an arriving request, which nobody gets a response to, and describes the result.
func (s *API) Perform(w *world.World, a world.Arriving) string {
	at := slices.IndexFunc(s.Operations, func(op operations.Operation) bool { return op.Name == a.Operation })
	r := &http.Request{URL: &url.URL{Path: a.Path, RawQuery: a.Query}, Header: http.Header{}}
	if at < 0 || !setPathValues(r, s.Operations[at].Route) { // such as in the state file of another version
		return "did not take effect, because " + a.Operation + " has another route"
	}
	op := s.routes[s.Operations[at].Route][s.Operations[at].Method]
	r.Method = op.Method
	x := &wire.Exchange{Request: r, Operation: a.Operation, Body: a.Body}
	s.respond(w, x, op, nil)
	if x.Reply.Refusal.Code != "" {
		return "was refused (" + x.Reply.Refusal.Message + ")"
	}
	return "took effect"
}

// setPathValues sets the values of the names in a route, as ServeMux does, and reports whether the path matches the route.
func setPathValues(r *http.Request, route string) bool {
	names, values := strings.Split(route, "/"), strings.Split(r.URL.Path, "/")
	if len(names) != len(values) {
		return false
	}
	for i, name := range names {
		if strings.HasPrefix(name, "{") && values[i] != "" {
			r.SetPathValue(strings.Trim(name, "{}"), values[i])
		} else if name != values[i] {
			return false
		}
	}
	return true
}
