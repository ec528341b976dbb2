package mockserver

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/internal/admin"
	"github.com/shipping-go/shipping/mockserver/internal/openapi"
)

// OpenAPI returns the OpenAPI 3.1 document of a server without options: documented operations, provisional operations, and
// the routes below /_mock/.
func OpenAPI() ([]byte, error) {
	document, err := openapi.Load(admin.Controls(), admin.Types())
	if err != nil {
		return nil, fmt.Errorf("mockserver: OpenAPI document: %w", err)
	}
	return document.Write(operations.All(), func(string) bool { return false })
}

// openAPI returns the document of the server under the assumptions of a world, and its ETag.
func (s *Server) openAPI(a *assumption.Set) (text []byte, tag string, err error) {
	table := slices.Clone(s.operations)
	for i := range table {
		table[i].Open = s.api.IsOpen(&table[i])
	}
	document, err := openapi.Load(admin.Controls(), admin.Types())
	if err == nil {
		text, err = document.Write(table, func(name string) bool { return isSet(a, name) })
	}
	if err != nil {
		return nil, "", fmt.Errorf("mockserver: OpenAPI document: %w", err)
	}
	return text, fmt.Sprintf(`"%x"`, sha256.Sum256(text)), nil
}

// isSet reports whether an assumption differs from its default.
func isSet(a *assumption.Set, name string) bool {
	return !reflect.ValueOf(a).Elem().FieldByName(name).IsZero()
}
