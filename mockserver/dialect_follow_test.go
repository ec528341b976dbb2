package mockserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// script has every kind of response that shows a regulatory request or a refusal. {1} is the identifier of the first
// request that was analyzed.
const script = `
rates:                 GET /v1/rates?perPage=5
analysis:              POST {docs}/analyze {"shipment_id":"{shipment}"}
analysis of invoice:   POST {docs}/analyze {"file_url":"https://invoices.example/fail-once.pdf"}
analysis of manual:    POST {docs}/analyze {"shipment_id":"SH-MAGICNEEDEVIDENCE"}
failed analysis:       POST {docs}/analyze {"shipment_id":"SH-MAGICFAILANALYSIS"}
stored failure:        GET {docs}/request/{4}
unknown shipment:      POST {docs}/analyze {"shipment_id":"SH-NONE"}
no JSON:               POST {docs}/analyze {"shipment_id":
draft:                 GET {docs}/request/{1}
edited items:          PUT {docs}/request/{2}/line-items {"line_items":[{"description":"tea","quantity":1,"unit_price":2,"currency":"USD"}]}
edited addresses:      PUT {docs}/request/{1}/addresses {"origin":{"country":"CN"}}
edited shipping:       PUT {docs}/request/{2}/shipping {"incoterm":"DAP"}
edited profile:        PUT {docs}/request/{1}/profiles/CUSTOMS {"incoterm":"DAP","reason_for_export":"sale"}
refused edit:          PUT {docs}/request/{1}/line-items {"line_items":[]}
not offered:           POST {docs}/purchase {"request_id":"{1}","document_types":["AMS"]}
purchase:              POST {docs}/purchase {"request_id":"{1}","document_types":["CUSTOMS"]}
purchase that fails:   POST {docs}/purchase {"request_id":"{2}","document_types":["CUSTOMS"]}
manual purchase:       POST {docs}/purchase {"request_id":"{3}","document_types":["MSDS"]}
generating:            GET {docs}/request/{1}
refused PDF:           GET {docs}/request/{1}/documents/CUSTOMS/pdf
an hour:
completed:             GET {docs}/request/{1}
PDF:                   GET {docs}/request/{1}/documents/CUSTOMS/pdf
failed:                GET {docs}/request/{2}
waits for evidence:    GET {docs}/request/{3}
purchased before:      POST {docs}/purchase {"request_id":"{1}","document_types":["CUSTOMS"]}
retry:                 POST {docs}/request/{2}/retry {}
refused retry:         POST {docs}/request/{1}/retry {}
unknown request:       GET {docs}/request/RD-NONE
injected refusal:      GET {docs}/request/{1}
refused replay:        POST /v1/webhooks/replay {}
another method:        DELETE /v1/rates
unknown route:         GET /v1/nothing
no wallet:             GET /v1/transactions
wrong key:             GET /v1/rates|Authorization: Bearer sk_test_wrong
analysis, too poor:    POST {docs}/analyze {"shipment_id":"{shipment}"}|Authorization: Bearer {poor}
too little money:      POST {docs}/purchase {"request_id":"{6}","document_types":["CUSTOMS"]}|Authorization: Bearer {poor}
`

// exchange is a response, decoded.
type exchange struct {
	name   string
	status int
	header http.Header
	body   any
}

type object = map[string]any

// follow sends the requests of the script to a new server.
func follow(t *testing.T, d *dialect.Dialect) (played []exchange) {
	t.Helper()
	srv := start(t, mockserver.WithoutListener(), virtual(), mockserver.WithDialect(d))
	poor := shippingtest.Must(srv.Open("lowfunds_follow"))(t)
	values := []string{"{shipment}", srv.Shipments()[0], "{poor}", poor.SecretKey, "|", "\n"}
	for line := range strings.SplitSeq(strings.TrimSpace(script), "\n") {
		name, request, _ := strings.Cut(line, ":")
		switch name {
		case "an hour":
			advance(t, srv, time.Hour)
			continue
		case "injected refusal":
			inject(t, srv, fault.Rule{Operation: shipping.OpGetRequest, Nth: 1, Fault: fault.Status(http.StatusConflict, nil)})
		}
		a := send(t, srv, strings.NewReplacer(values...).Replace(strings.TrimSpace(request)))
		e := exchange{name: name, status: a.status, header: http.Header{}}
		for header := range a.header { // identifiers and dates differ
			e.header.Set(header, "")
		}
		e.header.Set("Content-Type", a.header.Get("Content-Type"))
		e.header.Del("Content-Length")
		decoder := json.NewDecoder(bytes.NewReader(a.body))
		decoder.UseNumber()
		if name != "PDF" {
			shippingtest.NoError(t, decoder.Decode(&e.body))
		}
		if strings.Contains(request, "/analyze") {
			values = append(values, fmt.Sprintf("{%d}", (len(values)-6)/2+1), requestIDIn(e.body))
		}
		played = append(played, e)
	}
	return played
}

// requestIDIn returns the identifier of a request, anywhere in a value.
func requestIDIn(value any) string {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			if id := requestIDIn(element); id != "" {
				return id
			}
		}
	case object:
		if id, ok := value["request_id"].(string); ok {
			return id
		}
		for _, member := range value {
			if id := requestIDIn(member); id != "" {
				return id
			}
		}
	}
	return ""
}

// clone returns a copy of a decoded value.
func clone(value any) any {
	switch value := value.(type) {
	case []any:
		copied := make([]any, len(value))
		for i, element := range value {
			copied[i] = clone(element)
		}
		return copied
	case object:
		copied := object{}
		for name, member := range value {
			copied[name] = clone(member)
		}
		return copied
	}
	return value
}

// move moves a member of an object to a path of one or two names.
func move(from object, member string, into object, path string) {
	value, has := from[member]
	if path == "" || !has || path == member && fmt.Sprintf("%p", from) == fmt.Sprintf("%p", into) {
		return
	}
	delete(from, member)
	outer, inner, nested := strings.Cut(path, ".")
	switch inside, _ := into[outer].(object); {
	case path == "-":
	case !nested:
		into[outer] = value
	case inside == nil:
		into[outer] = object{inner: value}
	default:
		inside[inner] = value
	}
}

// parts returns the record in a response, its offers and its purchased documents; nil for other responses.
func (e exchange) parts() (record object, offers, documents []object) {
	body, _ := e.body.(object)
	record, _ = body["data"].(object)
	if body["status"] != true || record["request_id"] == nil {
		return nil, nil, nil
	}
	for list, objects := range map[string]*[]object{"available_documents": &offers, "documents": &documents} {
		elements, _ := record[list].([]any)
		for _, element := range elements {
			if document, isObject := element.(object); isObject {
				*objects = append(*objects, document)
			}
		}
	}
	return record, offers, documents
}

// decimalText returns a number with two digits after the point.
func decimalText(of float64) json.Number { return json.Number(fmt.Sprintf("%.2f", of)) }

// decided returns the response of the default server with the values that a dialect decides, under the usual names
// and in the usual places.
func (e exchange) decided(d *dialect.Dialect, played []exchange) exchange {
	e.body, e.header = clone(e.body), e.header.Clone()
	if e.name == "failed analysis" && d.Refusal.Analysis == http.StatusOK {
		stored := played[slices.IndexFunc(played, func(o exchange) bool { return o.name == "stored failure" })]
		e.status, e.body = stored.status, clone(stored.body)
		e.header.Del("X-Mock-Why")
		e.body.(object)["message"] = "Analysis finished"
	} else if e.name == "failed analysis" && d.Refusal.Analysis != 0 {
		e.status = d.Refusal.Analysis
	}
	if body, _ := e.body.(object); body["status"] == false {
		data := body["data"].(object)
		switch code := data["error_code"].(string); {
		case code == "insufficient_funds" && d.Refusal.FundsCode != "":
			data["error_code"] = d.Refusal.FundsCode
		case code != "insufficient_funds" && d.Refusal.Code != "" && d.Refusal.Code != "data.error_code":
			data["error_code"] = "ERR_" + strings.ToUpper(code)
		}
		return e
	}
	record, offers, documents := e.parts()
	if record == nil {
		return e
	}
	if d.Purchase.Confirmation == "empty" && strings.Contains(e.name, "purchase") {
		clear(record)
		return e
	}
	sum := 0.0
	for _, offer := range offers {
		price, _ := offer["amount"].(json.Number).Float64()
		sum += price
	}
	if d.Purchase.Quoted && record["status"] == "draft" {
		record["charged_amount"] = json.Number(strings.TrimRight(strings.TrimRight(string(decimalText(sum)), "0"), "."))
	}
	for _, document := range slices.Concat(offers, documents) {
		if d.Offer.Automated != "" && document["mode"] == "automated" {
			document["mode"] = d.Offer.Automated
		}
		if d.Offer.DefaultCurrency != "" {
			delete(document, "currency")
		}
	}
	for name, means := range d.Record.States {
		if means == "generating" && record["status"] == "processing" ||
			means == "analyzing" && record["status"] == "draft" && strings.HasPrefix(e.name, "analysis") {
			record["status"] = name
		}
	}
	for _, name := range d.Record.Absent {
		delete(record, name)
	}
	if list := record["documents"]; list != nil && d.Document.DocumentType == "-" {
		for i, document := range documents {
			list.([]any)[i] = document["document_type"]
		}
	}
	return e
}

// named returns a response that decided has returned, with the names, places and forms of a dialect.
func (e exchange) named(d *dialect.Dialect) exchange {
	e.body, e.header = clone(e.body), e.header.Clone()
	if id := d.Refusal.ResponseID; id != "" {
		e.header.Del("X-Request-Id")
		e.header.Set(id, "")
	}
	if body, _ := e.body.(object); body["status"] == false {
		return e.refusal(d, body)
	}
	record, offers, documents := e.parts()
	for _, offer := range offers {
		price, _ := offer["amount"].(json.Number).Float64()
		for i, name := range d.Offer.Beside { // less than the price
			offer["?"] = any(decimalText(price / float64(2+i)))
			if strings.HasSuffix(name, "currency") {
				offer["?"] = "XTS"
			}
			move(offer, "?", offer, name)
		}
	}
	for i, document := range slices.Concat(offers, documents) {
		move(document, "amount", document, d.Offer.Amount)
		move(document, "currency", document, d.Offer.Currency)
		move(document, "mode", document, d.Offer.Mode)
		if i < len(offers) {
			move(document, "document_type", document, d.Offer.DocumentType)
		} else {
			move(document, "document_type", document, d.Document.DocumentType)
		}
	}
	for member, name := range map[string]string{
		"line_items": d.Record.LineItems, "documents": d.Record.Documents, "charged_amount": d.Record.ChargedAmount,
		"transaction_id": d.Record.TransactionID, "currency": d.Record.Currency, "wallet": d.Record.Wallet,
	} {
		move(record, member, record, name)
	}
	switch at := d.Record.At; {
	case record == nil || at == "" || at == "data":
	case at == "[0]":
		e.body.(object)["data"] = []any{record}
	default:
		e.body.(object)["data"] = object{at: record}
	}
	return e
}

// refusal returns a refusal in the form of a dialect.
func (e exchange) refusal(d *dialect.Dialect, body object) exchange {
	data, message, code := body["data"].(object), d.Refusal.Message, d.Refusal.Code
	if d.Refusal.Format != "" && d.Refusal.Format != "envelope" {
		delete(body, "status")
	}
	if d.Refusal.Format == "problem" {
		delete(body, "data")
		if maps.Copy(body, data); message == "" {
			message = "detail"
		}
		body["title"], body["status"] = http.StatusText(e.status), json.Number(fmt.Sprint(e.status))
		data, code = body, strings.TrimPrefix(code, "data.")
		e.header.Set("Content-Type", "application/problem+json")
	}
	move(data, "error_code", body, code)
	move(body, "message", body, message)
	e.body = body
	return e
}

// read returns what a client reads from a response: the record, or the members of the error.
func (e exchange) read(t *testing.T, d *dialect.Dialect) any {
	t.Helper()
	text := shippingtest.Must(json.Marshal(e.body))(t)
	response := httpmock.NewBytesResponder(e.status, text).HeaderSet(e.header)
	client := shippingtest.NewClient(t, shippingtest.NewService(response), shipping.WithDialect(d),
		shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1}))
	record, err := client.Regulatory.Get(t.Context(), requestIDIn(e.body))
	if failed, isFailure := errorAs(err); isFailure {
		reason := strings.TrimSuffix(failed.Message, ": code: "+failed.Code) // of an object beside the message
		return []any{failed.StatusCode, failed.Code, reason, failed.Refused()}
	}
	return record
}

func errorAs(err error) (*shipping.Error, bool) {
	failed, ok := err.(*shipping.Error)
	return failed, ok
}

// The reference server follows each field in every response that shows it. It is compared with a server without a
// dialect: the responses differ by what the field decides, and by nothing else. A client with the dialect reads the
// same.
func TestDialect_TheServerFollowsEachField(t *testing.T) {
	t.Parallel()
	usual := follow(t, new(dialect.Dialect))
	options, r := randomtest.New(t), randomtest.Random(t)
	choices := map[string]*dialect.Dialect{}
	for _, text := range []string{
		"record.at=[0]", "record.charged_amount=total", "record.transaction_id=payment.id", "record.currency=unit",
		"record.wallet=purse.id,record.currency=purse.currency", "record.wallet=-",
		"record.states=queued=generating,read=analyzing", "record.documents=-",
		"offer.currency=price.unit,offer.amount=price.gross", "offer.currency=-", "offer.default_currency=wallet",
		"offer.beside=vat,price.net,price.currency,offer.amount=price.gross", "offer.mode=kind,offer.automated=auto",
		"offer.mode=-", "document.document_type=-", "purchase.quoted=true",
		"purchase.quoted=true,record.charged_amount=total", "refusal.format=object",
		"refusal.format=problem,refusal.code=data.code", "refusal.code=-",
		"refusal.message=error.text,refusal.code=error.code", "refusal.format=problem,refusal.code=-",
		"refusal.format=object,refusal.message=error.text,refusal.code=code", "refusal.funds_code=WALLET_LOW",
		"refusal.analysis=409",
	} {
		choices[text] = shippingtest.Dialect(t, text)
	}
	maps.Copy(choices, shippingtest.Choices(t))
	for i := range options.Number("SHIPPING_DIALECTS", 6) {
		choices[fmt.Sprint("random ", i)] = shippingtest.RandomDialect(r)
	}
	followed := map[string]bool{}
	for name, d := range choices {
		d.List, d.Request, d.Time = dialect.List{}, dialect.Request{}, dialect.Time{}
		d.Notification, d.Routes = dialect.Notification{}, nil
		unsent := new(dialect.Dialect) // with the members that are not sent
		for _, f := range d.Fields() {
			if followed[f.Name] = followed[f.Name] || f.Set; f.Value == "-" {
				shippingtest.NoError(t, unsent.Set(f.Name, "-"))
			}
		}
		known := d
		if strings.HasPrefix(name, "random") { // else the usual names count too, and a name of the dialect can be one
			known = dialect.Reference()
			known.Overlay(d)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, got := range follow(t, d) {
				decided := usual[i].decided(d, usual).named(unsent)
				want := decided.named(d)
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(exchange{})); diff != "" {
					t.Errorf("%s (-want +got):\n%s", got.name, diff)
				}
				if requestIDIn(got.body) == "" || got.name == "rates" {
					continue
				}
				ignored := cmpopts.IgnoreFields(shipping.RegulatoryRequest{}, "Raw", "Dialect")
				if diff := cmp.Diff(decided.read(t, nil), got.read(t, known), ignored); diff != "" {
					t.Errorf("%s is read differently with the dialect (-want +got):\n%s", got.name, diff)
				}
			}
		})
	}
	elsewhere := []string{"refusal.expired_code", "routes"} // which have their own tests
	for _, f := range new(dialect.Dialect).Fields() {
		group, _, _ := strings.Cut(f.Name, ".")
		shaped := !slices.Contains([]string{"list", "request", "time", "notification"}, group)
		if shaped && !followed[f.Name] && !slices.Contains(elsewhere, f.Name) {
			t.Errorf("no dialect of this test sets %s", f.Name)
		}
	}
}
