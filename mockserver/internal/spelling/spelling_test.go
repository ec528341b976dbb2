package spelling_test

import (
	"testing"

	"github.com/shipping-go/shipping/mockserver/internal/spelling"
)

func TestDistance_CountsChangesAndSwappedNeighbours(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"serve", "serve", 0}, {"", "env", 3}, {"env", "", 3}, {"sevre", "serve", 1},
		{"adr", "addr", 1}, {"readyy", "ready", 1}, {"docter", "doctor", 1}, {"ca", "abc", 3},
	}
	for _, test := range tests {
		if got := spelling.Distance(test.a, test.b); got != test.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"name", "scenario", "snapshot", "file_url"}
	for name, want := range map[string]string{
		"snapshto": "snapshot", "nam": "name", "scen": "scenario", "s": "", "wallet": "", "": "", "SNAPSHOT": "snapshot",
		"fileURL": "file_url", "file-url": "file_url", "snap_shot": "snapshot",
	} {
		if got := spelling.Nearest(name, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
