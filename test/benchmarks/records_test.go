package benchmarks

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/shipping-go/shipping/test/benchmarks/raw"
)

// A comparison of two decoders is fair if both decode all members: hand-written code has a field for each that the
// reference server sends.
func TestRecords_ByHandHasAFieldForEachMember(t *testing.T) {
	t.Parallel()
	of := record(t)
	for name, test := range map[string]struct {
		body []byte
		into any
	}{
		"rates": {of.Rates, new(raw.Rates)}, "transactions": {of.Transactions, new(raw.Transactions)},
		"webhooks":  {of.Webhooks, new(raw.Webhooks)},
		"countries": {of.Countries, new(raw.Countries)}, "request": {of.LongDraft, new(raw.Draft)},
	} {
		decoder := json.NewDecoder(bytes.NewReader(test.body))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(test.into); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
