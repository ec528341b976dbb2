package seed

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/records"
)

// A field that the seeding does not set has the zero value in every record, and no test of a client can use it.
func TestNew_GivesEveryFieldOfARecordAValue(t *testing.T) {
	t.Parallel()
	seeded, _, err := New(Plan{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	everyField[account.Rate](t, "seedRates", []string{"breakdown"}, &seeded.Rates)
	everyField[account.Webhook](t, "seedWebhooks", nil, &seeded.Webhooks.Encoded)
	everyField[account.Transaction](t, "AddTransaction", []string{"fee", "platform_fee", "recipient", "__v"},
		slices.Collect(maps.Values(seeded.Transactions))...)
}

// everyField reports the fields of a record that have a value in no record of the lists, except those that are empty on
// purpose.
func everyField[T any](t *testing.T, setter string, empty []string, lists ...*records.List) {
	t.Helper()
	given := map[string]bool{}
	for _, list := range lists {
		var all []map[string]json.RawMessage
		if err := json.Unmarshal(list.AppendPage(nil, 1, list.Len()), &all); err != nil {
			t.Fatal(err)
		}
		for _, record := range all {
			for name, value := range record {
				given[name] = given[name] || !slices.Contains([]string{`""`, "0", "null", "false", "[]", "{}"}, string(value))
			}
		}
	}
	for field := range reflect.TypeFor[T]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch wanted := name != "-" && !slices.Contains(empty, name); {
		case wanted && !given[name]:
			t.Errorf("no seeded record has a value for %s.%s (%s): set it in %s", reflect.TypeFor[T]().Name(), field.Name, name, setter)
		case !wanted && given[name]:
			t.Errorf("%s has a value: remove it from the fields that are empty on purpose", name)
		}
	}
}
