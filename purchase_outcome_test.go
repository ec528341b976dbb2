package shipping_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
)

// counter is a service with one request, RD-1: purchases receive the first list of responses in turn, reads
// the second. The last response of each repeats.
type counter struct {
	*httpmock.MockTransport
}

func newCounter(purchases, reads []canned) counter {
	mock := httpmock.NewMockTransport()
	inTurn := func(responses []canned) httpmock.Responder {
		n := 0
		return func(r *http.Request) (*http.Response, error) {
			n++
			return responses[min(n, len(responses))-1].respond(r)
		}
	}
	mock.RegisterResponder(http.MethodPost, testBase+"/v1/regulatory-documents/purchase", inTurn(purchases))
	mock.RegisterResponder(http.MethodGet, testBase+"/v1/regulatory-documents/request/RD-1", inTurn(reads))
	return counter{mock}
}

// purchases is how many purchases arrived.
func (c counter) purchases() int {
	return c.GetCallCountInfo()["POST "+testBase+"/v1/regulatory-documents/purchase"]
}

// respond is the response to a request, as a transport returns it.
func (a canned) respond(r *http.Request) (*http.Response, error) {
	return (&service{script: func(int, received) canned { return a }}).RoundTrip(r)
}

// record is a response with the request in a status, and more members.
func record(status string, members ...string) canned {
	return ok(`{` + strings.Join(append([]string{`"request_id":"RD-1"`, `"status":"` + status + `"`}, members...), ",") + `}`)
}

// Members that list purchased documents, in the shapes that the specification allows.
const (
	listsFDA     = `"documents":[{"document_type":"FDA","status":"generating"}]`
	listsCustoms = `"documents":[{"document_type":"CUSTOMS","status":"generating"}]`
	charge       = `"transaction_id":"TR-1"`
)

func problem(status int) canned {
	return canned{status: status, body: `{"type":"about:blank","title":"No","detail":"not this","status":400}`}.
		with("Content-Type", "application/problem+json; charset=utf-8")
}

// purchaseResponses are responses to a purchase of FDA on RD-1, by what they are evidence of.
func purchaseResponses() map[string]map[string]canned {
	return map[string]map[string]canned{
		"confirmation": {
			"of our server":            record("processing", listsFDA, charge, `"charged_amount":5`, `"currency":"NGN"`),
			"without data":             {status: 200, body: `{"status":true,"message":"done"}`},
			"null":                     ok(`null`),
			"an empty object":          ok(`{}`),
			"a text":                   ok(`"charged"`),
			"a status of its own":      ok(`{"status":"success"}`),
			"201":                      {status: 201, body: `{"status":true,"data":{"request_id":"RD-1"}}`},
			"the record under request": ok(`{"request":{"request_id":"RD-1","status":"purchasing"}}`),
			"documents as slugs":       ok(`{"request_id":"RD-1","documents":["FDA"]}`),
			"document_types":           ok(`{"request_id":"RD-1","document_types":["FDA"]}`),
		},
		"refusal": {
			"400":                 refusal(400, "insufficient funds"),
			"402":                 refusal(402, "insufficient funds"),
			"409":                 refusal(409, "not a draft"),
			"429":                 refusal(429, "slow down"),
			"200, status false":   refusal(200, "no"),
			"status in words":     {status: 422, body: `{"status":"false","message":"no"}`},
			"problem, 400":        problem(400),
			"problem, 409":        problem(409),
			"with another reason": {status: 400, body: `{"status":false,"message":"no","data":{"error_code":"E7"}}`},
		},
		"lost": {
			"connection broke":                {err: io.ErrUnexpectedEOF},
			"500":                             refusal(500, "oops"),
			"503 as HTML":                     {status: 503, body: "<html>"},
			"408":                             refusal(408, "slow"),
			"425":                             refusal(425, "early"),
			"400 of a proxy":                  {status: 400, body: "<html>bad request</html>"},
			"400 without a status":            {status: 400, body: `{"message":"no"}`},
			"400, status true":                {status: 400, body: `{"status":true,"message":"?"}`},
			"problem, 500":                    problem(500),
			"problem, 408":                    problem(408),
			"problem that is no JSON":         canned{status: 400, body: "no"}.with("Content-Type", "application/problem+json"),
			"302":                             {status: 302, body: ""},
			"200 as HTML":                     {status: 200, body: "<html>"},
			"200, empty":                      {status: 200, body: ""},
			"200 without a status":            {status: 200, body: `{"data":{"request_id":"RD-1"}}`},
			"about another request":           ok(`{"request_id":"RD-2","status":"processing"}`),
			"about another request, wrapped":  ok(`{"request":{"request_id":"RD-2","status":"processing"}}`),
			"confirms a draft":                record("draft"),
			"confirms other documents":        record("processing", listsCustoms),
			"confirms these and other ones":   ok(`{"request_id":"RD-1","document_types":["FDA","CUSTOMS"]}`),
			"confirms, with a wrapped draft":  ok(`{"request":{"request_id":"RD-1","status":"draft"}}`),
			"confirms other slugs, as a list": ok(`{"document_types":["TEXTILE"]}`),
		},
	}
}

// readBacks are what reading RD-1 returns after a purchase of FDA, with the outcome that each has after a
// lost response and after a refusal. Pairs that fit no row of the table are unknown.
func readBacks() map[string]struct {
	read           canned
	wasDraft       bool
	lost, refusal  shipping.PurchaseOutcome
	settledAsDraft bool
} {
	const charged, not, unknown = shipping.OutcomeCharged, shipping.OutcomeNotCharged, shipping.OutcomeUnknown
	type row = struct {
		read           canned
		wasDraft       bool
		lost, refusal  shipping.PurchaseOutcome
		settledAsDraft bool
	}
	rows := map[string]row{
		"draft":                                {read: record("draft"), lost: unknown, refusal: not, settledAsDraft: true},
		"draft that shows a charge":            {read: record("draft", charge), lost: unknown, refusal: unknown},
		"draft that lists documents":           {read: record("draft", listsFDA), lost: unknown, refusal: not, settledAsDraft: true},
		"purchasing, no list":                  {read: record("purchasing"), lost: charged, refusal: unknown},
		"processing, no list":                  {read: record("processing"), lost: charged, refusal: unknown},
		"processing, an empty list":            {read: record("processing", `"documents":[]`), lost: charged, refusal: unknown},
		"processing, a list without slugs":     {read: record("processing", `"documents":[{"name":"a form"}]`), lost: charged, refusal: unknown},
		"completed, no list":                   {read: record("completed"), lost: charged, refusal: unknown},
		"processing, these":                    {read: record("processing", listsFDA), lost: charged, refusal: charged},
		"processing, these as slugs":           {read: record("processing", `"documents":["fda"]`), lost: charged, refusal: charged},
		"processing, these as document_types":  {read: record("processing", `"document_types":["FDA"]`), lost: charged, refusal: charged},
		"processing, these as purchased":       {read: record("processing", `"purchased_documents":[{"slug":"FDA"}]`), lost: charged, refusal: charged},
		"processing, these under type":         {read: record("processing", `"documents":[{"type":"FDA"}]`), lost: charged, refusal: charged},
		"processing, wrapped":                  {read: ok(`{"request":{"request_id":"RD-1","status":"processing",` + listsFDA + `}}`), lost: charged, refusal: charged},
		"processing without an id":             {read: ok(`{"status":"processing",` + listsFDA + `}`), lost: charged, refusal: charged},
		"completed, these and others":          {read: record("completed", `"documents":["FDA","CUSTOMS"]`), lost: charged, refusal: charged},
		"purchasing, others":                   {read: record("purchasing", listsCustoms), lost: unknown, refusal: unknown},
		"processing, others":                   {read: record("processing", listsCustoms), lost: unknown, refusal: unknown},
		"completed, others":                    {read: record("completed", listsCustoms, charge), lost: unknown, refusal: not},
		"completed, others and one unreadable": {read: record("completed", `"documents":["CUSTOMS",{"name":"a form"}]`), lost: unknown, refusal: unknown},
		"unknown status, these":                {read: record("reviewing", listsFDA), lost: charged, refusal: charged},
		"unknown status, no list":              {read: record("reviewing", charge), lost: unknown, refusal: unknown},
		"a status in capitals":                 {read: record("DRAFT"), lost: unknown, refusal: unknown},
		"failed analysis":                      {read: record("failed"), lost: unknown, refusal: unknown},
		"failed, these":                        {read: record("failed", listsFDA), lost: charged, refusal: charged},
		"failed, shows a charge":               {read: record("failed", charge), lost: charged, refusal: charged},
		"failed, shows an amount":              {read: record("failed", `"charged_amount":5`), lost: charged, refusal: charged},
		"failed, charged nothing":              {read: record("failed", `"charged_amount":0`), lost: unknown, refusal: unknown},
		"failed, was a draft":                  {read: record("failed"), wasDraft: true, lost: charged, refusal: unknown},
		"failed, others":                       {read: record("failed", listsCustoms, charge), wasDraft: true, lost: unknown, refusal: unknown},
		"another request":                      {read: ok(`{"request_id":"RD-2","status":"processing",` + listsFDA + `}`), lost: unknown, refusal: unknown},
		"no record":                            {read: ok(`{}`), lost: unknown, refusal: unknown},
		"null":                                 {read: ok(`null`), lost: unknown, refusal: unknown},
		"no status":                            {read: ok(`{"request_id":"RD-1",` + listsFDA + `}`), lost: unknown, refusal: unknown},
		"HTML":                                 {read: canned{status: 200, body: "<html>"}, lost: unknown, refusal: unknown},
		"404":                                  {read: refusal(404, "gone"), lost: unknown, refusal: unknown},
		"401":                                  {read: refusal(401, "no"), lost: unknown, refusal: unknown},
		"429":                                  {read: refusal(429, "slow down"), lost: unknown, refusal: unknown},
		"503":                                  {read: refusal(503, "busy"), lost: unknown, refusal: unknown},
		"connection broke":                     {read: canned{err: io.ErrUnexpectedEOF}, lost: unknown, refusal: unknown},
	}
	return rows
}

// buyFDA purchases FDA on RD-1.
func buyFDA(ctx context.Context, client *shipping.Client, wasDraft bool) (*shipping.PurchaseResult, error) {
	return client.Regulatory.PurchaseWith(ctx, &shipping.PurchaseRequest{
		RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA}, WasDraft: wasDraft,
	})
}

// C20, C21, D1, D2, D8: every response with every read-back has the outcome of the table in
// internal/evidence, whatever shape the service gives to it, and the purchase is sent once.
func TestPurchase_EveryResponseWithEveryReadBack(t *testing.T) {
	t.Parallel()
	pairs := 0
	for kind, responses := range purchaseResponses() {
		for name, response := range responses {
			for readName, read := range readBacks() {
				want := map[string]shipping.PurchaseOutcome{"confirmation": shipping.OutcomeCharged, "lost": read.lost, "refusal": read.refusal}[kind]
				pairs++
				t.Run(kind+", "+name+"; "+readName, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						service := newCounter([]canned{response}, []canned{read.read})
						result, err := buyFDA(t.Context(), connect(t, service), read.wasDraft)
						if got := outcome(result, err); got != want {
							t.Errorf("outcome %q, want %q (%v)", got, want, err)
						}
						if succeeded := err == nil; succeeded != (want == shipping.OutcomeCharged && kind != "refusal") {
							t.Errorf("outcome %q with the error %v", want, err)
						}
						if n := service.purchases(); n != 1 {
							t.Errorf("the purchase was sent %d times", n)
						}
						if failure, ok := errors.AsType[*shipping.PurchaseError](err); ok {
							if failure.RequestID != "RD-1" || len(failure.DocumentTypes) != 1 || failure.Err == nil {
								t.Errorf("the error lacks the purchase: %+v", failure)
							}
						}
						if err == nil && result.ReadBack != (kind == "lost") {
							t.Errorf("ReadBack is %t", result.ReadBack)
						}
					})
				})
			}
		}
	}
	t.Logf("%d pairs", pairs)
}

// C20, C21, D2: settling decides as a lost response does, and a request that stays a draft is not charged.
func TestSettlePurchase_EveryReadBack(t *testing.T) {
	t.Parallel()
	for name, read := range readBacks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				want := read.lost
				if read.settledAsDraft {
					want = shipping.OutcomeNotCharged
				}
				service, started := newCounter([]canned{ok(`{}`)}, []canned{read.read}), time.Now()
				result, err := connect(t, service).Regulatory.SettlePurchase(t.Context(), "RD-1", &shipping.SettleOptions{
					DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA}, WasDraft: read.wasDraft,
				})
				if got := outcome(result, err); got != want {
					t.Errorf("outcome %q, want %q (%v)", got, want, err)
				}
				if took := time.Since(started); want == shipping.OutcomeNotCharged && took < time.Minute {
					t.Errorf("decided after %s", took)
				}
				if service.purchases() != 0 {
					t.Error("settling purchased")
				}
			})
		})
	}
}

// Without documents to compare with, any purchase of the request counts.
func TestSettlePurchase_WithoutDocumentsAnyPurchaseCounts(t *testing.T) {
	t.Parallel()
	result, err := connect(t, newCounter(nil, []canned{record("processing", listsCustoms)})).Regulatory.SettlePurchase(t.Context(), "RD-1", nil)
	if outcome(result, err) != shipping.OutcomeCharged {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestPurchase_ReadsUntilTheEvidenceDecides(t *testing.T) {
	t.Parallel()
	lost := canned{err: io.ErrUnexpectedEOF}
	draft, busy, done := record("draft"), refusal(503, "busy"), record("processing", listsFDA)
	slow := draft
	slow.after = 2 * time.Second
	for name, test := range map[string]struct {
		purchase canned
		reads    []canned
		want     shipping.PurchaseOutcome
		least    time.Duration
	}{
		"lost, a draft for a while, then processing": {lost, []canned{draft, draft, done}, shipping.OutcomeCharged, 0},
		"lost, reads fail for a while":               {lost, []canned{busy, lost, done}, shipping.OutcomeCharged, 0},
		"lost, other responses for a while":          {lost, []canned{ok(`{"request_id":"RD-2","status":"draft"}`), {status: 200, body: "<html>"}, done}, shipping.OutcomeCharged, 0},
		"lost, always a draft":                       {lost, []canned{draft}, shipping.OutcomeUnknown, 10 * time.Second},
		"refused, a draft for a while, then these":   {refusal(400, "not a draft"), []canned{draft, draft, done}, shipping.OutcomeCharged, 0},
		"refused, a draft":                           {refusal(400, "no funds"), []canned{draft}, shipping.OutcomeNotCharged, time.Second},
		// C20: the draft was read when the request was sent, not when the response arrived.
		"refused, one slow draft, then these":                   {refusal(400, "not a draft"), []canned{slow, done}, shipping.OutcomeCharged, 0},
		"refused, reads fail, then a draft":                     {refusal(400, "no funds"), []canned{busy, draft}, shipping.OutcomeNotCharged, time.Second},
		"refused, a draft, purchasing, a draft for longer":      {refusal(400, "no funds"), []canned{draft, record("purchasing"), draft}, shipping.OutcomeNotCharged, time.Second},
		"lost, other documents, then a record without its list": {lost, []canned{record("processing", listsCustoms), record("processing")}, shipping.OutcomeUnknown, 0},
		"refused, other documents, then a record without them":  {refusal(400, "no"), []canned{record("processing", listsCustoms), record("completed")}, shipping.OutcomeUnknown, 0},
		"refused with 401, and so is the read-back":             {refusal(401, "no"), []canned{refusal(401, "no")}, shipping.OutcomeNotCharged, 0},
		"refused with 403, and so is the read-back":             {refusal(403, "no"), []canned{refusal(403, "no")}, shipping.OutcomeNotCharged, 0},
		"refused with 404, and so is the read-back":             {refusal(404, "no"), []canned{refusal(404, "no")}, shipping.OutcomeNotCharged, 0},
		"refused with 404, the read-back with 401":              {refusal(404, "no"), []canned{refusal(401, "no")}, shipping.OutcomeUnknown, 0},
		"refused with 400, and so is the read-back":             {refusal(400, "no"), []canned{refusal(400, "no")}, shipping.OutcomeUnknown, 0},
		"404 of a proxy, twice":                                 {canned{status: 404, body: "<html>"}, []canned{{status: 404, body: "<html>"}}, shipping.OutcomeUnknown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service, started := newCounter([]canned{test.purchase}, test.reads), time.Now()
				result, err := buyFDA(t.Context(), connect(t, service), false)
				if got := outcome(result, err); got != test.want {
					t.Errorf("outcome %q, want %q (%v)", got, test.want, err)
				}
				if took := time.Since(started); took < test.least {
					t.Errorf("decided after %s, want at least %s", took, test.least)
				}
			})
		})
	}
}

// C25: a failure to connect is evidence only if it comes from the client's own transport. Another one may
// have sent the request before.
func TestPurchase_UnsentCountsOnlyFromTheClientsOwnTransport(t *testing.T) {
	t.Parallel()
	dial := func(context.Context, string, string) (net.Conn, error) { return nil, refused }
	for name, test := range map[string]struct {
		transport http.RoundTripper
		want      shipping.PurchaseOutcome
	}{
		"own transport":        {&http.Transport{DialContext: dial}, shipping.OutcomeNotCharged},
		"another RoundTripper": {newCounter([]canned{{err: refused}}, []canned{refusal(503, "busy")}), shipping.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				result, err := buyFDA(t.Context(), connect(t, test.transport), true)
				if got := outcome(result, err); got != test.want {
					t.Errorf("outcome %q, want %q (%v)", got, test.want, err)
				}
			})
		})
	}
}

func TestPurchase_TextsStateWhatIsKnownAndWhatToDo(t *testing.T) {
	t.Parallel()
	lost := canned{err: io.ErrUnexpectedEOF}
	for want, service := range map[string]counter{
		"shipping: purchase of request RD-1: outcome not charged: regulatory.purchase: 400 Bad Request: insufficient funds":                                                                                                                                                               newCounter([]canned{refusal(400, "insufficient funds")}, []canned{record("draft")}),
		"shipping: purchase of request RD-1: outcome charged: regulatory.purchase: 400 Bad Request: not a draft; the documents were purchased before: call Regulatory.Wait to wait for them":                                                                                              newCounter([]canned{refusal(400, "not a draft")}, []canned{record("processing", listsFDA)}),
		`shipping: purchase of request RD-1: outcome unknown: regulatory.purchase: no response: unexpected EOF; the request still reads as a draft; do not purchase again: call Regulatory.SettlePurchase when the service responds`:                                                      newCounter([]canned{lost}, []canned{record("draft")}),
		`shipping: purchase of request RD-1: outcome unknown: regulatory.purchase: 500 Internal Server Error: oops; regulatory.get: 404 Not Found: gone; do not purchase again: call Regulatory.SettlePurchase when the service responds`:                                                 newCounter([]canned{refusal(500, "oops")}, []canned{refusal(404, "gone")}),
		`shipping: purchase of request RD-1: outcome unknown: regulatory.purchase: no response: unexpected EOF; the request reads as "failed", which does not show whether these documents were charged; do not purchase again: call Regulatory.SettlePurchase when the service responds`: newCounter([]canned{lost}, []canned{record("failed")}),
		`shipping: purchase of request RD-1: outcome not charged: regulatory.purchase: 409 Conflict: No: not this`:                                                                                                                                                                        newCounter([]canned{problem(409)}, []canned{record("draft")}),
	} {
		synctest.Test(t, func(t *testing.T) {
			_, err := connect(t, service).Regulatory.Purchase(t.Context(), "RD-1", shipping.DocumentFDA)
			if err == nil || err.Error() != want {
				t.Errorf("\n got %v\nwant %s", err, want)
			}
		})
	}
}

// D2: a request is reported as a failed generation only if its record shows a purchase.
func TestWait_NamesTheGenerationOnlyOfAPurchasedRequest(t *testing.T) {
	t.Parallel()
	for want, read := range map[string]canned{
		"shipping: request RD-1 failed: no such goods":              record("failed", `"failure_reason":"no such goods"`),
		"shipping: generation failed for request RD-1: no lot":      record("failed", charge, `"failure_reason":"no lot"`),
		"shipping: generation failed for request RD-1; FDA: no lot": record("failed", `"documents":[{"document_type":"FDA","status":"failed","failure":"no lot"}]`),
	} {
		_, err := connect(t, newCounter(nil, []canned{read})).Regulatory.Wait(t.Context(), "RD-1", nil)
		if err == nil || err.Error() != want {
			t.Errorf("\n got %v\nwant %s", err, want)
		}
		wantError(t, want, err, shipping.ErrRequestFailed)
	}
}

// D4: the response that the endpoint's table shows, without a status, is a draft.
func TestAnalyze_TheMinimalResponseIsADraft(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		`{"request_id":"RD-1","available_documents":[{"document_type":"FDA","amount":5,"currency":"NGN"}],"line_items":[]}`,
		`{"request":{"request_id":"RD-1","available_documents":[{"document_type":"FDA","amount":5,"currency":"NGN"}]}}`,
		`{"request_id":"RD-1"}`,
	} {
		draft, err := connect(t, answering(ok(data))).Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
		if err != nil || draft.RequestID != "RD-1" || draft.Status != shipping.StatusDraft {
			t.Errorf("%s: %+v, %v", data, draft, err)
		}
	}
}

// C21: an analysis of another shipment is refused before its draft can be purchased.
func TestAnalyze_OfAnotherShipmentIsRefused(t *testing.T) {
	t.Parallel()
	_, err := connect(t, answering(ok(`{"request_id":"RD-1","status":"draft","shipment_id":"SH-2"}`))).Regulatory.
		Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
	if !errors.Is(err, shipping.ErrUnexpectedBody) || !strings.Contains(err.Error(), `about another shipment, "SH-2" (request RD-1)`) {
		t.Error(err)
	}
}

// C21: no operation on a request accepts the record of another one.
func TestRecord_OfAnotherRequestIsRefused(t *testing.T) {
	t.Parallel()
	for _, call := range calls() {
		switch call.operation {
		case shipping.OpGetRequest, shipping.OpUpdateItems, shipping.OpUpdateAddresses, shipping.OpUpdateShipping, shipping.OpUpdateProfile, shipping.OpRetryRequest:
			err := call.do(t.Context(), connect(t, answering(ok(`{"request_id":"RD-2","status":"draft"}`)), shipping.WithProvisionalRoutes()))
			if !errors.Is(err, shipping.ErrUnexpectedBody) || !strings.Contains(fmt.Sprint(err), `about another request, "RD-2"`) {
				t.Errorf("%s: %v", call.operation, err)
			}
		}
	}
}

// C10: the data of an error is bounded.
func TestErrors_TheDataOfAnErrorIsBounded(t *testing.T) {
	t.Parallel()
	large := ok(`{"x":"` + strings.Repeat("x", 65<<10) + `"}`)
	client := connect(t, answering(large))
	_, get := client.Regulatory.Get(t.Context(), "RD-1")
	for name, err := range map[string]error{
		"get": get, "do": client.Do(t.Context(), http.MethodGet, "/v1/x", nil, nil, new([]string)),
	} {
		if failure, ok := errors.AsType[*shipping.Error](err); !ok || failure.Data != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// desk is a service with one request: purchases are answered in turn, reads show the states in turn.
// The last of each goes on for ever.
func desk(purchases, states []canned) *service {
	posts, reads := 0, 0
	next := func(answers []canned, n *int) canned {
		*n++
		return answers[min(*n, len(answers))-1]
	}
	return &service{script: func(_ int, got received) canned {
		if got.Method == http.MethodPost {
			return next(purchases, &posts)
		}
		return next(states, &reads)
	}}
}

func state(status string) canned {
	return ok(`{"request_id":"RD-1","status":"` + status + `"}`)
}

var (
	lost      = canned{err: io.ErrUnexpectedEOF}
	confirmed = ok(`{"request_id":"RD-1","status":"processing","charged_amount":5,"currency":"NGN","transaction_id":"TR-1"}`)
	noFunds   = refusal(400, "insufficient funds")
)

func TestPurchase_TheDeadlineLeavesTimeToReadBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		deadline, settle, least, most time.Duration // when the purchase itself ends
	}{
		"at least three quarters for the purchase": {20 * time.Second, 10 * time.Second, 15 * time.Second, 15 * time.Second},
		"no more than the settling time is kept":   {20 * time.Second, time.Second, 19 * time.Second, 19 * time.Second},
		"an attempt's own bound":                   {10 * time.Minute, 10 * time.Second, 30 * time.Second, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := desk([]canned{{after: time.Hour, status: 200}}, []canned{state("processing")})
				ctx, cancel := context.WithTimeout(t.Context(), test.deadline)
				defer cancel()
				started := time.Now()
				result, err := connect(t, service).Regulatory.PurchaseWith(ctx, &shipping.PurchaseRequest{
					RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA}, PurchaseOptions: shipping.PurchaseOptions{SettleFor: test.settle},
				})
				took := time.Since(started)
				if err != nil || !result.ReadBack || took < test.least || took > test.most {
					t.Errorf("%+v, %v after %s", result, err, took)
				}
			})
		})
	}
}

func TestPurchase_AContextThatHadEndedSendsNothingAndChargesNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	service := desk([]canned{confirmed}, []canned{state("draft")})
	result, err := connect(t, service).Regulatory.Purchase(ctx, "RD-1", shipping.DocumentFDA)
	if got := outcome(result, err); got != shipping.OutcomeNotCharged || service.count("") != 0 {
		t.Errorf("outcome %q after %d requests (%v)", got, service.count(""), err)
	}
	wantError(t, "purchase", err, context.Canceled)
}

func TestPurchase_AContextThatEndsDuringThePurchaseIsUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		service := desk([]canned{{after: time.Hour, status: 200}}, []canned{state("processing")})
		result, err := connect(t, service).Regulatory.Purchase(ctx, "RD-1", shipping.DocumentFDA)
		if got := outcome(result, err); got != shipping.OutcomeUnknown {
			t.Errorf("outcome %q (%v)", got, err)
		}
		wantError(t, "purchase", err, context.Canceled)
	})
}

func TestPurchase_TheCallersDocumentsAreNotShared(t *testing.T) {
	t.Parallel()
	documents := []shipping.DocumentType{shipping.DocumentFDA}
	_, err := connect(t, desk([]canned{noFunds}, []canned{state("draft")})).Regulatory.Purchase(t.Context(), "RD-1", documents...)
	documents[0] = "changed"
	if failure, _ := errors.AsType[*shipping.PurchaseError](err); failure == nil || failure.DocumentTypes[0] != shipping.DocumentFDA {
		t.Errorf("%v", err)
	}
}

func TestSettlePurchase_HowLongADraftMustStayCanBeSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := desk([]canned{confirmed}, []canned{state("draft")})
		started := time.Now()
		_, err := connect(t, service).Regulatory.SettlePurchase(t.Context(), "RD-1", &shipping.SettleOptions{QuietFor: time.Hour})
		const want = "shipping: purchase of request RD-1: outcome not charged: the request has stayed a draft for 1h0m0s: it can be purchased"
		if err == nil || err.Error() != want || time.Since(started) < time.Hour {
			t.Errorf("after %s: %v", time.Since(started), err)
		}
		if n := service.count(http.MethodGet); n > 100 {
			t.Errorf("%d reads in an hour", n)
		}
	})
}

// C20: a single slow response does not show that the request stayed a draft.
func TestSettlePurchase_ASlowDraftIsNotAQuietOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := record("draft")
		slow.after = 2 * time.Minute
		policy := shipping.WithRetryPolicy(shipping.RetryPolicy{AttemptTimeout: -1})
		result, err := connect(t, newCounter(nil, []canned{slow, record("processing", listsFDA)}), policy).Regulatory.SettlePurchase(t.Context(), "RD-1", nil)
		if outcome(result, err) != shipping.OutcomeCharged {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

// A draft that is first read late gets the whole time to become quiet.
func TestSettlePurchase_AFirstReadThatFailsDoesNotLeaveADraftOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reads := newCounter(nil, []canned{refusal(500, "no"), refusal(500, "no"), refusal(500, "no"), refusal(500, "no"), record("draft")})
		result, err := connect(t, reads).Regulatory.SettlePurchase(t.Context(), "RD-1", nil)
		if outcome(result, err) != shipping.OutcomeNotCharged {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

func TestPurchaseWith_TheResponseIsThePurchasesAndNotTheReadBacks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var response shipping.Response
		client := connect(t, desk([]canned{refusal(503, "busy")}, []canned{state("processing")}))
		result, err := client.Regulatory.PurchaseWith(t.Context(),
			&shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA}}, shipping.WithResponse(&response))
		if err != nil || !result.ReadBack || response.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%+v, %d, %v", result, response.StatusCode, err)
		}
	})
}
