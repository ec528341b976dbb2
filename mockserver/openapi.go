package mockserver

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/admin"
	"github.com/shipping-go/shipping/mockserver/internal/openapi"
	"github.com/shipping-go/shipping/mockserver/internal/schema"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// OpenAPI returns the OpenAPI 3.1 document of a server that has the given operation table (see [WithOperations]):
// documented operations, provisional operations, and the routes below /_mock/. The same table always gives the
// same bytes.
func OpenAPI(operations []shipping.Operation) ([]byte, error) {
	document, err := openapi.Load(admin.Controls(), admin.Types())
	if err != nil {
		return nil, fmt.Errorf("mockserver: OpenAPI document: %w", err)
	}
	return document.Write(operations, func(string) bool { return false })
}

// responseCheck checks a response of an operation against a document.
type responseCheck = func(operation string, status int, body []byte) error

// ResponseCheck returns a function that checks a response of an operation against the OpenAPI document. Its error
// lists every difference: a missing member, an unknown member, and one of another type or format. The name "" stands
// for a request that names no operation. A status that the document does not list is checked against the default
// response. The function can also check responses of other servers, such as recorded ones.
func (s *Server) ResponseCheck() (func(operation string, status int, body []byte) error, error) {
	return s.checks.of(s, &s.config.Assume)
}

// openAPIDocument is the document of a server for one set of assumptions.
type openAPIDocument struct {
	text  []byte
	tag   string        // ETag
	check responseCheck // nil until it is used
}

// responseChecks caches the documents of a server, and their checks, by assumptions.
type responseChecks struct {
	mu        sync.Mutex
	dependsOn []string                    // the assumptions that change the document; nil until the first document exists
	made      map[string]*openAPIDocument // by the assumptions that are set
}

func (r *responseChecks) of(s *Server, a *world.Assumptions) (responseCheck, error) {
	d, err := r.document(s, a)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if d.check == nil {
		parsed, err := schema.Parse(d.text)
		if err != nil {
			return nil, fmt.Errorf("mockserver: %w", err)
		}
		d.check = parsed.CheckResponse
	}
	return d.check, nil
}

func (r *responseChecks) document(s *Server, a *world.Assumptions) (*openAPIDocument, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.made[r.key(a)]; d != nil {
		return d, nil
	}
	loaded, err := openapi.Load(admin.Controls(), admin.Types())
	if err != nil {
		return nil, fmt.Errorf("mockserver: OpenAPI document: %w", err)
	}
	if r.made == nil {
		r.dependsOn, r.made = loaded.Assumptions(), map[string]*openAPIDocument{}
	}
	table := slices.Clone(s.config.operations)
	for i := range table {
		table[i].Open = s.api.IsOpen(&table[i])
	}
	text, err := loaded.Write(table, func(name string) bool { return isSet(a, name) })
	if err != nil {
		return nil, fmt.Errorf("mockserver: OpenAPI document: %w", err)
	}
	d := &openAPIDocument{text: text, tag: fmt.Sprintf(`"%x"`, sha256.Sum256(text))}
	r.made[r.key(a)] = d
	return d, nil
}

// key returns the key of the cache: the assumptions that are set and change the document.
func (r *responseChecks) key(a *world.Assumptions) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(r.dependsOn), func(name string) bool { return !isSet(a, name) }), " ")
}

// isSet reports whether an assumption differs from its default.
func isSet(a *world.Assumptions, name string) bool {
	return !reflect.ValueOf(a).Elem().FieldByName(name).IsZero()
}
