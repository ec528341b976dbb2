package shipping_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// Nothing is purchased from a request that is not a draft, or from a draft that shows a purchase, however the program
// has got it. Such requests were purchased again.
func TestPurchase_OnlyADraftThatShowsNoPurchaseIsSent(t *testing.T) {
	t.Parallel()
	none, quoted := "", "purchase.quoted=true"
	const shows, setQuoted, twoValues = "shows a transaction", "purchase.quoted", "two values for status"
	const neither, noRecord = "neither the price of all offers", "no regulatory request"
	type row struct {
		record  string // RECORD stands for an id and offers
		dialect string
		want    string // in the error; "" if the purchase is sent
	}
	rows := map[string]row{
		"a draft":                           {`{"status":"draft",RECORD}`, none, ""},
		"a draft that lists documents":      {`{"status":"draft","documents":["FDA"],RECORD}`, none, ""},
		"a draft, charged 0":                {`{"status":"draft","charged_amount":0,RECORD}`, none, ""},
		"a transaction":                     {`{"status":"draft","transaction_id":"TX-1",RECORD}`, quoted, shows},
		"a transaction that is not read":    {`{"status":"draft","transaction_id":{"id":1},RECORD}`, quoted, shows},
		"a charge":                          {`{"status":"draft","charged_amount":5,RECORD}`, none, setQuoted},
		"a charge that cannot be read":      {`{"status":"draft","charged_amount":"5 NGN",RECORD}`, none, setQuoted},
		"a charge, beside the record":       {`{"charged_amount":5,"request":{"status":"draft",RECORD}}`, none, setQuoted},
		"a transaction, beside the record":  {`{"transaction_id":"TX-1","request":{"status":"draft",RECORD}}`, quoted, shows},
		"a quote of another sum":            {`{"status":"draft","charged_amount":6,RECORD}`, quoted, neither},
		"a quote":                           {`{"status":"draft","charged_amount":5,RECORD}`, quoted, ""},
		"a quote of floating-point origin":  {`{"status":"draft","charged_amount":5.000000000000001,RECORD}`, quoted, ""},
		"a status given twice":              {`{"status":"completed","status":"draft",RECORD}`, none, `"status" twice`},
		"another status beside the record":  {`{"status":"draft","request":{"status":"processing"},RECORD}`, none, twoValues},
		"a completed request":               {`{"status":"completed",RECORD}`, none, "completed"},
		"a request in a state nobody knows": {`{"status":"quoted",RECORD}`, none, "quoted"},
		"a list of one draft":               {`[{"status":"draft",RECORD}]`, none, ""},
		"a list of one charged draft":       {`[{"status":"draft","charged_amount":5,RECORD}]`, none, setQuoted},
		"a list of two drafts":              {`[{"status":"draft",RECORD},{"request_id":"RD-2"}]`, none, noRecord},
	}
	for _, failed := range shippingtest.Failures() {
		rows["failed: "+failed] = row{`{"status":"` + failed + `",RECORD}`, none, "request RD-1"}
	}
	for name, test := range rows {
		for way, buy := range waysToBuy(&shipping.AnalyzeAndPollOptions{
			Select: shipping.SelectAll, Poll: shipping.PollOptions{MaxFailures: 1, DraftFor: time.Second},
		}) {
			synctest.Test(t, func(t *testing.T) {
				read := success(strings.Replace(test.record, "RECORD",
					`"request_id":"RD-1","available_documents":[{"document_type":"FDA","amount":5,"currency":"NGN"}]`, 1))
				service := workflow(read, read)
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				err := buy(ctx, regulatory(t, service, shipping.WithDialect(shippingtest.Dialect(t, test.dialect))))
				want := test.want
				if (way == "Resume" || way == "Prepare") && strings.HasPrefix(name, "a quote") && want == "" {
					want = "set Sole" // neither knows whether somebody else has purchased
				}
				purchases := service.CountPath("/purchase")
				if (purchases == 1) != (want == "") || purchases > 1 {
					t.Errorf("%s, %s: %d purchases, %v", way, name, purchases, err)
				}
				waits := way == "Resume" && (strings.Contains(name, "completed") || strings.Contains(name, "nobody knows"))
				if want != "" && !waits && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("%s, %s: %v, want %q", way, name, err, want)
				}
				if strings.HasPrefix(name, "failed: ") && strings.Contains(err.Error(), "already purchased") {
					t.Errorf("%s: %v, although the analysis may have failed", way, err)
				}
			})
		}
	}
}

// An analysis returned a request that was purchased already, and the reading after it or after Edit was an older copy,
// a draft, which was purchased again.
func TestPurchase_AnOlderCopyReplacesNoRecordThatShowsAPurchase(t *testing.T) {
	t.Parallel()
	const offer = `,"available_documents":[{"document_type":"FDA","amount":5,"currency":"NGN"}]}`
	edit := func(context.Context, *shipping.RegulatoryRequest) error { return nil }
	for analysis, test := range map[string]struct {
		edit      func(context.Context, *shipping.RegulatoryRequest) error
		purchases int
	}{
		`{"request_id":"RD-1"` + offer:                                              {nil, 1},
		`{"request_id":"RD-1","documents":["FDA"]` + offer:                          {nil, 1}, // which it may offer
		`{"request_id":"RD-1","transaction_id":"TR-1"` + offer:                      {nil, 0},
		`{"request_id":"RD-1","charged_amount":5` + offer:                           {nil, 0},
		`{"request_id":"RD-1","transaction_id":"TR-1"}`:                             {nil, 0},
		`{"request_id":"RD-1","status":"draft","transaction_id":"TR-1"` + offer:     {edit, 0},
		`{"request_id":"RD-1","status":"draft","charged_amount":5` + offer:          {edit, 0},
		`{"request_id":"RD-1","status":"completed"}`:                                {nil, 0},
		`{"request_id":"RD-1","status":"in_production","documents":["FDA"]` + offer: {nil, 0},
	} {
		for _, way := range []string{"AnalyzeAndPoll", "Prepare"} {
			synctest.Test(t, func(t *testing.T) {
				service := workflow(success(analysis), success(`{"request_id":"RD-1","status":"draft"`+offer))
				err := waysToBuy(&shipping.AnalyzeAndPollOptions{Edit: test.edit, Select: shipping.SelectAll,
					Poll: shipping.PollOptions{DraftFor: time.Second}})[way](t.Context(), regulatory(t, service))
				if got := service.CountPath("/purchase"); got != test.purchases {
					t.Errorf("%s, %s: %d purchases, %v", way, analysis, got, err)
				}
			})
		}
	}
}

// waysToBuy purchase FDA on RD-1, which nobody else purchases.
func waysToBuy(options *shipping.AnalyzeAndPollOptions) map[string]func(context.Context,
	shipping.RegulatoryService) error {
	purchase := func(ctx context.Context, r shipping.RegulatoryService, draft *shipping.RegulatoryRequest) error {
		return shippingtest.Err(r.Purchase(ctx, &shipping.PurchaseRequest{
			RequestID: "RD-1", DocumentTypes: fda, Draft: draft, Sole: true}))
	}
	return map[string]func(context.Context, shipping.RegulatoryService) error{
		"Purchase, read first": func(ctx context.Context, r shipping.RegulatoryService) error {
			return purchase(ctx, r, nil)
		},
		"Purchase, with the draft": func(ctx context.Context, r shipping.RegulatoryService) error {
			draft, err := r.Get(ctx, "RD-1")
			if err != nil {
				return err
			}
			return purchase(ctx, r, draft)
		},
		"AnalyzeAndPoll": func(ctx context.Context, r shipping.RegulatoryService) error {
			return shippingtest.Err(r.AnalyzeAndPoll(ctx, parcel, options))
		},
		"Resume": func(ctx context.Context, r shipping.RegulatoryService) error {
			return shippingtest.Err(r.Resume(ctx, "RD-1", options))
		},
		"Prepare": func(ctx context.Context, r shipping.RegulatoryService) error {
			draft, err := r.Analyze(ctx, parcel)
			if err != nil {
				return err
			}
			prepared, err := r.Prepare(ctx, draft, options)
			if err != nil {
				return err
			}
			return shippingtest.Err(r.Purchase(ctx, prepared))
		},
	}
}

// If the Purchase of an error is sent again, the request is read before.
func TestPurchase_AgainFromItsErrorReadsTheRequest(t *testing.T) {
	t.Parallel()
	type row struct {
		draft    string
		response httpmock.Responder
	}
	shippingtest.EachInBubble(t, map[string]row{
		"a draft that shows a transaction": {`{"request_id":"RD-1","status":"draft","transaction_id":"TX-1"}`, nil},
		"a draft that is unclear":          {`{"request_id":"RD-1","status":"draft","status":"draft"}`, nil},
		"an unknown outcome":               {`{"request_id":"RD-1","status":"draft"}`, body(503, "")},
		"a refused purchase":               {`{"request_id":"RD-1","status":"draft"}`, ofDraft},
	}, func(t *testing.T, test row) {
		read := func(r *http.Request) (*http.Response, error) { return success(test.draft)(r) }
		service := requestService(responders{test.response}, responders{read})
		client := shippingtest.NewClient(t, service)
		_, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: fda})
		failed := failureIn(t, err)
		sent := service.Count(http.MethodPost)
		test.draft = `{"request_id":"RD-1","status":"processing"}` // in the meantime
		for _, again := range []*shipping.PurchaseRequest{failed.Purchase, stored(t, failed.Purchase)} {
			if _, err := client.Regulatory.Purchase(t.Context(), again); err == nil || service.Count(http.MethodPost) != sent {
				t.Errorf("%d purchases, then %d: %v", sent, service.Count(http.MethodPost), err)
			}
		}
	})
}

// If the Purchase of the error of a refused purchase is sent again, the new purchase does not count as refused. If its
// response is lost, it can be settled as charged.
func TestPurchase_AgainAfterARefusal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		record := `{"request_id":"RD-1","status":"draft"}`
		read := func(r *http.Request) (*http.Response, error) { return success(record)(r) }
		service := requestService(responders{ofDraft, shippingtest.NoResponse()}, responders{read})
		client := shippingtest.NewClient(t, service)
		_, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: fda})
		refused := failureIn(t, err)
		if !refused.Purchase.Refused {
			t.Fatal(err)
		}
		_, err = client.Regulatory.Purchase(t.Context(), refused.Purchase)
		lost := unclear(t, err)
		record = `{"request_id":"RD-1","status":"processing","purchased_documents":["FDA"]}`
		if _, err := client.Regulatory.SettlePurchase(t.Context(), lost.Purchase); err != nil {
			t.Errorf("the second purchase was charged: %v", err)
		}
	})
}

// Without a draft, the request is read once before the purchase. If that fails, nothing is sent.
func TestPurchase_ReadsTheRequestFirst(t *testing.T) {
	t.Parallel()
	unread := &shipping.RegulatoryRequest{
		RequestID: "RD-1", Status: shipping.StatusDraft, Raw: `{"request_id":"RD-1"}`, // without a status
	}
	gone := refusal(404, "gone")
	type row struct {
		draft       *shipping.RegulatoryRequest
		sole        bool
		read        httpmock.Responder
		reads, sent int
		want        error
	}
	shippingtest.EachInBubble(t, map[string]row{
		"a draft":            {nil, false, record("draft"), 1, 1, nil},
		"no reading":         {nil, false, gone, 1, 0, shipping.ErrNotFound},
		"no reading, sole":   {nil, true, gone, 1, 0, shipping.ErrNotFound},
		"analyzed":           {unread, false, gone, 1, 0, shipping.ErrNotFound},
		"analyzed, sole":     {unread, true, gone, 1, 1, nil}, // only the sole buyer of a new request may purchase it unread
		"of another request": {shippingtest.DraftRecord("RD-2"), false, gone, 0, 0, shipping.ErrInvalidRequest},
	}, func(t *testing.T, test row) {
		service := requestService(responders{success(`{}`)}, responders{test.read})
		purchase := &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: fda, Draft: test.draft, Sole: test.sole}
		result, err := regulatory(t, service).Purchase(t.Context(), purchase)
		reads, sent := service.Count(http.MethodGet), service.Count(http.MethodPost)
		if !errors.Is(err, test.want) || reads < test.reads || sent != test.sent || purchase.Draft != test.draft {
			t.Errorf("%d readings, %d purchases, %v", reads, sent, err)
		}
		if outcome := shippingtest.Outcome(result, err); test.want == shipping.ErrNotFound && outcome != not {
			t.Errorf("%q", outcome)
		}
	})
}

// The response to an analysis can show no status, and the request may not be readable before its purchase. If it then
// reads as failed, the analysis may have failed, which charges nothing: it was reported as charged.
func TestPurchase_AFailureMayBeThatOfTheAnalysis(t *testing.T) {
	t.Parallel()
	const offer = `"available_documents":[{"document_type":"FDA","amount":5,"currency":"NGN"}]`
	gone, withoutStatus := refusal(404, "gone"), success(`{"request_id":"RD-1",`+offer+`}`)
	type row struct {
		analysis, first, after httpmock.Responder
		want                   shipping.PurchaseOutcome
	}
	shippingtest.EachInBubble(t, map[string]row{
		"not read before":                     {withoutStatus, gone, record("failed"), unknown},
		"not read before, a transaction":      {withoutStatus, gone, record("failed", charge), charged},
		"not read before, lists the document": {withoutStatus, gone, record("failed", listsFDA), charged},
		"not read before, processing":         {withoutStatus, gone, record("processing"), charged},
		"read as a draft":                     {withoutStatus, record("draft", offer), record("failed"), charged},
		"analyzed as a draft":                 {record("draft", offer), gone, record("failed"), charged},
	}, func(t *testing.T, test row) {
		var service *shippingtest.Service
		read := func(r *http.Request) (*http.Response, error) {
			if service.CountPath("/purchase") == 0 {
				return test.first(r)
			}
			return test.after(r)
		}
		service = requestService(responders{shippingtest.NoResponse()}, responders{read})
		service.RegisterResponder(http.MethodPost, analyzeURL, test.analysis)
		client := shippingtest.NewClient(t, service)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		err := shippingtest.Err(client.Regulatory.AnalyzeAndPoll(ctx, parcel, selectAll))
		if got := shippingtest.Outcome(nil, err); got != test.want {
			t.Fatalf("%q, want %q (%v)", got, test.want, err)
		}
		if test.want == unknown && settleTwice(t, client, failureIn(t, err).Purchase) != unknown {
			t.Error("settled")
		}
	})
}

// settleTwice settles the purchase of an error, and its copy from JSON, and requires the same outcome.
func settleTwice(t *testing.T, client *shipping.Client, purchase *shipping.PurchaseRequest) shipping.PurchaseOutcome {
	t.Helper()
	kept := stored(t, purchase)
	if kept.Draft == nil {
		t.Error("the draft is not stored")
	}
	first := shippingtest.Outcome(client.Regulatory.SettlePurchase(t.Context(), purchase))
	shippingtest.Diff(t, "the outcome from its JSON", first,
		shippingtest.Outcome(client.Regulatory.SettlePurchase(t.Context(), kept)))
	return first
}

// The stored purchase decides when it is settled. A refused purchase was settled as a success, because the refusal was
// not stored. A list that the draft had already was taken for a purchase. A refusal that showed a purchase counted as
// "not charged" if later readings were older copies. So did a purchase that a reading had shown.
func TestSettlePurchase_RemembersTheDraftAndTheRefusal(t *testing.T) {
	t.Parallel()
	refused := func(data string) httpmock.Responder {
		return body(400, `{"status":false,"message":"no","data":`+data+`}`)
	}
	lost, plainly, completed := body(503, "<html>"), refused(`null`), refused(`{"status":"completed"}`)
	processing := refused(`{"request_id":"RD-1","status":"processing"}`)
	another := refused(`{"request_id":"RD-2","status":"draft"}`)
	paid, quoted := refused(`{"status":"draft","transaction_id":"TX-1"}`), refused(`{"status":"draft","charged_amount":5}`)
	const documents, purchased = `"documents":[{"document_type":"FDA"}]`, `"purchased_documents":[{"document_type":"FDA"}]`
	const uploads, quote, both = `"documents":["MSDS"]`, `"charged_amount":5`, `"documents":["FDA","MSDS"]`
	confirmed := record("processing", both)
	twoLists, old := record("completed", documents, purchased), record("draft")
	afterwards := func(first, then httpmock.Responder) httpmock.Responder {
		started := sync.OnceValue(time.Now)
		return func(r *http.Request) (*http.Response, error) {
			if time.Since(started()) < 20*time.Second {
				return first(r)
			}
			return then(r)
		}
	}
	const types, moreTypes = `"document_types":["MSDS"]`, `"document_types":["MSDS","FDA"]`
	type row struct {
		draft    string // members beside id and status
		sole     bool
		response httpmock.Responder
		read     httpmock.Responder
		want     shipping.PurchaseOutcome
		later    shipping.PurchaseOutcome // if it is another
	}
	shippingtest.EachInBubble(t, map[string]row{
		"lost, documents before and after":       {documents, false, lost, record("processing", documents), unknown, ""},
		"lost, types before, more after":         {types, false, lost, record("completed", moreTypes), unknown, ""},
		"lost, the same, nobody else can buy":    {documents, true, lost, record("processing", documents), charged, ""},
		"lost, another list after":               {documents, false, lost, twoLists, charged, ""},
		"lost, failed with another charge":       {"", false, lost, record("failed", charge), unknown, ""},
		"lost, a minimal record":                 {"", false, lost, record("completed"), unknown, ""},
		"lost, a draft with its quote":           {quote, true, lost, record("draft", quote), unknown, not},
		"lost, a draft with another charge":      {quote, true, lost, record("draft", `"charged_amount":6`), unknown, ""},
		"refused, a minimal record":              {"", false, plainly, record("completed"), unknown, ""},
		"refused, the same, nobody else can buy": {"", true, plainly, record("processing"), unknown, ""},
		"refused, failed with a charge":          {"", false, plainly, record("failed", charge), unknown, ""},
		"refused, uploads before and after":      {uploads, false, plainly, record("completed", uploads), unknown, ""},
		"refused, these":                         {"", false, plainly, record("completed", documents), before, ""},
		"contradicted, these":                    {"", false, completed, record("completed", documents), before, ""},
		"contradicted, others":                   {"", false, completed, record("completed", listsCustoms), unknown, ""},
		"contradicted by its state, a draft":     {"", false, processing, record("draft"), unknown, ""},
		"contradicted by its request, a draft":   {"", false, another, record("draft"), unknown, ""},
		"contradicted by a transaction, a draft": {"", true, paid, record("draft"), unknown, ""},
		"contradicted by a charge, a draft":      {"", true, refused(`{"charged_amount":5}`), record("draft"), unknown, ""},
		"contradicted by a document, a draft":    {"", true, refused(`{` + listsFDA + `}`), record("draft"), unknown, ""},
		"refused, a draft":                       {"", false, refused(`{"status":"draft"}`), record("draft"), not, ""},
		"refused with its documents, a draft": {listsFDA, true, refused(`{` + listsFDA + `}`), record("draft", listsFDA), not,
			""},
		"refused with its quote, a draft":   {quote, true, quoted, record("draft", quote), not, ""},
		"confirmed, the draft's list":       {both, false, confirmed, record("processing"), charged, ""},
		"refused, processing, then a draft": {"", true, plainly, record("processing").Then(old), unknown, ""},
		"refused, generating, then a draft": {"", true, plainly, record("printing").Then(old), unknown, ""},
		"refused, completed, then a draft":  {"", true, plainly, record("completed").Then(old), unknown, ""},
		"refused, failed, then a draft":     {"", true, plainly, record("failed").Then(old), unknown, ""},
		"refused, a charge, then none":      {"", true, plainly, record("draft", charge).Then(old), unknown, ""},
		"refused, processing, then expired": {"", true, plainly, record("processing").Then(record("gone")), unknown, ""},
		"refused, purchasing, then a draft": {"", true, plainly, record("purchasing").Then(old), not, ""},
		"refused, processing, then others": {"", false, plainly, afterwards(record("processing"),
			record("completed", listsCustoms)), unknown, not},
		"lost, processing, then a draft": {"", false, lost, record("processing").Then(old), unknown, ""},
		"lost, purchasing, then a draft": {"", false, lost, record("purchasing").Then(old), unknown, not},
		"lost, a charge, then none":      {"", true, lost, record("draft", charge).Then(old), unknown, ""},
		"refused, a list, then none":     {"", true, plainly, record("draft", purchased).Then(old), unknown, ""},
		"lost, a list, then none":        {"", true, lost, record("draft", documents).Then(old), unknown, ""},
		"refused, others, then a draft":  {"", true, plainly, record("draft", uploads).Then(old), unknown, ""},
		"contradicted by a list":         {"", true, refused(`{` + purchased + `}`), old, unknown, ""},
		"lost, a transaction in it":      {"", true, body(500, `{"status":false,"data":{`+charge+`}}`), old, unknown, ""},
		"lost, a charge in it":           {"", true, record("draft", quote), old, unknown, ""},
		"lost, the draft's quote in it":  {quote, true, record("draft", quote), record("draft", quote), unknown, not},
		"lost, a transaction of another": {"", true, success(`{"request_id":"RD-2",` + charge + `}`), old, unknown, not},
		"confirmed with failures, a transaction": {"", true, record("processing", charge, `"errors":["slow"]`), old, unknown,
			""},
	}, func(t *testing.T, test row) {
		client := shippingtest.NewClient(t, requestService(responders{test.response}, responders{test.read}),
			shipping.WithDialect(shippingtest.Dialect(t,
				"purchase.quoted=true,record.states=printing=generating,gone=expired")))
		members := `"available_documents":[{"document_type":"FDA","amount":5,"currency":"NGN"}]`
		if test.draft != "" {
			members += "," + test.draft
		}
		reading := shippingtest.NewClient(t, shippingtest.NewService(record("draft", members)))
		draft := shippingtest.Must(reading.Regulatory.Get(t.Context(), "RD-1"))(t)
		result, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{
			RequestID: "RD-1", DocumentTypes: fda, Draft: draft, Sole: test.sole,
		})
		outcome := shippingtest.Outcome(result, err)
		later := outcome
		if failed, ok := errors.AsType[*shipping.RegulatoryError](err); ok && outcome == unknown {
			later = settleTwice(t, client, failed.Purchase)
		}
		if want := cmp.Or(test.later, test.want); outcome != test.want || later != want {
			t.Errorf("%q, later %q; want %q, later %q (%v)", outcome, later, test.want, want, err)
		}
	})
}

// A gateway can repeat a purchase, and pass on the refusal of one copy, while the other takes effect later, or is shown
// later. So a refusal is an answer only after RefusedFor, whatever its form, and after QuietFor if it announces a
// purchase that is under way, or a reading shows one. An ordinary refusal took a minute, which ended in "unknown" for
// a context of 30 s.
//
// The request is read until shortly before the deadline of the context: readings had ended with up to half of the time
// left, and a purchase that arrived then stayed unknown.
func TestPurchase_OutlastsLateEffects(t *testing.T) {
	t.Parallel()
	const never = time.Hour
	draft, gone, bought := record("draft"), record("gone"), record("purchasing").Then(record("draft"))
	ordinary, announced := refusal(400, "insufficient funds"), refusal(409, "no")
	retryAfter := ordinary.HeaderSet(http.Header{"Retry-After": {"0"}})
	lost := shippingtest.NoResponse()
	type options = shipping.PurchaseOptions
	var usual options
	settle := options{SettleFor: time.Minute}
	type row struct {
		response httpmock.Responder
		effect   time.Duration // when the readings show the purchase
		options  options
		deadline time.Duration
		want     shipping.PurchaseOutcome
		took     time.Duration
		shown    httpmock.Responder // until then
	}
	declared := shipping.WithDialect(shippingtest.Dialect(t, "record.states=gone=expired"))
	shippingtest.EachInBubble(t, map[string]row{
		"refused":                       {ordinary, never, usual, time.Hour, not, 5 * time.Second, draft},
		"refused, with a deadline":      {ordinary, never, usual, 30 * time.Second, not, 5 * time.Second, draft},
		"refused, too short a deadline": {ordinary, never, usual, 4 * time.Second, unknown, 3 * time.Second, draft},
		"refused, shown late":           {ordinary, 4 * time.Second, usual, 30 * time.Second, before, 4 * time.Second, draft},
		"refused, beyond the limit":     {ordinary, 7 * time.Second, usual, time.Hour, not, 5 * time.Second, draft},
		"refused, states the draft":     {ofDraft, never, usual, time.Hour, not, 5 * time.Second, draft},
		"states the draft, shown late":  {ofDraft, 4 * time.Second, usual, time.Hour, before, 4 * time.Second, draft},
		"refused, RefusedFor is set":    {ordinary, never, options{RefusedFor: 2e9}, time.Hour, not, 2 * time.Second, draft},
		"refused, QuietFor is set":      {ordinary, never, options{QuietFor: 3e9}, time.Hour, not, 3 * time.Second, draft},
		"a problem":                     {problem(400), never, usual, time.Hour, not, 5 * time.Second, draft},
		"409":                           {announced, never, usual, time.Hour, not, time.Minute, draft},
		"409, shown late":               {announced, 50 * time.Second, usual, time.Hour, before, 50 * time.Second, draft},
		"409, RefusedFor is set":        {announced, never, options{RefusedFor: 1e9}, time.Hour, not, time.Minute, draft},
		"423":                           {refusal(423, "no"), never, usual, time.Hour, not, time.Minute, draft},
		"429":                           {refusal(429, "no"), never, usual, time.Hour, not, time.Minute, draft},
		"a Retry-After, shown late":     {retryAfter, 50 * time.Second, usual, time.Hour, before, 50 * time.Second, draft},
		"refused, expired":              {ordinary, never, usual, time.Hour, not, 5 * time.Second, gone},
		"refused, expired, shown late":  {ordinary, 4 * time.Second, usual, 30 * time.Second, before, 4 * time.Second, gone},
		"refused, purchasing":           {ordinary, 50 * time.Second, usual, time.Hour, before, 50 * time.Second, bought},
		"409, expired":                  {announced, never, usual, time.Hour, not, time.Minute, gone},
		"409, expired, shown late":      {announced, 50 * time.Second, usual, time.Hour, before, 50 * time.Second, gone},
		"lost, deadline of 12 s":        {lost, 5 * time.Second, settle, 12 * time.Second, charged, 5 * time.Second, draft},
		"lost, later, the same":         {lost, 8 * time.Second, settle, 12 * time.Second, charged, 8 * time.Second, draft},
		"lost, in the last second of":   {lost, 11 * time.Second, settle, 12 * time.Second, charged, 11 * time.Second, draft},
	}, func(t *testing.T, test row) {
		started := time.Now()
		read := func(r *http.Request) (*http.Response, error) { // of a copy that lags behind, or before the effect
			if time.Since(started) < test.effect {
				return test.shown(r)
			}
			return record("processing", listsFDA)(r)
		}
		service := requestService(responders{test.response}, responders{read})
		ctx, stop := context.WithTimeout(t.Context(), test.deadline)
		defer stop()
		result, err := regulatory(t, service, declared).Purchase(ctx, &shipping.PurchaseRequest{
			RequestID: "RD-1", DocumentTypes: fda, Draft: shippingtest.DraftRecord("RD-1"), PurchaseOptions: test.options})
		shippingtest.Diff(t, fmt.Sprint("the outcome of ", err), test.want, shippingtest.Outcome(result, err))
		most := test.took * 7 / 4 // readings become rarer
		if test.want == not {
			most = test.took + time.Millisecond
		}
		if took := time.Since(started); took < test.took || took > most {
			t.Errorf("decided after %s, want %s", took, test.took)
		}
	})
}

// ofDraft is a refusal that states that the request is a draft.
var ofDraft = body(400, `{"status":false,"message":"no","data":{"request_id":"RD-1","status":"draft"}}`)

// A stored refusal is settled as the purchase itself would have been decided: after RefusedFor, or after QuietFor if it
// announced a purchase under way. If it were settled earlier, a copy of the purchase could take effect after it was
// reported as not charged. After a response that is lost, such as the 504 of a gateway that gives up after 29 s, the
// service can go on for minutes: after one minute, a purchase was reported as not charged that was charged at two.
func TestSettlePurchase_OfARefusal(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]time.Duration{400: 5 * time.Second, 409: time.Minute, 500: 5 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			reads := responders{refusal(400, "no"), record("draft")} // the first ends the purchase
			client := shippingtest.NewClient(t, requestService(responders{refusal(status, "no")}, reads))
			_, err := shippingtest.Purchase(t.Context(), client, false)
			failed, started := unclear(t, err), time.Now()
			shippingtest.Diff(t, fmt.Sprintf("the outcome of %d", status), not, settleTwice(t, client, failed.Purchase))
			if took := time.Since(started) / 2; took < want || took > want+time.Millisecond {
				t.Errorf("%d: settled after %s, want %s", status, took, want)
			}
		})
	}
}

// A context that ends while a reading is answered ends the purchase with the error of the context, also if the response
// is a separate error.
func TestPurchase_AContextThatEndsWithAReadingIsReported(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusOK, http.StatusServiceUnavailable, http.StatusNotFound} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			read := func(r *http.Request) (*http.Response, error) {
				cancel()
				if status == http.StatusOK {
					return record("draft")(r)
				}
				return refusal(status, "no")(r)
			}
			service := requestService(responders{body(500, "")}, responders{read})
			_, err := shippingtest.Purchase(ctx, shippingtest.NewClient(t, service), false)
			failed, ok := errors.AsType[*shipping.RegulatoryError](err)
			if !ok || failed.Outcome != unknown || !errors.Is(err, context.Canceled) {
				t.Errorf("%d: %v", status, err)
			}
		})
	}
}

// The price of a draft is read in one pass. It was read once a document: a draft of 2,500 offers outlived its deadline
// by half a minute.
func TestBudget_ALongDraftIsReadOnce(t *testing.T) {
	checking := func(offers int) func() {
		var documents []string
		for n := range offers {
			documents = append(documents, fmt.Sprintf(`{"document_type":"FORM-%d","amount":1,"currency":"NGN"}`, n))
		}
		service := shippingtest.NewService(record("draft", `"available_documents":[`+strings.Join(documents, ",")+`]`))
		draft := shippingtest.Must(regulatory(t, service).Get(t.Context(), "RD-1"))(t)
		all, _ := shipping.SelectAll(draft)
		budget := shipping.Budget{Amount: shippingtest.Amount(t, "2500"), Currency: "NGN"}
		return func() {
			if price, err := budget.Check(draft, all...); err != nil || price != shippingtest.Amount(t, fmt.Sprint(offers)) {
				t.Fatalf("%s, %v", price, err)
			}
		}
	}
	few, many := testing.AllocsPerRun(2, checking(250)), testing.AllocsPerRun(2, checking(2500))
	if many > 12*few {
		t.Errorf("%.0f allocations for 2,500 offers, %.0f for 250: that is not linear", many, few)
	}
}

// A draft that shows a purchase is not purchased later either: not with the Purchase of the error, and not from its
// JSON, which both left out what the draft showed. Nor is a purchase that was never sent settled as a success.
func TestPurchase_ADraftThatWasNotPurchasedIsNotRemembered(t *testing.T) {
	t.Parallel()
	for name, members := range map[string]string{
		"a transaction":                     `"status":"draft","transaction_id":"TX-1"`,
		"a transaction that cannot be read": `"status":"draft","transaction_id":{"id":1}`,
		"a charge":                          `"status":"draft","charged_amount":5`,
		"a status given twice":              `"status":"completed","status":"draft"`,
		"two values for the status":         `"status":"draft","request":{"status":"processing"}`,
		"a completed request":               `"status":"completed"`,
	} {
		read := success(`{"request_id":"RD-1",` + members + `}`)
		service := requestService(responders{record("processing")}, responders{
			func(r *http.Request) (*http.Response, error) { return read(r) }})
		client := shippingtest.NewClient(t, service)
		draft, err := client.Regulatory.Get(t.Context(), "RD-1")
		shippingtest.NoError(t, err)
		first := &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: fda, Draft: draft, Sole: true}
		_, err = client.Regulatory.Purchase(t.Context(), first)
		failed := failureIn(t, err)
		again := map[string]*shipping.PurchaseRequest{
			"the same": first, "that of the error": failed.Purchase, "that of the JSON": stored(t, first)}
		for which, purchase := range again {
			_, err := client.Regulatory.Purchase(t.Context(), purchase)
			if err == nil || service.Count(http.MethodPost) != 0 {
				t.Errorf("%s, %s: %d purchases, %v", name, which, service.Count(http.MethodPost), err)
			}
		}
		if name == "a charge" { // which may be a quote, with which it can have been purchased
			continue
		}
		read = record("completed", `"transaction_id":"TX-1"`) // another client has purchased other documents
		for which, purchase := range again {
			outcome := shippingtest.Outcome(client.Regulatory.SettlePurchase(t.Context(), purchase))
			shippingtest.Diff(t, name+", "+which+": outcome", unknown, outcome)
		}
	}
}

// A charge that is shown beside the wrapped record is that of the record.
func TestPurchase_TheChargeBesideAWrappedRecord(t *testing.T) {
	t.Parallel()
	service := requestService(responders{success(`{"request":{"request_id":"RD-1","status":"processing"},` +
		`"charged_amount":5,"currency":"NGN","transaction_id":"TR-1"}`)}, nil)
	result, err := shippingtest.Purchase(t.Context(), shippingtest.NewClient(t, service), false)
	operation := requestService(responders{success(`{"status":"success"}`)}, nil) // the status of the operation
	plain, failure := shippingtest.Purchase(t.Context(), shippingtest.NewClient(t, operation), false)
	if failure != nil || plain.Status != "" {
		t.Errorf("%+v, %v", plain, failure)
	}
	if err != nil || result.ChargedAmount != shippingtest.Amount(t, "5") || result.Currency != "NGN" ||
		result.TransactionID != "TR-1" {
		t.Errorf("%+v, %v", result, err)
	}
}
