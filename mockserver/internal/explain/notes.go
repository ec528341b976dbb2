package explain

import (
	"fmt"
	"maps"
	"slices"

	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
)

// maxNotes limits the notes about a body with many unknown fields.
const maxNotes = 8

// respell gives misspelt members of the body the names that were perhaps meant, unless the body has these too, and
// returns a sentence about each.
func (r *sentRequest) respell(operation string) []string {
	known := api.BodyFields(operation)
	var notes []string
	for _, name := range slices.Sorted(maps.Keys(r.body)) {
		if slices.Contains(known, name) {
			continue
		}
		meant := spelling.Nearest(name, known)
		if meant == "" {
			continue
		}
		if _, sent := r.body[meant]; !sent {
			r.body[meant] = r.body[name]
		}
		if notes = append(notes, fmt.Sprintf("unknown field %.60q: did you mean %q?", name, meant)); len(notes) == maxNotes {
			break
		}
	}
	return notes
}

// missing returns a sentence about each identifier of the request that the world does not have.
func (r *sentRequest) missing(worldName string) []string {
	r.world.Lock()
	defer r.world.Unlock()
	account := &r.world.Account
	kinds := []struct {
		field, noun string
		known       func(id string) bool
	}{
		{"shipment_id", "a shipment", func(id string) bool {
			return isKey(account.Shipments, id) || slices.ContainsFunc(regulatory.SpecialInputs(), func(m regulatory.SpecialInput) bool { return m.ShipmentID == id })
		}},
		{"file_url", "an invoice", func(id string) bool {
			return isKey(account.Invoices, id) || slices.ContainsFunc(regulatory.SpecialInputs(), func(m regulatory.SpecialInput) bool { return m.FileURL == id })
		}},
		{"wallet", "a wallet", func(id string) bool { _, known := account.Ledger.Balance(id); return known }},
		{"webhook_id", "a webhook", func(id string) bool { return account.Webhooks.Find(id) != nil }},
		{"delivery_id", "a delivery", func(id string) bool { _, known := r.world.Dispatcher.Find(id); return known }},
		{"request_id", "a regulatory request", func(id string) bool { _, err := r.world.Regulatory.Get(id); return err == nil }},
	}
	var notes []string
	for _, kind := range kinds {
		for _, id := range []string{r.text(kind.field), r.values[kind.field], r.query.Get(kind.field)} {
			if id != "" && !kind.known(id) {
				notes = append(notes, fmt.Sprintf("%.60s is not %s of %s", id, kind.noun, worldName))
			}
		}
	}
	return notes
}
