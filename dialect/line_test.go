package dialect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The dialect has the choice that a line states, and a file holds it. The dialect before it stays as it is.
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
	if got := (*Dialect)(nil).Declare(Line{"offer.beside", "tax"}, Line{"offer.amount", "total"}); got != want {
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
		if text := new(Dialect).Declare(line); text != "" {
			t.Error(text)
		}
	}
	if err := new(Dialect).Apply("offer.amount += total"); err == nil || !strings.Contains(err.Error(), "not a list") {
		t.Errorf("%v", err)
	}
}

// The lines that errors print are a file, with comments and in any order.
func TestParse_Lines(t *testing.T) {
	t.Parallel()
	const text = `# the service of the example
"offer.amount = price.gross"

offer.beside += vat
offer.beside += price.net
routes += regulatory.retry=PUT /r/{request_id}
  routes += regulatory.pdf=GET /p/{request_id}/{document_type}
record.states += queued=generating, list.max_per_page = 100
`
	want := &Dialect{Record: RecordMembers{States: map[string]string{"queued": "generating"}},
		Offer: Offer{Amount: "price.gross", Beside: []string{"vat", "price.net"}}, List: List{MaxPerPage: 100},
		Routes: map[string]string{"regulatory.retry": "PUT /r/{request_id}",
			"regulatory.pdf": "GET /p/{request_id}/{document_type}"}}
	got, err := Parse([]byte(text))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if empty, err := Parse([]byte("\n# nothing yet\n")); err != nil || !cmp.Equal(empty, new(Dialect)) {
		t.Errorf("%+v, %v", empty, err)
	}
	if one, err := Parse([]byte(`"record.at = request"`)); err != nil || one.Record.At != "request" {
		t.Errorf("%+v, %v", one, err)
	}
	if empty, err := Parse(nil); err != nil || !cmp.Equal(empty, new(Dialect)) {
		t.Errorf("%+v, %v", empty, err)
	}
	for text, problem := range map[string]string{
		"# \nlist.max_per_page = 0x":                "line 2: list.max_per_page cannot be \"0x\": write a whole number",
		"offer.amount = total\noffer.amout = total": `line 2: unknown field "offer.amout": did you mean`,
		// These caused no error, or an error without a line.
		"offer.amount total":    `line 1: "offer.amount total" has no =: write "offer.amount = total"`,
		"\noffer.beside: total": `line 2: "offer.beside: total" has no =: write "offer.beside += total"`,
		"offer.amount -> total": `line 1: "offer.amount -> total" has no =: write "offer.amount = total"`,
		"offer: amount":         `line 1: "offer: amount" has no =: write FIELD = VALUE, such as`,
		"offer.amount == total": `line 1: offer.amount is "= total": write "offer.amount = total"`,
		// These caused no error, although no record had the member.
		"offer.amount = total # x":       `line 1: "offer.amount = total # x": write the comment on a separate line`,
		"offer.amount total # x":         `has no =: write "offer.amount = total"; write the comment on a separate line`,
		"offer.amount = \"total\"":       `line 1: offer.amount is in quotes: write "offer.amount = total"`,
		"offer.beside += 'vat'":          `line 1: offer.beside is in quotes: write "offer.beside += vat"`,
		"record.states += \"a\"=expired": `is in quotes: write "record.states += a=expired"`,
		"time.purchasing = \"90s\"":      `is in quotes: write "time.purchasing = 90s"`,
		"\nroutes += regulatory.retry=POTS /{request_id}": `line 2: routes gives regulatory.retry the method "POTS": ` +
			`write "routes += regulatory.retry=POST /{request_id}"`,
		"routes += regulatory.pdf=FETCH /{request_id}/{document_type}": `"routes += regulatory.pdf=GET /`,
		"offer.amount =":                         "line 1: offer.amount has no value: write one, or remove the line",
		"offer.beside +=":                        "line 1: offer.beside has no value",
		"request_id = id":                        `line 1: unknown field "request_id": the specification defines request_id`,
		"offer.beside += vat\nrecord.at = a.b\n": "line 2: record.at is \"a.b\": write the name",
		"record.states += a=expired\nrecord.states += draft=generating": `line 2: record.states contains "draft"`,
		"offer.beside += a.b.c\noffer.beside += tax":                    `line 1: offer.beside is "a.b.c"`,
		"version = 2": `line 1: unknown field "version"`,
		// The last one was taken.
		"offer.amount = total\n# due\n\"offer.amount = due\"":       "offer.amount is in line 1 and in line 3",
		"offer.amount = total, offer.amount = due":                  "offer.amount is in line 1 and in line 1",
		"offer.beside += vat\noffer.beside = tax":                   "offer.beside is in line 1 and in line 2",
		"record.states += x=generating\nrecord.states += x=expired": "record.states x is in line 1 and in line 2",
		"record.states = x=generating\nrecord.states += x=expired":  "record.states x is in line 1 and in line 2",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v, want %q", text, err, problem)
		}
	}
}
