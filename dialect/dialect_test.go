package dialect

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// points.json describes every field and no other, and each value in it sets its field, which accepts it.
func TestPoints_AreValid(t *testing.T) {
	t.Parallel()
	points := readPoints()
	if !json.Valid([]byte(pointsFile)) {
		t.Error("points.json is not JSON")
	}
	var fields []string
	for _, f := range new(Dialect).fields() {
		fields = append(fields, f.name)
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(fields)), slices.Sorted(maps.Keys(points))); diff != "" {
		t.Errorf("the fields of dialect.go, and those of points.json:\n%s", diff)
	}
	for i, f := range new(Dialect).fields() {
		p, shown := points[f.name], new(Dialect).Fields()[i]
		for member, text := range map[string]string{"open": shown.Open, "default": shown.Default, "needed": shown.Needed,
			"used": shown.Used, "observed": shown.Observed, "test": p["test"]} {
			if text == "" {
				t.Errorf("%s has no member %s", f.name, member)
			}
		}
		switch f.value.Kind() {
		case reflect.Int, reflect.Float64:
			if _, _, ranged := strings.Cut(p["range"], ".."); !ranged {
				t.Errorf("%s has no range", f.name)
			}
		}
		values := strings.Split(p["values"], ",")
		for _, text := range append(values, p["contrary"], p["strict"]) {
			d := new(Dialect)
			if text == "" || f.value.Kind() == reflect.Map && slices.Contains(values, text) {
				continue
			}
			if err := errors.Join(d.Set(f.name, text), d.Check()); err != nil {
				t.Errorf("%s=%s: %v", f.name, text, err)
			}
		}
	}
}

// The presets are valid, and Contrary differs from Reference in each field that it sets.
func TestPresets(t *testing.T) {
	t.Parallel()
	reference := Reference().Fields()
	for _, d := range []*Dialect{Reference(), Contrary(), Strict()} {
		if err := d.Check(); err != nil {
			t.Error(err)
		}
	}
	for i, f := range Contrary().Fields() {
		other := readPoints()[f.Name]["contrary"] != ""
		if f.Set != (other || f.Name == "routes") || f.Set && other && f.Value == reference[i].Value {
			t.Errorf("%s is %q, and %q in the reference", f.Name, f.Value, reference[i].Value)
		}
	}
}

// Errors name the field and the remedy, all of them at once.
func TestParse_Errors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"version":2}`:                                               "version is 2; this program reads 1: write that, or",
		`{"version":-1}`:                                              "version is -1; this program reads 1",
		`{"offer":{"ammount":"price"}}`:                               `unknown member "offer.ammount": did you mean "amount"?`,
		`{"refusal":{"analysis":200.5}}`:                              "refusal.analysis cannot be 200.5: write a whole number",
		`{"refusal":{"analysis":199}}`:                                "refusal.analysis is 199: a number from 200 to 599",
		`{"refusal":{"message":"errors[0].why"}}`:                     `refusal.message is "errors[0].why": write an element of a list with a dot, such as "errors.0.why"`,
		`{"offer":{"amount":"prices[0]"}}`:                            `write an element of a list with a dot, such as "prices.0"`,
		`{"offer":{"amount":"name","document_type":"name"}}`:          `offer.document_type and offer.amount are both "name": rename one`,
		`{"offer":{"amount":"total","beside":["total"]}}`:             `offer.amount and offer.beside are both "total"`,
		`{"offer":{"amount":"price","beside":["price.net"]}}`:         `a member cannot be a value and an object`,
		`{"record":{"line_items":"request_id"}}`:                      `record.line_items is "request_id", which the specification defines`,
		`{"offer":{"amount":"a.b.c"}}`:                                `offer.amount is "a.b.c": a path has at most two names`,
		`{"offer":{"amount":"a."}}`:                                   "has an empty name",
		`{"record":{"at":"a.b"}}`:                                     "record.at is \"a.b\": write the name",
		`{"record":{"at":"data.document.inner"}}`:                     "write the name of a member of data",
		`{"offer.amount":"total"}`:                                    `unknown member "offer.amount": write {"offer": {"amount": …}}`,
		`{"record":{"wallet":"wallet","currency":"wallet.currency"}}`: `record.currency is "wallet.currency", and record.wallet "wallet": a member cannot be a value and an object`,
		`{"routes":{"regulatory.purchase":"POST /x"}}`:                `"regulatory.purchase", but only these operations`,
		`{"list":{"order":"random"}}`:                                 `list.order is "random": it must be one of newest first, oldest first`,
		`{"time":{"purchasing":5}}`:                                   `time.purchasing cannot be 5: write a duration such as "90s"`,
		`{"time":{"purchasing":"-1s"}}`:                               "time.purchasing is -1s: it must be from 0 to a year",
		`{"time":{"generation":1e9}}`:                                 "time.generation is 1e+09: a number from -1000000 to 1000000",
		`{"record":{"states":{"draft":"analyzing"}}}`:                 `"draft", which the specification defines: remove it`,
		`{"record":{"states":{"zz-unlisted":"waiting"}}}`:             "it must be one of analyzing, generating, expired",
		`{"offer":{"default_currency":"naira"}}`:                      `a code of three letters, or "wallet"`,
		`{"notification":{"event_id":"X Id"}}`:                        "which is not a name",
		`{"offer":{"amount":"a","amount":"b"}}`:                       `offer has the member "amount" twice`,
		`{"purchase":{"quoted":"true"}}`:                              "purchase.quoted cannot be \"true\": write true or false",
		`{"purchase":{"quoted":1}}`:                                   "purchase.quoted cannot be 1: write true or false",
		`{"refusal":{"analysis":"422"}}`:                              "refusal.analysis cannot be \"422\": write a whole number",
		`{"offer":{"amount":null}}`:                                   "offer.amount cannot be null: write a text",
		`{"offer":{"amount":5}}`:                                      "offer.amount cannot be 5: write a text",
		`{"offer":[]}`:                                                "offer is not a JSON object",
		`{"offer":{"beside":"vat"}}`:                                  "offer.beside cannot be \"vat\": write a list of texts",
		`[]`:                                                          "the dialect is not a JSON object",
		`{"version":1`:                                                "is not valid JSON, in line 1: unexpected end",
		"{\n\"list\": {\"max_per_page\": 5,}\n}":                      ": remove the comma before }",
		`{"version":1} {}`:                                            "is not valid JSON",
		`{"list":{"x":1},"refusal":{"y":1}}`:                          "list.x",
		strings.Repeat(" ", maxFile) + "{}":                           "more than 65536 bytes",
	} {
		if d, err := Parse([]byte(text)); d != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
	if _, err := Parse([]byte(`{"record":{"wallet":"-","currency":"-"}}`)); err != nil {
		t.Errorf("two members that a service does not send: %v", err)
	}
	_, err := Parse([]byte(`{"list":{"x":1},"refusal":{"y":1,"analysis":7}}`))
	for _, want := range []string{"list.x", "refusal.y", "refusal.analysis is 7"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not contain %q", err, want)
		}
	}
}

// A dialect was accepted under which a receiver refuses each notification: its headers cannot be sent, or one header
// has two purposes.
func TestCheck_NotificationsCanBeReceived(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"event_id=content-length": `notification.event_id is "content-length", which HTTP sets itself`,
		"signature.header=Host":   `notification.signature.header is "Host", which HTTP sets itself`,
		"delivery_id=-,notification.signature.signed={id}.{body}": `signed is "{id}.{body}", and ` +
			`notification.delivery_id "-": a receiver needs the id that is signed`,
		"delivery_id=X-Webhook-signature": `are both "X-Webhook-Signature": rename one`,
		"event_id=A,notification.signature.timestamp_header=a,notification.signature.signed={timestamp}{body}": `both "A"`,
		"event_id=A,notification.signature.header=A":                                                           `both "A"`,
		"event_id=X-Webhook-Timestamp":                                                                         "", // no time is sent
		"delivery_id=-,notification.event_id=-":                                                                "",
		"delivery_id=X-Webhook-Event-Id":                                                                       "", // a delivery is identified by its event
		"delivery_id=-,notification.event_id=X-Id":                                                             "",
	} {
		d := new(Dialect)
		if err := d.Apply("notification." + text); err != nil {
			t.Fatal(err)
		}
		if err := d.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A dialect is the same after it was encoded and read, and an error of a file has its name.
func TestRead_AnEncodedDialect(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "service.json")
	for _, d := range []*Dialect{{Version: 1}, Reference(), Contrary(), Strict()} {
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, got); diff != "" {
			t.Error(diff)
		}
	}
	if err := os.WriteFile(path, []byte(`{"list":{"x":1}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.HasPrefix(err.Error(), `service.json: unknown member "list.x"`) {
		t.Error(err)
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	_, err := Read("offer.amount = total")
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "write the line to a file") {
		t.Error(err)
	}
}

// A later choice replaces an earlier one, and a copy does not share data.
func TestApply(t *testing.T) {
	t.Parallel()
	d := &Dialect{Offer: Offer{Amount: "price"},
		Routes: map[string]string{"regulatory.pdf": "/a/{request_id}/{document_type}"}}
	over := &Dialect{Record: RecordMembers{Absent: []string{"wallet"}},
		Routes: map[string]string{"regulatory.retry": "/b/{request_id}"}}
	d.Overlay(over)
	over.Record.Absent[0], over.Routes["regulatory.retry"] = "changed", "changed"
	d.Overlay(nil)
	if err := d.Apply("strict, list.order=oldest first,offer.beside=vat,price.net," +
		"record.states=zz-unlisted=generating,draft2=analyzing,time.purchasing=90s,purchase.quoted=true"); err != nil {
		t.Fatal(err)
	}
	want := &Dialect{
		Version: 1,
		Record: RecordMembers{Absent: []string{"wallet"},
			States: map[string]string{"zz-unlisted": "generating", "draft2": "analyzing"}},
		Offer:    Offer{Amount: "price", Beside: []string{"vat", "price.net"}},
		Purchase: Purchase{Quoted: true},
		List:     List{Order: "oldest first"},
		Request:  Request{UnknownFields: "refused"},
		Time:     Time{Purchasing: Duration(90 * time.Second)},
		Routes: map[string]string{"regulatory.pdf": "/a/{request_id}/{document_type}",
			"regulatory.retry": "/b/{request_id}"},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	for text, problem := range map[string]string{
		"contrari": `unknown dialect "contrari": did you mean "contrary"?`, "list.ordr=x": `did you mean "list.order"?`,
		"list.max_per_page=many": "write a whole number",
		"time.purchasing=5":      "write a duration", "purchase.quoted=perhaps": "write true or false",
		"record.states=held": "write pairs such as queued=generating",
		"routes=POST /v1/x":  "write pairs such as regulatory.retry=POST /v1/regulatory-documents/{request_id}/retries",
		"routes=":            "write pairs such as regulatory.retry=POST", "time.generation=x": "write a number",
	} {
		if err := new(Dialect).Apply(text); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v, want %q", text, err, problem)
		}
	}
}
