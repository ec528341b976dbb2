package world

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/shipping-go/shipping/mockserver/internal/byname"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Stub is a route that the specification does not have.
type Stub struct {
	Method, Pattern string
	Handler         http.Handler
	Size            int  // of the response, if the server stores it, in bytes
	Open            bool // requests whose key opens no world are served, too
	// Match and Nth are the conditions of a request. Match is a JSON object: the body has each of its members, with
	// that value. Nth counts the requests with such a body from 1; 0: each of them.
	Match json.RawMessage
	Nth   int

	matched *int // how many bodies have matched
}

func (s *Stub) Operation() string { return s.Method + " " + s.Pattern }

// isConditional reports whether some requests with the method and path may not meet the conditions.
func (s *Stub) isConditional() bool { return s.Match != nil || s.Nth > 0 }

// stubs are the stubs of a world. The zero value has none.
type stubs struct {
	mu  sync.RWMutex
	all []Stub
	mux *http.ServeMux // replaced when a stub is added or removed; nil without stubs
}

const maxStubs = 100

// AddStub adds a stub, or removes the one with the same operation if the new one has no handler. It returns an error,
// and adds nothing, if the pattern is invalid, or a specified operation or another stub serves its requests.
func (w *World) AddStub(s Stub) error {
	s.Method = strings.ToUpper(s.Method)
	if err := w.addStub(s); err != nil {
		return fmt.Errorf("mockserver: the stub %s was not added: %w", s.Operation(), err)
	}
	return nil
}

func (w *World) removeStub(operation string) error {
	if w.RemoveStubs(operation) == 0 {
		return errors.New("it has no handler, and no stub exists to remove")
	}
	return nil
}

func (w *World) addStub(s Stub) error {
	if s.Handler == nil {
		return w.removeStub(s.Operation())
	}
	path := concrete(s.Pattern)
	switch operation := w.settings.Specified(s.Method, path); {
	case s.Method == "" || strings.ContainsAny(s.Method, " \t") || !wire.IsClean(s.Pattern) ||
		strings.HasSuffix(s.Pattern, "/") || strings.HasPrefix(path+"/", wire.ControlPrefix):
		return fmt.Errorf(`write a method, and a path outside %s such as "/v1/shipments/{id}", or "/v1/files/{path...}" for `+
			"all paths below it", wire.ControlPrefix)
	case operation != "":
		return fmt.Errorf("the specification has this route, as %s: to choose its response, inject a \"respond\" fault",
			operation)
	}
	if _, err := muxOf([]Stub{s}); err != nil {
		return err
	}
	w.Lock()
	defer w.Unlock()
	if err := w.Room(s.Size); err != nil {
		return err
	}
	w.stubs.mu.Lock()
	defer w.stubs.mu.Unlock()
	for _, other := range w.stubs.all {
		if other.Operation() == s.Operation() && other.isConditional() {
			continue
		}
		if !areApart(other, s) {
			return fmt.Errorf("the stub %s serves its requests: remove that stub first with DELETE %sstubs, or let one "+
				"handler respond to both", other.Operation(), wire.ControlPrefix)
		}
	}
	if len(w.stubs.all) >= maxStubs {
		return fmt.Errorf("the world has %d stubs, which is the limit: one with a wildcard can serve many paths", maxStubs)
	}
	s.matched = new(int)
	return w.stubs.replace(append(slices.Clone(w.stubs.all), s))
}

// replace replaces all stubs. The caller holds the lock.
func (b *stubs) replace(all []Stub) (err error) {
	b.all = all
	b.mux, err = muxOf(all)
	return err
}

// muxOf returns a router that finds the operations of stubs, or an error if one of them is malformed or in conflict
// with another.
func muxOf(all []Stub) (*http.ServeMux, error) {
	mux := http.NewServeMux()
	for i, s := range all {
		sameOperation := func(other Stub) bool { return other.Operation() == s.Operation() }
		if slices.ContainsFunc(all[:i], sameOperation) {
			continue
		}
		if err := wire.Handle(mux, s.Operation(), s.Handler); err != nil {
			return nil, err
		}
	}
	return mux, nil
}

// areApart reports whether no request can match the method and path of both stubs.
func areApart(one, other Stub) bool {
	if one.Operation() == other.Operation() {
		return false
	}
	_, err := muxOf([]Stub{one, other})
	return err == nil
}

// concrete returns a path that a pattern matches. The segments of its wildcards are in no specified path.
func concrete(pattern string) string {
	segments := strings.Split(pattern, "/")
	for i, segment := range segments {
		if strings.HasPrefix(segment, "{") {
			segments[i] = "~"
		}
	}
	return strings.Join(segments, "/")
}

// Stubs returns the stubs, in the order in which they were added.
func (w *World) Stubs() []Stub {
	w.stubs.mu.RLock()
	defer w.stubs.mu.RUnlock()
	return slices.Clone(w.stubs.all)
}

// RemoveStubs removes the stubs of an operation, or all if it is empty, and returns how many it removed.
func (w *World) RemoveStubs(operation string) int {
	w.stubs.mu.Lock()
	defer w.stubs.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(w.stubs.all), func(s Stub) bool {
		return operation == "" || operation == s.Operation()
	})
	removed := len(w.stubs.all) - len(left)
	_ = w.stubs.replace(left) // fewer stubs than before have no conflict
	return removed
}

// StubOf returns the operation of the stubs that serve a request, or "", and whether one of them is open.
func (w *World) StubOf(r *http.Request) (operation string, open bool) {
	w.stubs.mu.RLock()
	defer w.stubs.mu.RUnlock()
	if w.stubs.mux == nil {
		return "", false
	}
	_, operation = w.stubs.mux.Handler(r)
	return operation, slices.ContainsFunc(w.stubs.all, func(s Stub) bool { return s.Open && s.Operation() == operation })
}

// ChooseStub counts a request with a body, and returns a router to the first stub of its operation whose conditions
// it meets, or nil.
func (w *World) ChooseStub(operation string, body []byte) *http.ServeMux {
	w.stubs.mu.Lock()
	defer w.stubs.mu.Unlock()
	var chosen *http.ServeMux
	for _, s := range w.stubs.all {
		if s.Operation() != operation || !matches(s.Match, body) {
			continue
		}
		if *s.matched++; chosen == nil && (s.Nth == 0 || s.Nth == *s.matched) {
			chosen, _ = muxOf([]Stub{s}) // it was valid when it was added
		}
	}
	return chosen
}

// matches reports whether a body is a JSON object with each of the members, and the same values. An object inside it
// may also have further members.
func matches(members, body []byte) bool {
	if members == nil {
		return true
	}
	want, wrong := decoded(members)
	got, err := decoded(body)
	return wrong == nil && err == nil && contains(got, want)
}

func decoded(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

func contains(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		object, isObject := got.(map[string]any)
		for name, value := range want {
			member, exists := object[name]
			if !exists || !contains(member, value) {
				return false
			}
		}
		return isObject
	case []any:
		list, _ := got.([]any)
		return slices.EqualFunc(list, want, contains)
	case json.Number:
		number, isNumber := got.(json.Number)
		one, wrong := want.Float64()
		other, err := number.Float64()
		return isNumber && (want == number || wrong == nil && err == nil && one == other)
	}
	return got == want
}

// AddOpenStub adds a stub that serves requests whose key opens no world. It returns an error if the stub of another
// world serves the same requests.
func (b *Worlds) AddOpenStub(w *World, s Stub) error {
	b.openStubs.Lock()
	defer b.openStubs.Unlock()
	for _, other := range b.Worlds() {
		for _, served := range other.Stubs() {
			if other != w && served.Open && !areApart(served, s) {
				return fmt.Errorf("the stub %s serves requests without a key in the world %s: choose another path, or close that "+
					"world", served.Operation(), other.Name())
			}
		}
	}
	return w.AddStub(s)
}

// Operations returns the names of the specified operations, and those of the stubs.
func (w *World) Operations() []string {
	names := byname.Names(nil)
	for _, s := range w.Stubs() {
		names = append(names, s.Operation())
	}
	return names
}

// operationOf returns the name of the specified operation with a method and path, such as "GET /v1/rates"; any other
// text is returned as it is.
func (w *World) operationOf(text string) string {
	if method, path, found := strings.Cut(text, " "); found {
		if name := w.settings.Specified(method, concrete(path)); name != "" {
			return name
		}
	}
	return text
}
