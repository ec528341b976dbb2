package world

import (
	"errors"
	"testing"

	"github.com/shipping-go/shipping/mockserver/internal/seed"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
)

// Worlds of one plan share their initial contents, and the memory of all plans is bounded.
func TestTemplates_StoreOnlySoMuch(t *testing.T) {
	t.Parallel()
	b := Worlds{settings: &Settings{Memory: &watch.Memory{Most: 3 * bytesPerRow * maxStored / 2}}, templates: map[seed.Plan]*template{}}
	reserve := func(number uint64, payments int) (*template, error) {
		return b.template(seed.Plan{Seed: number, Payments: payments})
	}
	first, err := reserve(1, maxStored)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := reserve(1, maxStored); again != first || err != nil {
		t.Errorf("a second world of the plan: %v", err)
	}
	if _, err := reserve(2, maxStored); !errors.Is(err, ErrTooManyWorlds) {
		t.Errorf("more than may be stored: %v", err)
	}
	small, err := reserve(3, 10)
	if err != nil {
		t.Fatal(err)
	}
	b.use(first, -1)
	if _, err := reserve(2, maxStored); !errors.Is(err, ErrTooManyWorlds) {
		t.Errorf("more than may be stored while the first is in use: %v", err)
	}
	b.use(first, -1)
	if _, err := reserve(2, maxStored); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if b.templates[seed.Plan{Seed: 3, Payments: 10}] != small || len(b.templates) != 2 {
		t.Errorf("%d templates are kept", len(b.templates))
	}
}
