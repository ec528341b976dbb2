package admin

import (
	"encoding/json"
	"fmt"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/internal/openapi"
)

func (s *Admin) getDialect(c *control, _, _ none) (string, []dialect.Field, error) {
	return "The open points of the specification, and what this world decides", c.world.Declared().Fields(), nil
}

// readDialect reads a dialect as JSON or as text, or nil.
func readDialect(sent json.RawMessage) (*dialect.Dialect, error) {
	var text string
	switch {
	case len(sent) == 0 || string(sent) == "null":
		return nil, nil
	case json.Unmarshal(sent, &text) == nil:
		over := new(dialect.Dialect)
		err := over.Apply(text)
		over.Routes = nil // presets have routes, but a world cannot change them
		return over, err
	}
	return dialect.Parse(sent)
}

// Document returns the OpenAPI document of the operations of a table and of the control surface, in the dialect of a
// world.
func Document(table []operations.Operation, d *dialect.Dialect) ([]byte, error) {
	var controls []openapi.Control
	for _, r := range Routes() {
		controls = append(controls, r.Control)
	}
	text, err := openapi.Write(controls, types(), table, d)
	if err != nil {
		return nil, fmt.Errorf("OpenAPI document: %w", err)
	}
	return text, nil
}
