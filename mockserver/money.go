package mockserver

import (
	"fmt"

	"github.com/shipping-go/shipping"
)

// rate returns what one unit of a currency buys in another, at the world's present rates.
func (w *core) rate(from, to string) (shipping.Amount, error) {
	rate, known := w.account.Exchange[to]
	if from != usd || !known {
		return shipping.Amount{}, fmt.Errorf("no exchange rate from %s to %s: set one with SetExchangeRate", from, to)
	}
	return rate, nil
}
