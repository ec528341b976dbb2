package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// New returns an API that serves an operation table, and an error if the table is invalid. A path of the table with
// another method is refused with 405, any other path with 404, both in the envelope.
func New(c Config) (*API, error) {
	s := &API{Config: c, mux: http.NewServeMux(), routes: map[string]*operation{},
		countries: sync.OnceValue(countries)}
	s.mux.HandleFunc("/", s.undefined)
	handlers := s.handlers()
	var problems []error
	for _, row := range c.Operations {
		problems = append(problems, s.add(row, handlers[row.Name]))
	}
	return s, errors.Join(problems...)
}

func (s *API) add(row operations.Operation, handle handler) error {
	if handle == nil {
		return fmt.Errorf("mockserver: the operation %q has no handler; add one to the table in "+
			"mockserver/internal/api/router.go, or set Pages in internal/operations if it lists records in pages", row.Name)
	}
	if !wire.IsClean(row.Route) || strings.HasPrefix(row.Route, wire.ControlPrefix) {
		return fmt.Errorf("mockserver: cannot serve route %q: it must begin with /, have no empty or dot segments, and "+
			"lie outside %s", row.Route, wire.ControlPrefix)
	}
	pattern := row.Method + " " + row.Route
	if err := wire.Handle(s.mux, pattern, http.HandlerFunc(s.serve)); err != nil {
		return fmt.Errorf("mockserver: cannot serve %s at %q: %s", row.Name, pattern, cmp.Or(s.conflict(pattern),
			err.Error()))
	}
	s.routes[pattern] = &operation{Operation: row, handle: handle}
	return nil
}

// conflict returns the operation with which a pattern conflicts; "" if the pattern is malformed.
func (s *API) conflict(pattern string) string {
	for _, op := range s.Operations {
		other := op.Method + " " + op.Route
		mux := http.NewServeMux()
		if s.routes[other] != nil && wire.Handle(mux, pattern, mux) == nil && wire.Handle(mux, other, mux) != nil {
			return fmt.Sprintf("some requests are also those of %s, %q: choose another path", op.Name, other)
		}
	}
	return ""
}

// undefined lets a stub serve a request whose method and path no operation has, or refuses it.
func (s *API) undefined(w http.ResponseWriter, r *http.Request) {
	if name, open := s.stubOf(r); name != "" {
		op := operations.Operation{Name: name, Method: r.Method, Open: open}
		s.exchange(w, r, &operation{Operation: op, handle: s.serveStub, stub: true})
	} else if methods := s.methods(r.URL); len(methods) > 0 {
		s.Refuse(w, r, wire.MethodNotAllowed(r, methods))
	} else {
		s.NotFound(w, r)
	}
}

// methods returns the methods of the operations that have a path.
func (s *API) methods(path *url.URL) (methods []string) {
	candidates := []string{http.MethodHead}
	for _, op := range s.Operations {
		candidates = append(candidates, op.Method)
	}
	slices.Sort(candidates)
	for _, method := range slices.Compact(candidates) {
		if s.find(method, path) != nil {
			methods = append(methods, method)
		}
	}
	return methods
}

// find returns the operation that serves a method and path, or nil.
func (s *API) find(method string, path *url.URL) *operation {
	_, pattern := s.mux.Handler(&http.Request{Method: method, URL: path})
	return s.routes[pattern]
}

// NotFound refuses a request whose path no operation and no stub has.
func (s *API) NotFound(w http.ResponseWriter, r *http.Request) {
	x := &wire.Exchange{Request: r}
	found, _ := s.authenticate(x, &operation{Operation: operations.Operation{Open: true}})
	s.Refuse(w, r, wire.Refused(http.StatusNotFound, wire.CodeNotFound, s.absent(found, r)))
}

// Refuse refuses a request that names no operation. It is journaled in the world of its key; without a key,
// in the home world.
func (s *API) Refuse(rw http.ResponseWriter, r *http.Request, p wire.Reply) {
	wire.Skip(rw, r)
	x := &wire.Exchange{Request: r, Began: time.Now()}
	w, _ := s.authenticate(x, &operation{Operation: operations.Operation{Open: true}})
	x.Arrived, x.Reply = w.Clock.At(x.Began), p
	s.finish(rw, w, x, nil)
}

// handlers returns the handlers by operation. A list with pages that has no row is served by list.
func (s *API) handlers() map[string]handler {
	table := map[string]handler{
		shipping.OpListCountries:    s.listCountries,
		shipping.OpListWebhooks:     listWebhooks,
		shipping.OpReplayWebhook:    replayWebhook,
		shipping.OpListTransactions: listTransactions,
		shipping.OpAnalyze:          analyze,
		shipping.OpPurchase:         purchase,
		shipping.OpGetRequest:       getRequest,
		operations.UpdateItems:      edit((*regulatory.Service).UpdateItems),
		operations.UpdateAddresses:  edit((*regulatory.Service).UpdateAddresses),
		operations.UpdateShipping:   edit((*regulatory.Service).UpdateShipping),
		operations.UpdateProfile:    updateProfile,
		operations.RetryRequest:     edit(retry),
		operations.DocumentPDF:      DocumentPDF,
	}
	for _, op := range operations.All() {
		if op.Pages && table[op.Name] == nil {
			table[op.Name] = list(strings.TrimSuffix(op.Name, ".list"))
		}
	}
	return table
}
