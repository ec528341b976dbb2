package shipping

import (
	"strings"
	"testing"
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
