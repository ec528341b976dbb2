package admin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

func stubRoutes() []Route {
	return []Route{
		route("GET", "stubs", "listStubs", "List the stubs: routes that the specification does not have", "",
			(*Admin).listStubs),
		route("POST", "stubs", "addStub", "Add a stub; patterns are those of net/http.ServeMux, and the first stub whose "+
			"conditions hold responds", stubExample, (*Admin).addStub),
		route("DELETE", "stubs", "removeStubs",
			"Remove every stub, or those of an operation; the response contains the others",
			"", (*Admin).removeStubs),
	}
}

const stubExample = `{"method":"POST","pattern":"/v1/shipments","status":201,` +
	`"body":"{\"status\":true,\"message\":\"Created\",\"data\":{\"shipment_id\":\"SH-1\"}}"}`

type stub struct {
	Method  string                     `json:"method" doc:"HTTP method of the requests." example:"POST"`
	Pattern string                     `json:"pattern" doc:"Path of the requests, as a pattern of net/http.ServeMux." example:"/v1/shipments/{id}"`
	Status  int                        `json:"status,omitempty" doc:"Default: 200. Absent if the stub was added in Go."`
	Header  fault.Header               `json:"header,omitempty" doc:"Header of the response."`
	Body    string                     `json:"body,omitempty" doc:"Sent as JSON, unless the header has a Content-Type."`
	Open    bool                       `json:"open,omitempty" doc:"Serve requests without a key, and with a key that opens no world, too, such as those to another service. One world of a server can have such a stub for a request."`
	Match   map[string]json.RawMessage `json:"match,omitempty" doc:"Respond only if the body is a JSON object and has these members, with these values; an object in it needs only these members, too."`
	Nth     int                        `json:"nth,omitempty" doc:"Respond only to the nth request that has the method, path and match, counted from 1. Of the stubs of one method and pattern, the first one added whose conditions hold responds."`
}

type stubRow struct {
	stub
	Operation string `json:"operation" doc:"Name of the stub in the journal and in fault rules."`
	Requests  int    `json:"requests"`
}

func (s stub) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	maps.Copy(w.Header(), http.Header(s.Header))
	w.WriteHeader(s.Status)
	_, _ = w.Write([]byte(s.Body)) // to a buffer
}

func viewStubs(w *world.World) []stubRow {
	rows := []stubRow{}
	for _, one := range w.Stubs() {
		row := stubRow{stub{Method: one.Method, Pattern: one.Pattern}, one.Operation(), w.Log.Count(one.Operation())}
		if response, ok := one.Handler.(stub); ok {
			row.stub = response
		}
		rows = append(rows, row)
	}
	return rows
}

func (s *Admin) listStubs(c *control, _, _ none) (string, []stubRow, error) {
	rows := viewStubs(c.world)
	return spelling.Counted(len(rows), "stub", "stubs"), rows, nil
}

const maxStubBody = 256 << 10

func (s *Admin) addStub(c *control, _ none, order stub) (string, []stubRow, error) {
	order.Status = cmp.Or(order.Status, http.StatusOK)
	response := fault.Fault{Status: order.Status, Header: order.Header, Body: order.Body}
	if err := response.CheckResponse(); err != nil {
		return "", nil, err
	}
	switch {
	case len(order.Body) > maxStubBody:
		return "", nil, fmt.Errorf("the body has %d bytes, and a stub at most %d bytes", len(order.Body), maxStubBody)
	case order.Nth < 0:
		return "", nil, fmt.Errorf("nth is %d: it counts from 1", order.Nth)
	}
	added := world.Stub{
		Method: order.Method, Pattern: order.Pattern, Handler: order, Size: len(order.Body), Open: order.Open, Nth: order.Nth,
	}
	if order.Match != nil {
		added.Match = jsontext.Of(order.Match)
		added.Size += len(added.Match)
	}
	add := c.world.AddStub
	if order.Open {
		add = func(one world.Stub) error { return s.Worlds.AddOpenStub(c.world, one) }
	}
	err := add(added)
	return "Stub added", viewStubs(c.world), err
}

type stubParameter struct {
	Operation string `query:"operation" doc:"Method and pattern of the stub." example:"POST /v1/shipments"`
}

func (s *Admin) removeStubs(c *control, which stubParameter, _ none) (string, []stubRow, error) {
	removed := c.world.RemoveStubs(which.Operation)
	if removed == 0 && which.Operation != "" {
		return "", nil, notFound("no stub is named %q: GET %sstubs lists them", which.Operation, wire.ControlPrefix)
	}
	return spelling.Counted(removed, "stub removed", "stubs removed"), viewStubs(c.world), nil
}
