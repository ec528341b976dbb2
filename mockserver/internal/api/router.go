package api

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// router finds the operation of a request. It is derived from the operation table: a path of the table with another
// method is refused with 405, any other path with 404, both in the envelope.
type router struct {
	server *API
	mux    *http.ServeMux
	err    error // the problems of the table
}

// resource is a path of the table and its operations.
type resource struct {
	server     *API
	operations map[string]*operation // by method
	allow      string
}

// operation is a row of the table and its handler.
type operation struct {
	shipping.Operation
	handle handler
}

func newRouter(s *API, handlers map[string]handler, table []shipping.Operation) *router {
	r := &router{server: s, mux: http.NewServeMux()}
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
			res = &resource{server: s, operations: map[string]*operation{}}
			if err := handle(r.mux, row.Route, res); err != nil {
				r.err = errors.Join(r.err, err)
				continue
			}
			resources[row.Route] = res
		}
		res.add(&operation{Operation: row, handle: found})
	}
	r.mux.HandleFunc("/", s.NotFound)
	return r
}

// handle registers a route. A route of the caller may be malformed or in conflict with another; ServeMux then
// panics.
func handle(mux *http.ServeMux, route string, h http.Handler) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("mockserver: cannot serve route %q: %v", route, problem)
		}
	}()
	if !strings.HasPrefix(route, "/") || strings.HasPrefix(route, wire.ControlPrefix) {
		return fmt.Errorf("mockserver: cannot serve route %q: it must begin with / and lie outside %s", route, wire.ControlPrefix)
	}
	mux.Handle(route, h)
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

// ServeHTTP serves a request whose path is in the table.
func (res *resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	res.server.exchange(w, r, op)
}

func (s *API) NotFound(w http.ResponseWriter, r *http.Request) {
	s.Refuse(w, r, wire.Refused(http.StatusNotFound, wire.CodeNotFound,
		fmt.Sprintf("no route %s %s: every path begins with /v1 and has no empty or dot segments and no trailing slash", r.Method, r.URL.Path)))
}

// Refuse refuses a request that names no operation. It is journaled in the world of its key; without a key,
// in the home world.
func (s *API) Refuse(rw http.ResponseWriter, r *http.Request, p wire.Reply) {
	s.Unread.Skip(rw, r)
	w, _ := s.authenticate(r, &operation{Operation: shipping.Operation{Open: true}})
	if w.Assume().ShapesReplies() {
		shape(w, "", &p)
	}
	s.finish(rw, w, &wire.Exchange{Ctx: r.Context(), Began: time.Now(), Arrived: w.Clock.Now(), Call: wire.Call{Request: r}, Reply: p})
}
