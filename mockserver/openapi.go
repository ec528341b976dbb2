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
func OpenAPI() ([]byte, error) { return describe(operations.All(), new(assumption.Set)) }

// openAPI returns the document of the server under the assumptions of a world, and its ETag.
func (s *Server) openAPI(a *assumption.Set) (text []byte, tag string, err error) {
	table := slices.Clone(s.operations)
	for i := range table {
		table[i].Open = s.api.IsOpen(&table[i])
	}
	text, err = describe(table, a)
	return text, fmt.Sprintf(`"%x"`, sha256.Sum256(text)), err
}

func describe(table []operations.Operation, a *assumption.Set) ([]byte, error) {
	differs := func(name string) bool { return !reflect.ValueOf(a).Elem().FieldByName(name).IsZero() }
	text, err := openapi.Write(admin.Controls(), admin.Types(), table, differs)
	if err != nil {
		return nil, fmt.Errorf("mockserver: OpenAPI document: %w", err)
	}
	return text, nil
}
