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
	"sync/atomic"
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

// The responses of these tests, by short names.
var (
	record         = shippingtest.Record
	success        = shippingtest.OK
	refusal        = shippingtest.Refusal
	body           = httpmock.NewStringResponder
	requestService = shippingtest.NewRequestService
)

type responders = []httpmock.Responder

func regulatory(t testing.TB, transport http.RoundTripper, options ...shipping.Option) shipping.RegulatoryService {
	t.Helper()
	return shippingtest.NewClient(t, transport, options...).Regulatory
}

const analyzeURL = shippingtest.BaseURL + "/v1/regulatory-documents/analyze"

var fda = []shipping.DocumentType{"FDA"}

const (
	charged = shipping.OutcomeCharged
	not     = shipping.OutcomeNotCharged
	before  = shipping.OutcomePurchasedBefore
	unknown = shipping.OutcomeUnknown
)

// Members that list purchased documents, in the shapes that the specification allows.
const (
	listsFDA     = `"documents":[{"document_type":"FDA","status":"generating"}]`
	listsCustoms = `"documents":[{"document_type":"CUSTOMS","status":"generating"}]`
	charge       = `"transaction_id":"TR-1"`
)

func problem(status int) httpmock.Responder {
	return body(status, `{"type":"about:blank","title":"No","detail":"not this","status":400}`).
		HeaderSet(http.Header{"Content-Type": {"application/problem+json; charset=utf-8"}})
}

// contradictions are the data of responses that contradict themselves, or whose request id or documents cannot be read:
// they confirm nothing.
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

// purchaseResponses are responses to a purchase of FDA on RD-1, by the kind of evidence. Whether one is a refusal is
// decided by its whole body, of which an error keeps only the start.
func purchaseResponses() map[string]map[string]httpmock.Responder {
	body, problemType := httpmock.NewStringResponder, http.Header{"Content-Type": {"application/problem+json"}}
	spaces := strings.Repeat(" ", 70<<10)
	const processing, failures = `{"request_id":"RD-1","status":"processing"}`, `"failed":[{"document_type":"FDA"}]`
	responses := map[string]map[string]httpmock.Responder{
		"confirmation": {
			"of our server":           record("processing", listsFDA, charge, `"charged_amount":5`, `"currency":"NGN"`),
			"without data":            body(200, `{"status":true,"message":"done"}`),
			"null":                    success(`null`),
			"an empty object":         success(`{}`),
			"a text":                  success(`"charged"`),
			"a status that is a text": success(`{"status":"success"}`),
			"an error without a value": body(200,
				`{"status":true,"error":{"code":0,"message":""},"errors":[null],"data":{"error":{}}}`),
			"201":                      body(201, `{"status":true,"data":{"request_id":"RD-1"}}`),
			"the record under request": success(`{"request":{"request_id":"RD-1","status":"purchasing"}}`),
			"documents as slugs":       success(`{"request_id":"RD-1","documents":["FDA"]}`),
			"document_types":           success(`{"request_id":"RD-1","document_types":["FDA"]}`),
			// A list did not confirm, so that its purchase stayed unknown.
			"an empty list":                success(`[]`),
			"a list of the record":         success(`[{"request_id":"RD-1","status":"processing"}]`),
			"a list of the documents":      success(`[{"document_type":"FDA","status":"generating"}]`),
			"a list of slugs":              success(`["fda"]`),
			"a list of the wrapped record": success(`[{"request":{"request_id":"RD-1","status":"processing"}}]`),
		},
		"refusal": {
			"400":                 refusal(400, "insufficient funds"),
			"a list of reasons":   body(400, `{"status":false,"message":["insufficient funds"],"errors":[{"message":"no"}]}`),
			"423":                 refusal(423, "busy"),
			"with a Retry-After":  refusal(400, "busy").HeaderSet(http.Header{"Retry-After": {"1"}}),
			"402":                 refusal(402, "insufficient funds"),
			"409":                 refusal(409, "not a draft"),
			"429":                 refusal(429, "slow down"),
			"200, status false":   refusal(200, "no"),
			"status in words":     body(422, `{"status":"false","message":"no"}`),
			"problem, 400":        problem(400),
			"problem, 409":        problem(409),
			"with another reason": body(400, `{"status":false,"message":"no","data":{"error_code":"E7"}}`),
			"data of 70 KB":       body(400, `{"status":false,"data":"`+spaces+`"}`),
			"problem of 70 KB":    body(400, `{"title":"no","detail":"`+spaces+`"}`).HeaderSet(problemType),
		},
		"lost": {
			"connection broke":                httpmock.NewErrorResponder(io.ErrUnexpectedEOF),
			"500":                             refusal(500, "oops"),
			"503 as HTML":                     body(503, "<html>"),
			"408":                             refusal(408, "slow"),
			"425":                             refusal(425, "early"),
			"400 of a proxy":                  body(400, "<html>bad request</html>"),
			"400 without a status":            body(400, `{"message":"no"}`),
			"400, status true":                body(400, `{"status":true,"message":"?"}`),
			"problem, 500":                    problem(500),
			"problem, 408":                    problem(408),
			"problem that is not JSON":        body(400, "no").HeaderSet(problemType),
			"302":                             body(302, ""),
			"200 as HTML":                     body(200, "<html>"),
			"200, empty":                      body(200, ""),
			"200 without a status":            body(200, `{"data":{"request_id":"RD-1"}}`),
			"about another request":           success(`{"request_id":"RD-2","status":"processing"}`),
			"about another request, wrapped":  success(`{"request":{"request_id":"RD-2","status":"processing"}}`),
			"confirms a draft":                record("draft"),
			"confirms other documents":        record("processing", listsCustoms),
			"confirms these and other ones":   success(`{"request_id":"RD-1","document_types":["FDA","CUSTOMS"]}`),
			"confirms, with a wrapped draft":  success(`{"request":{"request_id":"RD-1","status":"draft"}}`),
			"confirms other slugs, as a list": success(`{"document_types":["TEXTILE"]}`),
			"confirms, and lists failures":    success(`{"request_id":"RD-1","purchased":[],` + failures + `}`),
			"confirms a missing payment":      record("awaiting_payment", listsFDA),
			"confirms, and is declined":       record("declined"),
			"confirms an error":               success(`{"success":false,"error":"insufficient funds"}`),
			"confirms with false":             success(`false`),
			// A failure counts at each level: the envelope, its data, and the record in the data.
			"declined, in the envelope":   body(200, `{"status":true,"success":false,"errors":["declined"],"data":null}`),
			"declined, beside the record": success(`{"success":false,"request":{"request_id":"RD-1"}}`),
			"declined, around the record": success(
				`{"status":"declined","request":{"request_id":"RD-1","status":"purchasing"}}`),
			"declined, within":               success(`{"request":{"request_id":"RD-1","error":"insufficient balance"}}`),
			"declined, as a text":            success(`"declined"`),
			"failed, of which record":        success(`{"status":"failed"}`),
			"failed record, without success": success(`{"request_id":"RD-1","status":"failed","success":false}`),
			"a list of others":               success(`["FDA","CUSTOMS"]`),
			"a list that names one twice":    success(`["FDA",{"document_type":"FDA"}]`),
			"a list with a failure":          success(`[{"document_type":"FDA","status":"failed"}]`),
			"a list with a draft":            success(`[{"request_id":"RD-1","status":"draft"}]`),
			"a list of two records":          success(`[` + processing + `,` + processing + `]`),
			"refused, then other text":       body(400, `{"status":false}`+spaces+"x"),
			"refused, then another envelope": body(200, `{"status":false}`+spaces+`{"status":true}`),
			"refused, another status behind": body(200, `{"status":false,"data":"`+spaces+`","status":true}`),
			"a refusal longer than is read":  body(400, `{"status":false}`+strings.Repeat(" ", 1<<20)),
			"a problem, then other text":     body(400, `{"title":"no"}`+spaces+"x").HeaderSet(problemType),
			"a problem, status true":         body(400, `{"status":true}`).HeaderSet(problemType),
			// A response with two statuses reports success and failure at once: it is neither.
			"false and true":          body(200, `{"status":false,"status":true,"data":{"request_id":"RD-1"}}`),
			"true and false":          body(200, `{"status":true,"status":false,"message":"no"}`),
			"false and true, escaped": body(200, `{"status":false,"statu\u0073":true,"data":{}}`),
		},
	}
	for _, data := range contradictions {
		responses["lost"][data] = success(data)
	}
	return responses
}

// odd are the data of records that contradict themselves, or whose request id or documents cannot be read: they prove
// nothing. A draft with anything in a member that shows a charge does not prove that nothing was charged.
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

// proof is the conclusion from a read-back: the outcome after a lost response, also if nobody else can have purchased,
// and after a refusal; "" if it is unknown.
type proof struct {
	lost, alone, refusal shipping.PurchaseOutcome
	isDraft              bool // which is settled as not charged
}

var (
	none   = proof{}
	draft  = proof{refusal: not, isDraft: true}
	these  = proof{lost: charged, alone: charged, refusal: before}
	others = proof{refusal: not}
	sole   = proof{alone: charged}
)

type readBack struct {
	proof
	read httpmock.Responder
}

// outcome returns the outcome of a purchase with a kind of response.
func (b readBack) outcome(kind string, way pairWay) shipping.PurchaseOutcome {
	switch {
	case kind == "confirmation":
		return charged
	case kind == "refusal":
		return cmp.Or(b.refusal, unknown)
	case way.settles && b.isDraft:
		return not
	case way.sole:
		return cmp.Or(b.alone, unknown)
	}
	return cmp.Or(b.lost, unknown)
}

// readBacks are what reading RD-1 returns after a purchase of FDA, with the outcome that each has after a
// lost response and after a refusal. Pairs that fit no row of the table are unknown.
func readBacks() map[string]readBack {
	const processing = `"request_id":"RD-1","status":"processing",` + listsFDA
	rows := map[string]readBack{
		"draft":                                {draft, record("draft")},
		"draft that shows a charge":            {none, record("draft", charge)},
		"draft that lists documents":           {none, record("draft", listsFDA)},
		"purchasing, no list":                  {sole, record("purchasing")},
		"processing, no list":                  {sole, record("processing")},
		"processing, an empty list":            {sole, record("processing", `"documents":[]`)},
		"processing, a list without slugs":     {none, record("processing", `"documents":[{"name":"a form"}]`)},
		"completed, no list":                   {sole, record("completed")},
		"processing, these":                    {these, record("processing", listsFDA)},
		"processing, these as slugs":           {these, record("processing", `"documents":["fda"]`)},
		"processing, these as document_types":  {these, record("processing", `"document_types":["FDA"]`)},
		"processing, these as purchased":       {these, record("processing", `"purchased_documents":[{"slug":"FDA"}]`)},
		"processing, these under type":         {these, record("processing", `"documents":[{"type":"FDA"}]`)},
		"processing, wrapped":                  {these, success(`{"request":{` + processing + `}}`)},
		"a list of the processing record":      {these, success(`[{` + processing + `}]`)},
		"a list of the draft":                  {draft, success(`[{"request_id":"RD-1","status":"draft"}]`)},
		"a list of two records":                {none, success(`[{` + processing + `},{}]`)},
		"processing without an id":             {these, success(`{"status":"processing",` + listsFDA + `}`)},
		"completed, these and others":          {none, record("completed", `"documents":["FDA","CUSTOMS"]`)},
		"purchasing, others":                   {none, record("purchasing", listsCustoms)},
		"processing, others":                   {none, record("processing", listsCustoms)},
		"completed, others":                    {others, record("completed", listsCustoms, charge)},
		"completed, others and one unreadable": {none, record("completed", `"documents":["CUSTOMS",{"name":"a form"}]`)},
		"unknown status, these":                {these, record("unlisted", listsFDA)},
		"unknown status, no list":              {none, record("unlisted", charge)},
		"a payment is missing, these":          {none, record("awaiting_payment", listsFDA)},
		"unknown status, these are unpaid": {
			none, record("unlisted", `"documents":[{"document_type":"FDA","status":"unpaid"}]`),
		},
		"a status in capitals":    {none, record("DRAFT")},
		"failed analysis":         {sole, record("failed")},
		"failed, these":           {these, record("failed", listsFDA)},
		"failed, shows a charge":  {sole, record("failed", charge)},
		"failed, shows an amount": {sole, record("failed", `"charged_amount":5`)},
		"failed, others":          {none, record("failed", listsCustoms, charge)},
		"failed, charged nothing": {sole, record("failed", `"charged_amount":0`)},
		"another request":         {none, success(`{"request_id":"RD-2","status":"completed",` + listsFDA + `}`)},
		"no record":               {none, success(`{}`)},
		"null":                    {none, success(`null`)},
		"no status":               {none, success(`{"request_id":"RD-1",` + listsFDA + `}`)},
		"HTML":                    {none, body(200, "<html>")},
		"404":                     {none, refusal(404, "gone")},
		"401":                     {none, refusal(401, "no")},
		"429":                     {none, refusal(429, "slow down")},
		"503":                     {none, refusal(503, "busy")},
		"connection broke":        {none, httpmock.NewErrorResponder(io.ErrUnexpectedEOF)},
	}
	for _, data := range odd {
		rows[data] = readBack{none, success(data)}
	}
	return rows
}

// dialects are those of services with other names: the usual ones in full, those of Contrary, and three sets that were
// drawn at random.
func dialects() []*dialect.Dialect {
	random := func(at, documents, charge, transaction, document string) *dialect.Dialect {
		return &dialect.Dialect{
			Record:   dialect.RecordMembers{At: at, Documents: documents, ChargedAmount: charge, TransactionID: transaction},
			Document: dialect.Document{DocumentType: document},
		}
	}
	return []*dialect.Dialect{
		dialect.Reference(), dialect.Contrary(), random("", "ijw", "qba", "transaction", "uho"),
		random("wk", "paid_documents", "zzf", "ledger_ref", ""),
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
		"request": record.At, "documents": record.Documents, "charged_amount": record.ChargedAmount,
		"transaction_id": record.TransactionID, "document_type": s.dialect.Document.DocumentType,
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

// pairWay is a way to purchase FDA on RD-1, whose outcome it returns. settles: a lost response is settled. sole: nobody
// else can have purchased.
type pairWay struct {
	name          string
	settles, sole bool
	buy           buyPair
}

type buyPair func(context.Context, *testing.T, *shipping.Client, *pairService) shipping.PurchaseOutcome

func pairWays() []pairWay {
	return []pairWay{
		{"Purchase", false, false, buyOnce(false)}, {"Purchase, sole", false, true, buyOnce(true)},
		{"AnalyzeAndPoll", false, true, buyBy("AnalyzeAndPoll")}, {"Resume", false, false, buyBy("Resume")},
		{"SettlePurchase", true, false, buySettled(false)}, {"SettlePurchase, sole", true, true, buySettled(true)},
		{"batch", false, true, buyInBatch},
	}
}

func buyOnce(sole bool) buyPair {
	return func(ctx context.Context, t *testing.T, c *shipping.Client, service *pairService) shipping.PurchaseOutcome {
		result, err := shippingtest.Purchase(ctx, c, sole)
		if err == nil && result.ReadBack != service.lost {
			t.Errorf("ReadBack is %t", result.ReadBack)
		}
		failure, failed := errors.AsType[*shipping.RegulatoryError](err)
		if failed && (failure.Purchase.RequestID != "RD-1" || len(failure.Purchase.DocumentTypes) != 1 ||
			failure.Err == nil) {
			t.Errorf("the error lacks the purchase: %+v", failure)
		}
		return shippingtest.Outcome(result, err)
	}
}

var selectAll = &shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll}

// buyBy is one of the ways of [waysToBuy].
func buyBy(way string) buyPair {
	return func(ctx context.Context, _ *testing.T, c *shipping.Client, _ *pairService) shipping.PurchaseOutcome {
		return shippingtest.Outcome(nil, waysToBuy(selectAll)[way](ctx, c.Regulatory))
	}
}

// buySettled settles a purchase whose outcome is unknown because nothing could be read. If a request that stays a draft
// were decided before a minute has passed, a purchase that takes effect late would be reported as not charged.
func buySettled(sole bool) buyPair {
	return func(ctx context.Context, t *testing.T, c *shipping.Client, s *pairService) shipping.PurchaseOutcome {
		s.unreadable = true
		result, err := c.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
			RequestID: "RD-1", DocumentTypes: fda, Draft: shippingtest.DraftRecord("RD-1"), Sole: sole,
			PurchaseOptions: shipping.PurchaseOptions{SettleFor: time.Second},
		})
		s.unreadable = false
		failed, ok := errors.AsType[*shipping.RegulatoryError](err)
		if !ok || failed.Outcome != unknown {
			return shippingtest.Outcome(result, err)
		}
		began := time.Now()
		got := shippingtest.Outcome(c.Regulatory.SettlePurchase(ctx, stored(t, failed.Purchase)))
		if took := time.Since(began); got == not && took < 5*time.Minute && !failed.Purchase.Refused {
			t.Errorf("decided after %s", took)
		}
		return got
	}
}

func buyInBatch(ctx context.Context, _ *testing.T, c *shipping.Client, _ *pairService) shipping.PurchaseOutcome {
	report, _ := batch.Run(ctx, c, []batch.Item{{Analyze: *parcel}}, &batch.Options{Select: shipping.SelectAll})
	switch item := report.Results[0]; item.State {
	case batch.StateUnknown:
		return unknown
	case batch.StateError:
		return shippingtest.Outcome(nil, item.Err)
	}
	return charged
}

// stored returns a purchase that was written as JSON and read.
func stored(t *testing.T, purchase *shipping.PurchaseRequest) *shipping.PurchaseRequest {
	t.Helper()
	var read shipping.PurchaseRequest
	text, err := json.Marshal(purchase)
	shippingtest.NoError(t, errors.Join(err, json.Unmarshal(text, &read)))
	return &read
}

// failureIn returns the error about a request.
func failureIn(t *testing.T, err error) *shipping.RegulatoryError {
	t.Helper()
	failed, ok := errors.AsType[*shipping.RegulatoryError](err)
	if !ok {
		t.Fatal(err)
	}
	return failed
}

// unclear returns the error of a purchase whose outcome is unknown.
func unclear(t *testing.T, err error) *shipping.RegulatoryError {
	t.Helper()
	failed := failureIn(t, err)
	if failed.Outcome != unknown {
		t.Fatal(err)
	}
	return failed
}

// pairService is a service with the draft RD-1, which offers FDA. It has one response to a purchase, and reads as a
// draft for some time after the purchase, then as another record.
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
		return record("draft", fmt.Sprintf(`"currency":"NGN","available_documents":[{%q:"FDA","amount":5}]`, s.slug))(r)
	case s.unreadable:
		return refusal(503, "busy")(r)
	}
	return s.read(r)
}

// Every response with every read-back has the outcome of the table in internal/evidence, whatever shape the service
// gives to it, and the purchase is sent once: also if readings lag behind by 4 s, or the purchase takes effect so late,
// and whatever names the dialect of the service has. A workflow trusts a record without a list only for a draft that it
// made. SHIPPING_PAIRS=all tries every pair in every way to purchase.
func TestPurchase_EveryResponseWithEveryReadBack(t *testing.T) {
	t.Parallel()
	lags := []time.Duration{0, time.Second, 4 * time.Second}
	all, ways, services := os.Getenv("SHIPPING_PAIRS") == "all", pairWays(), dialects()
	var purchases atomic.Int64
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
									ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
									defer stop()
									service := &pairService{response: response, read: read.read, late: late, lost: kind == "lost", slug: slug}
									client := shippingtest.NewClient(t, speaking{service, d}, shipping.WithDialect(d))
									got, want := way.buy(ctx, t, client, service), read.outcome(kind, way)
									if way.name == "batch" && got == charged && want == before {
										got = want // a batch waits for the documents, whoever purchased them
									}
									shippingtest.Diff(t, fmt.Sprintf("%s, %s, shown after %s in %+v", way.name, readName, late, d), want, got)
									shippingtest.Diff(t, way.name+", "+readName+": purchases", 1, service.purchases)
									purchases.Add(1)
								})
							}
						}
					}
				})
			}
		}
	})
	t.Attr("cases", fmt.Sprintf("%d purchases", purchases.Load()))
}

// The readings differ, in an order: a purchase that is decided by the first one, or that forgets what an earlier one
// showed, would have the wrong outcome.
func TestPurchase_ReadsUntilTheEvidenceDecides(t *testing.T) {
	t.Parallel()
	const settle = 10 * time.Second
	lost, noFunds, notFound := shippingtest.NoResponse(), refusal(400, "no funds"), refusal(404, "no")
	draft, busy, done := record("draft"), refusal(503, "busy"), record("processing", listsFDA)
	purchasing, other := record("purchasing"), record("processing", listsCustoms)
	chargedDraft, otherDraft := record("draft", charge), record("draft", listsCustoms)
	another, page := success(`{"request_id":"RD-2","status":"draft"}`), body(200, "<html>")
	slow, slower := draft.Delay(2*time.Second), purchasing.Delay(5*time.Second)
	type row struct {
		purchase httpmock.Responder
		reads    responders
		want     shipping.PurchaseOutcome
		least    time.Duration // before it is decided; exactly, if it is unknown
	}
	shippingtest.EachInBubble(t, map[string]row{
		"lost, a draft for a while, then processing": {lost, responders{draft, draft, done}, charged, 0},
		"lost, reads fail for a while":               {lost, responders{busy, lost, done}, charged, 0},
		"lost, other responses for a while":          {lost, responders{another, page, done}, charged, 0},
		"lost, always a draft":                       {lost, responders{draft}, unknown, settle},
		"lost, others, then a record without a list": {lost, responders{other, record("processing")}, unknown, 0},
		"refused, a draft for a while, then these":   {noFunds, responders{draft, draft, done}, before, 0},
		"refused, a draft":                           {noFunds, responders{draft}, not, time.Second},
		// A slow draft shows the request as it was when the read-back was sent, not when its response arrived.
		"refused, one slow draft, then these":     {noFunds, responders{slow, done}, before, 0},
		"refused, reads fail, then a draft":       {noFunds, responders{busy, draft}, not, time.Second},
		"refused, a draft, purchasing, a draft":   {noFunds, responders{draft, slower, draft}, not, settle},
		"refused, a draft that lists others":      {noFunds, responders{otherDraft, draft}, unknown, settle},
		"refused, others, then a record without":  {noFunds, responders{other, record("completed")}, unknown, 0},
		"refused with 401, and so is the reading": {refusal(401, "no"), responders{refusal(401, "no")}, not, 0},
		"refused with 403, and so is the reading": {refusal(403, "no"), responders{refusal(403, "no")}, not, 0},
		"refused with 404, and so is the reading": {notFound, responders{notFound}, not, 0},
		"refused with 404, the reading with 401":  {notFound, responders{refusal(401, "no")}, unknown, 0},
		"refused with 400, and so is the reading": {noFunds, responders{noFunds}, unknown, 0},
		// A charge or a purchase that an earlier reading shows is not disproved by a later one that shows neither.
		"refused, a draft with a charge, a draft": {notFound, responders{chargedDraft, draft}, unknown, settle},
		"refused, purchasing, charged, a draft": {notFound, responders{record("purchasing", charge), draft}, unknown,
			settle},
		"refused, a draft with a charge, 404": {notFound, responders{chargedDraft, notFound}, unknown, settle},
		"refused, purchasing, then 404":       {notFound, responders{purchasing, notFound}, unknown, settle},
		"404 of a proxy, twice":               {body(404, "<html>"), responders{body(404, "<html>")}, unknown, settle},
		// What no later reading can decide is unknown at once. A draft, and what cannot be read, is read again for SettleFor.
		"lost, processing, others":      {lost, responders{other}, unknown, 0},
		"lost, failed, no list":         {lost, responders{record("failed")}, unknown, 0},
		"lost, another request":         {lost, responders{another}, unknown, settle},
		"lost, 404, of a known request": {lost, responders{notFound}, unknown, settle},
		"lost, a draft, others":         {lost, responders{otherDraft}, unknown, settle},
		"lost, processing, no list":     {lost, responders{record("processing")}, unknown, settle},
		"refused, charged a draft":      {noFunds, responders{chargedDraft}, unknown, settle},
	}, func(t *testing.T, test row) {
		service, started := requestService(responders{test.purchase}, test.reads), time.Now()
		result, err := shippingtest.Purchase(t.Context(), shippingtest.NewClient(t, service), false)
		shippingtest.Diff(t, fmt.Sprint("the outcome of ", err), test.want, shippingtest.Outcome(result, err))
		if took := time.Since(started); took < test.least || test.want == unknown && took != test.least {
			t.Errorf("decided after %s, want %s", took, test.least)
		}
	})
}

func TestPurchase_ErrorTexts(t *testing.T) {
	t.Parallel()
	const stayed = "; the request has shown no purchase for %s; "
	const correct = "correct the cause, then call Regulatory.Purchase again (or Regulatory.Analyze if the draft has " +
		"expired)"
	const addMoney = "add money to the wallet, then purchase again"
	const again = "; do not purchase again: call Regulatory.SettlePurchase "
	const later, settle = again + "later", again + "with the Purchase of this error, and a context of 6m0s or more"
	ordinary, announced := fmt.Sprintf(stayed, "5s"), fmt.Sprintf(stayed, "1m0s")
	lost := shippingtest.NoResponse()
	for want, test := range map[string]struct{ response, read httpmock.Responder }{
		"not charged: regulatory.purchase: 400 Bad Request: insufficient funds" + ordinary + correct: {
			refusal(400, "insufficient funds"), record("draft"),
		},
		"not charged: regulatory.purchase: 402 Payment Required: empty" + ordinary + addMoney: {
			refusal(402, "empty"), record("draft"),
		},
		"not charged: regulatory.purchase: 409 Conflict: No: not this" + announced + correct: {
			problem(409), record("draft"),
		},
		"not charged: regulatory.purchase: 404 Not Found: no; check the id of the request, and that the key belongs to " +
			"the account that analyzed it, then call Regulatory.Purchase again": {refusal(404, "no"), refusal(404, "no")},
		"purchased before: regulatory.purchase: 400 Bad Request: no; call Regulatory.Wait to wait for the documents": {
			refusal(400, "no"), record("processing", listsFDA),
		},
		"unknown: regulatory.purchase: no response: unexpected EOF; the last reading shows a draft" + settle: {
			lost, record("draft"),
		},
		"unknown: regulatory.purchase: 500 Internal Server Error: oops; a response has shown a purchase, and the last " +
			"reading shows a draft" + later + ", and compare the wallet's transactions": {
			body(500, `{"status":false,"message":"oops","data":{"transaction_id":"TR-1"}}`), record("draft"),
		},
		"unknown: regulatory.purchase: 500 Internal Server Error: oops; regulatory.get: 404 Not Found: gone" + settle: {
			refusal(500, "oops"), refusal(404, "gone"),
		},
		`unknown: regulatory.purchase: no response: unexpected EOF; the request reads as "gone", which does not show ` +
			"whether these documents were charged" + later + `; if the status is still "gone", compare the wallet's ` +
			"transactions, and analyze again if they show no charge; if this status means that the draft expired, write in " +
			`the dialect "record.states += gone=expired"`: {lost, record("gone")},
		`unknown: regulatory.purchase: no response: unexpected EOF; the request reads as "completed", which does not show ` +
			"whether these documents were charged; do not purchase again: the request lists other documents, not FDA; " +
			"compare the wallet's transactions, and call Regulatory.Analyze again for FDA if they show only one charge of " +
			"this request": {lost, record("completed", listsCustoms)},
		`unknown: regulatory.purchase: no response: unexpected EOF; the request reads as "failed", which does not show ` +
			"whether these documents were charged" + later + ", and compare the wallet's transactions": {lost, record("failed")},
	} {
		synctest.Test(t, func(t *testing.T) {
			service := requestService(responders{test.response}, responders{test.read})
			_, err := shippingtest.Purchase(t.Context(), shippingtest.NewClient(t, service), false)
			if want := "shipping: purchase of request RD-1: outcome " + want; err == nil || err.Error() != want {
				t.Errorf("\n got %v\nwant %s", err, want)
			}
		})
	}
}

// A failed request is returned with its reasons. It is reported as a failed generation only if its record shows a
// purchase: a failed analysis charges nothing.
func TestWait_NamesTheGenerationOnlyOfAPurchasedRequest(t *testing.T) {
	t.Parallel()
	const noLot = `"documents":[{"document_type":"FDA","status":"failed","failure":"no lot"}]`
	for want, read := range map[string]httpmock.Responder{
		"request RD-1 failed: no such goods":                       record("failed", `"failure_reason":"no such goods"`),
		"generation failed for request RD-1: no lot":               record("failed", charge, `"failure_reason":"no lot"`),
		"generation failed for request RD-1; FDA: no lot":          record("failed", noLot),
		"generation failed for request RD-1: no form; FDA: no lot": record("failed", `"failure_reason":"no form"`, noLot),
	} {
		last, err := regulatory(t, requestService(nil, responders{read})).Wait(t.Context(), "RD-1", nil)
		shippingtest.Diff(t, "the error", "shipping: "+want, fmt.Sprint(err))
		shippingtest.WantError(t, want, err, shipping.ErrRequestFailed)
		if failed, _ := errors.AsType[*shipping.RegulatoryError](err); failed == nil || failed.Request != last ||
			failed.Step != "polled" {
			t.Errorf("%+v", failed)
		}
	}
}

// An analysis of another shipment is refused before its draft can be purchased.
func TestAnalyze_OfAnotherShipmentIsRefused(t *testing.T) {
	t.Parallel()
	service := shippingtest.NewService(record("draft", `"shipment_id":"SH-2"`))
	_, err := regulatory(t, service).Analyze(t.Context(), parcel)
	const want = `about another shipment, "SH-2" (request RD-1)`
	shippingtest.WantErrorWith(t, "the confirmation", err, shipping.ErrUnexpectedBody, want)
}

// No operation on a request accepts the record of another request.
func TestRecord_OfAnotherRequestIsRefused(t *testing.T) {
	t.Parallel()
	other := shippingtest.NewService(success(`{"request_id":"RD-2","status":"draft"}`))
	for _, call := range shippingtest.Calls() {
		switch call.Operation {
		case shipping.OpGetRequest, operations.UpdateItems, operations.UpdateAddresses, operations.UpdateShipping,
			operations.UpdateProfile, operations.RetryRequest:
			_, err := call.Do(t.Context(), shippingtest.NewClient(t, other, shippingtest.WithRoutes()))
			const want = `about another request, "RD-2"`
			shippingtest.WantErrorWith(t, call.Operation, err, shipping.ErrUnexpectedBody, want)
		}
	}
}

// A purchase that may use the whole deadline would leave no time to read whether it was charged.
func TestPurchase_TheDeadlineLeavesTimeToReadBack(t *testing.T) {
	t.Parallel()
	type row struct {
		deadline, settle, least, most time.Duration // when the purchase itself ends
	}
	shippingtest.EachInBubble(t, map[string]row{
		"at least three quarters for the purchase": {20 * time.Second, 10 * time.Second, 15 * time.Second, 15 * time.Second},
		"at most the settling time is kept":        {20 * time.Second, time.Second, 19 * time.Second, 19 * time.Second},
		"an attempt's own bound":                   {10 * time.Minute, 10 * time.Second, 30 * time.Second, 30 * time.Second},
	}, func(t *testing.T, test row) {
		service := requestService(responders{body(200, "").Delay(time.Hour)}, responders{record("processing")})
		ctx, cancel := context.WithTimeout(t.Context(), test.deadline)
		defer cancel()
		started := time.Now()
		result, err := regulatory(t, service).Purchase(ctx, &shipping.PurchaseRequest{
			Draft: shippingtest.DraftRecord("RD-1"), Sole: true,
			RequestID: "RD-1", DocumentTypes: fda, PurchaseOptions: shipping.PurchaseOptions{SettleFor: test.settle},
		})
		took := time.Since(started)
		if err != nil || !result.ReadBack || took < test.least || took > test.most {
			t.Errorf("%+v, %v after %s", result, err, took)
		}
	})
}

// A draft that is settled before QuietFor has passed would be reported as not charged while a proxy holds the purchase
// back.
func TestSettlePurchase_HowLongADraftMustStayCanBeSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := requestService(responders{shippingtest.Confirmation()}, responders{record("draft")})
		started := time.Now()
		_, err := regulatory(t, service).SettlePurchase(t.Context(), &shipping.PurchaseRequest{
			RequestID: "RD-1", PurchaseOptions: shipping.PurchaseOptions{QuietFor: time.Hour},
		})
		const want = "shipping: purchase of request RD-1: outcome not charged: " +
			"the request has shown no purchase for 1h0m0s"
		if err == nil || err.Error() != want || time.Since(started) < time.Hour {
			t.Errorf("after %s: %v", time.Since(started), err)
		}
		if n := service.Count(http.MethodGet); n > 100 {
			t.Errorf("%d reads in an hour", n)
		}
	})
}

// The advice about an unknown outcome is one that helps.
func TestSettlePurchase_Advice(t *testing.T) {
	t.Parallel()
	for want, read := range map[string]httpmock.Responder{
		"; do not purchase again: correct the key, then call Regulatory.SettlePurchase again": refusal(401, "no"),
		"that the key belongs to the account that purchased, then call":                       refusal(404, "no"),
		"; do not purchase again: call Regulatory.SettlePurchase with the Purchase of this error, and a context of " +
			"6m0s or more": record("draft"),
		"; do not purchase again: call Regulatory.SettlePurchase later, and compare the wallet's": record("failed"),
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			_, err := regulatory(t, requestService(nil, responders{read})).SettlePurchase(ctx,
				&shipping.PurchaseRequest{RequestID: "RD-1"})
			shippingtest.Contains(t, "the error", err, want)
		})
	}
}

// The time as a draft begins with the first reading: if it began with the call, failed readings would shorten it.
func TestSettlePurchase_ByTheIDAlone(t *testing.T) {
	t.Parallel()
	failed := refusal(500, "no")
	type row struct {
		documents []shipping.DocumentType
		reads     responders
		want      shipping.PurchaseOutcome
	}
	shippingtest.EachInBubble(t, map[string]row{
		"any purchase counts, without documents to compare with": {nil, responders{record("processing", listsCustoms)},
			charged},
		// A single slow response does not show that the request stayed a draft.
		"a slow draft is not a quiet one": {nil, responders{
			record("draft").Delay(2 * time.Minute), record("processing", listsFDA)}, charged},
		"a draft that is read late gets the whole time": {nil,
			responders{failed, failed, failed, failed, record("draft")}, not},
		"a draft that lists these documents": {fda, responders{record("draft", listsFDA)}, unknown},
		"a draft that lists documents":       {nil, responders{record("draft", listsCustoms)}, unknown},
	}, func(t *testing.T, test row) {
		patient := shipping.WithRetryPolicy(shipping.RetryPolicy{AttemptTimeout: -1})
		client := shippingtest.NewClient(t, requestService(nil, test.reads), patient)
		result, err := client.Regulatory.SettlePurchase(t.Context(),
			&shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: test.documents})
		shippingtest.Diff(t, fmt.Sprint("the outcome of ", err), test.want, shippingtest.Outcome(result, err))
	})
}

// The error was that of package json, about a type that is not exported.
func TestPurchaseRequest_UnmarshalJSONOfAnotherForm(t *testing.T) {
	t.Parallel()
	err := json.Unmarshal([]byte(`{"document_types":"FDA"}`), new(shipping.PurchaseRequest))
	shippingtest.Diff(t, "the error", "shipping: PurchaseRequest: document_types is a string: read what MarshalJSON has "+
		`written, such as "document_types":["FDA"]`, fmt.Sprint(err))
}

// If the error shared the slice of the caller, a later change of it would change the settled purchase.
func TestPurchase_TheCallersDocumentsAreNotShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		documents := []shipping.DocumentType{"FDA"}
		service := shippingtest.NewRequestService([]httpmock.Responder{shippingtest.Refusal(400, "insufficient funds")},
			[]httpmock.Responder{shippingtest.Record("draft")})
		_, err := shippingtest.NewClient(t, service).Regulatory.Purchase(t.Context(),
			&shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: documents, Draft: shippingtest.DraftRecord("RD-1")})
		documents[0] = "changed"
		if failure, _ := errors.AsType[*shipping.RegulatoryError](err); failure == nil ||
			failure.Purchase.DocumentTypes[0] != "FDA" {
			t.Errorf("%v", err)
		}
	})
}
