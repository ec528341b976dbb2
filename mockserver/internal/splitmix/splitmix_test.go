package splitmix_test

import (
	"testing"

	"github.com/shipping-go/shipping/mockserver/internal/splitmix"
)

// The generator with the seed 1234567, whose state grows by the same number each time; its first values are published.
func TestMix_IsThatOfSplitmix64(t *testing.T) {
	t.Parallel()
	state := uint64(1234567)
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := splitmix.Mix(state); got != want {
			t.Errorf("Mix(%#x) = %d, want %d", state, got, want)
		}
		state += 0x9e3779b97f4a7c15
	}
}
