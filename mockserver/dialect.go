package mockserver

import (
	"cmp"
	"fmt"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/internal/admin"
)

// WithDialect changes the choices of the server at the open points of the specification. A choice that the dialect does
// not set stays:
//
//	mockserver.New(mockserver.WithDialect(&dialect.Dialect{List: dialect.List{MaxPerPage: 50}}))
//	mockserver.New(mockserver.WithDialect(dialect.Contrary()))
//
// [Server.Err] returns an error for a dialect that is not valid.
func WithDialect(d *dialect.Dialect) Option { return func(c *config) { c.Dialect.Overlay(d) } }

// Dialect returns what the world decides at each open point of the specification: what [WithDialect] and the
// scenario set, and the routes of the operations without a documented path.
func (w *World) Dialect() *dialect.Dialect {
	d := new(dialect.Dialect)
	d.Overlay(w.core.Declared())
	if d.Routes == nil {
		d.Routes = dialect.Reference().Routes
	}
	return d
}

// OpenAPI returns the OpenAPI 3.1 document of a server with a dialect: documented operations, provisional operations,
// and the routes below /_mock/. d may be nil.
func OpenAPI(d *dialect.Dialect) ([]byte, error) {
	d = cmp.Or(d, new(dialect.Dialect))
	table, err := operations.WithRoutes(d.Routes)
	if err != nil {
		return nil, fmt.Errorf("mockserver: %w", err)
	}
	text, err := admin.Document(table, d)
	if err != nil {
		return nil, fmt.Errorf("mockserver: %w", err)
	}
	return text, nil
}
