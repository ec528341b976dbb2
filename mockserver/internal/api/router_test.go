package api

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// The router finds in any table the routes that ServeMux finds, with the same values, and refuses the same routes and those
// that match no clean path.
func TestRouter_FindsWhatServeMuxFinds(t *testing.T) {
	t.Parallel()
	random := randomtest.Random(t)
	tables := [][]shipping.Operation{shipping.Operations()}
	for range 300 {
		tables = append(tables, randomTable(random))
	}
	handlers := new(API).handlers()
	for _, table := range tables {
		router := newRouter(nil, handlers, table)
		mux := newRecordingMux(table)
		if refused := fmt.Sprint(mux.refused); len(mux.refused) > 0 != (router.err != nil) {
			t.Fatalf("%s: ServeMux refuses %s, the router returns %v", routes(table), refused, router.err)
		}
		for _, route := range mux.refused {
			if !strings.Contains(router.err.Error(), fmt.Sprintf("cannot serve route %q", route)) {
				t.Errorf("%s: %v does not name %q", routes(table), router.err, route)
			}
		}
		for range 200 {
			target := randomPath(random, table[random.IntN(len(table))].Route)
			u, err := url.ParseRequestURI(target)
			if err != nil || !IsClean(u.Path) {
				continue
			}
			res := router.find(u)
			want, _ := mux.match(target)
			switch {
			case res != nil:
				got := match{route: res.pattern}
				call := wire.Call{Request: &http.Request{URL: u}, Route: res.route}
				for i, name := range []string{"x", "y", "request_id", "document_type"} {
					got.values[i] = call.PathValue(name)
				}
				if got != want {
					t.Fatalf("%s: %s is %q, ServeMux finds %q", routes(table), target, got, want)
				}
			case u.RawPath == "" && want.route != "":
				if _, simple := wire.ParseRoute(want.route); simple {
					t.Fatalf("%s: %s is left to ServeMux, which finds %q", routes(table), target, want)
				}
			}
		}
	}
}

// match is a route that was found, and its values of x, y, request_id and document_type.
type match struct {
	route  string
	values [4]string
}

// recordingMux is a ServeMux that reports what it finds.
type recordingMux struct {
	mux     *http.ServeMux
	refused []string // routes
	found   match
}

func newRecordingMux(table []shipping.Operation) *recordingMux {
	m := &recordingMux{mux: http.NewServeMux()}
	m.mux.HandleFunc("/", http.NotFound)
	served := map[string]bool{}
	for _, op := range table {
		if served[op.Route] {
			continue
		}
		if IsClean(op.Route) && m.add(op.Route) {
			served[op.Route] = true
		} else {
			m.refused = append(m.refused, op.Route)
		}
	}
	return m
}

func (m *recordingMux) add(route string) (accepted bool) {
	defer func() { accepted = recover() == nil }()
	m.mux.HandleFunc(route, func(_ http.ResponseWriter, r *http.Request) {
		m.found = match{r.Pattern, [4]string{r.PathValue("x"), r.PathValue("y"), r.PathValue("request_id"), r.PathValue("document_type")}}
	})
	return
}

// match returns what ServeMux finds, and the status of its response.
func (m *recordingMux) match(target string) (match, int) {
	m.found = match{}
	w := httptest.NewRecorder()
	m.mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	return m.found, w.Code
}

func routes(table []shipping.Operation) []string {
	var all []string
	for _, op := range table {
		all = append(all, op.Route)
	}
	return all
}

// randomTable returns a table of one to six routes, some of which may be in conflict.
func randomTable(random *rand.Rand) []shipping.Operation {
	segments := []string{"a", "{y}", "{x}", "b", "ab", "{x...}", "{$}", "a%62", "a b", "", ".", "{"}
	table := make([]shipping.Operation, 1+random.IntN(6))
	for i := range table {
		table[i] = shipping.Operation{Name: shipping.OpListCountries, Method: http.MethodGet}
		for range 1 + random.IntN(4) {
			table[i].Route += "/" + segments[min(random.IntN(len(segments)), random.IntN(len(segments)))] // the first are frequent
		}
	}
	return table
}

// randomPath returns the path of a route with random values, often changed a little.
func randomPath(random *rand.Rand, route string) string {
	values := []string{"a", "b", "ab", "RD-1", "a%2562", "a%20b", "a%2Fb", "%2f", "%61", "%", "", ".", "%2e%2e", "ä", "%C3%A4", "{x}", "a+b", "a;b"}
	var path strings.Builder
	for _, segment := range strings.Split(route, "/")[1:] {
		if strings.HasPrefix(segment, "{") || random.IntN(8) == 0 {
			segment = values[random.IntN(len(values))]
		}
		if random.IntN(20) != 0 {
			path.WriteString("/" + strings.ReplaceAll(segment, " ", "%20"))
		}
		if random.IntN(20) == 0 {
			path.WriteString("/" + values[random.IntN(len(values))])
		}
	}
	if random.IntN(10) == 0 {
		path.WriteByte('/')
	}
	return path.String()
}
