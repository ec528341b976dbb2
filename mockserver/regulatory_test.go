package mockserver_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
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
	body := shippingtest.Must(json.Marshal(map[string]any{"request_id": id, "document_types": types}))(t)
	return post(t, srv, regulatoryPath+"/purchase", string(body))
}

func advance(t *testing.T, srv *mockserver.Server, d time.Duration) []journal.Fired {
	t.Helper()
	fired := shippingtest.Must(srv.Advance(d))(t)
	return fired
}

func virtual() mockserver.Option { return mockserver.WithVirtualClock(time.Time{}) }

// Specification: "Typical regulatory workflow", from analyze to the end of polling.
func TestRegulatory_TypicalWorkflow(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	wallet := srv.Wallets()[0]
	analyzed := post(t, srv, regulatoryPath+"/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`).want(t, http.StatusOK)
	var draft request
	analyzed.data(t, &draft)
	for _, form := range []string{"CUSTOMS", "FDA", "FISH-WILDLIFE", "TEXTILE", "WATCH"} {
		shippingtest.Contains(t, "the first shipment", analyzed.body, `"document_type":"`+form+`"`)
	}

	edited := do(t, srv, http.MethodPut, regulatoryPath+"/request/"+draft.ID+"/profiles/CUSTOMS",
		`{"incoterm":"DAP","reason_for_export":"sale"}`)
	shippingtest.Diff(t, "the record of an edit", draft.ID, edited.want(t, http.StatusOK).text(t, "request_id"))

	bought := purchase(t, srv, draft.ID, "WATCH", "CUSTOMS").want(t, http.StatusOK)
	newest := get(t, srv, "/v1/transactions?perPage=1&wallet="+wallet)
	newest.has(t, "data.transactions.0.flow=out, data.transactions.0.transactionId="+bought.text(t, "transaction_id"))
	shippingtest.Diff(t, "status after the purchase", "processing", lookUp(t, srv, draft.ID).Status)
	advance(t, srv, time.Hour)
	done := lookUp(t, srv, draft.ID)
	if done.Status != "completed" || len(done.Documents) != 2 {
		t.Errorf("after an hour the request is %+v", done)
	}
	newest.has(t, "data.transactions.0.amount="+done.ChargedAmount.String())

	pdf := send(t, srv, "GET {docs}/request/"+draft.ID+"/documents/WATCH/pdf\nAuthorization: ").want(t, http.StatusOK)
	if pdf.header.Get("Content-Type") != "application/pdf" || !bytes.HasPrefix(pdf.body, []byte("%PDF-")) {
		t.Errorf("the PDF is %q of %d bytes", pdf.header.Get("Content-Type"), len(pdf.body))
	}
	srv.CheckInvariants(t)
}

// Evidence is submitted over HTTP or in Go, once.
func TestManualDocument_WaitsForEvidence(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual(), mockserver.WithoutListener())
	for _, overHTTP := range []bool{true, false} {
		id := analyzeShipment(t, srv, "SH-MAGICNEEDEVIDENCE").ID
		purchase(t, srv, id, "MSDS").want(t, http.StatusOK)
		if overHTTP {
			post(t, srv, "/_mock/regulatory-requests/"+id+"/evidence/MSDS", "").want(t, http.StatusOK)
		} else if err := srv.SubmitEvidence(id, "MSDS"); err != nil {
			t.Error(err)
		}
		advance(t, srv, time.Hour)
		if got, err := lookUp(t, srv, id).Status, srv.SubmitEvidence(id, "MSDS"); got != "completed" || err == nil {
			t.Errorf("with evidence it is %s; again: %v", got, err)
		}
	}
}

// Many buyers at once: every purchase is charged once, and the books balance. If the state were read without the lock
// of the charge, two buyers would both find a draft, and pay for it.
func TestPurchase_ConcurrentlyIsChargedOnce(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	var buyers sync.WaitGroup
	var bought atomic.Int32
	for range 8 {
		buyers.Go(func() {
			if purchase(t, srv, draft.ID, "CUSTOMS").status == http.StatusOK {
				bought.Add(1)
			}
		})
	}
	buyers.Wait()
	shippingtest.Diff(t, "purchases that succeeded", int32(1), bought.Load())
	srv.CheckInvariants(t)
}
