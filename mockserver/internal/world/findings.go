package world

import (
	"fmt"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Findings returns the findings of lint: about requests in the order in which they were found, then about documents
// that the wallets paid for twice.
func (w *World) Findings() []journal.Finding {
	all := w.Lint.All()
	w.Lock()
	repeated := w.Regulatory.Repeated()
	w.Unlock()
	for _, again := range repeated {
		detail := fmt.Sprintf("%s of %s in %s and %s", strings.Join(again.DocumentTypes, ", "), again.Source, again.First,
			again.RequestID)
		finding := journal.Finding{
			Rule: journal.LintBoughtTwice, Operation: shipping.OpPurchase, Detail: detail, Times: 1,
			Advice: "the wallet paid twice for the same documents: record each shipment that was purchased, so that a " +
				"repeated notification or a restart purchases nothing, and after an error settle the first purchase",
		}
		for _, entry := range w.Find(journal.Query{Operation: shipping.OpPurchase, Contains: again.RequestID}) {
			finding.EntryID = entry.ID
		}
		all = append(all, finding)
	}
	return all
}
