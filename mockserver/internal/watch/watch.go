// Package watch observes exchanges: it journals them, checks how the client behaves, counts what was covered, measures, and
// writes the access log. Observers change nothing about an exchange but its ID, which the journal sets.
package watch

import "github.com/shipping-go/shipping/mockserver/internal/wire"

// Observer sees exchanges that are about to be answered.
type Observer interface{ See(x *wire.Exchange) }
