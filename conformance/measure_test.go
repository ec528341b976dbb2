package conformance_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// measure returns the dialect of a service, measured with a purchase.
func measure(t *testing.T, srv *mockserver.Server, service http.Handler) conformance.Report {
	t.Helper()
	return check(t, srv, service, conformance.WithWrites(), conformance.WithMost("1000000000"))
}

// randomDialect returns a valid dialect with a random choice in each field that can be measured.
func randomDialect(r *rand.Rand) *dialect.Dialect {
	for {
		d := new(dialect.Dialect)
		names := []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"}
		name := func() string {
			i := r.IntN(len(names))
			chosen := names[i]
			names = slices.Delete(names, i, i+1)
			if r.IntN(4) == 0 {
				chosen = "nested." + chosen
			}
			return chosen
		}
		choices := map[string][]string{
			"record.at":               {"", "request", "document", "[0]"},
			"record.line_items":       {strings.ReplaceAll(name(), ".", "_")},
			"record.documents":        {strings.ReplaceAll(name(), ".", "_")},
			"record.absent":           {"", "profiles", "addresses,created_at"},
			"offer.amount":            {"", "price", "price.gross", "cost"},
			"offer.currency":          {"", "code", "price.unit", "currency.code"},
			"offer.mode":              {"", "way"},
			"offer.beside":            {"", "vat", "price.net,vat", "default_amount,original_currency"},
			"offer.absent":            {"", "name", "reasons,profile_fields"},
			"document.document_type":  {"", "slug", "kind"},
			"purchase.quoted":         {"", "true"},
			"purchase.confirmation":   {"receipt", "empty"},
			"purchase.status":         {"200", "201", "202"},
			"purchase.analyze_status": {"200", "201"},
			"refusal.rule":            {"400", "409", "422"},
			"refusal.format":          {"envelope", "object"},
			"refusal.message":         {"message", "error.text", "data.reason"},
			"refusal.code":            {"data.error_code", "error.code", "code"},
			"list.past_end":           {"empty", "refused", "last page"},
			"list.max_per_page":       {"", "100", "500"},
			"list.wrong_parameter":    {"default", "refused"},
			"list.unknown_parameter":  {"ignored", "refused"},
			"list.last_next_page":     {"0", "null"},
			"list.order":              {"newest first", "oldest first"},
			"list.unknown_wallet":     {"404", "empty"},
			"request.open":            {"", "countries.list", "webhooks.list", "countries.list,webhooks.list"},
			"request.unknown_fields":  {"ignored", "refused"},
			"request.content_type":    {"optional", "required"},
		}
		for _, field := range []string{"record.charged_amount", "record.transaction_id", "record.currency", "record.wallet",
			"offer.document_type"} {
			choices[field] = []string{name()}
		}
		for _, field := range slices.Sorted(maps.Keys(choices)) {
			if value := choices[field][r.IntN(len(choices[field]))]; r.IntN(3) > 0 && value != "" {
				_ = d.Set(field, value) // a name that contradicts another is drawn again
			}
		}
		if d.Check() == nil {
			return d
		}
	}
}

// What a run measures is what the service has decided, for any dialect, in every field that a response shows.
func TestCheck_MeasuresTheDialect(t *testing.T) {
	t.Parallel()
	options, r := randomtest.New(t), randomtest.Random(t)
	draws := options.Number("SHIPPING_DIALECTS", 6)
	for range draws {
		want := randomDialect(r)
		srv := serve(t, want)
		report := measure(t, srv, srv)
		if !report.Conforms() {
			t.Fatalf("%v\nfailed: %q", settings(want), verdicts(report, conformance.Fail))
		}
		expected := dialect.Reference()
		expected.Overlay(want)
		got := report.Dialect.Fields()
		unmeasured := []string{"offer.default_currency", "refusal.analysis", "list.empty_pages", "list.breakdown",
			"request.replay_to_nobody", "record.states"}
		for i, f := range expected.Fields() {
			switch value := got[i].Value; {
			case f.Observed == "by hand" || f.Observed == "a delivery":
			case got[i].Measured == "":
				if !slices.Contains(unmeasured, f.Name) {
					t.Errorf("%s was not measured", f.Name)
				}
			case value != f.Value && (value == "" || !strings.HasPrefix(f.Default, value)):
				t.Errorf("%s is %q, measured %q: %s", f.Name, f.Value, value, got[i].Measured)
			}
		}
		if t.Failed() {
			t.Fatalf("%v", settings(want))
		}
	}
	t.Attr("cases", fmt.Sprintf("%d dialects", draws))
}

func settings(d *dialect.Dialect) map[string]string {
	found := map[string]string{}
	for _, f := range d.Fields() {
		if f.Set {
			found[f.Name] = f.Value
		}
	}
	return found
}

// Nothing about money is measured from a debit that may be for something else, or that is not the price alone.
func TestCheck_ProvesNothingFromAnUnclearDebit(t *testing.T) {
	t.Parallel()
	const bought = "document_types"
	edit := func(change func(newest map[string]any) []map[string]any) breaking {
		return after(1, purchase, bought, listing(func(rows []map[string]any, pagination map[string]any) []map[string]any {
			if pagination["page"] != 1.0 {
				return rows
			}
			return append(change(rows[0]), rows[1:]...)
		}))
	}
	set := func(members map[string]any) breaking { // of the newest
		return edit(func(n map[string]any) []map[string]any { maps.Copy(n, members); return []map[string]any{n} })
	}
	add := func(members map[string]any) breaking { // a copy of the newest with other members
		return edit(func(n map[string]any) []map[string]any {
			other := maps.Clone(n)
			other["transactionId"] = "TR-OTHER"
			maps.Copy(other, members)
			return []map[string]any{other, n}
		})
	}
	for name, how := range map[string]breaking{
		"a fee":           set(map[string]any{"fee": 2.5}),
		"a fee as a text": set(map[string]any{"platform_fee": "2.50"}),
		"only one by another, of the same amount": set(map[string]any{"transactionId": "TR-OTHER", "txRef": "",
			"metadata": map[string]any{}, "description": "Another"}),
		"a second debit":      add(map[string]any{"amount": 12.5}),
		"the same by another": add(nil),
		"an income meanwhile": add(map[string]any{"flow": "in"}),
		"another amount than any of the offer": edit(func(n map[string]any) []map[string]any {
			n["amount"] = n["amount"].(float64) + 7.5
			return []map[string]any{n}
		}),
		"a charge that comes after the end": edit(func(map[string]any) []map[string]any { return nil }),
		"no transactions": after(1, purchase, bought,
			responding("/v1/transactions", http.StatusInternalServerError)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t)
			report := measure(t, srv, how(srv))
			for _, field := range []string{"offer.amount", "offer.beside", "offer.currency", "record.charged_amount",
				"record.documents", "record.transaction_id", "purchase.quoted"} {
				if proof := report.Dialect.Measured[field]; proof != "" {
					t.Errorf("%s was measured: %s", field, proof)
				}
			}
			if len(report.Purchases) != 1 {
				t.Errorf("%d purchases", len(report.Purchases))
			}
		})
	}
}

// A number in a text was read as a smaller one, and the document bought: "1.500,75" is 1500.75. The cheapest document
// that shows the price is bought; numbers inside lists, such as codes of goods, do not make an offer the better proof.
func TestCheck_BuysNothingAboveMost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ offers, named, want string }{
		{`{"document_type":"FDA","cost":"1.500,75"}`, "", ""},
		{`{"document_type":"FDA","amount":100,"total":1600}`, "", ""},
		{`{"document_type":"FDA","amount":100,"details":{"a":{"b":[1600]}}}`, "", ""},
		{`{"document_type":"FDA","amount":100,"fee":"about 20"}`, "", ""},
		{`{"document_type":"FDA","amount":-100}`, "", ""},
		{`{"document_type":"FDA"}`, "", ""},
		{`{"document_type":"FDA","amount":100,"fee":"20,50"}`, "", "FDA"},
		{`{"document_type":"FDA","cost":"1.500,75"},{"slug":"WATCH","price":10}`, "", "WATCH"},

		{`{"document_type":"TEXTILE","amount":12,"reasons":[{"match":"62"}]},{"document_type":"CUSTOMS","amount":5}`, "",
			"CUSTOMS"},
		{`{"document_type":"CUSTOMS","gross":5},{"document_type":"TEXTILE","gross":12,"net":9}`, "", "TEXTILE"},
		{`{"document_type":"TEXTILE","gross":12,"net":9},{"document_type":"CUSTOMS","gross":5},
			{"document_type":"FDA","gross":6,"net":3}`, "gross", "CUSTOMS"},
		{`{"document_type":"FDA","gross":6},{"document_type":"CUSTOMS","gross":5,"net":9}`, "gross", "CUSTOMS"},
		{`{"document_type":"CUSTOMS","net":5,"vat":1},{"document_type":"FDA","gross":6}`, "gross", "FDA"},
	} {
		srv, opts := serve(t), append(writes(), conformance.WithMost("1500.00"))
		if test.named != "" {
			opts = append(opts, conformance.WithDialect(&dialect.Dialect{Offer: dialect.Offer{Amount: test.named}}))
		}
		service := &greedy{next: changed(analyze, "data.available_documents", "["+test.offers+"]")(srv)}
		report := check(t, srv, service, opts...)
		if strings.Join(service.bought, " ") != test.want || len(report.Purchases) != len(service.bought) {
			t.Errorf("%s: bought %q, want %q; reported %v", test.offers, service.bought, test.want, report.Purchases)
		}
	}
}

// failedHeadings returns the headings of the checks that failed; that of an open point is the name of its field.
func failedHeadings(report conformance.Report) (headings []string) {
	for _, result := range report.Results {
		if result.Verdict == conformance.Fail {
			headings = append(headings, result.Heading)
		}
	}
	return headings
}

// A later run compares: what changed fails, and what was measured before can be updated.
func TestCheck_ComparesWithADialect(t *testing.T) {
	t.Parallel()
	srv := serve(t, &dialect.Dialect{Refusal: dialect.Refusal{Rule: 422}})
	known := &dialect.Dialect{
		Refusal: dialect.Refusal{Rule: 400}, List: dialect.List{Order: "oldest first", LastNextPage: "0"},
		Measured: map[string]string{
			"refusal.rule": "400 on 2026-01-01: 3 requests", "list.last_next_page": "0 on 2026-01-01: one page",
		},
	}
	for _, test := range []struct {
		opts []conformance.Option
		want []string
	}{
		{nil, []string{"refusal.rule", "list.order"}},
		{[]conformance.Option{conformance.WithUpdate()}, []string{"list.order"}},
	} {
		report := check(t, srv, srv, append(test.opts, conformance.WithDialect(known))...)
		shippingtest.Diff(t, "failed", test.want, failedHeadings(report))
	}
}

// A run without a purchase does not see members that only a purchase shows. If one of two runs had measured their
// absence, the other one reported a change.
func TestCheck_ComparesAbsentMembersOfTheSameSteps(t *testing.T) {
	t.Parallel()
	absent := []string{"wallet", "charged_amount"}
	srv := serve(t, &dialect.Dialect{Record: dialect.RecordMembers{Absent: absent}})
	buys, reads := writes(), append(writes(), conformance.WithMost("0.01"))
	known := map[bool]*dialect.Dialect{}
	for bought, opts := range map[bool][]conformance.Option{true: buys, false: reads} {
		known[bought] = check(t, srv, srv, opts...).Dialect
	}
	for _, test := range []struct {
		bought, buys, update bool
		absent               []string
	}{
		{true, true, false, absent}, {true, false, false, absent}, {false, true, false, absent[:1]},
		{true, false, true, absent}, {false, true, true, absent},
	} {
		opts := []conformance.Option{conformance.WithDialect(known[test.bought]), conformance.WithWrites()}
		if !test.buys {
			opts = append(opts, conformance.WithMost("0.01"))
		}
		if test.update {
			opts = append(opts, conformance.WithUpdate())
		}
		report := check(t, srv, srv, opts...)
		if diff := cmp.Diff(test.absent, report.Dialect.Record.Absent); diff != "" || !test.update && !report.Conforms() {
			t.Errorf("%+v: failed %v; absent (-want +got):\n%s", test, failedHeadings(report), diff)
		}
	}
}

// The price has moved from price.gross to price.total. A run without [conformance.WithMost] bought nothing, and did not
// notice. It buys at the price that the dialect names, and fails if no offer shows it.
func TestCheck_ComparesThePriceOfTheDialect(t *testing.T) {
	t.Parallel()
	known := &dialect.Dialect{Offer: dialect.Offer{Amount: "price.gross"}}
	write, update, most := conformance.WithWrites(), conformance.WithUpdate(), conformance.WithMost("1000000")
	moved := []string{"offer.amount"}
	for name, test := range map[string]struct {
		amount    string
		reads     bool // a draft that exists, and buys nothing
		opts      []conformance.Option
		purchases int
		failed    []string
	}{
		"the same":            {"price.gross", false, []conformance.Option{write}, 1, nil},
		"moved":               {"price.total", false, []conformance.Option{write}, 0, moved},
		"moved, in an update": {"price.total", false, []conformance.Option{write, update}, 0, moved},
		"moved, and measured": {"price.total", false, []conformance.Option{write, most}, 1, moved},
		"moved, only read":    {"price.total", true, nil, 0, moved},
		"the same, only read": {"price.gross", true, nil, 0, nil},
		"no offer is seen":    {"price.total", false, nil, 0, nil},
	} {
		offer := dialect.Offer{Amount: test.amount, Currency: "price.unit", Beside: []string{"price.net", "vat"}}
		srv := serve(t, &dialect.Dialect{Offer: offer})
		at := target(srv)
		if test.reads {
			at.Request = shippingtest.Draft(t, srv.Client(t), at.Shipment).RequestID
		}
		report := checkAt(t, at, srv, srv, append(test.opts, conformance.WithDialect(known))...)
		var differ []string
		for _, d := range report.Differences {
			if !d.New {
				differ = append(differ, d.Field)
			}
		}
		if diff := cmp.Diff([][]string{test.failed, test.failed}, [][]string{failedHeadings(report), differ}); diff != "" ||
			len(report.Purchases) != test.purchases {
			t.Errorf("%s: %d purchases, failed and different (-want +got):\n%s", name, len(report.Purchases), diff)
		}
		got := report.Dialect.Offer
		if test.purchases > 0 && (got.Currency != offer.Currency || !slices.Equal(got.Beside, offer.Beside)) {
			t.Errorf("%s: the offer was measured as %+v", name, got)
		}
		for _, p := range report.Purchases {
			if atMost := name == "moved, and measured"; p.AtMost != atMost || (p.Paid != "") != atMost {
				t.Errorf("%s: %+v", name, p)
			}
		}
		if all := fmt.Sprint(report.Results); name == "moved" &&
			!(strings.Contains(all, "each document needs one, as a number in price.gross") &&
				strings.Contains(all, "the offers show price.net, price.total, vat")) {
			t.Errorf("the report: %s", all)
		}
	}
}

// A request and a shipment that the user names show what a run does not see otherwise.
func TestCheck_MeasuresWhatIsGiven(t *testing.T) {
	t.Parallel()
	srv := serve(t, &dialect.Dialect{Record: dialect.RecordMembers{At: "request"}})
	to := target(srv)
	to.Request, to.Failing = shippingtest.Draft(t, srv.Client(t), to.Shipment).RequestID, "SH-FAILING"
	fails := responds(http.StatusConflict,
		`{"status":false,"message":"unreadable","data":{"request_id":"RD-9","status":"failed"}}`,
		func(_ *http.Request, body string) bool { return strings.Contains(body, "SH-FAILING") })
	for i, want := range []int{0, http.StatusConflict} {
		got := checkAt(t, to, srv, fails(srv), writes()[:i]...).Dialect
		if got.Record.At != "request" || got.Refusal.Analysis != want {
			t.Errorf("writes: %d: %q, %d", i, got.Record.At, got.Refusal.Analysis)
		}
	}
}

// With a wrong key, the status of the check of the key was measured as that of a rule, and the right key failed later.
func TestCheck_MeasuresNoRuleFromTheCheckOfTheKey(t *testing.T) {
	t.Parallel()
	srv := serve(t)
	noWrites := responds(http.StatusUnauthorized, `{"status":false,"message":"for lists only"}`,
		func(r *http.Request, _ string) bool { return r.Method == http.MethodPost })
	for name, test := range map[string]struct {
		key      string
		how      breaking
		measured bool
		failed   string
	}{
		"a wrong key": {"sk_test_wrong", plain, false, "Authentication/a request with the key succeeds: " +
			"GET /v1/rates?perPage=1 gets HTTP status 401: nothing was measured; check the key"},
		"a wrong key, and lists that need none": {"sk_test_wrong", withKey(srv, "/v1/countries"), false,
			"Authentication/a request with the key succeeds: "},
		"a key for lists only": {srv.SecretKey, noWrites, true, ""},
	} {
		report := conformance.Check(t.Context(), target(srv), conformance.WithSecretKey(test.key),
			conformance.WithTransport(through{test.how(srv)}))
		if measured := report.Dialect != nil; measured != test.measured ||
			measured && report.Dialect.Refusal.Rule != http.StatusBadRequest {
			t.Errorf("%s: %+v", name, report.Dialect)
		}
		passed := strings.Join(verdicts(report, conformance.Pass), "\n")
		if strings.Contains(passed, "webhook_id alone") == (test.key != srv.SecretKey) ||
			strings.Contains(fmt.Sprint(report.Results), "subscribe one") {
			t.Errorf("%s: replays %s", name, passed)
		}
		points := strings.Join(verdicts(report, conformance.Assumption), "\n")
		if strings.Contains(points, "refusal.") != test.measured {
			t.Errorf("%s: %s", name, points)
		}
		if failed := strings.Join(verdicts(report, conformance.Fail), "\n"); !strings.Contains(failed, test.failed) {
			t.Errorf("%s: %s", name, failed)
		}
	}
}

// A form of refusals is measured if every refused request got it, so that the client can rely on it.
func TestCheck_MeasuresTheFormOfRefusals(t *testing.T) {
	t.Parallel()
	const nest = `{"statusCode":400,"message":"Not possible","error":"Bad Request"}`
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
	for name, test := range map[string]struct {
		how             breaking
		format, message string
	}{
		"an object": {refusals(nest), "object", "message"},
		"a word":    {refusals(`{"message":"Unauthorized"}`), "object", "message"},
		"problem details, called JSON": {refusals(`{"title":"No","status":400,"detail":"Not possible"}`), "object",
			"detail"},
		"a reason in an object":             {refusals(`{"error":{"text":"Not possible"}}`), "object", "error.text"},
		"an envelope, and sometimes none":   {refusals(nest, "/v1/rates"), "object", "message"},
		"an object, and a list of messages": {lists, "", ""},
		"an object, and a text":             {texts, "", "message"},
		"a success":                         {refusals(`{"status":true,"message":"Not possible"}`), "", "message"},
		"no reason":                         {refusals(`{"error":400}`), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t)
			report := check(t, srv, test.how(srv))
			if got := report.Dialect.Refusal; got.Format != test.format || got.Message != test.message {
				t.Errorf("format %q, message %q", got.Format, got.Message)
			}
		})
	}
}

// What the client reads does not depend on the names that the service has chosen.
func TestDialect_TheClientReadsTheSameRecord(t *testing.T) {
	t.Parallel()
	options, r := randomtest.New(t), randomtest.Random(t)
	draws := options.Number("SHIPPING_DIALECTS", 6)
	read := func(d *dialect.Dialect) (records []*shipping.RegulatoryRequest) {
		srv := serve(t, d)
		defer srv.Close()
		client := srv.Client(t)
		draft := shippingtest.Draft(t, client, srv.Shipments()[0])
		looked, err := client.Regulatory.Get(t.Context(), draft.RequestID)
		if err != nil {
			t.Fatalf("%v: %v", settings(d), err)
		}
		return []*shipping.RegulatoryRequest{draft, looked}
	}
	want := read(new(dialect.Dialect))
	for range draws {
		d := dialect.Reference() // a measured dialect has every name
		d.Overlay(randomDialect(r))
		d.Record.Absent, d.Offer.Absent, d.Purchase.Quoted = nil, nil, false
		ignored := cmpopts.IgnoreFields(shipping.RegulatoryRequest{}, "Raw", "Dialect", "CreatedAt", "UpdatedAt")
		if diff := cmp.Diff(want, read(d), ignored); diff != "" {
			t.Fatalf("%v\n%s", settings(d), diff)
		}
	}
	t.Attr("cases", fmt.Sprintf("%d dialects", draws))
}
