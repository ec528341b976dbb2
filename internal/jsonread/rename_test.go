package jsonread_test

import (
	"reflect"
	"testing"

	"github.com/shipping-go/shipping/internal/jsonread"
)

type offered struct {
	Type     string `json:"document_type" alias:"slug,type" read:"bare"`
	Amount   priced `json:"amount" alias:"price"`
	Currency string `json:"currency" spec:"optional"`
	Mode     string `json:"mode" spec:"optional"`
}

type priced struct{ text string }

type drafted struct {
	Offers []offered `json:"available_documents"`
	Items  []offered `json:"line_items" alias:"items"`
}

// A renamed field has no other name, members of members are read at their place, and one that is given twice has no
// value.
func TestRename(t *testing.T) {
	t.Parallel()
	base := jsonread.New(jsonread.Custom("number",
		func(d *jsonread.Decoder, p *priced) bool { p.text = d.RawText(); return true },
		func(p *priced) { p.text = "twice" }))
	renamed := base.Rename(jsonread.Names{
		reflect.TypeFor[offered](): {"document_type": "slug", "amount": "price.value", "currency": "price.code", "mode": "-"},
		reflect.TypeFor[drafted](): {"line_items": "goods"},
	})
	twice := drafted{Offers: []offered{{Type: "FDA", Amount: priced{"twice"}}}}
	for text, want := range map[string]drafted{
		`{"available_documents":[{"slug":"FDA","price":{"value":12.5,"code":"NGN"},"mode":"x","document_type":"no",` +
			`"amount":3},"MSDS"],"goods":[],"line_items":[{}]}`: {
			Offers: []offered{{Type: "FDA", Amount: priced{"12.5"}, Currency: "NGN"}, {Type: "MSDS"}}, Items: []offered{}},
		`{"available_documents":[{"slug":"FDA","price":{"value":12.5,"code":"NGN"},"price":{"value":1}}]}`: twice,
		`{"available_documents":[{"slug":"FDA","price":{"value":12.5,"value":1}}]}`:                        twice,
		`{"available_documents":[{"slug":"FDA","price":null},{"price":7},{"price":"x"},{"price":[]}]}`: {
			Offers: []offered{{Type: "FDA"}, {}, {}, {}}},
	} {
		var got drafted
		if err := renamed.Read([]byte(text), &got, jsonread.Options{}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n%+v\n%+v", text, err, got, want)
		}
	}
	var got drafted
	if err := base.Read([]byte(`{"available_documents":[{"slug":"FDA","price":3}],"items":[{}]}`), &got,
		jsonread.Options{}); err != nil || got.Offers[0].Amount.text != "3" || len(got.Items) != 1 {
		t.Errorf("the usual names: %+v, %v", got, err)
	}
	clash := base.Rename(jsonread.Names{reflect.TypeFor[offered](): {"currency": "mode.currency"}})
	var one offered
	if err := clash.Read([]byte(`{"mode":{"currency":"NGN"}}`), &one, jsonread.Options{}); err != nil {
		t.Errorf("a path through another field: %+v, %v", one, err)
	}
}
