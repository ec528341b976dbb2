package sweep

import (
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// The verdict knew the purchase by its name. It follows from the operation table, with the id of the request
// in the body or in the path.
func TestChargedID_FollowsTheOperationTable(t *testing.T) {
	t.Parallel()
	for _, op := range operations.All() {
		want := ""
		if op.Charges {
			want = "RD-1"
		}
		for _, c := range []journal.Entry{
			{Operation: op.Name, Path: op.Route, RequestBody: `{"request_id":"RD-1"}`},
			{Operation: op.Name, Path: strings.ReplaceAll(op.Route, "{request_id}", "x") + "/RD-1"},
		} {
			if got := chargedID(c); got != want {
				t.Errorf("%+v charges for %q, want %q", c, got, want)
			}
		}
	}
}
