// Package watch observes exchanges: it journals them, lints the client's behaviour, and writes the
// access log. Observers change nothing about an exchange except its ID, which the journal sets.
package watch

import (
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Observer is called with each exchange before its response is sent.
type Observer interface{ See(x *wire.Exchange) }
