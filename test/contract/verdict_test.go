package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
)

// goldens are golden answers and records, with the operation that gives them.
func goldens() []struct{ file, operation, schema string } {
	const records = "../../mockserver/internal/regulatory/testdata/"
	return []struct{ file, operation, schema string }{
		{"../../internal/shippingtest/testdata/rates.json", shipping.OpListRates, "RateListResponse"},
		{"../../internal/shippingtest/testdata/countries.json", shipping.OpListCountries, "CountryListResponse"},
		{"../../internal/shippingtest/testdata/webhooks.json", shipping.OpListWebhooks, "WebhookListResponse"},
		{"../../internal/shippingtest/testdata/webhooks_only_page.json", shipping.OpListWebhooks, "WebhookListResponse"},
		{"../../internal/shippingtest/testdata/replay.json", shipping.OpReplayWebhook, "ReplayResponse"},
		{"../../internal/shippingtest/testdata/transactions.json", shipping.OpListTransactions, "TransactionListResponse"},
		{"../../internal/shippingtest/testdata/purchase.json", shipping.OpPurchase, "PurchaseResponse"},
		{records + "processing.json", shipping.OpGetRequest, "RegulatoryRequestResponse"},
		{records + "invoice_failed_generation.json", shipping.OpGetRequest, "RegulatoryRequestResponse"},
	}
}

// golden reads a golden answer, or puts a golden record into the envelope, and keeps the first entry of
// every list: later ones are odd on purpose.
func golden(t *testing.T, file string) any {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	if _, isAnswer := value["data"]; !isAnswer {
		value = map[string]any{"status": true, "message": "OK", "data": value}
	}
	return trimmed(value)
}

// mutation is one change of a JSON value, and where.
type mutation struct {
	place string
	value any // the whole text's, changed
}

// mutations returns a value changed in one place at a time: each value replaced by one of every type and
// by texts that are nearly right, each field left out and doubled under another name.
func mutations(value any) []mutation {
	var out []mutation
	mutate("", value, func(place string, changed any) { out = append(out, mutation{place, changed}) })
	return out
}

func mutate(place string, value any, emit func(string, any)) {
	for _, other := range []any{
		nil, true, json.Number("-1"), json.Number("1.5"), json.Number("1.0"), "", "other", "RT-12x", "2026-01-05", "2026-01-05T09:30:00+01:00", []any{}, map[string]any{},
	} {
		emit(fmt.Sprintf("%s = %v", place, other), other)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			without := maps.Clone(value)
			delete(without, name)
			emit(place+"/"+name+" left out", without)
			more := maps.Clone(value)
			more[name+"X"] = value[name]
			emit(place+"/"+name+" doubled", more)
			mutate(place+"/"+name, value[name], func(place string, changed any) {
				outer := maps.Clone(value)
				outer[name] = changed
				emit(place, outer)
			})
		}
	case []any:
		for i := range value {
			mutate(fmt.Sprintf("%s/%d", place, i), value[i], func(place string, changed any) {
				outer := slices.Clone(value)
				outer[i] = changed
				emit(place, outer)
			})
		}
	}
}

// The server's own checker gives the verdict of kin-openapi on every golden answer and on every change of
// one.
func TestVerdicts_OfTheServersCheckerAreThoseOfKinOpenAPI(t *testing.T) {
	t.Parallel()
	document, _ := rules(t)
	check, err := start(t).ResponseCheck()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range goldens() {
		t.Run(filepath.Base(test.file), func(t *testing.T) {
			t.Parallel()
			schema := document.Components.Schemas[test.schema].Value
			value := golden(t, test.file)
			accepted, refused := 0, 0
			for _, m := range append(mutations(value), mutation{"as it is", value}) {
				changed, err := json.Marshal(m.value)
				if err != nil {
					t.Fatal(err)
				}
				theirs, ours := validate(schema, changed), check(test.operation, 200, changed)
				if (theirs == nil) != (ours == nil) {
					t.Errorf("%s: kin-openapi: %v; the server's checker: %v", m.place, theirs, ours)
				}
				if ours == nil {
					accepted++
				} else {
					refused++
				}
				if m.place == "as it is" && ours != nil {
					t.Errorf("the golden answer is refused: %v", ours)
				}
			}
			t.Logf("%d changes: %d accepted, %d refused", accepted+refused, accepted, refused)
		})
	}
}

// A wrong type is found in every field, and reported with its place.
func TestVerdicts_AWrongTypeIsFoundInEveryField(t *testing.T) {
	t.Parallel()
	check, err := start(t).ResponseCheck()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range goldens() {
		fields := 0
		mutate("", golden(t, test.file), func(place string, changed any) {
			field, isObject := strings.CutSuffix(place, " = map[]")
			if !isObject || anyObject.MatchString(field) {
				return
			}
			fields++
			text, err := json.Marshal(changed)
			if err != nil {
				t.Fatal(err)
			}
			if err := check(test.operation, 200, text); err == nil || !strings.Contains(err.Error(), field) {
				t.Errorf("%s: {} in place of %s: %v", test.file, field, err)
			}
		})
		if fields == 0 {
			t.Errorf("%s: no field was changed", test.file)
		}
	}
}

// anyObject finds the places where {} is as good as anything.
var anyObject = regexp.MustCompile("/(metadata|profiles|breakdown/0)(/|$)")

// trimmed keeps the first entry of every list.
func trimmed(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, inner := range value {
			out[name] = trimmed(inner)
		}
		return out
	case []any:
		out := []any{}
		for _, inner := range value[:min(1, len(value))] {
			out = append(out, trimmed(inner))
		}
		return out
	default:
		return value
	}
}
