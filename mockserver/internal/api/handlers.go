package api

import (
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
)

// handlers returns the handlers by operation. A list with pages that has no row is one of [account.Account.Lists].
func (s *API) handlers() map[string]handler {
	table := map[string]handler{
		shipping.OpListCountries:    s.listCountries,
		shipping.OpListWebhooks:     listWebhooks,
		shipping.OpReplayWebhook:    replayWebhook,
		shipping.OpListTransactions: listTransactions,
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
	for _, op := range operations.All() {
		if op.Pages && table[op.Name] == nil {
			table[op.Name] = list(strings.TrimSuffix(op.Name, ".list"))
		}
	}
	return table
}
