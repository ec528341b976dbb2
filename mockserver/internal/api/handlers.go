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
		operations.UpdateItems:      updateItems,
		operations.UpdateAddresses:  updateAddresses,
		operations.UpdateShipping:   updateShipping,
		operations.UpdateProfile:    updateProfile,
		operations.RetryRequest:     retryRequest,
		operations.DocumentPDF:      DocumentPDF,
	}
	for _, op := range operations.All() {
		if op.Pages && table[op.Name] == nil {
			table[op.Name] = list(strings.TrimSuffix(op.Name, ".list"))
		}
	}
	return table
}
