package shipping_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// Members that list purchased documents, in the shapes that the specification allows.
const (
	listsFDA     = `"documents":[{"document_type":"FDA","status":"generating"}]`
	listsCustoms = `"documents":[{"document_type":"CUSTOMS","status":"generating"}]`
	charge       = `"transaction_id":"TR-1"`
)

func problem(status int) httpmock.Responder {
	return httpmock.NewStringResponder(status, `{"type":"about:blank","title":"No","detail":"not this","status":400}`).
		HeaderSet(http.Header{"Content-Type": {"application/problem+json; charset=utf-8"}})
}

// contradictions are the data of responses that contradict themselves, or whose request id or documents cannot be read: they
// confirm nothing.
var contradictions = []string{
	`{"request_id":"RD-1","request":{"request_id":"RD-1","status":"draft"}}`,
	`{"request_id":"RD-1","request":{"request_id":"RD-2","status":"processing"}}`,
	`{"request_id":7,"request":{"request_id":"RD-1","status":"processing"}}`,
	`{"request_id":"RD-1","status":"processing","request":{"status":"completed"}}`,
	`{"request":{"request":{"request_id":"RD-2","status":"draft"}}}`,
	`{"request":[{"request_id":"RD-2","status":"draft"}]}`,
	`[{"request_id":"RD-2","status":"draft"}]`,
	`{"request_id":["RD-2"],"status":"processing"}`,
	`{"request_id":{"id":"RD-2"},"status":"processing"}`,
	`{"request_id":"RD-2","request_id":"RD-1","status":"processing"}`,
	`{"request_id":"RD-1","status":"draft","status":"processing"}`,
	`{"request_id":"RD-1","documents":["CUSTOMS"],"documents":["FDA"]}`,
	`{"request":{"request_id":"RD-2","request_id":"RD-1"}}`,
	`{"request_id":"RD-2"},"data":{"request_id":"RD-1","status":"processing"}`,
	`{"request_id":"RD-1","status":"processing"},"data":{"request_id":"RD-1","status":"draft"}`,
	`{"request_id":"RD-1","status":"Draft"}`,
	`{"request_id":"RD-1","status":" draft "}`,
	`{"request_id":"RD-1","status":["draft"]}`,
	`{"request_id":"RD-1","documents":{"document_type":"CUSTOMS"}}`,
	`{"request_id":"RD-1","documents":"CUSTOMS"}`,
}

// purchaseResponses are responses to a purchase of FDA on RD-1, by the kind of evidence. Whether one is a refusal is decided by
// its whole body, of which an error keeps only the start.
func purchaseResponses() map[string]map[string]httpmock.Responder {
	body, problemType := httpmock.NewStringResponder, http.Header{"Content-Type": {"application/problem+json"}}
	spaces := strings.Repeat(" ", 70<<10)
	responses := map[string]map[string]httpmock.Responder{
		"confirmation": {
			"of our server":            shippingtest.Record("processing", listsFDA, charge, `"charged_amount":5`, `"currency":"NGN"`),
			"without data":             httpmock.NewStringResponder(200, `{"status":true,"message":"done"}`),
			"null":                     shippingtest.OK(`null`),
			"an empty object":          shippingtest.OK(`{}`),
			"a text":                   shippingtest.OK(`"charged"`),
			"a status that is a text":  shippingtest.OK(`{"status":"success"}`),
			"201":                      httpmock.NewStringResponder(201, `{"status":true,"data":{"request_id":"RD-1"}}`),
			"the record under request": shippingtest.OK(`{"request":{"request_id":"RD-1","status":"purchasing"}}`),
			"documents as slugs":       shippingtest.OK(`{"request_id":"RD-1","documents":["FDA"]}`),
			"document_types":           shippingtest.OK(`{"request_id":"RD-1","document_types":["FDA"]}`),
			// A list was no confirmation, so that its purchase stayed unknown for ever.
			"an empty list":                shippingtest.OK(`[]`),
			"a list of the record":         shippingtest.OK(`[{"request_id":"RD-1","status":"processing"}]`),
			"a list of the documents":      shippingtest.OK(`[{"document_type":"FDA","status":"generating"}]`),
			"a list of slugs":              shippingtest.OK(`["fda"]`),
			"a list of the wrapped record": shippingtest.OK(`[{"request":{"request_id":"RD-1","status":"processing"}}]`),
		},
		"refusal": {
			"400":                 shippingtest.Refusal(400, "insufficient funds"),
			"a list of reasons":   body(400, `{"status":false,"message":["insufficient funds"],"errors":[{"message":"no"}]}`),
			"423":                 shippingtest.Refusal(423, "busy"),
			"with a Retry-After":  shippingtest.Refusal(400, "busy").HeaderSet(http.Header{"Retry-After": {"1"}}),
			"402":                 shippingtest.Refusal(402, "insufficient funds"),
			"409":                 shippingtest.Refusal(409, "not a draft"),
			"429":                 shippingtest.Refusal(429, "slow down"),
			"200, status false":   shippingtest.Refusal(200, "no"),
			"status in words":     httpmock.NewStringResponder(422, `{"status":"false","message":"no"}`),
			"problem, 400":        problem(400),
			"problem, 409":        problem(409),
			"with another reason": httpmock.NewStringResponder(400, `{"status":false,"message":"no","data":{"error_code":"E7"}}`),
			"data of 70 KB":       body(400, `{"status":false,"data":"`+spaces+`"}`),
			"problem of 70 KB":    body(400, `{"title":"no","detail":"`+spaces+`"}`).HeaderSet(problemType),
		},
		"lost": {
			"connection broke":                httpmock.NewErrorResponder(io.ErrUnexpectedEOF),
			"500":                             shippingtest.Refusal(500, "oops"),
			"503 as HTML":                     httpmock.NewStringResponder(503, "<html>"),
			"408":                             shippingtest.Refusal(408, "slow"),
			"425":                             shippingtest.Refusal(425, "early"),
			"400 of a proxy":                  httpmock.NewStringResponder(400, "<html>bad request</html>"),
			"400 without a status":            httpmock.NewStringResponder(400, `{"message":"no"}`),
			"400, status true":                httpmock.NewStringResponder(400, `{"status":true,"message":"?"}`),
			"problem, 500":                    problem(500),
			"problem, 408":                    problem(408),
			"problem that is not JSON":        httpmock.NewStringResponder(400, "no").HeaderSet(http.Header{"Content-Type": {"application/problem+json"}}),
			"302":                             httpmock.NewStringResponder(302, ""),
			"200 as HTML":                     httpmock.NewStringResponder(200, "<html>"),
			"200, empty":                      httpmock.NewStringResponder(200, ""),
			"200 without a status":            httpmock.NewStringResponder(200, `{"data":{"request_id":"RD-1"}}`),
			"about another request":           shippingtest.OK(`{"request_id":"RD-2","status":"processing"}`),
			"about another request, wrapped":  shippingtest.OK(`{"request":{"request_id":"RD-2","status":"processing"}}`),
			"confirms a draft":                shippingtest.Record("draft"),
			"confirms other documents":        shippingtest.Record("processing", listsCustoms),
			"confirms these and other ones":   shippingtest.OK(`{"request_id":"RD-1","document_types":["FDA","CUSTOMS"]}`),
			"confirms, with a wrapped draft":  shippingtest.OK(`{"request":{"request_id":"RD-1","status":"draft"}}`),
			"confirms other slugs, as a list": shippingtest.OK(`{"document_types":["TEXTILE"]}`),
			"confirms, and lists failures":    shippingtest.OK(`{"request_id":"RD-1","purchased":[],"failed":[{"document_type":"FDA"}]}`),
			"confirms a missing payment":      shippingtest.Record("awaiting_payment", listsFDA),
			"a list of others":                shippingtest.OK(`["FDA","CUSTOMS"]`),
			"a list that names one twice":     shippingtest.OK(`["FDA",{"document_type":"FDA"}]`),
			"a list with a failure":           shippingtest.OK(`[{"document_type":"FDA","status":"failed"}]`),
			"a list with a draft":             shippingtest.OK(`[{"request_id":"RD-1","status":"draft"}]`),
			"a list of two records":           shippingtest.OK(`[{"request_id":"RD-1","status":"processing"},{"request_id":"RD-1","status":"processing"}]`),
			"refused, then other text":        body(400, `{"status":false}`+spaces+"x"),
			"refused, then another envelope":  body(200, `{"status":false}`+spaces+`{"status":true}`),
			"refused, another status behind":  body(200, `{"status":false,"data":"`+spaces+`","status":true}`),
			"a refusal longer than is read":   body(400, `{"status":false}`+strings.Repeat(" ", 1<<20)),
			"a problem, then other text":      body(400, `{"title":"no"}`+spaces+"x").HeaderSet(problemType),
			"a problem, status true":          body(400, `{"status":true}`).HeaderSet(problemType),
			// A response with two statuses reports success and failure at once: it is neither.
			"false and true":          body(200, `{"status":false,"status":true,"data":{"request_id":"RD-1"}}`),
			"true and false":          body(200, `{"status":true,"status":false,"message":"no"}`),
			"false and true, escaped": body(200, `{"status":false,"statu\u0073":true,"data":{}}`),
		},
	}
	for _, data := range contradictions {
		responses["lost"][data] = shippingtest.OK(data)
	}
	return responses
}

// odd are the data of records that contradict themselves, or whose request id or documents cannot be read: they prove nothing. A
// draft with anything in a member that shows a charge is no proof that nothing was charged.
var odd = []string{
	`{"request_id":["RD-2"],"status":"processing","documents":["FDA"]}`,
	`{"request_id":"RD-2","request_id":"RD-1","status":"processing"}`,
	`{"request_id":"RD-1","status":"draft","status":"processing"}`,
	`{"request_id":"RD-1","status":"DRAFT","documents":["FDA"]}`,
	`{"status":"draft","request":{"request_id":"RD-1","status":"processing","documents":["FDA"]}}`,
	`{"request_id":"RD-1","status":"processing","status":"draft"}`,
	`{"request_id":"RD-1","status":"processing","documents":["FDA"]},"data":{"request_id":"RD-1","status":"draft"}`,
	`{"request_id":"RD-1","status":"processing"},"data":{"request_id":"RD-1","status":"draft"}`,
	`{"request_id":"RD-1","status":"processing","documents":["CUSTOMS"],"documents":["FDA"]}`,
	`{"request":{"request_id":"RD-1","status":"processing"},"documents":["CUSTOMS"]}`,
	`{"request_id":"RD-1","status":"processing","documents":{"document_type":"CUSTOMS"}}`,
	`{"request_id":"RD-1","status":"processing","documents":"CUSTOMS"}`,
	`{"request_id":"RD-1","status":"completed","documents":[{"document_type":{"slug":"FDA"}}]}`,
	`{"request_id":"RD-1","status":"completed","documents":[{"document_type":["FDA"]}]}`,
	`{"request_id":"RD-1","status":"completed","documents":[7]}`,
	`{"request_id":"RD-1","status":"completed","documents":[" "]}`,
	`{"request_id":"RD-1","status":"draft","charged_amount":5,"charged_amount":0}`,
	`{"request_id":"RD-1","status":"draft","charged_amount":"5 NGN"}`,
	`{"request_id":"RD-1","status":"draft","charged_amount":{"amount":5}}`,
	`{"request_id":"RD-1","status":"draft","charged_amount":-5}`,
	`{"request_id":"RD-1","status":"draft","transaction_id":{"id":"TR-1"}}`,
	`{"request_id":"RD-1","status":"draft","transaction_id":["TR-1"]}`,
	`{"request_id":"RD-1","status":"draft","transaction_id":"TR-1","transaction_id":""}`,
	`{"request":{"request_id":"RD-1","status":"draft"},"transaction_id":"TR-1"}`,
	`{"request":{"request_id":"RD-1","status":"draft"},"charged_amount":5}`,
}

type readBack struct {
	read           httpmock.Responder
	lost, refusal  shipping.PurchaseOutcome
	sole           shipping.PurchaseOutcome // after a lost response, if nobody else can have purchased; "" if that is the same
	settledAsDraft bool
}

// outcome returns the outcome of a purchase with a kind of response.
func (b readBack) outcome(kind string, way pairWay) shipping.PurchaseOutcome {
	switch {
	case kind == "confirmation":
		return shipping.OutcomeCharged
	case kind == "refusal":
		return b.refusal
	case way.settles && b.settledAsDraft:
		return shipping.OutcomeNotCharged
	case way.sole:
		return cmp.Or(b.sole, b.lost)
	}
	return b.lost
}

// readBacks are what reading RD-1 returns after a purchase of FDA, with the outcome that each has after a
// lost response and after a refusal. Pairs that fit no row of the table are unknown.
func readBacks() map[string]readBack {
	const charged, not, before, unknown = shipping.OutcomeCharged, shipping.OutcomeNotCharged, shipping.OutcomePurchasedBefore, shipping.OutcomeUnknown
	rows := map[string]readBack{
		"draft":                                {read: shippingtest.Record("draft"), lost: unknown, refusal: not, settledAsDraft: true},
		"draft that shows a charge":            {read: shippingtest.Record("draft", charge), lost: unknown, refusal: unknown},
		"draft that lists documents":           {read: shippingtest.Record("draft", listsFDA), lost: unknown, refusal: unknown},
		"purchasing, no list":                  {read: shippingtest.Record("purchasing"), lost: unknown, refusal: unknown, sole: charged},
		"processing, no list":                  {read: shippingtest.Record("processing"), lost: unknown, refusal: unknown, sole: charged},
		"processing, an empty list":            {read: shippingtest.Record("processing", `"documents":[]`), lost: unknown, refusal: unknown, sole: charged},
		"processing, a list without slugs":     {read: shippingtest.Record("processing", `"documents":[{"name":"a form"}]`), lost: unknown, refusal: unknown},
		"completed, no list":                   {read: shippingtest.Record("completed"), lost: unknown, refusal: unknown, sole: charged},
		"processing, these":                    {read: shippingtest.Record("processing", listsFDA), lost: charged, refusal: before},
		"processing, these as slugs":           {read: shippingtest.Record("processing", `"documents":["fda"]`), lost: charged, refusal: before},
		"processing, these as document_types":  {read: shippingtest.Record("processing", `"document_types":["FDA"]`), lost: charged, refusal: before},
		"processing, these as purchased":       {read: shippingtest.Record("processing", `"purchased_documents":[{"slug":"FDA"}]`), lost: charged, refusal: before},
		"processing, these under type":         {read: shippingtest.Record("processing", `"documents":[{"type":"FDA"}]`), lost: charged, refusal: before},
		"processing, wrapped":                  {read: shippingtest.OK(`{"request":{"request_id":"RD-1","status":"processing",` + listsFDA + `}}`), lost: charged, refusal: before},
		"a list of the processing record":      {read: shippingtest.OK(`[{"request_id":"RD-1","status":"processing",` + listsFDA + `}]`), lost: charged, refusal: before},
		"a list of the draft":                  {read: shippingtest.OK(`[{"request_id":"RD-1","status":"draft"}]`), lost: unknown, refusal: not, settledAsDraft: true},
		"a list of two records":                {read: shippingtest.OK(`[{"request_id":"RD-1","status":"processing",` + listsFDA + `},{}]`), lost: unknown, refusal: unknown},
		"processing without an id":             {read: shippingtest.OK(`{"status":"processing",` + listsFDA + `}`), lost: charged, refusal: before},
		"completed, these and others":          {read: shippingtest.Record("completed", `"documents":["FDA","CUSTOMS"]`), lost: unknown, refusal: unknown},
		"purchasing, others":                   {read: shippingtest.Record("purchasing", listsCustoms), lost: unknown, refusal: unknown},
		"processing, others":                   {read: shippingtest.Record("processing", listsCustoms), lost: unknown, refusal: unknown},
		"completed, others":                    {read: shippingtest.Record("completed", listsCustoms, charge), lost: unknown, refusal: not},
		"completed, others and one unreadable": {read: shippingtest.Record("completed", `"documents":["CUSTOMS",{"name":"a form"}]`), lost: unknown, refusal: unknown},
		"unknown status, these":                {read: shippingtest.Record("reviewing", listsFDA), lost: charged, refusal: before},
		"unknown status, no list":              {read: shippingtest.Record("reviewing", charge), lost: unknown, refusal: unknown},
		"a payment is missing, these":          {read: shippingtest.Record("awaiting_payment", listsFDA), lost: unknown, refusal: unknown},
		"unknown status, these are unpaid":     {read: shippingtest.Record("reviewing", `"documents":[{"document_type":"FDA","status":"unpaid"}]`), lost: unknown, refusal: unknown},
		"a status in capitals":                 {read: shippingtest.Record("DRAFT"), lost: unknown, refusal: unknown},
		"failed analysis":                      {read: shippingtest.Record("failed"), lost: unknown, refusal: unknown, sole: charged},
		"failed, these":                        {read: shippingtest.Record("failed", listsFDA), lost: charged, refusal: before},
		"failed, shows a charge":               {read: shippingtest.Record("failed", charge), lost: unknown, refusal: unknown, sole: charged},
		"failed, shows an amount":              {read: shippingtest.Record("failed", `"charged_amount":5`), lost: unknown, refusal: unknown, sole: charged},
		"failed, others":                       {read: shippingtest.Record("failed", listsCustoms, charge), lost: unknown, refusal: unknown},
		"failed, charged nothing":              {read: shippingtest.Record("failed", `"charged_amount":0`), lost: unknown, refusal: unknown, sole: charged},
		"another request":                      {read: shippingtest.OK(`{"request_id":"RD-2","status":"processing",` + listsFDA + `}`), lost: unknown, refusal: unknown},
		"no record":                            {read: shippingtest.OK(`{}`), lost: unknown, refusal: unknown},
		"null":                                 {read: shippingtest.OK(`null`), lost: unknown, refusal: unknown},
		"no status":                            {read: shippingtest.OK(`{"request_id":"RD-1",` + listsFDA + `}`), lost: unknown, refusal: unknown},
		"HTML":                                 {read: httpmock.NewStringResponder(200, "<html>"), lost: unknown, refusal: unknown},
		"404":                                  {read: shippingtest.Refusal(404, "gone"), lost: unknown, refusal: unknown},
		"401":                                  {read: shippingtest.Refusal(401, "no"), lost: unknown, refusal: unknown},
		"429":                                  {read: shippingtest.Refusal(429, "slow down"), lost: unknown, refusal: unknown},
		"503":                                  {read: shippingtest.Refusal(503, "busy"), lost: unknown, refusal: unknown},
		"connection broke":                     {read: httpmock.NewErrorResponder(io.ErrUnexpectedEOF), lost: unknown, refusal: unknown},
	}
	for _, data := range odd {
		rows[data] = readBack{read: shippingtest.OK(data), lost: unknown, refusal: unknown}
	}
	return rows
}

// dialects are those of services with other names: the usual ones in full, those of Contrary, and three sets that were drawn at random.
func dialects() []*dialect.Dialect {
	random := func(at, documents, charge, transaction, document string) *dialect.Dialect {
		return &dialect.Dialect{
			Record:   dialect.RecordMembers{At: at, Documents: documents, ChargedAmount: charge, TransactionID: transaction},
			Document: dialect.Document{DocumentType: document},
		}
	}
	return []*dialect.Dialect{
		dialect.Reference(), dialect.Contrary(), random("", "ijw", "qba", "transaction", "uho"), random("wk", "paid_documents", "zzf", "ledger_ref", ""),
		random("regulatory", "documents", "total_charged", "tx", "form"),
	}
}

// speaking is a service that answers with the names of a dialect.
type speaking struct {
	http.RoundTripper
	dialect *dialect.Dialect
}

func (s speaking) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(r)
	if err != nil || s.dialect == nil {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	record := s.dialect.Record
	for usual, name := range map[string]string{
		"request": record.At, "documents": record.Documents, "charged_amount": record.ChargedAmount, "transaction_id": record.TransactionID,
		"document_type": s.dialect.Document.DocumentType,
	} {
		if name != "" {
			body = bytes.ReplaceAll(body, []byte(`"`+usual+`":`), []byte(`"`+name+`":`))
		}
	}
	response.Body, response.ContentLength = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err})), -1
	response.Header.Del("Content-Length")
	return response, nil
}

// failing is a body that ends with an error, or ends.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, cmp.Or(f.err, io.EOF) }

// pairWay is a way to purchase FDA on RD-1, whose outcome it returns. settles: a lost response is settled. sole: nobody else can
// have purchased.
type pairWay struct {
	name          string
	settles, sole bool
	buy           func(ctx context.Context, t *testing.T, client *shipping.Client, service *pairService) shipping.PurchaseOutcome
}

func pairWays() []pairWay {
	workflow := &shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll}
	purchase := func(sole bool) func(context.Context, *testing.T, *shipping.Client, *pairService) shipping.PurchaseOutcome {
		return func(ctx context.Context, t *testing.T, client *shipping.Client, service *pairService) shipping.PurchaseOutcome {
			result, err := shippingtest.Purchase(ctx, client, sole)
			if err == nil && result.ReadBack != service.lost {
				t.Errorf("ReadBack is %t", result.ReadBack)
			}
			failure, failed := errors.AsType[*shipping.RegulatoryError](err)
			if failed && (failure.Purchase.RequestID != "RD-1" || len(failure.Purchase.DocumentTypes) != 1 || failure.Err == nil) {
				t.Errorf("the error lacks the purchase: %+v", failure)
			}
			return shippingtest.Outcome(result, err)
		}
	}
	return []pairWay{
		{name: "Purchase", buy: purchase(false)},
		{name: "Purchase, sole", sole: true, buy: purchase(true)},
		{name: "AnalyzeAndPoll", sole: true, buy: func(ctx context.Context, _ *testing.T, client *shipping.Client, _ *pairService) shipping.PurchaseOutcome {
			_, err := client.Regulatory.AnalyzeAndPoll(ctx, parcel, workflow)
			return shippingtest.Outcome(nil, err)
		}},
		{name: "Resume", buy: func(ctx context.Context, _ *testing.T, client *shipping.Client, _ *pairService) shipping.PurchaseOutcome {
			_, err := client.Regulatory.Resume(ctx, "RD-1", workflow)
			return shippingtest.Outcome(nil, err)
		}},
		{name: "SettlePurchase", settles: true, buy: func(ctx context.Context, t *testing.T, client *shipping.Client, service *pairService) shipping.PurchaseOutcome {
			service.unreadable = true
			result, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
				RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: shippingtest.DraftRecord("RD-1"),
				PurchaseOptions: shipping.PurchaseOptions{SettleFor: time.Second},
			})
			service.unreadable = false
			failed, ok := errors.AsType[*shipping.RegulatoryError](err)
			if !ok || failed.Outcome != shipping.OutcomeUnknown {
				return shippingtest.Outcome(result, err)
			}
			text, err := json.Marshal(failed.Purchase)
			var stored shipping.PurchaseRequest
			if err := errors.Join(err, json.Unmarshal(text, &stored)); err != nil {
				t.Fatal(err)
			}
			return shippingtest.Outcome(client.Regulatory.SettlePurchase(ctx, &stored))
		}},
		{name: "batch", sole: true, buy: func(ctx context.Context, _ *testing.T, client *shipping.Client, _ *pairService) shipping.PurchaseOutcome {
			report, _ := batch.Run(ctx, client, []batch.Item{{Analyze: *parcel}}, &batch.Options{Select: shipping.SelectAll})
			switch item := report.Results[0]; item.State {
			case batch.StateUnknown:
				return shipping.OutcomeUnknown
			case batch.StateError:
				return shippingtest.Outcome(nil, item.Err)
			}
			return shipping.OutcomeCharged
		}},
	}
}

// pairService is a service with the draft RD-1, which offers FDA. It has one response to a purchase, and reads as a draft for
// some time after the purchase, then as another record.
type pairService struct {
	response, read httpmock.Responder
	late           time.Duration
	lost           bool   // the response is lost
	slug           string // the name of the slug in an offer
	unreadable     bool
	purchases      int
	purchased      time.Time
}

func (s *pairService) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/purchase"):
		s.purchases++
		s.purchased = time.Now()
		return s.response(r)
	case r.Method == http.MethodPost, s.purchases == 0, !s.unreadable && time.Since(s.purchased) < s.late:
		return shippingtest.Record("draft", fmt.Sprintf(`"currency":"NGN","available_documents":[{%q:"FDA","amount":5}]`, s.slug))(r)
	case s.unreadable:
		return shippingtest.Refusal(503, "busy")(r)
	}
	return s.read(r)
}

// pairCount counts the outcomes of pairs whose purchase is shown after some time.
type pairCount struct {
	mu                    sync.Mutex
	pairs, unknown, wrong int
	least, longest        time.Duration
}

func (c *pairCount) add(got, want shipping.PurchaseOutcome, took time.Duration, ordinary bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pairs++
	switch {
	case got == shipping.OutcomeUnknown:
		c.unknown++
	case got != want:
		c.wrong++
	case ordinary && got == shipping.OutcomeNotCharged:
		c.least, c.longest = min(cmp.Or(c.least, took), took), max(c.longest, took)
	}
}

// Every response with every read-back has the outcome of the table in internal/evidence, whatever shape the service gives
// to it, and the purchase is sent once: also if readings lag behind by 4 s, or the purchase takes effect so late, and
// whatever names the dialect of the service has. SHIPPING_PAIRS=all tries every pair in every way to purchase, and counts what
// happens beyond the limit of the promise.
func TestPurchase_EveryResponseWithEveryReadBack(t *testing.T) {
	t.Parallel()
	const limit = 4 * time.Second
	all, ways, lags := os.Getenv("SHIPPING_PAIRS") == "all", pairWays(), []time.Duration{0, time.Second, limit}
	services := dialects()
	if all {
		lags = append(lags, 6*time.Second, 15*time.Second, 90*time.Second)
	}
	counts := map[string]*pairCount{}
	for _, way := range ways {
		for _, late := range lags {
			counts[fmt.Sprintf("%s, shown after %s", way.name, late)] = new(pairCount)
		}
	}
	t.Run("pairs", func(t *testing.T) {
		for kind, responses := range purchaseResponses() {
			for name, response := range responses {
				t.Run(kind+", "+name, func(t *testing.T) {
					t.Parallel()
					for readName, read := range readBacks() {
						drawn := len(name) + len(readName)
						for w, way := range ways {
							for l, late := range lags {
								if !all && w != 0 && (w != 1+drawn%(len(ways)-1) || l != drawn%len(lags)) {
									continue
								}
								synctest.Test(t, func(t *testing.T) {
									var d *dialect.Dialect
									slug := "slug"
									if late == time.Second {
										d = services[drawn%len(services)]
										slug = cmp.Or(d.Offer.DocumentType, slug)
									}
									ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
									defer stop()
									service := &pairService{response: response, read: read.read, late: late, lost: kind == "lost", slug: slug}
									client := shippingtest.NewClient(t, speaking{service, d}, shipping.WithDialect(d))
									got, want := way.buy(ctx, t, client, service), read.outcome(kind, way)
									if way.name == "batch" && got == shipping.OutcomeCharged && want == shipping.OutcomePurchasedBefore {
										got = want // a batch waits for the documents, whoever purchased them
									}
									if late <= limit && got != want {
										t.Errorf("%s, %s, shown after %s in %+v: outcome %q, want %q", way.name, readName, late, d, got, want)
									}
									if service.purchases != 1 {
										t.Errorf("%s, %s: the purchase was sent %d times", way.name, readName, service.purchases)
									}
									counts[fmt.Sprintf("%s, shown after %s", way.name, late)].add(got, want, time.Since(service.purchased),
										kind == "refusal" && (name == "400" || name == "402"))
								})
							}
						}
					}
				})
			}
		}
	})
	total := 0
	for _, way := range ways {
		for _, late := range lags {
			c := counts[fmt.Sprintf("%s, shown after %s", way.name, late)]
			total += c.pairs
			if all {
				t.Logf("%-16s shown after %-5s %5d pairs, %5d unknown, %4d false; an ordinary refusal: %s to %s", way.name, late, c.pairs, c.unknown,
					c.wrong, c.least, c.longest)
			}
		}
	}
	t.Attr("cases", fmt.Sprintf("%d purchases", total))
}

// Settling decides as a lost response does, and a request that stays a draft is not charged.
func TestSettlePurchase_EveryReadBack(t *testing.T) {
	t.Parallel()
	for name, read := range readBacks() {
		for _, sole := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				want := read.outcome("lost", pairWay{settles: true, sole: sole})
				service, started := shippingtest.NewRequestService([]httpmock.Responder{shippingtest.OK(`{}`)}, []httpmock.Responder{read.read}), time.Now()
				result, err := shippingtest.NewClient(t, service).Regulatory.SettlePurchase(t.Context(), &shipping.PurchaseRequest{
					RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: shippingtest.DraftRecord("RD-1"), Sole: sole,
				})
				if got := shippingtest.Outcome(result, err); got != want {
					t.Errorf("%s, sole %t: outcome %q, want %q (%v)", name, sole, got, want, err)
				}
				if took := time.Since(started); want == shipping.OutcomeNotCharged && took < time.Minute {
					t.Errorf("%s: decided after %s", name, took)
				}
				if service.Count(http.MethodPost) != 0 {
					t.Errorf("%s: settling purchased", name)
				}
			})
		}
	}
}

func TestPurchase_ReadsUntilTheEvidenceDecides(t *testing.T) {
	t.Parallel()
	lost := httpmock.NewErrorResponder(io.ErrUnexpectedEOF)
	draft, busy, done := shippingtest.Record("draft"), shippingtest.Refusal(503, "busy"), shippingtest.Record("processing", listsFDA)
	slow := draft.Delay(2 * time.Second)
	for name, test := range map[string]struct {
		purchase httpmock.Responder
		reads    []httpmock.Responder
		want     shipping.PurchaseOutcome
		least    time.Duration
	}{
		"lost, a draft for a while, then processing": {lost, []httpmock.Responder{draft, draft, done}, shipping.OutcomeCharged, 0},
		"lost, reads fail for a while":               {lost, []httpmock.Responder{busy, lost, done}, shipping.OutcomeCharged, 0},
		"lost, other responses for a while":          {lost, []httpmock.Responder{shippingtest.OK(`{"request_id":"RD-2","status":"draft"}`), httpmock.NewStringResponder(200, "<html>"), done}, shipping.OutcomeCharged, 0},
		"lost, always a draft":                       {lost, []httpmock.Responder{draft}, shipping.OutcomeUnknown, 10 * time.Second},
		"refused, a draft for a while, then these":   {shippingtest.Refusal(400, "not a draft"), []httpmock.Responder{draft, draft, done}, shipping.OutcomePurchasedBefore, 0},
		"refused, a draft":                           {shippingtest.Refusal(400, "no funds"), []httpmock.Responder{draft}, shipping.OutcomeNotCharged, time.Second},
		// A slow draft shows the request as it was when the read-back was sent, not when its response arrived.
		"refused, one slow draft, then these":                   {shippingtest.Refusal(400, "not a draft"), []httpmock.Responder{slow, done}, shipping.OutcomePurchasedBefore, 0},
		"refused, reads fail, then a draft":                     {shippingtest.Refusal(400, "no funds"), []httpmock.Responder{busy, draft}, shipping.OutcomeNotCharged, time.Second},
		"refused, a draft, purchasing, a draft for longer":      {shippingtest.Refusal(400, "no funds"), []httpmock.Responder{draft, shippingtest.Record("purchasing").Delay(5 * time.Second), draft}, shipping.OutcomeNotCharged, 10 * time.Second},
		"refused, a draft that lists others, then drafts":       {shippingtest.Refusal(400, "no funds"), []httpmock.Responder{shippingtest.Record("draft", listsCustoms), draft}, shipping.OutcomeUnknown, 0},
		"lost, other documents, then a record without its list": {lost, []httpmock.Responder{shippingtest.Record("processing", listsCustoms), shippingtest.Record("processing")}, shipping.OutcomeUnknown, 0},
		"refused, other documents, then a record without them":  {shippingtest.Refusal(400, "no"), []httpmock.Responder{shippingtest.Record("processing", listsCustoms), shippingtest.Record("completed")}, shipping.OutcomeUnknown, 0},
		"refused with 401, and so is the read-back":             {shippingtest.Refusal(401, "no"), []httpmock.Responder{shippingtest.Refusal(401, "no")}, shipping.OutcomeNotCharged, 0},
		"refused with 403, and so is the read-back":             {shippingtest.Refusal(403, "no"), []httpmock.Responder{shippingtest.Refusal(403, "no")}, shipping.OutcomeNotCharged, 0},
		"refused with 404, and so is the read-back":             {shippingtest.Refusal(404, "no"), []httpmock.Responder{shippingtest.Refusal(404, "no")}, shipping.OutcomeNotCharged, 0},
		"refused with 404, the read-back with 401":              {shippingtest.Refusal(404, "no"), []httpmock.Responder{shippingtest.Refusal(401, "no")}, shipping.OutcomeUnknown, 0},
		"refused with 400, and so is the read-back":             {shippingtest.Refusal(400, "no"), []httpmock.Responder{shippingtest.Refusal(400, "no")}, shipping.OutcomeUnknown, 0},
		// A charge or a purchase that an earlier reading shows is not disproved by a later one that shows neither.
		"refused, a draft that shows a charge, then a draft": {shippingtest.Refusal(404, "no"), []httpmock.Responder{shippingtest.Record("draft", charge), draft}, shipping.OutcomeUnknown, 0},
		"refused, purchasing with a charge, then a draft":    {shippingtest.Refusal(404, "no"), []httpmock.Responder{shippingtest.Record("purchasing", charge), draft}, shipping.OutcomeUnknown, 0},
		"refused, a draft that shows a charge, then 404":     {shippingtest.Refusal(404, "no"), []httpmock.Responder{shippingtest.Record("draft", charge), shippingtest.Refusal(404, "no")}, shipping.OutcomeUnknown, 0},
		"refused, purchasing, then 404":                      {shippingtest.Refusal(404, "no"), []httpmock.Responder{shippingtest.Record("purchasing"), shippingtest.Refusal(404, "no")}, shipping.OutcomeUnknown, 0},
		"404 of a proxy, twice":                              {httpmock.NewStringResponder(404, "<html>"), []httpmock.Responder{httpmock.NewStringResponder(404, "<html>")}, shipping.OutcomeUnknown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service, started := shippingtest.NewRequestService([]httpmock.Responder{test.purchase}, test.reads), time.Now()
				result, err := shippingtest.Purchase(t.Context(), shippingtest.NewClient(t, service), false)
				if got := shippingtest.Outcome(result, err); got != test.want {
					t.Errorf("outcome %q, want %q (%v)", got, test.want, err)
				}
				if took := time.Since(started); took < test.least {
					t.Errorf("decided after %s, want at least %s", took, test.least)
				}
			})
		})
	}
}

// What no later reading can decide is unknown at once. A draft, and what cannot be read, is read again for SettleFor.
func TestPurchase_WhatCannotBeDecidedIsNotReadAgain(t *testing.T) {
	t.Parallel()
	lost := shippingtest.NoResponse()
	for name, test := range map[string]struct {
		response, read httpmock.Responder
		took           time.Duration
	}{
		"processing, others":       {lost, shippingtest.Record("processing", listsCustoms), 0},
		"failed, no list":          {lost, shippingtest.Record("failed"), 0},
		"another request":          {lost, shippingtest.OK(`{"request_id":"RD-2","status":"draft"}`), 10 * time.Second},
		"404, of a known request":  {lost, shippingtest.Refusal(404, "not found"), 10 * time.Second},
		"draft, others":            {lost, shippingtest.Record("draft", listsCustoms), 10 * time.Second},
		"processing, no list":      {lost, shippingtest.Record("processing"), 10 * time.Second},
		"refused, charged a draft": {shippingtest.Refusal(400, "no"), shippingtest.Record("draft", charge), 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			service, started := shippingtest.NewRequestService([]httpmock.Responder{test.response}, []httpmock.Responder{test.read}), time.Now()
			result, err := shippingtest.Purchase(t.Context(), shippingtest.NewClient(t, service), false)
			if took := time.Since(started); shippingtest.Outcome(result, err) != shipping.OutcomeUnknown || took != test.took {
				t.Errorf("%s: after %s, %v", name, took, err)
			}
		})
	}
}

func TestPurchase_ErrorTexts(t *testing.T) {
	t.Parallel()
	lost := httpmock.NewErrorResponder(io.ErrUnexpectedEOF)
	for want, service := range map[string]*shippingtest.Service{
		"shipping: purchase of request RD-1: outcome not charged: regulatory.purchase: 400 Bad Request: insufficient funds; the request has stayed a draft for 5s (a purchase that a proxy holds back for longer is not seen); correct the cause, then purchase again": shippingtest.NewRequestService([]httpmock.Responder{shippingtest.Refusal(400, "insufficient funds")}, []httpmock.Responder{shippingtest.Record("draft")}),
		"shipping: purchase of request RD-1: outcome not charged: regulatory.purchase: 402 Payment Required: empty; the request has stayed a draft for 5s (a purchase that a proxy holds back for longer is not seen); add money to the wallet, then purchase again":   shippingtest.NewRequestService([]httpmock.Responder{shippingtest.Refusal(402, "empty")}, []httpmock.Responder{shippingtest.Record("draft")}),
		"shipping: purchase of request RD-1: outcome purchased before: regulatory.purchase: 400 Bad Request: not a draft; call Regulatory.Wait to wait for the documents":                                                                                              shippingtest.NewRequestService([]httpmock.Responder{shippingtest.Refusal(400, "not a draft")}, []httpmock.Responder{shippingtest.Record("processing", listsFDA)}),
		`shipping: purchase of request RD-1: outcome unknown: regulatory.purchase: no response: unexpected EOF; the request still reads as a draft; do not purchase again: call Regulatory.SettlePurchase later`:                                                       shippingtest.NewRequestService([]httpmock.Responder{lost}, []httpmock.Responder{shippingtest.Record("draft")}),
		`shipping: purchase of request RD-1: outcome unknown: regulatory.purchase: 500 Internal Server Error: oops; regulatory.get: 404 Not Found: gone; do not purchase again: call Regulatory.SettlePurchase later`:                                                  shippingtest.NewRequestService([]httpmock.Responder{shippingtest.Refusal(500, "oops")}, []httpmock.Responder{shippingtest.Refusal(404, "gone")}),
		`shipping: purchase of request RD-1: outcome unknown: regulatory.purchase: no response: unexpected EOF; the request reads as "failed", which does not show whether these documents were charged; do not purchase again: call Regulatory.SettlePurchase later`:  shippingtest.NewRequestService([]httpmock.Responder{lost}, []httpmock.Responder{shippingtest.Record("failed")}),
		`shipping: purchase of request RD-1: outcome not charged: regulatory.purchase: 409 Conflict: No: not this; the request has stayed a draft for 1m0s (a purchase that a proxy holds back for longer is not seen); correct the cause, then purchase again`:        shippingtest.NewRequestService([]httpmock.Responder{problem(409)}, []httpmock.Responder{shippingtest.Record("draft")}),
	} {
		synctest.Test(t, func(t *testing.T) {
			_, err := shippingtest.NewClient(t, service).Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: shippingtest.DraftRecord("RD-1")})
			if err == nil || err.Error() != want {
				t.Errorf("\n got %v\nwant %s", err, want)
			}
		})
	}
}

// A failed request is reported as a failed generation only if its record shows a purchase: a failed analysis charges
// nothing.
func TestWait_NamesTheGenerationOnlyOfAPurchasedRequest(t *testing.T) {
	t.Parallel()
	for want, read := range map[string]httpmock.Responder{
		"shipping: request RD-1 failed: no such goods":              shippingtest.Record("failed", `"failure_reason":"no such goods"`),
		"shipping: generation failed for request RD-1: no lot":      shippingtest.Record("failed", charge, `"failure_reason":"no lot"`),
		"shipping: generation failed for request RD-1; FDA: no lot": shippingtest.Record("failed", `"documents":[{"document_type":"FDA","status":"failed","failure":"no lot"}]`),
	} {
		_, err := shippingtest.NewClient(t, shippingtest.NewRequestService(nil, []httpmock.Responder{read})).Regulatory.Wait(t.Context(), "RD-1", nil)
		if err == nil || err.Error() != want {
			t.Errorf("\n got %v\nwant %s", err, want)
		}
		shippingtest.WantError(t, want, err, shipping.ErrRequestFailed)
	}
}

// The minimal response of the specification, without a status, is a draft. If it were refused, the id of the draft that
// the service created would be lost.
func TestAnalyze_TheMinimalResponseIsADraft(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		`{"request_id":"RD-1","available_documents":[{"document_type":"FDA","amount":5,"currency":"NGN"}],"line_items":[]}`,
		`{"request":{"request_id":"RD-1","available_documents":[{"document_type":"FDA","amount":5,"currency":"NGN"}]}}`,
		`{"request_id":"RD-1"}`,
	} {
		draft, err := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(data))).Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
		if err != nil || draft.RequestID != "RD-1" || draft.Status != shipping.StatusDraft {
			t.Errorf("%s: %+v, %v", data, draft, err)
		}
	}
}

// An analysis of another shipment is refused before its draft can be purchased.
func TestAnalyze_OfAnotherShipmentIsRefused(t *testing.T) {
	t.Parallel()
	_, err := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(`{"request_id":"RD-1","status":"draft","shipment_id":"SH-2"}`))).Regulatory.
		Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
	if !errors.Is(err, shipping.ErrUnexpectedBody) || !strings.Contains(err.Error(), `about another shipment, "SH-2" (request RD-1)`) {
		t.Error(err)
	}
}

// No operation on a request accepts the record of another request.
func TestRecord_OfAnotherRequestIsRefused(t *testing.T) {
	t.Parallel()
	for _, call := range shippingtest.Calls() {
		switch call.Operation {
		case shipping.OpGetRequest, operations.UpdateItems, operations.UpdateAddresses, operations.UpdateShipping, operations.UpdateProfile, operations.RetryRequest:
			_, err := call.Do(t.Context(), shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(`{"request_id":"RD-2","status":"draft"}`)), shipping.WithDialect(&dialect.Dialect{Routes: dialect.Reference().Routes})))
			if !errors.Is(err, shipping.ErrUnexpectedBody) || !strings.Contains(fmt.Sprint(err), `about another request, "RD-2"`) {
				t.Errorf("%s: %v", call.Operation, err)
			}
		}
	}
}

func TestPurchase_TheDeadlineLeavesTimeToReadBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		deadline, settle, least, most time.Duration // when the purchase itself ends
	}{
		"at least three quarters for the purchase": {20 * time.Second, 10 * time.Second, 15 * time.Second, 15 * time.Second},
		"at most the settling time is kept":        {20 * time.Second, time.Second, 19 * time.Second, 19 * time.Second},
		"an attempt's own bound":                   {10 * time.Minute, 10 * time.Second, 30 * time.Second, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := shippingtest.NewRequestService([]httpmock.Responder{httpmock.NewStringResponder(200, "").Delay(time.Hour)}, []httpmock.Responder{shippingtest.Record("processing")})
				ctx, cancel := context.WithTimeout(t.Context(), test.deadline)
				defer cancel()
				started := time.Now()
				result, err := shippingtest.NewClient(t, service).Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
					Draft: shippingtest.DraftRecord("RD-1"), Sole: true,
					RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, PurchaseOptions: shipping.PurchaseOptions{SettleFor: test.settle},
				})
				took := time.Since(started)
				if err != nil || !result.ReadBack || took < test.least || took > test.most {
					t.Errorf("%+v, %v after %s", result, err, took)
				}
			})
		})
	}
}

// wantUnsent makes a purchase that cannot be sent. It charges nothing, and is this error.
func wantUnsent(ctx context.Context, t *testing.T, client *shipping.Client, want error) {
	t.Helper()
	result, err := shippingtest.Purchase(ctx, client, false)
	if got := shippingtest.Outcome(result, err); got != shipping.OutcomeNotCharged || !errors.Is(err, want) {
		t.Errorf("outcome %q of a purchase that was never sent: %v", got, err)
	}
}

// A purchase that the client itself holds back, or that gets no connection, charges nothing.
func TestPurchase_ThatWasNeverSentChargesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		ended, end := context.WithCancel(ctx)
		end()
		busy := shippingtest.NewService(shippingtest.Refusal(429, "slow down").HeaderSet(http.Header{"Retry-After": {"30"}}))
		client := shippingtest.NewClient(t, busy)
		wantUnsent(ended, t, client, context.Canceled)
		_, _ = client.Countries.List(ctx)
		wantUnsent(ctx, t, client, shipping.ErrRateLimited)
		if n := busy.Count(http.MethodPost); n != 0 {
			t.Errorf("%d purchases were sent", n)
		}
		cancel()
	})
	var none *http.Transport // counts as not given: the client's default is used
	wantUnsent(t.Context(), t, shippingtest.NewClient(t, none, shipping.WithBaseURL("http://127.0.0.1:1"), shippingtest.FastRetries()), shipping.ErrConnection)
}

func TestPurchase_TheCallersDocumentsAreNotShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		documents := []shipping.DocumentType{"FDA"}
		service := shippingtest.NewRequestService([]httpmock.Responder{shippingtest.Refusal(400, "insufficient funds")}, []httpmock.Responder{shippingtest.Record("draft")})
		_, err := shippingtest.NewClient(t, service).Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: documents, Draft: shippingtest.DraftRecord("RD-1")})
		documents[0] = "changed"
		if failure, _ := errors.AsType[*shipping.RegulatoryError](err); failure == nil || failure.Purchase.DocumentTypes[0] != "FDA" {
			t.Errorf("%v", err)
		}
	})
}

func TestSettlePurchase_HowLongADraftMustStayCanBeSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := shippingtest.NewRequestService([]httpmock.Responder{shippingtest.Confirmation()}, []httpmock.Responder{shippingtest.Record("draft")})
		started := time.Now()
		_, err := shippingtest.NewClient(t, service).Regulatory.SettlePurchase(t.Context(), &shipping.PurchaseRequest{
			RequestID: "RD-1", PurchaseOptions: shipping.PurchaseOptions{QuietFor: time.Hour},
		})
		const want = "shipping: purchase of request RD-1: outcome not charged: the request has stayed a draft for 1h0m0s (a purchase that a proxy holds back for longer is not seen)"
		if err == nil || err.Error() != want || time.Since(started) < time.Hour {
			t.Errorf("after %s: %v", time.Since(started), err)
		}
		if n := service.Count(http.MethodGet); n > 100 {
			t.Errorf("%d reads in an hour", n)
		}
	})
}

func TestSettlePurchase_ByTheIDAlone(t *testing.T) {
	t.Parallel()
	failed := shippingtest.Refusal(500, "no")
	for name, test := range map[string]struct {
		reads []httpmock.Responder
		want  shipping.PurchaseOutcome
	}{
		"any purchase counts, without documents to compare with": {[]httpmock.Responder{shippingtest.Record("processing", listsCustoms)}, shipping.OutcomeCharged},
		// A single slow response does not show that the request stayed a draft.
		"a slow draft is not a quiet one": {[]httpmock.Responder{
			shippingtest.Record("draft").Delay(2 * time.Minute), shippingtest.Record("processing", listsFDA)}, shipping.OutcomeCharged},
		"a draft that is first read late gets the whole time": {[]httpmock.Responder{failed, failed, failed, failed, shippingtest.Record("draft")}, shipping.OutcomeNotCharged},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := shippingtest.NewClient(t, shippingtest.NewRequestService(nil, test.reads), shipping.WithRetryPolicy(shipping.RetryPolicy{AttemptTimeout: -1}))
			result, err := client.Regulatory.SettlePurchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1"})
			if got := shippingtest.Outcome(result, err); got != test.want {
				t.Errorf("%s: %q, want %q (%v)", name, got, test.want, err)
			}
		})
	}
}

func TestPurchase_TheResponseIsThePurchasesAndNotTheReadBacks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var response shipping.Response
		client := shippingtest.NewClient(t, shippingtest.NewRequestService([]httpmock.Responder{shippingtest.Refusal(503, "busy")}, []httpmock.Responder{shippingtest.Record("processing")}))
		result, err := client.Regulatory.Purchase(t.Context(),
			&shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}, Sole: true, Draft: shippingtest.DraftRecord("RD-1")},
			shipping.WithResponse(&response))
		if err != nil || !result.ReadBack || response.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%+v, %d, %v", result, response.StatusCode, err)
		}
	})
}

// The reason why a draft is not purchased quotes members of the record. A service that sent the key back as the name of
// one, or as another currency, had it printed.
func TestPurchase_KeepsTheKeyOutOfTheReasons(t *testing.T) {
	t.Parallel()
	const draft = `"request_id":"RD-1","status":"draft","available_documents":[{"document_type":"FDA","amount":5,"currency":"NGN"`
	for _, record := range []string{
		`{"KEY":1,"KEY":2,` + draft + `}]}`,
		`{"KEY":1,"KEY":2,"request":{` + draft + `}]}}`,
		`{` + draft + `,"KEY":1,"KEY":2}]}`,
		`{` + draft + `,"price KEY":7}]}`,
		`{` + draft + `,"KEY":{"price":7}}]}`,
		`{` + draft + `,"other_currency":"KEY"}]}`,
	} {
		for _, key := range []string{shippingtest.Key, strings.Repeat("x", 30) + shippingtest.Key} { // of which only the start is quoted
			synctest.Test(t, func(t *testing.T) {
				service := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
					return shippingtest.OK(strings.ReplaceAll(record, "KEY", key))(r)
				})
				regulatory := shippingtest.NewClient(t, service).Regulatory
				ctx, stop := context.WithTimeout(t.Context(), time.Hour)
				defer stop()
				options := &shipping.AnalyzeAndPollOptions{
					Select: shipping.SelectOnly("FDA"), Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "1"), Currency: "NGN"},
				}
				read, err := regulatory.Get(ctx, "RD-1")
				if err != nil {
					t.Fatal(err)
				}
				_, bought := regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}})
				_, analyzed := regulatory.AnalyzeAndPoll(ctx, parcel, options)
				_, resumed := regulatory.Resume(ctx, "RD-1", options)
				_, checked := options.Budget.Check(read, "FDA")
				_, _, priced := read.Price("FDA")
				for way, err := range map[string]error{"Purchase": bought, "AnalyzeAndPoll": analyzed, "Resume": resumed, "Check": checked, "Price": priced} {
					if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(text, shippingtest.Key[:10]) {
						t.Errorf("%s: %s: %s", record, way, text)
					}
				}
			})
		}
	}
}
