package notify

import (
	"cmp"
	"fmt"
	"slices"
)

// Order is the order in which a webhook receives notifications. Except for [Together], notifications are gathered for
// 100 ms of the world's time and sent one after the other, each when the receiver has responded to the previous one;
// retries take their turn among them. A change applies to notifications that are queued later.
//
// Assumption: the service promises no order; the specification shows none.
type Order string

// Orders of delivery.
const (
	Together Order = ""        // each at once, and in a world with a virtual clock one at a time; "any" in JSON
	FIFO     Order = "fifo"    // oldest first
	Reverse  Order = "reverse" // newest first
	Shuffle  Order = "shuffle" // random, derived from the world's seed
)

// together is the name of [Together] in JSON.
const together = "any"

// Orders returns the orders other than [Together]. The slice is the caller's own.
func Orders() []Order { return []Order{FIFO, Reverse, Shuffle} }

// MarshalText implements [encoding.TextMarshaler].
func (o Order) MarshalText() ([]byte, error) { return []byte(cmp.Or(string(o), together)), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (o *Order) UnmarshalText(text []byte) error {
	switch name := Order(text); {
	case name == together:
		*o = Together
	case slices.Contains(Orders(), name):
		*o = name
	default:
		return fmt.Errorf("order is %q: choose %s or one of %v", name, together, Orders())
	}
	return nil
}
