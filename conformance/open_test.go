package conformance_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

func settings(d *dialect.Dialect) map[string]string {
	found := map[string]string{}
	for _, f := range d.Fields() {
		if f.Set {
			found[f.Name] = f.Value
		}
	}
	return found
}

// The lines of a report declare the choices of the service, for any dialect, and a run with these lines has none.
func TestCheck_ReportsTheLinesOfADialect(t *testing.T) {
	t.Parallel()
	options, r := randomtest.New(t), randomtest.Random(t)
	draws := options.Number("SHIPPING_DIALECTS", 6)
	reference := settings(dialect.Reference())
	for range draws {
		decided := shippingtest.RandomDialect(r)
		srv := serve(t, decided)
		var want []string
		for _, f := range decided.Fields() {
			isShown := f.Observed != "by hand" && f.Observed != "a purchase" &&
				(f.Name != "purchase.quoted" || decided.Record.ChargedAmount == "")
			if f.Set && isShown && f.Value != reference[f.Name] {
				want = append(want, f.Name+" = "+f.Value)
			}
		}
		report := check(t, srv, srv, conformance.WithWrites())
		if !report.Conforms() {
			t.Fatalf("%v\nfailed: %q", settings(decided), verdicts(report, conformance.Fail))
		}
		if diff := cmp.Diff(want, report.Lines); diff != "" {
			t.Fatalf("%v: the lines (-want +got):\n%s", settings(decided), diff)
		}
		declared := shippingtest.Dialect(t, strings.Join(report.Lines, ","))
		again := check(t, srv, srv, conformance.WithWrites(), conformance.WithDialect(declared))
		if !again.Conforms() || len(again.Lines) > 0 {
			t.Fatalf("%v: again %q, failed: %q", settings(decided), again.Lines, verdicts(again, conformance.Fail))
		}
	}
	t.Attr("cases", fmt.Sprintf("%d dialects", draws))
}

// Another value than the dialect declares is a failed check, with the line that corrects it.
func TestCheck_ChecksWhatTheDialectDeclares(t *testing.T) {
	t.Parallel()
	srv := serve(t, &dialect.Dialect{List: dialect.List{MaxPerPage: 100}})
	declared := &dialect.Dialect{List: dialect.List{MaxPerPage: 50, Order: "newest first", PastEnd: "refused"}}
	report := check(t, srv, srv, conformance.WithDialect(declared))
	shippingtest.Diff(t, "lines", []string{"list.past_end = empty", "list.max_per_page = 100"}, report.Lines)
	failed := strings.Join(verdicts(report, conformance.Fail), "\n")
	for _, want := range []string{`list.max_per_page/maximum perPage: the dialect declares "50", and the service shows "100": `,
		`list.past_end/a page past the last: the dialect declares "refused", and the service shows "empty": `} {
		shippingtest.Contains(t, "failed", failed, want)
	}
	// No check read where a dialect finds the price.
	for _, line := range []string{"offer.amount = foo", "offer.currency = foo", "record.currency = foo"} {
		declared := conformance.WithDialect(shippingtest.Dialect(t, line))
		failed := verdicts(check(t, srv, srv, conformance.WithWrites(), declared), conformance.Fail)
		shippingtest.Contains(t, line, strings.Join(failed, "\n"),
			`carries its price: the draft has no "foo": correct or remove the line `+line)
	}
}

// A purchase shows the names of its charge, of its transaction and of its documents. No error printed them: the results
// of the client had a charge of 0. A charge that was a text was not seen.
func TestCheck_ObservesTheNamesOfAPurchase(t *testing.T) {
	t.Parallel()
	bought := []conformance.Option{conformance.WithWrites(), conformance.WithPurchase("CUSTOMS", "1000000 NGN")}
	number := regexp.MustCompile(`("sum":)([0-9.]+)`)
	texts := answers(func(_ *http.Request, status int, body []byte) (int, []byte) {
		return status, number.ReplaceAll(body, []byte(`$1"NGN $2"`))
	})
	for name, test := range map[string]struct {
		how  breaking
		want []string
	}{
		"a charge":                 {plain, []string{"record.charged_amount = debit.sum", "record.transaction_id = debit.id"}},
		"a charge that is a text":  {texts, []string{"record.charged_amount = debit.sum"}},
		"documents":                {plain, []string{"record.documents = forms", "document.document_type = code"}},
		"documents that are texts": {plain, []string{"record.documents = forms", "document.document_type = -"}},
	} {
		decided := strings.Join(test.want, ",")
		srv := serve(t, shippingtest.Dialect(t, decided))
		shippingtest.Diff(t, name, test.want, check(t, srv, test.how(srv), bought...).Lines)
		declared := conformance.WithDialect(shippingtest.Dialect(t, decided))
		again := check(t, srv, test.how(srv), append(bought, declared)...)
		if !again.Conforms() || len(again.Lines) > 0 {
			t.Errorf("%s: again %q, failed: %q", name, again.Lines, verdicts(again, conformance.Fail))
		}
	}
}

// With a wrong key, the form of the refusals of the key was taken for that of others.
func TestCheck_ObservesNothingWithAWrongKey(t *testing.T) {
	t.Parallel()
	srv := serve(t)
	noWrites := responds(http.StatusUnauthorized, `{"status":false,"message":"for lists only"}`,
		func(r *http.Request, _ string) bool { return r.Method == http.MethodPost })
	for name, test := range map[string]struct {
		key      string
		how      breaking
		observed bool
		failed   string
	}{
		"a wrong key": {"sk_test_wrong", plain, false, "Authentication/a request with the key succeeds: " +
			"GET /v1/rates?perPage=1 gets HTTP status 401: check the key"},
		"a wrong key, and lists that need none": {"sk_test_wrong", withKey(srv, "/v1/countries"), false,
			"Authentication/a request with the key succeeds: "},
		"a key for lists only": {srv.SecretKey, noWrites, true, ""},
	} {
		report := conformance.Check(t.Context(), target(srv), conformance.WithSecretKey(test.key),
			conformance.WithTransport(through{test.how(srv)}))
		passed := strings.Join(verdicts(report, conformance.Pass), "\n")
		if strings.Contains(passed, "webhook_id alone") == (test.key != srv.SecretKey) ||
			strings.Contains(fmt.Sprint(report.Results), "subscribe one") {
			t.Errorf("%s: replays %s", name, passed)
		}
		points := strings.Join(verdicts(report, conformance.Assumption), "\n")
		shippingtest.Diff(t, name+": it has the points of refusals", test.observed, strings.Contains(points, "refusal."))
		if failed := strings.Join(verdicts(report, conformance.Fail), "\n"); !strings.Contains(failed, test.failed) {
			t.Errorf("%s: %s", name, failed)
		}
	}
}

// A form of refusals has a line if every refused request got it, so that the client can rely on it.
func TestCheck_ObservesTheFormOfRefusals(t *testing.T) {
	t.Parallel()
	const nest = `{"statusCode":400,"message":"Not possible","error":"Bad Request"}`
	const object = "refusal.format = object"
	refusals := func(body string, only ...string) breaking {
		return answers(func(r *http.Request, status int, answer []byte) (int, []byte) {
			if status/100 == 4 && (len(only) == 0 || slices.Contains(only, r.URL.Path)) {
				return status, []byte(body)
			}
			return status, answer
		})
	}
	texts := func(next http.Handler) http.Handler { return refusals(`"No"`, "/v1/rates")(refusals(nest)(next)) }
	lists := func(next http.Handler) http.Handler {
		return refusals(`{"message":["No"]}`, "/v1/rates")(refusals(nest)(next))
	}
	type row struct {
		how  breaking
		want []string
	}
	shippingtest.EachRow(t, map[string]row{
		"an object": {refusals(nest), []string{object}},
		"a word":    {refusals(`{"message":"Unauthorized"}`), []string{object}},
		"problem details, called JSON": {refusals(`{"title":"No","status":400,"detail":"Not possible"}`),
			[]string{object, "refusal.message = detail"}},
		"a reason in an object":             {refusals(`{"error":{"text":"Not possible"}}`), []string{object, "refusal.message = error.text"}},
		"an envelope, and sometimes none":   {refusals(nest, "/v1/rates"), []string{object}},
		"an object, and a list of messages": {lists, nil},
		"an object, and a text":             {texts, nil},
		"a success":                         {refusals(`{"status":true,"message":"Not possible"}`), nil},
		"no reason":                         {refusals(`{"error":400}`), nil},
	}, func(t *testing.T, test row) {
		srv := serve(t)
		shippingtest.Diff(t, "lines", test.want, check(t, srv, test.how(srv)).Lines)
	})
}
