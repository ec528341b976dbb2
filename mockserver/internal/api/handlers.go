package api

import (
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// handler serves an operation in a world. It takes the world's lock itself, so that nothing slow,
// such as reading a body, happens under the lock.
type handler func(w *world.World, c *wire.Call) wire.Reply

// handlers returns the handlers by operation. A list with pages that has no row is one of [account.Account.Lists].
func (s *API) handlers() map[string]handler {
	table := map[string]handler{
		shipping.OpListCountries:    s.listCountries,
		shipping.OpListWebhooks:     s.listWebhooks(),
		shipping.OpReplayWebhook:    replayWebhook,
		shipping.OpListTransactions: s.listTransactions(),
		shipping.OpAnalyze:          analyze,
		shipping.OpPurchase:         purchase,
		shipping.OpGetRequest:       getRequest,
		shipping.OpUpdateItems:      updateItems,
		shipping.OpUpdateAddresses:  updateAddresses,
		shipping.OpUpdateShipping:   updateShipping,
		shipping.OpUpdateProfile:    updateProfile,
		shipping.OpRetryRequest:     retryRequest,
		shipping.OpDocumentPDF:      DocumentPDF,
	}
	for _, op := range shipping.Operations() {
		if op.Pages && table[op.Name] == nil {
			table[op.Name] = s.list(strings.TrimSuffix(op.Name, ".list"))
		}
	}
	return table
}
