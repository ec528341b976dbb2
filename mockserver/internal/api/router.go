package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// router finds the operation of a request. It is derived from the operation table: a path of the table with another
// method is refused with 405, any other path with 404, both in the envelope.
//
// ServeMux checks the table and serves every route of it. As it spends more time on a path than the operation spends on
// the response, find matches the usual paths without it.
type router struct {
	mux        *http.ServeMux
	operations map[string]*operation // by name
	direct     []*resource           // those that find matches; of two that match the same path, the more specific is first
	err        error                 // the problems of the table
}

// resource is a path of the table and its operations.
type resource struct {
	server     *API
	pattern    string
	route      *wire.Route           // nil if only ServeMux can match it
	operations map[string]*operation // by method
	allow      string
}

// operation is a row of the table and its handler.
type operation struct {
	shipping.Operation
	handle handler
	route  *wire.Route // that of the resource
}

func newRouter(s *API, handlers map[string]handler, table []shipping.Operation) *router {
	r := &router{mux: http.NewServeMux(), operations: map[string]*operation{}}
	r.mux.HandleFunc("/", s.NotFound) // first, so that a route of the table that matches every path is the conflict
	resources := map[string]*resource{}
	for _, row := range table {
		found, known := handlers[row.Name]
		if !known {
			problem := "is unknown; use the names in shipping.Operations"
			if IsOperation(row.Name) {
				problem = "has no handler; add one to the table in mockserver/internal/api/handlers.go, or set Pages in operations.go if it lists records in pages"
			}
			r.err = errors.Join(r.err, fmt.Errorf("mockserver: the operation %q %s", row.Name, problem))
			continue
		}
		res := resources[row.Route]
		if res == nil {
			res = &resource{server: s, pattern: row.Route, operations: map[string]*operation{}}
			if err := r.handle(res); err != nil {
				r.err = errors.Join(r.err, err)
				continue
			}
			resources[row.Route] = res
		}
		op := &operation{Operation: row, handle: found, route: res.route}
		r.operations[row.Name] = op
		res.add(op)
	}
	return r
}

// handle registers a resource. Its route may be malformed or in conflict with another; ServeMux then panics.
func (r *router) handle(res *resource) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("mockserver: cannot serve route %q: %v", res.pattern, problem)
		}
	}()
	if !IsClean(res.pattern) || strings.HasPrefix(res.pattern, wire.ControlPrefix) {
		return fmt.Errorf("mockserver: cannot serve route %q: it must begin with /, have no empty or dot segments, and lie outside %s", res.pattern, wire.ControlPrefix)
	}
	r.mux.HandleFunc(res.pattern, func(w http.ResponseWriter, req *http.Request) { res.serve(w, req, nil) })
	if res.route, _ = wire.ParseRoute(res.pattern); res.route != nil {
		r.direct = append(r.direct, res)
		// As ServeMux accepts no conflicts, the more specific of two routes has fewer names.
		slices.SortStableFunc(r.direct, func(a, b *resource) int { return cmp.Compare(a.route.Names(), b.route.Names()) })
	}
	return nil
}

// ServeHTTP serves a request whose path is clean.
func (r *router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	res := r.find(req.URL)
	if res == nil {
		r.mux.ServeHTTP(w, req)
		return
	}
	req.Pattern = res.pattern
	res.serve(w, req, res.route)
}

// find returns the resource of a path, or nil if only ServeMux can match it: its encoding is unusual, or its route has no
// simple form. A path that both match has the same resource in both, because a route with a fixed number of segments is
// more specific than any other.
func (r *router) find(u *url.URL) *resource {
	if u.RawPath != "" {
		return nil
	}
	for _, res := range r.direct {
		if res.route.Matches(u.Path) {
			return res
		}
	}
	return nil
}

func (res *resource) add(op *operation) {
	res.operations[op.Method] = op
	var methods []string
	for method := range res.operations {
		methods = append(methods, method)
		if method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	res.allow = strings.Join(methods, ", ")
}

// IsClean reports whether a path is absolute and has no empty, "." or ".." segment.
func IsClean(path string) bool {
	if !strings.HasPrefix(path, "/") || strings.Contains(path, "//") {
		return false
	}
	if !strings.Contains(path, "/.") {
		return true
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// serve serves a request whose path is in the table. The route is nil if ServeMux matched it.
func (res *resource) serve(w http.ResponseWriter, r *http.Request, route *wire.Route) {
	method := r.Method
	if method == http.MethodHead && res.operations[method] == nil {
		method = http.MethodGet
	}
	op := res.operations[method]
	if op == nil {
		p := wire.Refused(http.StatusMethodNotAllowed, wire.CodeMethod,
			fmt.Sprintf("%s is not allowed on %s: use %s", r.Method, r.URL.Path, res.allow))
		p.Header = http.Header{"Allow": {res.allow}}
		res.server.Refuse(w, r, p)
		return
	}
	res.server.exchange(w, r, route, op)
}

func (s *API) NotFound(w http.ResponseWriter, r *http.Request) {
	reason := "every path begins with /v1 and has no empty or dot segments and no trailing slash"
	if at := strings.LastIndex(r.URL.Path, "/v1/"); at > 0 && IsClean(r.URL.Path) {
		reason = fmt.Sprintf("the path begins with %s, and those of the service with /v1: remove %[1]s from the base address of the client", r.URL.Path[:at])
	}
	s.Refuse(w, r, wire.Refused(http.StatusNotFound, wire.CodeNotFound, fmt.Sprintf("no route %s %s: %s", r.Method, r.URL.Path, reason)))
}

// Refuse refuses a request that names no operation. It is journaled in the world of its key; without a key,
// in the home world.
func (s *API) Refuse(rw http.ResponseWriter, r *http.Request, p wire.Reply) {
	s.Unread.Skip(rw, r)
	x := &wire.Exchange{Ctx: r.Context(), Began: time.Now(), Call: wire.Call{Request: r}}
	w, _ := s.authenticate(x, &operation{Operation: shipping.Operation{Open: true}})
	if shapes(w.Assume()) {
		shape(w, "", &p)
	}
	x.Arrived, x.Reply = w.Clock.At(x.Began), p
	s.finish(rw, w, x)
}
