package status_test

import (
	"testing"

	"github.com/shipping-go/shipping/internal/status"
)

func TestState_Final(t *testing.T) {
	t.Parallel()
	var seen status.State
	for _, row := range status.All() {
		if seen&row.State != 0 {
			t.Errorf("%s has the State of another status", row.Name)
		}
		seen |= row.State
	}
	for _, row := range append(status.All(), status.Status{State: status.Unread}, status.Of("quoted")) {
		if row.State.Final() != row.Final || row.Failed != (row.Final && row.Name != "completed") {
			t.Errorf("%+v", row)
		}
	}
}
