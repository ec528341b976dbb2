package shipping_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// A request that is not a draft, or a draft that shows a purchase, is sent no purchase, whichever way it comes: it was
// purchased again before.
func TestPurchase_OnlyADraftThatShowsNoPurchaseIsSent(t *testing.T) {
	t.Parallel()
	const offers = `"available_documents":[{"document_type":"FDA","amount":5,"currency":"NGN"}]`
	none, quoted := new(dialect.Dialect), &dialect.Dialect{Purchase: dialect.Purchase{Quoted: true}}
	for name, test := range map[string]struct {
		record  string
		dialect *dialect.Dialect
		want    string // in the error; "" if the purchase is sent
	}{
		"a draft":                                {`{"request_id":"RD-1","status":"draft",` + offers + `}`, none, ""},
		"a draft that lists documents":           {`{"request_id":"RD-1","status":"draft","documents":["FDA"],` + offers + `}`, none, ""},
		"a draft, charged 0":                     {`{"request_id":"RD-1","status":"draft","charged_amount":0,` + offers + `}`, none, ""},
		"a transaction":                          {`{"request_id":"RD-1","status":"draft","transaction_id":"TX-1",` + offers + `}`, quoted, "shows a transaction"},
		"a transaction that cannot be read":      {`{"request_id":"RD-1","status":"draft","transaction_id":{"id":1},` + offers + `}`, quoted, "shows a transaction"},
		"a charge":                               {`{"request_id":"RD-1","status":"draft","charged_amount":5,` + offers + `}`, none, "purchase.quoted"},
		"a charge that cannot be read":           {`{"request_id":"RD-1","status":"draft","charged_amount":"5 NGN",` + offers + `}`, none, "purchase.quoted"},
		"a charge, beside the record":            {`{"charged_amount":5,"request":{"request_id":"RD-1","status":"draft",` + offers + `}}`, none, "purchase.quoted"},
		"a transaction, beside the record":       {`{"transaction_id":"TX-1","request":{"request_id":"RD-1","status":"draft",` + offers + `}}`, quoted, "shows a transaction"},
		"a quote of another sum":                 {`{"request_id":"RD-1","status":"draft","charged_amount":6,` + offers + `}`, quoted, "neither of all that it offers"},
		"a quote":                                {`{"request_id":"RD-1","status":"draft","charged_amount":5,` + offers + `}`, quoted, ""},
		"a quote of floating-point origin":       {`{"request_id":"RD-1","status":"draft","charged_amount":5.000000000000001,` + offers + `}`, quoted, ""},
		"a status given twice":                   {`{"request_id":"RD-1","status":"completed","status":"draft",` + offers + `}`, none, `"status" twice`},
		"another status beside the record":       {`{"request_id":"RD-1","status":"draft","request":{"status":"processing"},` + offers + `}`, none, "two values for status"},
		"a completed request":                    {`{"request_id":"RD-1","status":"completed",` + offers + `}`, none, "completed"},
		"a request in a state that is not known": {`{"request_id":"RD-1","status":"quoted",` + offers + `}`, none, "quoted"},
		"a list of one draft":                    {`[{"request_id":"RD-1","status":"draft",` + offers + `}]`, none, ""},
		"a list of one charged draft":            {`[{"request_id":"RD-1","status":"draft","charged_amount":5,` + offers + `}]`, none, "purchase.quoted"},
		"a list of two drafts":                   {`[{"request_id":"RD-1","status":"draft",` + offers + `},{"request_id":"RD-2","status":"draft"}]`, none, "no regulatory request"},
	} {
		workflow := &shipping.AnalyzeAndPollOptions{
			Select: shipping.SelectAll, Poll: shipping.PollOptions{MaxFailures: 1, DraftFor: time.Second},
		}
		for way, buy := range map[string]func(ctx context.Context, r shipping.RegulatoryService) error{
			"Purchase, read first": func(ctx context.Context, r shipping.RegulatoryService) error {
				_, err := r.Purchase(ctx, &shipping.PurchaseRequest{
					RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Sole: true})
				return err
			},
			"Purchase, with the draft": func(ctx context.Context, r shipping.RegulatoryService) error {
				draft, err := r.Get(ctx, "RD-1")
				if err != nil {
					return err
				}
				_, err = r.Purchase(ctx, &shipping.PurchaseRequest{
					RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: draft, Sole: true})
				return err
			},
			"AnalyzeAndPoll": func(ctx context.Context, r shipping.RegulatoryService) error {
				_, err := r.AnalyzeAndPoll(ctx, parcel, workflow)
				return err
			},
			"Resume": func(ctx context.Context, r shipping.RegulatoryService) error {
				_, err := r.Resume(ctx, "RD-1", workflow)
				return err
			},
		} {
			synctest.Test(t, func(t *testing.T) {
				purchases := 0
				service := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
					if strings.HasSuffix(r.URL.Path, "/purchase") {
						purchases++
						return shippingtest.Record("processing")(r)
					}
					return shippingtest.OK(test.record)(r)
				})
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				err := buy(ctx, shippingtest.NewClient(t, service, shipping.WithDialect(test.dialect)).Regulatory)
				want := test.want
				if way == "Resume" && strings.HasPrefix(name, "a quote") && test.want == "" { // Resume does not know whether somebody else has purchased
					want = "set Sole"
				}
				if (purchases == 1) != (want == "") {
					t.Errorf("%s, %s: %d purchases, %v", way, name, purchases, err)
				}
				completed := way == "Resume" && strings.Contains(name, "completed") // which is what it waits for
				waits := way == "Resume" && strings.Contains(name, "not known")
				if want != "" && !completed && !waits && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("%s, %s: %v, want %q", way, name, err, want)
				}
			})
		}
	}
}

// What an error holds of a purchase does not make the next one blind: the request is read again before it is purchased.
func TestPurchase_AgainFromItsErrorReadsTheRequest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		draft    string
		response httpmock.Responder
	}{
		"a draft that shows a transaction": {`{"request_id":"RD-1","status":"draft","transaction_id":"TX-1"}`, nil},
		"a draft that is unclear":          {`{"request_id":"RD-1","status":"draft","status":"draft"}`, nil},
		"an unknown outcome":               {`{"request_id":"RD-1","status":"draft"}`, httpmock.NewStringResponder(503, "")},
		"a refused purchase":               {`{"request_id":"RD-1","status":"draft"}`, httpmock.NewStringResponder(400, `{"status":false,"data":{"status":"draft"}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				purchases := 0
				service := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
					if r.Method == http.MethodPost {
						purchases++
						return test.response(r)
					}
					return shippingtest.OK(test.draft)(r)
				})
				client := shippingtest.NewClient(t, service)
				_, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}})
				failed, ok := errors.AsType[*shipping.RegulatoryError](err)
				if !ok {
					t.Fatal(err)
				}
				text, err := json.Marshal(failed.Purchase)
				var stored shipping.PurchaseRequest
				if err := errors.Join(err, json.Unmarshal(text, &stored)); err != nil {
					t.Fatal(err)
				}
				sent := purchases
				test.draft = `{"request_id":"RD-1","status":"processing"}` // in the meantime
				for _, again := range []*shipping.PurchaseRequest{failed.Purchase, &stored} {
					if _, err := client.Regulatory.Purchase(t.Context(), again); err == nil || purchases != sent {
						t.Errorf("%d purchases, then %d: %v", sent, purchases, err)
					}
				}
			})
		})
	}
}

// TestPurchase_AgainAfterARefusal: what the error of a refused purchase holds does not make the next one a refused one. If
// its response is lost, it can be settled as charged.
func TestPurchase_AgainAfterARefusal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		record := `{"request_id":"RD-1","status":"draft"}`
		response := httpmock.NewStringResponder(400, `{"status":false,"data":{"status":"draft"}}`)
		client := shippingtest.NewClient(t, shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				return response(r)
			}
			return shippingtest.OK(record)(r)
		}))
		_, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}})
		refused, ok := errors.AsType[*shipping.RegulatoryError](err)
		if !ok || !refused.Purchase.Refused {
			t.Fatal(err)
		}
		response = httpmock.NewErrorResponder(errors.New("connection reset"))
		_, err = client.Regulatory.Purchase(t.Context(), refused.Purchase)
		lost, ok := errors.AsType[*shipping.RegulatoryError](err)
		if !ok || lost.Outcome != shipping.OutcomeUnknown {
			t.Fatal(err)
		}
		record = `{"request_id":"RD-1","status":"processing","purchased_documents":["FDA"]}`
		if _, err := client.Regulatory.SettlePurchase(t.Context(), lost.Purchase); err != nil {
			t.Errorf("the second purchase was charged: %v", err)
		}
	})
}

// Without a draft, the request is read once before the purchase. If that fails, nothing is sent.
func TestPurchase_ReadsTheRequestFirst(t *testing.T) {
	t.Parallel()
	service := shippingtest.NewRequestService([]httpmock.Responder{shippingtest.OK(`{}`)}, []httpmock.Responder{shippingtest.Record("draft")})
	purchase := &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}}
	if _, err := shippingtest.NewClient(t, service).Regulatory.Purchase(t.Context(), purchase); err != nil || service.Count(http.MethodGet) != 1 || purchase.Draft != nil {
		t.Errorf("%d readings, %v", service.Count(http.MethodGet), err)
	}
	service = shippingtest.NewRequestService(nil, []httpmock.Responder{shippingtest.Refusal(404, "gone")})
	result, err := shippingtest.NewClient(t, service).Regulatory.Purchase(t.Context(), purchase)
	if shippingtest.Outcome(result, err) != shipping.OutcomeNotCharged || !errors.Is(err, shipping.ErrNotFound) || service.Count(http.MethodPost) != 0 {
		t.Errorf("%v", err)
	}
	// As Analyze returns it, without a status: only the sole buyer of a new request may purchase what cannot be read.
	purchase.Draft = &shipping.RegulatoryRequest{RequestID: "RD-1", Status: shipping.StatusDraft, Raw: `{"request_id":"RD-1"}`}
	result, err = shippingtest.NewClient(t, service).Regulatory.Purchase(t.Context(), purchase)
	if shippingtest.Outcome(result, err) != shipping.OutcomeNotCharged || service.Count(http.MethodPost) != 0 {
		t.Errorf("%v", err)
	}
	for draft, sent := range map[*shipping.RegulatoryRequest]int{nil: 0, purchase.Draft: 1} {
		service = shippingtest.NewRequestService([]httpmock.Responder{shippingtest.OK(`{}`)}, []httpmock.Responder{shippingtest.Refusal(404, "not yet")})
		_, err = shippingtest.NewClient(t, service).Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{
			RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: draft, Sole: true})
		if (err == nil) != (sent == 1) || service.Count(http.MethodPost) != sent {
			t.Errorf("sole, %+v: %d purchases, %v", draft, service.Count(http.MethodPost), err)
		}
	}
	_, err = shippingtest.NewClient(t, service).Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{
		RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: shippingtest.DraftRecord("RD-2")})
	if _, ok := errors.AsType[*shipping.ValidationError](err); !ok {
		t.Errorf("the draft of another request: %v", err)
	}
}

// settleTwice settles a purchase from what its error holds, and from the JSON of that, which decide alike.
func settleTwice(t *testing.T, client *shipping.Client, purchase *shipping.PurchaseRequest) shipping.PurchaseOutcome {
	t.Helper()
	text, err := json.Marshal(purchase)
	var stored shipping.PurchaseRequest
	if err := errors.Join(err, json.Unmarshal(text, &stored)); err != nil {
		t.Fatal(err)
	}
	if stored.Draft == nil {
		t.Errorf("the draft is not in %s", text)
	}
	result, err := client.Regulatory.SettlePurchase(t.Context(), purchase)
	first := shippingtest.Outcome(result, err)
	result, err = client.Regulatory.SettlePurchase(t.Context(), &stored)
	if second := shippingtest.Outcome(result, err); first != second {
		t.Errorf("settled as %q, and from %s as %q", first, text, second)
	}
	return first
}

// The stored purchase decides when it is settled. A refused purchase was settled as a success, because
// only the response that was not confirmed was remembered; a list that the draft had already was taken for a purchase;
// and a refusal that showed a purchase counted as "not charged", if readings were older than that.
func TestSettlePurchase_RemembersTheDraftAndTheRefusal(t *testing.T) {
	t.Parallel()
	const charged, not, before, unknown = shipping.OutcomeCharged, shipping.OutcomeNotCharged, shipping.OutcomePurchasedBefore, shipping.OutcomeUnknown
	lists := func(member string) string { return `"` + member + `":[{"document_type":"FDA"}]` }
	refused := func(data string) httpmock.Responder {
		return httpmock.NewStringResponder(400, `{"status":false,"message":"no","data":`+data+`}`)
	}
	lost := httpmock.NewStringResponder(503, "<html>")
	for name, test := range map[string]struct {
		draft          string // members beside id and status
		sole           bool
		response       httpmock.Responder
		read           httpmock.Responder
		outcome, later shipping.PurchaseOutcome
	}{
		"lost, available documents before and after":       {lists("documents"), false, lost, shippingtest.Record("processing", lists("documents")), unknown, unknown},
		"lost, uploaded documents before, more after":      {`"document_types":["MSDS"]`, false, lost, shippingtest.Record("completed", `"document_types":["MSDS","FDA"]`), unknown, unknown},
		"lost, the same, and nobody else can buy":          {lists("documents"), true, lost, shippingtest.Record("processing", lists("documents")), charged, charged},
		"lost, another list after":                         {lists("documents"), false, lost, shippingtest.Record("completed", lists("documents"), lists("purchased_documents")), charged, charged},
		"lost, failed with the charge of another purchase": {"", false, lost, shippingtest.Record("failed", charge), unknown, unknown},
		"lost, minimal record of another purchase":         {"", false, lost, shippingtest.Record("completed"), unknown, unknown},
		"lost, a draft with its quote":                     {`"charged_amount":5`, true, lost, shippingtest.Record("draft", `"charged_amount":5`), unknown, not},
		"lost, a draft with another charge":                {`"charged_amount":5`, true, lost, shippingtest.Record("draft", `"charged_amount":6`), unknown, unknown},
		"refused, minimal record of another purchase":      {"", false, refused(`null`), shippingtest.Record("completed"), unknown, unknown},
		"refused, the same, though nobody else can buy":    {"", true, refused(`null`), shippingtest.Record("processing"), unknown, unknown},
		"refused, failed with a charge":                    {"", false, refused(`null`), shippingtest.Record("failed", charge), unknown, unknown},
		"refused, uploaded documents before and after":     {`"documents":["MSDS"]`, false, refused(`null`), shippingtest.Record("completed", `"documents":["MSDS"]`), unknown, unknown},
		"refused, these":                                   {"", false, refused(`null`), shippingtest.Record("completed", lists("documents")), before, before},
		"contradicted, these":                              {"", false, refused(`{"status":"completed"}`), shippingtest.Record("completed", lists("documents")), before, before},
		"contradicted, others":                             {"", false, refused(`{"status":"completed"}`), shippingtest.Record("completed", listsCustoms), unknown, unknown},
		"contradicted by its state, a draft":               {"", false, refused(`{"request_id":"RD-1","status":"processing"}`), shippingtest.Record("draft"), unknown, unknown},
		"contradicted by another request, a draft":         {"", false, refused(`{"request_id":"RD-2","status":"draft"}`), shippingtest.Record("draft"), unknown, unknown},
		"contradicted by a transaction, a draft":           {"", true, refused(`{"status":"draft","transaction_id":"TX-1"}`), shippingtest.Record("draft"), unknown, unknown},
		"contradicted by a charge, a draft":                {"", true, refused(`{"charged_amount":5}`), shippingtest.Record("draft"), unknown, unknown},
		"refused, a draft":                                 {"", false, refused(`{"status":"draft"}`), shippingtest.Record("draft"), not, not},
		"refused with its quote, a draft":                  {`"charged_amount":5`, true, refused(`{"status":"draft","charged_amount":5}`), shippingtest.Record("draft", `"charged_amount":5`), not, not},
		"confirmed, with the list of the draft":            {`"documents":["FDA","MSDS"]`, false, shippingtest.Record("processing", `"documents":["FDA","MSDS"]`), shippingtest.Record("processing"), charged, charged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := shippingtest.NewClient(t, shippingtest.NewRequestService([]httpmock.Responder{test.response}, []httpmock.Responder{test.read}),
					shipping.WithDialect(&dialect.Dialect{Purchase: dialect.Purchase{Quoted: true}}))
				members := `"request_id":"RD-1","status":"draft","available_documents":[{"document_type":"FDA","amount":5,"currency":"NGN"}]`
				if test.draft != "" {
					members += "," + test.draft
				}
				reading := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK("{"+members+"}")))
				draft, err := reading.Regulatory.Get(t.Context(), "RD-1")
				if err != nil {
					t.Fatal(err)
				}
				result, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{
					RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: draft, Sole: test.sole,
				})
				outcome, later := shippingtest.Outcome(result, err), shippingtest.Outcome(result, err)
				if failed, ok := errors.AsType[*shipping.RegulatoryError](err); ok && outcome == shipping.OutcomeUnknown {
					later = settleTwice(t, client, failed.Purchase)
				}
				if outcome != test.outcome || later != test.later {
					t.Errorf("%q, later %q; want %q, later %q (%v)", outcome, later, test.outcome, test.later, err)
				}
			})
		})
	}
}

// A gateway can repeat a purchase, and pass on the refusal of one copy, while the other takes effect later, or is shown
// later. So a refusal is an answer only after RefusedFor, whatever its form, and after QuietFor if it announces a purchase
// that is under way. An ordinary refusal took a minute, which ended in "unknown" for a context of 30 s.
//
// The request is read until shortly before the deadline of the context: readings had ended with up to half of the
// time left, and a purchase that arrived then stayed unknown.
func TestPurchase_OutlastsLateEffects(t *testing.T) {
	t.Parallel()
	const charged, not, before, unknown = shipping.OutcomeCharged, shipping.OutcomeNotCharged, shipping.OutcomePurchasedBefore, shipping.OutcomeUnknown
	const never = time.Hour
	refusal := shippingtest.Refusal(400, "insufficient funds")
	retryAfter := http.Header{"Retry-After": {"0"}}
	for name, test := range map[string]struct {
		response httpmock.Responder
		effect   time.Duration // when the readings show the purchase
		options  shipping.PurchaseOptions
		deadline time.Duration
		want     shipping.PurchaseOutcome
		took     time.Duration
	}{
		"refused":                        {refusal, never, shipping.PurchaseOptions{}, time.Hour, not, 5 * time.Second},
		"refused, with a deadline":       {refusal, never, shipping.PurchaseOptions{}, 30 * time.Second, not, 5 * time.Second},
		"refused, too short a deadline":  {refusal, never, shipping.PurchaseOptions{}, 4 * time.Second, unknown, 3 * time.Second},
		"refused, shown late":            {refusal, 4 * time.Second, shipping.PurchaseOptions{}, 30 * time.Second, before, 4 * time.Second},
		"refused, beyond the limit":      {refusal, 7 * time.Second, shipping.PurchaseOptions{}, time.Hour, not, 5 * time.Second},
		"refused, states the draft":      {ofDraft, never, shipping.PurchaseOptions{}, time.Hour, not, 5 * time.Second},
		"states the draft, shown late":   {ofDraft, 4 * time.Second, shipping.PurchaseOptions{}, time.Hour, before, 4 * time.Second},
		"refused, RefusedFor is set":     {refusal, never, shipping.PurchaseOptions{RefusedFor: 2 * time.Second}, time.Hour, not, 2 * time.Second},
		"refused, QuietFor is set":       {refusal, never, shipping.PurchaseOptions{QuietFor: 3 * time.Second}, time.Hour, not, 3 * time.Second},
		"a problem":                      {problem(400), never, shipping.PurchaseOptions{}, time.Hour, not, 5 * time.Second},
		"409":                            {shippingtest.Refusal(409, "no"), never, shipping.PurchaseOptions{}, time.Hour, not, time.Minute},
		"409, shown late":                {shippingtest.Refusal(409, "no"), 50 * time.Second, shipping.PurchaseOptions{}, time.Hour, before, 50 * time.Second},
		"409, RefusedFor is set":         {shippingtest.Refusal(409, "no"), never, shipping.PurchaseOptions{RefusedFor: time.Second}, time.Hour, not, time.Minute},
		"423":                            {shippingtest.Refusal(423, "no"), never, shipping.PurchaseOptions{}, time.Hour, not, time.Minute},
		"429":                            {shippingtest.Refusal(429, "no"), never, shipping.PurchaseOptions{}, time.Hour, not, time.Minute},
		"with a Retry-After, shown late": {shippingtest.Refusal(400, "no").HeaderSet(retryAfter), 50 * time.Second, shipping.PurchaseOptions{}, time.Hour, before, 50 * time.Second},
		"lost, deadline of 12 s":         {shippingtest.NoResponse(), 5 * time.Second, shipping.PurchaseOptions{SettleFor: time.Minute}, 12 * time.Second, charged, 5 * time.Second},
		"lost, later, the same":          {shippingtest.NoResponse(), 8 * time.Second, shipping.PurchaseOptions{SettleFor: time.Minute}, 12 * time.Second, charged, 8 * time.Second},
		"lost, in the last second of":    {shippingtest.NoResponse(), 11 * time.Second, shipping.PurchaseOptions{SettleFor: time.Minute}, 12 * time.Second, charged, 11 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			started := time.Now()
			service := shippingtest.NewRequestService([]httpmock.Responder{test.response}, []httpmock.Responder{shownAfter(test.effect, shippingtest.Record("processing", listsFDA))})
			ctx, stop := context.WithTimeout(t.Context(), test.deadline)
			defer stop()
			result, err := shippingtest.NewClient(t, service).Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
				RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: shippingtest.DraftRecord("RD-1"), PurchaseOptions: test.options})
			if got := shippingtest.Outcome(result, err); got != test.want {
				t.Errorf("%s: %q, want %q (%v)", name, got, test.want, err)
			}
			most := test.took * 7 / 4 // readings become rarer
			if test.want == not {
				most = test.took + time.Millisecond
			}
			if took := time.Since(started); took < test.took || took > most {
				t.Errorf("%s: decided after %s, want %s", name, took, test.took)
			}
		})
	}
}

// ofDraft is a refusal that states that the request is a draft.
var ofDraft = httpmock.NewStringResponder(400, `{"status":false,"message":"no","data":{"request_id":"RD-1","status":"draft"}}`)

// shownAfter returns a responder whose readings show a draft for a while, and then read: of copies that lag behind, or
// of a purchase that takes effect late.
func shownAfter(late time.Duration, read httpmock.Responder) httpmock.Responder {
	started := time.Now()
	return func(r *http.Request) (*http.Response, error) {
		if time.Since(started) < late {
			return shippingtest.Record("draft")(r)
		}
		return read(r)
	}
}

// A stored refusal is settled as the purchase itself would have been decided: after RefusedFor, or after QuietFor if it
// announced a purchase under way.
func TestSettlePurchase_OfARefusal(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]time.Duration{400: 5 * time.Second, 409: time.Minute, 500: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			reads := []httpmock.Responder{shippingtest.Refusal(400, "no"), shippingtest.Record("draft")} // the first ends the purchase
			client := shippingtest.NewClient(t, shippingtest.NewRequestService([]httpmock.Responder{shippingtest.Refusal(status, "no")}, reads))
			_, err := shippingtest.Purchase(t.Context(), client, false)
			failed, ok := errors.AsType[*shipping.RegulatoryError](err)
			if !ok || failed.Outcome != shipping.OutcomeUnknown {
				t.Fatal(err)
			}
			started := time.Now()
			if got := settleTwice(t, client, failed.Purchase); got != shipping.OutcomeNotCharged {
				t.Errorf("%d: settled as %q", status, got)
			}
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
					return shippingtest.Record("draft")(r)
				}
				return shippingtest.Refusal(status, "no")(r)
			}
			_, err := shippingtest.Purchase(ctx, shippingtest.NewClient(t, shippingtest.NewRequestService([]httpmock.Responder{httpmock.NewStringResponder(500, "")}, []httpmock.Responder{read})), false)
			failed, ok := errors.AsType[*shipping.RegulatoryError](err)
			if !ok || failed.Outcome != shipping.OutcomeUnknown || !errors.Is(err, context.Canceled) {
				t.Errorf("%d: %v", status, err)
			}
		})
	}
}

// The price of a draft is read in one pass. It was read once a document: a draft of 2,500 offers outlived its deadline by
// half a minute.
func TestBudget_ALongDraftIsReadOnce(t *testing.T) {
	checking := func(offers int) func() {
		var documents []string
		for n := range offers {
			documents = append(documents, fmt.Sprintf(`{"document_type":"FORM-%d","name":"a form","mode":"automated","amount":1,"currency":"NGN"}`, n))
		}
		service := shippingtest.NewService(shippingtest.OK(`{"request_id":"RD-1","status":"draft","available_documents":[` + strings.Join(documents, ",") + `]}`))
		draft, err := shippingtest.NewClient(t, service).Regulatory.Get(t.Context(), "RD-1")
		if err != nil {
			t.Fatal(err)
		}
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

// A draft that shows a purchase is not purchased later either: not with the Purchase of the error, and not from its JSON,
// which both left out what the draft showed. Nor is a purchase that was never sent settled as a success.
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
		purchases, ended := 0, false
		service := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/purchase"):
				purchases++
				return shippingtest.Record("processing")(r)
			case ended: // another client has purchased other documents
				return shippingtest.OK(`{"request_id":"RD-1","status":"completed","transaction_id":"TX-1"}`)(r)
			}
			return shippingtest.OK(`{"request_id":"RD-1",` + members + `}`)(r)
		})
		client := shippingtest.NewClient(t, service)
		draft, err := client.Regulatory.Get(t.Context(), "RD-1")
		if err != nil {
			t.Fatal(err)
		}
		first := &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: draft, Sole: true}
		_, err = client.Regulatory.Purchase(t.Context(), first)
		failed, ok := errors.AsType[*shipping.RegulatoryError](err)
		if !ok {
			t.Fatalf("%s: %v", name, err)
		}
		text, err := json.Marshal(first)
		var stored shipping.PurchaseRequest
		if err := errors.Join(err, json.Unmarshal(text, &stored)); err != nil {
			t.Fatal(err)
		}
		again := map[string]*shipping.PurchaseRequest{"the same": first, "that of the error": failed.Purchase, "that of the JSON": &stored}
		for which, purchase := range again {
			_, err := client.Regulatory.Purchase(t.Context(), purchase)
			if purchases != 0 || err == nil {
				t.Errorf("%s, %s: %d purchases, %v", name, which, purchases, err)
			}
		}
		ended = name != "a charge" // which may be a quote, with which it can have been purchased
		for which, purchase := range again {
			if !ended {
				continue
			}
			if result, err := client.Regulatory.SettlePurchase(t.Context(), purchase); shippingtest.Outcome(result, err) != shipping.OutcomeUnknown {
				t.Errorf("%s, %s: settled as %v, %v", name, which, shippingtest.Outcome(result, err), err)
			}
		}
	}
}

// A charge that is shown beside the wrapped record is that of the record.
func TestPurchase_TheChargeBesideAWrappedRecord(t *testing.T) {
	t.Parallel()
	result, err := shippingtest.Purchase(t.Context(), shippingtest.NewClient(t, shippingtest.NewRequestService([]httpmock.Responder{shippingtest.OK(
		`{"request":{"request_id":"RD-1","status":"processing"},"charged_amount":5,"currency":"NGN","transaction_id":"TR-1"}`)}, nil)), false)
	if err != nil || result.ChargedAmount != shippingtest.Amount(t, "5") || result.Currency != "NGN" || result.TransactionID != "TR-1" {
		t.Errorf("%+v, %v", result, err)
	}
}

// A request that cannot be read back is not purchased, and settling it does not wait for it.
func TestPurchase_OfARequestThatCannotBeReadBackIsNotSent(t *testing.T) {
	t.Parallel()
	for _, id := range []string{".", "..", "RD-\xff"} {
		service := shippingtest.NewService(shippingtest.OK(`{}`))
		client := shippingtest.NewClient(t, service)
		_, purchase := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: id, DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: shippingtest.DraftRecord(id)})
		_, settle := client.Regulatory.SettlePurchase(t.Context(), &shipping.PurchaseRequest{RequestID: id})
		for name, err := range map[string]error{"purchase": purchase, "settle": settle} {
			if _, ok := errors.AsType[*shipping.ValidationError](err); !ok {
				t.Errorf("%q, %s: %v", id, name, err)
			}
		}
		if n := service.Count(""); n != 0 {
			t.Errorf("%q: %d requests", id, n)
		}
	}
}
