package dialect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a line states is what the dialect has with it, and a file holds it. The dialect before it stays as it is.
func TestLine(t *testing.T) {
	t.Parallel()
	before := &Dialect{Offer: Offer{Beside: []string{"vat"}}, Routes: map[string]string{"regulatory.pdf": "GET /{request_id}/{document_type}"}}
	for text, line := range map[string]Line{
		"offer.amount = price.gross":                     {"offer.amount", "price.gross"},
		"offer.beside += port levies":                    {"offer.beside", "port levies"},
		"list.max_per_page = 100":                        {"list.max_per_page", "100"},
		"purchase.quoted = true":                         {"purchase.quoted", "true"},
		"record.states += x=generating":                  {"record.states", "x=generating"},
		"routes += regulatory.retry=PUT /r/{request_id}": {"routes", "regulatory.retry=PUT /r/{request_id}"},
	} {
		changed, err := before.With(line)
		if err != nil || line.String() != text {
			t.Errorf("%s: %v, want %s", line, err, text)
			continue
		}
		applied := &Dialect{}
		applied.Overlay(before)
		if err := applied.Apply(text + "\n"); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(changed, applied); diff != "" || cmp.Equal(changed, before) {
			t.Errorf("%s:\n%s", text, diff)
		}
	}
	if len(before.Offer.Beside) != 1 || len(before.Routes) != 1 {
		t.Errorf("changed: %+v", before)
	}
	both, err := (*Dialect)(nil).With(Line{"offer.beside", "tax"}, Line{"offer.beside", "fee"})
	if err != nil || !cmp.Equal(both.Offer.Beside, []string{"tax", "fee"}) {
		t.Errorf("%+v, %v", both, err)
	}
	const want = `write in the dialect "offer.beside += tax" and "offer.amount = total"`
	if got := Declare(Line{"offer.beside", "tax"}, Line{"offer.amount", "total"}); got != want {
		t.Errorf("%s", got)
	}
}

// A value that a line cannot hold, or that its field does not allow, makes no line.
func TestLine_Refused(t *testing.T) {
	t.Parallel()
	for _, line := range []Line{
		{"offer.beside", ""}, {"offer.beside", " tax"}, {"offer.beside", "a,b"}, {"offer.beside", "a\nb"}, {"offer.beside", `a"b`},
		{"offer.beside", strings.Repeat("a", 101)}, {"offer.beside", "a.b.c"}, {"offer.beside", "amount"},
		{"offer.default_currency", "naira"}, {"list.max_per_page", "many"}, {"offer.sum", "total"}, {"record.states", "x"},
	} {
		if changed, err := new(Dialect).With(line); err == nil {
			t.Errorf("%s: %+v", line, changed)
		}
	}
	if err := new(Dialect).Apply("offer.amount += total"); err == nil || !strings.Contains(err.Error(), "not a list") {
		t.Errorf("%v", err)
	}
}
