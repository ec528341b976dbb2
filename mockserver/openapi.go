package mockserver

import (
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/admin"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/openapi"
	"github.com/shipping-go/shipping/mockserver/internal/schema"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// openAPIDocument is the checked-in document, written from the default operation table.
//
//go:generate go run ./cmd/mockserver openapi -o openapi.json
//go:embed openapi.json
var openAPIDocument []byte

// OpenAPI returns the OpenAPI 3.1 document of the service as a server with [WithOperations] of the
// same table serves it: documented operations, provisional ones, and the server's control routes. It
// is written anew at each call; the same table always gives the same bytes.
func OpenAPI(operations []shipping.Operation) ([]byte, error) {
	return openapi.Write(operations, controls(), openapi.Choices{})
}

// bareMedia returns the media types of the control routes whose answers are not, or not only, in the envelope.
func bareMedia() map[string][]string {
	return map[string][]string{
		"":                   {"text/html"},
		"console/{file}":     {"text/css", "text/javascript", "text/html", "image/svg+xml"},
		"live":               {"text/event-stream"},
		"metrics":            {"text/plain"},
		"openapi.json":       {"application/json"},
		"calls/{request_id}": {"text/plain"},
		admin.PDFPath:        {"application/pdf"},
	}
}

// controls is the table of admin routes as the document describes it.
func controls() []openapi.Control {
	media := bareMedia()
	enveloped := []string{"", "live", "calls/{request_id}"} // too
	about := map[string]openapi.Parameter{}
	for _, p := range admin.Parameters() {
		about[p.Name] = openapi.Parameter{Name: p.Name, About: p.About, Example: p.Example}
	}
	return list.Map(admin.Routes(), func(route admin.Route) openapi.Control {
		return openapi.Control{
			Method: route.Method, Path: wire.ControlPrefix + route.Path, Summary: route.Summary,
			Query: list.Map(route.Parameters(), func(name string) openapi.Parameter { return about[name] }),
			Media: media[route.Path], Enveloped: media[route.Path] == nil || slices.Contains(enveloped, route.Path),
		}
	})
}

// openAPI returns the document of the server as a world has it: with its routes, its open operations and its other
// assumptions. By default those are the bytes that are checked in.
func (s *Server) openAPI(choices openapi.Choices) ([]byte, error) {
	table := slices.Clone(s.config.operations)
	for i := range table {
		table[i].Open = s.api.IsOpen(&table[i])
	}
	if choices == (openapi.Choices{}) && slices.Equal(table, shipping.Operations()) {
		return openAPIDocument, nil
	}
	return openapi.Write(table, controls(), choices)
}

// openAPIChoices returns the assumptions that change what answers look like.
func openAPIChoices(a *world.Assumptions) openapi.Choices {
	return openapi.Choices{LastPageNull: a.LastPageNull, ObjectBreakdown: a.ObjectBreakdown}
}

// responseCheck holds an answer of an operation against a document.
type responseCheck = func(operation string, status int, body []byte) error

// ResponseCheck returns a function that holds an answer of an operation against the OpenAPI document,
// and names everything that is wrong with it: what is missing, of another type or another format, and
// what is not in the document at all. The name "" stands for a request that named no operation. A
// status that the document does not list is held against its default.
func (s *Server) ResponseCheck() (func(operation string, status int, body []byte) error, error) {
	return s.checkFor(openAPIChoices(&s.config.Assume))
}

func (s *Server) checkFor(choices openapi.Choices) (responseCheck, error) {
	text, err := s.openAPI(choices)
	if err != nil {
		return nil, fmt.Errorf("mockserver: the OpenAPI document: %w", err)
	}
	document, err := schema.Parse(text, schema.Closed)
	if err != nil {
		return nil, fmt.Errorf("mockserver: the OpenAPI document: %w", err)
	}
	return document.CheckResponse, nil
}

// responseChecks makes the checks that [Assumptions.CheckResponses] asks for, each once.
type responseChecks struct {
	mu   sync.Mutex
	made map[openapi.Choices]responseCheck
}

func (r *responseChecks) of(s *Server, choices openapi.Choices) (responseCheck, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if check := r.made[choices]; check != nil {
		return check, nil
	}
	check, err := s.checkFor(choices)
	if err != nil {
		return nil, err
	}
	if r.made == nil {
		r.made = map[openapi.Choices]responseCheck{}
	}
	r.made[choices] = check
	return check, nil
}
