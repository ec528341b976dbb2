package api

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Specified returns the name of the operation that serves a method and path, or "".
func (s *API) Specified(method, path string) string {
	if op := s.find(method, &url.URL{Path: path}); op != nil {
		return op.Name
	}
	return ""
}

// stubOf returns the operation of the stubs that serve a request in the world of its key. If the key opens no world, it
// returns the operation of an open stub of any world, or else of any stub, so that the request is refused for its key.
func (s *API) stubOf(r *http.Request) (name string, open bool) {
	_, key := Bearer(r)
	if w, err := s.Worlds.OfKey(key); err == nil {
		name, _ = w.StubOf(r)
		return name, false
	}
	if w := s.openStub(r); w != nil {
		return w.StubOf(r)
	}
	for _, w := range s.Worlds.Worlds() {
		if name, _ := w.StubOf(r); name != "" {
			return name, false
		}
	}
	return "", false
}

// openStub returns the world whose open stub serves a request, or nil.
func (s *API) openStub(r *http.Request) *world.World {
	for _, w := range s.Worlds.Worlds() {
		if _, open := w.StubOf(r); open {
			return w
		}
	}
	return nil
}

func (s *API) serveStub(w *world.World, x *wire.Exchange) (reply wire.Reply) {
	name, _ := w.StubOf(x.Request)
	if name == "" { // it was removed while the request was on its way
		return wire.Refused(http.StatusNotFound, wire.CodeNotFound, s.absent(w, x.Request))
	}
	router := w.ChooseStub(name, x.Body)
	if router == nil {
		return wire.Refused(http.StatusNotFound, wire.CodeNotFound, fmt.Sprintf("no stub %s has conditions that this "+
			"request meets: GET %sstubs lists them; add one without conditions last", name, wire.ControlPrefix))
	}
	defer func() {
		switch problem := recover(); problem {
		case nil:
		case http.ErrAbortHandler:
			x.Ending = wire.EndDropped
		default:
			reply = wire.Refused(http.StatusInternalServerError, wire.CodeInternal,
				fmt.Sprintf("the handler of the stub %s panicked: %v", name, problem))
		}
	}()
	r := x.Clone(x.Context())
	r.Body = io.NopCloser(bytes.NewReader(x.Body))
	recorder := &recorder{header: http.Header{}}
	router.ServeHTTP(recorder, r)
	recorder.WriteHeader(http.StatusOK)
	return recorder.reply
}

type recorder struct {
	header http.Header
	reply  wire.Reply
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.reply.Status == 0 && status >= http.StatusOK {
		r.reply.Status, r.reply.Header = status, r.header.Clone()
	}
}

func (r *recorder) Write(text []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	r.reply.Body = append(r.reply.Body, text...)
	return len(text), nil
}

// absent returns the message for a request that names no route, with the nearest route.
func (s *API) absent(w *world.World, r *http.Request) string {
	path := r.URL.Path
	reason := "every path begins with /v1 and has no empty or dot segments and no trailing slash"
	if at := strings.LastIndex(path, "/v1/"); at > 0 && wire.IsClean(path) {
		reason = fmt.Sprintf("the path begins with %s, and those of the service with /v1: remove %[1]s from the base "+
			"address of the client", path[:at])
	} else if !strings.HasPrefix(path, "/v1") {
		reason = "the paths of the service begin with /v1, and GET " + wire.ControlPrefix + " lists those of the control " +
			"surface"
	} else if wire.IsClean(path) && !strings.HasSuffix(path, "/") {
		const add = "World.Stub (POST " + wire.ControlPrefix + "stubs) adds a route"
		reason = "the specification has no such route: " + add
		meant := Nearest(path, s.paths(w))
		if _, id, isRequest := strings.Cut(path, "/RD-"); isRequest && !strings.Contains(meant, "/RD-") {
			i := slices.IndexFunc(s.Operations,
				func(op operations.Operation) bool { return op.Name == shipping.OpGetRequest })
			id, _, _ = strings.Cut(id, "/")
			meant = strings.ReplaceAll(s.Operations[i].Route, "{request_id}", "RD-"+id)
		}
		if meant == path {
			reason = "the path has other methods only: " + add
		} else if meant != "" {
			reason = "did you mean " + meant + "? " + add
		}
	}
	return fmt.Sprintf("no route %s %s: %s", r.Method, path, reason)
}

func (s *API) paths(w *world.World) (paths []string) {
	for _, op := range s.Operations {
		paths = append(paths, op.Route)
	}
	for _, stub := range w.Stubs() {
		paths = append(paths, stub.Pattern)
	}
	slices.Sort(paths)
	return paths
}

// Nearest returns the route that is nearest to a path, with the path's own segments for its wildcards; "" if none is
// near.
func Nearest(path string, routes []string) string {
	var candidates []string
	for _, route := range routes {
		candidates = append(candidates, Filled(route, path))
	}
	return spelling.Nearest(path, candidates)
}

// Filled returns a route with the segments of a path for its wildcards.
func Filled(route, path string) string {
	segments, given := strings.Split(route, "/"), strings.Split(path, "/")
	for i := range segments {
		if strings.HasPrefix(segments[i], "{") && i < len(given) {
			segments[i] = given[i]
		}
	}
	return strings.Join(segments, "/")
}
