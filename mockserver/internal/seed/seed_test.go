package seed

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/records"
)

// A field that the seeding does not set has the zero value in every record, and no test of a client can use it.
func TestNew_GivesEveryFieldOfARecordAValue(t *testing.T) {
	t.Parallel()
	seeded, _, err := New(Plan{Seed: 1})
	shippingtest.NoError(t, err)
	empty := map[string][]string{"rates": {"breakdown"}} // on purpose
	for name, list := range seeded.Lists {
		if n := list.Stored(); n <= 4 {
			t.Errorf("%d records of %s: add a step to New in seed.go that calls Add(%q, …), so that a list has more than two pages of two", n, name, name)
		}
		everyField(t, name, empty[name], list)
	}
	everyField(t, "webhooks", nil, &seeded.Webhooks.Encoded)
	everyField(t, "transactions", []string{"fee", "platform_fee", "recipient", "__v"},
		slices.Collect(maps.Values(seeded.Transactions))...)
}

// everyField reports the fields that have a value in no record of the lists, except those that are empty on purpose.
func everyField(t *testing.T, name string, empty []string, lists ...*records.List) {
	t.Helper()
	given := map[string]bool{}
	for _, list := range lists {
		for _, row := range list.Page(1, list.Len(), false) {
			text := row()
			var record map[string]json.RawMessage
			shippingtest.NoError(t, json.Unmarshal(text, &record))
			for field, value := range record {
				given[field] = given[field] || !slices.Contains([]string{`""`, "0", "null", "false", "[]", "{}"}, string(value))
			}
		}
	}
	for field, has := range given {
		switch wanted := !slices.Contains(empty, field); {
		case wanted && !has:
			t.Errorf("no seeded record of %s has a value for %s: set it in mockserver/internal/seed", name, field)
		case !wanted && has:
			t.Errorf("%s of %s has a value: remove it from the fields that are empty on purpose", field, name)
		}
	}
}
