package mockserver

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"net/http"
	"slices"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/openapi"
	"github.com/shipping-go/shipping/mockserver/internal/schema"
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
	return openapi.Write(operations, controls())
}

// controls is the table of admin routes as the document describes it.
func controls() []openapi.Control {
	media := map[string]string{"openapi.json": "application/json", "metrics": "text/plain", adminPDFPath: "application/pdf"} // of what is not in the envelope
	var out []openapi.Control
	for _, route := range adminRoutes() {
		out = append(out, openapi.Control{
			Method: route.Method, Path: adminPrefix + route.Path, Summary: route.Summary, Media: media[route.Path],
		})
	}
	return out
}

// openAPI returns the document of this server. Unless the server has other routes than the default
// ones, those are the bytes that are checked in.
func (s *Server) openAPI() ([]byte, error) {
	if slices.Equal(s.config.operations, shipping.Operations()) {
		return openAPIDocument, nil
	}
	return OpenAPI(s.config.operations)
}

// adminOpenAPI answers GET /_mock/openapi.json.
func (s *Server) adminOpenAPI(c *call) reply {
	document, err := s.openAPI()
	if err != nil {
		return refused(http.StatusInternalServerError, codeInternal, "the document cannot be written: "+err.Error())
	}
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(document))
	p := reply{status: http.StatusOK, body: document, header: http.Header{"Etag": {tag}}}
	if slices.Contains(c.Header["If-None-Match"], tag) {
		p.status, p.body = http.StatusNotModified, nil
	}
	return p
}

// ResponseCheck returns a function that holds an answer of an operation against the OpenAPI document,
// and names everything that is wrong with it: what is missing, of another type or another format, and
// what is not in the document at all. The name "" stands for a request that named no operation. A
// status that the document does not list is held against its default.
func (s *Server) ResponseCheck() (func(operation string, status int, body []byte) error, error) {
	text, err := s.openAPI()
	if err != nil {
		return nil, fmt.Errorf("mockserver: the OpenAPI document: %w", err)
	}
	document, err := schema.Parse(text, schema.Closed)
	if err != nil {
		return nil, fmt.Errorf("mockserver: the OpenAPI document: %w", err)
	}
	return document.CheckResponse, nil
}
