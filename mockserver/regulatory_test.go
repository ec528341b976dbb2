package mockserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/journal"
)

const regulatoryPath = "/v1/regulatory-documents"

// request is what the tests read of a regulatory document request.
type request struct {
	ID                 string            `json:"request_id"`
	Status             string            `json:"status"`
	Source             string            `json:"source"`
	LineItems          []json.RawMessage `json:"line_items"`
	AvailableDocuments []struct {
		Type   string          `json:"document_type"`
		Amount shipping.Amount `json:"amount"`
	} `json:"available_documents"`
	Documents []struct {
		Type   string `json:"document_type"`
		Status string `json:"status"`
	} `json:"documents"`
	ChargedAmount shipping.Amount `json:"charged_amount"`
	TransactionID string          `json:"transaction_id"`
}

func (r request) types() []string {
	var out []string
	for _, d := range r.AvailableDocuments {
		out = append(out, d.Type)
	}
	return out
}

func analyze(t *testing.T, srv *mockserver.Server, body string) request {
	t.Helper()
	var r request
	post(t, srv, regulatoryPath+"/analyze", body).want(t, http.StatusOK).data(t, &r)
	return r
}

func analyzeShipment(t *testing.T, srv *mockserver.Server, shipment string) request {
	t.Helper()
	return analyze(t, srv, `{"shipment_id":"`+shipment+`"}`)
}

func lookUp(t *testing.T, srv *mockserver.Server, id string) request {
	t.Helper()
	var r request
	get(t, srv, regulatoryPath+"/request/"+id).want(t, http.StatusOK).data(t, &r)
	return r
}

func purchase(t *testing.T, srv *mockserver.Server, id string, types ...string) answer {
	t.Helper()
	body, err := json.Marshal(map[string]any{"request_id": id, "document_types": types})
	if err != nil {
		t.Fatal(err)
	}
	return post(t, srv, regulatoryPath+"/purchase", string(body))
}

func advance(t *testing.T, srv *mockserver.Server, d time.Duration) []journal.Fired {
	t.Helper()
	fired, err := srv.Advance(d)
	if err != nil {
		t.Fatal(err)
	}
	return fired
}

func virtual() mockserver.Option { return mockserver.WithVirtualClock(time.Time{}) }

// realistic makes documents take the times in the compliance rules.
func realistic() mockserver.Option {
	return mockserver.WithAssumptions(func(a *assumption.Set) { a.GenerationScale = 1 })
}

// A first purchase took half a minute: documents took the times in the compliance rules. By default all documents that
// need no evidence are generated within two seconds.
func TestRegulatory_DocumentsAreGeneratedWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	for scale, want := range map[float64]string{0: "completed", 1: "processing"} {
		srv := start(t, virtual(), mockserver.WithoutListener(), mockserver.WithAssumptions(func(a *assumption.Set) { a.GenerationScale = scale }))
		draft := analyzeShipment(t, srv, srv.Shipments()[0])
		purchase(t, srv, draft.ID, "CUSTOMS", "FDA", "FISH-WILDLIFE", "TEXTILE", "WATCH").want(t, http.StatusOK)
		advance(t, srv, 2*time.Second)
		if got := lookUp(t, srv, draft.ID).Status; got != want {
			t.Errorf("scale %v: after two seconds the request is %s, want %s", scale, got, want)
		}
	}
}

// Specification: "Typical regulatory workflow", from analyze to the end of polling.
func TestRegulatory_TypicalWorkflow(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	wallet := srv.Wallets()[0]
	analyzed := post(t, srv, regulatoryPath+"/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`).want(t, http.StatusOK)
	var draft request
	analyzed.data(t, &draft)
	for _, form := range []string{"CUSTOMS", "FDA", "FISH-WILDLIFE", "TEXTILE", "WATCH"} {
		if !slices.Contains(draft.types(), form) {
			t.Errorf("the first shipment needs %v, not %s", draft.types(), form)
		}
	}

	edited := do(t, srv, http.MethodPut, regulatoryPath+"/request/"+draft.ID+"/profiles/CUSTOMS", `{"incoterm":"DAP","reason_for_export":"sale"}`)
	if edited.want(t, http.StatusOK).text(t, "request_id") != draft.ID {
		t.Errorf("an edit answers with another record: %s", edited.body)
	}

	bought := purchase(t, srv, draft.ID, "WATCH", "CUSTOMS").want(t, http.StatusOK)
	var newest struct {
		Transactions []struct {
			ID       string          `json:"transactionId"`
			Amount   shipping.Amount `json:"amount"`
			Flow     string          `json:"flow"`
			Metadata map[string]string
		}
	}
	get(t, srv, "/v1/transactions?perPage=1&wallet="+wallet).data(t, &newest)
	if len(newest.Transactions) != 1 || newest.Transactions[0].ID != bought.text(t, "transaction_id") || newest.Transactions[0].Flow != "out" {
		t.Errorf("the newest transaction is %+v, want the purchase", newest)
	}

	if got := lookUp(t, srv, draft.ID).Status; got != "processing" {
		t.Errorf("status after the purchase is %s", got)
	}
	advance(t, srv, time.Hour)
	done := lookUp(t, srv, draft.ID)
	if done.Status != "completed" || len(done.Documents) != 2 {
		t.Errorf("after an hour the request is %+v", done)
	}
	if !done.ChargedAmount.Equal(newest.Transactions[0].Amount) {
		t.Errorf("charged %s, transaction of %s", done.ChargedAmount, newest.Transactions[0].Amount)
	}

	pdf := do(t, srv, http.MethodGet, regulatoryPath+"/request/"+draft.ID+"/documents/WATCH/pdf", "", "Authorization", "").want(t, http.StatusOK)
	if pdf.header.Get("Content-Type") != "application/pdf" || !bytes.HasPrefix(pdf.body, []byte("%PDF-")) {
		t.Errorf("the PDF is %q of %d bytes", pdf.header.Get("Content-Type"), len(pdf.body))
	}
	if err := srv.Check(); err != nil {
		t.Error(err)
	}
}

// Specification: "Purchase charges the amounts already stored on the draft".
func TestPurchase_ChargesStoredAmountsThoughRatesMoved(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	double, err := shipping.NewAmount(3000, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.SetExchangeRate("NGN", double); err != nil {
		t.Fatal(err)
	}
	purchase(t, srv, draft.ID, draft.types()[0]).want(t, http.StatusOK)
	if got := lookUp(t, srv, draft.ID).ChargedAmount; !got.Equal(draft.AvailableDocuments[0].Amount) {
		t.Errorf("charged %s, stored was %s", got, draft.AvailableDocuments[0].Amount)
	}
	if again := analyzeShipment(t, srv, srv.Shipments()[0]).AvailableDocuments[0].Amount; again.Equal(draft.AvailableDocuments[0].Amount) {
		t.Error("a new draft has the old price although the rate moved")
	}
}

func TestRegulatory_RefusalsChargeNothing(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	low := srv.Wallets()[len(srv.Wallets())-1]
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	poor := analyze(t, srv, `{"shipment_id":"`+srv.Shipments()[0]+`","wallet":"`+low+`"}`)
	bought := analyzeShipment(t, srv, srv.Shipments()[0])
	purchase(t, srv, bought.ID, "CUSTOMS").want(t, http.StatusOK)
	before := balances(t, srv)

	edit := regulatoryPath + "/request/" + bought.ID
	tests := []struct {
		name, method, path, body string
		status                   int
		code                     string
	}{
		{"neither shipment nor file", "POST", regulatoryPath + "/analyze", `{}`, 400, "invalid_request"},
		{"both shipment and file", "POST", regulatoryPath + "/analyze", `{"shipment_id":"SH-1","file_url":"https://x.example/1.pdf"}`, 400, "invalid_request"},
		{"unknown shipment", "POST", regulatoryPath + "/analyze", `{"shipment_id":"SH-1"}`, 404, "not_found"},
		{"unknown wallet", "POST", regulatoryPath + "/analyze", `{"shipment_id":"` + srv.Shipments()[0] + `","wallet":"VA-1"}`, 404, "not_found"},
		{"unknown invoice", "POST", regulatoryPath + "/analyze", `{"file_url":"https://x.example/1.pdf"}`, 400, "analysis_failed"},
		{"unknown request", "GET", regulatoryPath + "/request/RD-1", "", 404, "not_found"},
		{"empty purchase", "POST", regulatoryPath + "/purchase", `{}`, 400, "invalid_request"},
		{"no types", "POST", regulatoryPath + "/purchase", `{"request_id":"` + draft.ID + `","document_types":[]}`, 400, "invalid_request"},
		{"unknown type", "POST", regulatoryPath + "/purchase", `{"request_id":"` + draft.ID + `","document_types":["VISA"]}`, 400, "unknown_document_type"},
		{"repeated type", "POST", regulatoryPath + "/purchase", `{"request_id":"` + draft.ID + `","document_types":["FDA","FDA"]}`, 400, "repeated_document_type"},
		{"not offered", "POST", regulatoryPath + "/purchase", `{"request_id":"` + draft.ID + `","document_types":["STEEL"]}`, 400, "document_not_offered"},
		{"too little money", "POST", regulatoryPath + "/purchase", `{"request_id":"` + poor.ID + `","document_types":["CUSTOMS"]}`, 400, "insufficient_funds"},
		{"bought already", "POST", regulatoryPath + "/purchase", `{"request_id":"` + bought.ID + `","document_types":["FDA"]}`, 400, "already_purchased"},
		{"items of no draft", "PUT", edit + "/items", `{"line_items":[]}`, 400, "not_editable"},
		{"addresses of no draft", "PUT", edit + "/addresses", `{}`, 400, "not_editable"},
		{"shipping of a shipment", "PUT", regulatoryPath + "/request/" + draft.ID + "/shipping", `{"carrier_slug":"dhl-express"}`, 400, "shipment_flow"},
		{"profile of another form", "PUT", regulatoryPath + "/request/" + draft.ID + "/profiles/STEEL", `{}`, 400, "document_not_offered"},
		{"profile with a wrong field", "PUT", regulatoryPath + "/request/" + draft.ID + "/profiles/CUSTOMS", `{"colour":"red"}`, 400, "invalid_profile"},
		{"retry of a request that has not failed", "POST", edit + "/retry", "", 400, "not_retryable"},
		{"PDF of a document that is not generated", "GET", edit + "/documents/CUSTOMS/pdf", "", 400, "document_not_generated"},
		{"PDF of a document that is not purchased", "GET", edit + "/documents/FDA/pdf", "", 404, "not_found"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := do(t, srv, test.method, test.path, test.body).refusal(t, test.status, "")
			if code := got.text(t, "error_code"); code != test.code {
				t.Errorf("error_code %q, want %q: %s", code, test.code, got.body)
			}
		})
	}
	if diff := cmp.Diff(before, balances(t, srv)); diff != "" {
		t.Errorf("balances (-before +after):\n%s", diff)
	}
	if err := srv.Check(); err != nil {
		t.Error(err)
	}
}

func balances(t *testing.T, srv *mockserver.Server) map[string]string {
	t.Helper()
	var view struct {
		Wallets []struct {
			Reference string
			Balance   json.Number
		}
		Problems string
	}
	get(t, srv, "/_mock/ledger").want(t, http.StatusOK).data(t, &view)
	if view.Problems != "" {
		t.Errorf("the ledger is broken: %s", view.Problems)
	}
	out := map[string]string{}
	for _, wallet := range view.Wallets {
		out[wallet.Reference] = wallet.Balance.String()
	}
	return out
}

// Specification, "States and transitions": analysis fails, the request then has status failed.
func TestAnalyze_FailureIsStoredAndAnsweredAsARefusal(t *testing.T) {
	t.Parallel()
	srv := start(t)
	failed := post(t, srv, regulatoryPath+"/analyze", `{"shipment_id":"SH-MAGICFAILANALYSIS"}`).refusal(t, http.StatusBadRequest, "analysis failed")
	if failed.text(t, "status") != "failed" || failed.text(t, "error_code") != "analysis_failed" {
		t.Errorf("data is not that of a failed analysis: %s", failed.body)
	}
	if got := lookUp(t, srv, failed.text(t, "request_id")).Status; got != "failed" {
		t.Errorf("the stored request is %s", got)
	}

	lenient := start(t, mockserver.WithAssumptions(func(a *assumption.Set) { a.AnalyzeFailureOK = true }))
	if got := analyzeShipment(t, lenient, "SH-MAGICFAILANALYSIS").Status; got != "failed" {
		t.Errorf("under the assumption the record is %s", got)
	}
}

// Specification, "Regulatory flows": the invoice flow, with its own edit of shipping.
func TestInvoiceFlow_EditsEverything(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	draft := analyze(t, srv, `{"file_url":"`+srv.Invoices()[0]+`"}`)
	if draft.Source != "invoice" || draft.Status != "draft" {
		t.Fatalf("analyzed as %+v", draft)
	}
	path := regulatoryPath + "/request/" + draft.ID
	put := func(what, body string) request {
		t.Helper()
		var r request
		do(t, srv, http.MethodPut, path+what, body).want(t, http.StatusOK).data(t, &r)
		return r
	}
	put("/shipping", `{"carrier_slug":"ups","incoterm":"DDP","reason_for_export":"sale","port_of_entry":"Newark"}`)
	withWatch := put("/items", `{"line_items":[{"description":"Wristwatch","hs_code":"9102.11","quantity":1,"unit_price":90,"currency":"USD","weight":0.2,"origin_country":"CH"}]}`)
	if !slices.Contains(withWatch.types(), "WATCH") {
		t.Errorf("a watch was added and %v offered", withWatch.types())
	}
	abroad := put("/addresses", `{"destination":{"name":"Anna Weber","line1":"Markt 1","city":"Bonn","country":"DE"}}`)
	if slices.Contains(abroad.types(), "WATCH") {
		t.Errorf("the destination is no longer the US and %v offered", abroad.types())
	}
}

// A whole number is a quantity in any notation, the refusal of a price names its problem, and an item keeps its id only
// if the id has the documented format: otherwise the record would violate the specification.
func TestItems_AreTakenForWhatTheyAre(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual(), mockserver.WithAssumptions(assumption.Strict))
	path := regulatoryPath + "/request/" + analyzeShipment(t, srv, srv.Shipments()[0]).ID + "/items"
	const item = `{"line_items":[{%s"description":"Coffee","hs_code":"090121","quantity":%s,"unit_price":%s,"currency":"USD","weight":0.5,"origin_country":"NG"}]}`
	for _, test := range []struct{ id, quantity, price, refused string }{
		{"", "1", "12.5", ""},
		{"", "1.0", "12.5", ""},
		{"", "2e1", "12.5", ""},
		{"", "20000e-4", "12.5", ""},
		{"", "1.5", "12.5", "quantity must be at least 1, as a whole number"},
		{"", `"1"`, "12.5", "quantity must be at least 1, as a whole number"},
		{"", "true", "12.5", "quantity must be at least 1, as a whole number"},
		{"", "1e30", "12.5", "quantity must be at least 1, as a whole number"},
		{"", "-1.0", "12.5", "quantity must be at least 1, as a whole number"},
		{"", "null", "12.5", "quantity must be at least 1, as a whole number"},
		{"", "1", "0.1000000000000000055", "unit_price must be a number that is not negative, of at most 18 digits"},
		{"", "1", "-1", "unit_price must be a number that is not negative"},
		{"IT-mine1", "1", "12.5", ""},
		{"mine", "1", "12.5", "item_id must be IT- and letters and digits"},
		{"IT-", "1", "12.5", "item_id must be IT- and letters and digits"},
		{"IT-ü", "1", "12.5", "item_id must be IT- and letters and digits"},
		{`IT-1\n`, "1", "12.5", "item_id must be IT- and letters and digits"},
	} {
		id := ""
		if test.id != "" {
			id = `"item_id":"` + test.id + `",`
		}
		got := do(t, srv, http.MethodPut, path, fmt.Sprintf(item, id, test.quantity, test.price))
		if test.refused == "" {
			got.want(t, http.StatusOK)
			continue
		}
		got.refusal(t, http.StatusBadRequest, test.refused)
	}
}

// A document is sold whatever its profile contains, because the specification states no condition.
func TestPurchase_NeedsNoProfile(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	purchase(t, srv, analyzeShipment(t, srv, srv.Shipments()[0]).ID, "FDA").want(t, http.StatusOK)
}

// An exchange rate that would change nothing is refused.
func TestSetExchangeRate_RefusesWhatChangesNothing(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	for _, test := range []struct{ currency, rate, want string }{
		{"USD", "2", "a dollar always buys one"},
		{"usd", "2", "no wallet holds that currency"},
		{"ngn", "2", "no wallet holds that currency; wallets hold NGN"},
		{"XXX", "2", "no wallet holds that currency"},
		{"", "2", "no wallet holds that currency"},
		{"NGN", "0", "a rate must be above zero"},
		{"NGN", "-1", "a rate must be above zero"},
	} {
		if err := srv.SetExchangeRate(test.currency, amount(t, test.rate)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q at %s: %v, want %q in it", test.currency, test.rate, err, test.want)
		}
	}
	if err := srv.SetExchangeRate("NGN", shipping.Amount{}); err == nil {
		t.Error("a rate that was not given is set")
	}
	if err := srv.SetExchangeRate("NGN", amount(t, "2")); err != nil {
		t.Error(err)
	}
}

// Specification: "Failed automated documents can be retried."
func TestRetry_GeneratesAFailedAutomatedDocument(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	draft := analyzeShipment(t, srv, "SH-MAGICFAILONCE")
	purchase(t, srv, draft.ID, "WATCH").want(t, http.StatusOK)
	before := balances(t, srv)
	advance(t, srv, time.Hour)
	if got := lookUp(t, srv, draft.ID).Status; got != "failed" {
		t.Fatalf("status is %s, want failed", got)
	}
	do(t, srv, http.MethodPost, regulatoryPath+"/request/"+draft.ID+"/retry", "").want(t, http.StatusOK)
	advance(t, srv, time.Hour)
	if got := lookUp(t, srv, draft.ID).Status; got != "completed" {
		t.Errorf("status after the retry is %s", got)
	}
	if diff := cmp.Diff(before, balances(t, srv)); diff != "" {
		t.Errorf("the retry moved money (-before +after):\n%s", diff)
	}
}

func TestManualDocument_WaitsForEvidence(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	for _, submit := range []func(id string){
		func(id string) {
			post(t, srv, "/_mock/regulatory-requests/"+id+"/evidence/MSDS", "").want(t, http.StatusOK)
		},
		func(id string) {
			if err := srv.SubmitEvidence(id, shipping.DocumentMSDS); err != nil {
				t.Error(err)
			}
		},
	} {
		draft := analyzeShipment(t, srv, "SH-MAGICNEEDEVIDENCE")
		purchase(t, srv, draft.ID, "MSDS").want(t, http.StatusOK)
		advance(t, srv, 24*time.Hour)
		if waiting := lookUp(t, srv, draft.ID); waiting.Status != "processing" || waiting.Documents[0].Status != "awaiting_evidence" {
			t.Fatalf("without evidence it is %+v", waiting)
		}
		submit(draft.ID)
		advance(t, srv, time.Hour)
		if got := lookUp(t, srv, draft.ID).Status; got != "completed" {
			t.Errorf("with evidence it is %s", got)
		}
		if err := srv.SubmitEvidence(draft.ID, shipping.DocumentMSDS); err == nil {
			t.Error("evidence was taken twice")
		}
	}
}

func TestAdvance_ReturnsWhatFired(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	purchase(t, srv, draft.ID, "CUSTOMS", "WATCH").want(t, http.StatusOK)
	fired := advance(t, srv, time.Hour)
	if len(fired) != 2 || fired[0].Due.After(fired[1].Due) {
		t.Errorf("fired %v, want the two documents in due order", fired)
	}
	if _, err := start(t).Advance(time.Second); err == nil {
		t.Error("a real clock was advanced")
	}
}

func TestAssumption_Purchasing(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual(), mockserver.WithAssumptions(func(a *assumption.Set) { a.Purchasing = time.Minute }))
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	if got := purchase(t, srv, draft.ID, "CUSTOMS").want(t, http.StatusOK).text(t, "status"); got != "purchasing" {
		t.Errorf("the purchase answers %s", got)
	}
	advance(t, srv, time.Minute)
	if got := lookUp(t, srv, draft.ID).Status; got != "processing" {
		t.Errorf("a minute later it is %s", got)
	}
}

func TestWithComplianceRules_ReplacesTheRules(t *testing.T) {
	t.Parallel()
	broken := mockserver.New(mockserver.WithoutListener(), mockserver.WithComplianceRules([]byte(`{"forms":[{"slug":"VISA"}]}`)))
	defer broken.Close()
	if err := broken.Err(); err == nil {
		t.Error("rules for an unknown document type were taken")
	}
}

// Many buyers at once: every purchase is charged once, and the books balance.
func TestPurchase_ConcurrentlyIsChargedOnce(t *testing.T) {
	t.Parallel()
	srv := start(t)
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	client := &http.Client{Transport: srv.Transport()}
	body := fmt.Sprintf(`{"request_id":%q,"document_types":["CUSTOMS"]}`, draft.ID)
	var buyers sync.WaitGroup
	var bought atomic.Int32
	for range 8 {
		buyers.Go(func() {
			req, err := http.NewRequest(http.MethodPost, srv.URL+regulatoryPath+"/purchase", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Authorization", "Bearer "+srv.SecretKey)
			resp, err := client.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				bought.Add(1)
			}
		})
	}
	buyers.Wait()
	if n := bought.Load(); n != 1 {
		t.Errorf("%d purchases of one request succeeded", n)
	}
	if err := srv.Check(); err != nil {
		t.Error(err)
	}
}
