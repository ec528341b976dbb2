package shipping

import (
	"errors"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/operations"
)

// If a method uses an operation that is not in the table, the error names the operation, and nothing is sent.
func TestFetch_AnOperationThatTheTableLacks(t *testing.T) {
	t.Parallel()
	client, err := NewClient("sk_test_1", WithBaseURL("http://localhost:1"))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = fetch[RawJSON](t.Context(), client.core, request{operation: "rates.lst"}, nil)
	if err == nil || !strings.Contains(err.Error(), `"rates.lst" is not in the table`) {
		t.Error(err)
	}
}

// Every placeholder but document_type was filled with the id of the regulatory request.
func TestExpandRoute_FillsPlaceholdersByName(t *testing.T) {
	t.Parallel()
	operation := operations.Operation{Name: "carriers.get", Route: "/v1/carriers/{carrier_id}/rates/{rate_id}"}
	r := request{path: map[string]string{"carrier_id": "CA-1", "rate_id": "a/b", "request_id": "RD-1"}}
	if path, err := expandRoute(operation, r); err != nil || path != "/v1/carriers/CA-1/rates/a%2Fb" {
		t.Errorf("%s, %v", path, err)
	}
	delete(r.path, "carrier_id")
	if path, err := expandRoute(operation, r); !errors.Is(err, ErrInvalidRequest) || !strings.Contains(err.Error(), "carrier_id is empty") {
		t.Errorf("without the carrier: %s, %v", path, err)
	}
}
