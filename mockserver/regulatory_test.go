package mockserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// The rows of the scenario rowsN were all payments, so that their sum was not the balance.
func TestTransactions_AddUpToTheBalanceInEveryScenario(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	for _, scenario := range []string{"default", "seed7", "empty", "lowfunds", "rows1", "rows2", "rows7", "rows2500",
		"rows101-lowfunds", "history7", "history900", "shipments30", "instant", "cap7", "virtual", "recent"} {
		w := srv.NewWorld(t, scenario)
		for _, wallet := range w.Wallets() {
			var page struct {
				Transactions []struct {
					Amount shipping.Amount
					Flow   string
				}
			}
			var sum shipping.Amount
			for number := 1; number == 1 || len(page.Transactions) > 0; number++ {
				as(t, srv, w.SecretKey, "GET", fmt.Sprintf("/v1/transactions?perPage=10000&page=%d&wallet=%s", number, wallet),
					"").data(t, &page)
				for _, tx := range page.Transactions {
					if tx.Flow == "out" {
						tx.Amount = tx.Amount.Neg()
					}
					sum = shippingtest.Must(sum.Add(tx.Amount))(t)
				}
			}
			if balance, _ := w.Balance(wallet); sum.Cmp(balance) != 0 {
				t.Errorf("%s: the rows of %s add up to %s, and it holds %s", scenario, wallet, sum, balance)
			}
		}
	}
}

// The seeded history ended in January 2026, whatever the date was: an export of the last month was empty.
func TestScenario_RecentEndsToday(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2031, time.May, 7, 8, 0, 0, 0, time.UTC)))
		srv := mockserver.New(mockserver.WithoutListener(), mockserver.WithScenario("recent"))
		defer srv.Close()
		virtual, other := srv.NewWorld(t, "recent-virtual"), srv.NewWorld(t, "default")
		latest := func(w *mockserver.World) string {
			t.Helper()
			return as(t, srv, w.SecretKey, "GET", "/v1/transactions?perPage=1&wallet="+w.Wallets()[0], "").want(t, 200).
				at(t, "data.transactions.0.created_at").(string)[:10]
		}
		shippingtest.Diff(t, "latest transactions", []string{"2031-05-05", "2031-05-05", "2026-01-04"},
			[]string{latest(srv.World), latest(virtual), latest(other)})
		shippingtest.Diff(t, "virtual time", "2031-05-06T09:30:00Z", virtual.Now().Format(time.RFC3339))
	})
}

// line has the common fields of a transaction and a ledger entry.
type line struct {
	ID, Wallet, Amount, Currency string
	Out                          bool
}

// The transaction lists and the ledger are the same money.
func TestTransactions_AreTheLedger(t *testing.T) {
	t.Parallel()
	srv := start(t)
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	purchase(t, srv, draft.ID, "CUSTOMS", "FDA").want(t, http.StatusOK)

	var view struct {
		Entries []struct {
			ID, Kind, Wallet, Currency string
			Amount, Balance            shipping.Amount
		}
	}
	get(t, srv, "/_mock/ledger?perPage=10000").want(t, http.StatusOK).data(t, &view)
	entries := map[string][]line{}
	for _, e := range view.Entries {
		entries[e.Wallet] = append(entries[e.Wallet], line{e.ID, e.Wallet, e.Amount.String(), e.Currency, e.Kind == "debit"})
		if e.Balance.Sign() < 0 {
			t.Errorf("after %s the wallet %s holds %s", e.ID, e.Wallet, e.Balance)
		}
	}
	for _, wallet := range srv.Wallets() {
		var page struct {
			Transactions []struct {
				ID       string          `json:"transactionId"`
				Wallet   string          `json:"account_reference"`
				Amount   shipping.Amount `json:"amount"`
				Flat     int64           `json:"flat_amount"`
				Currency string          `json:"currency"`
				Flow     string          `json:"flow"`
				Memo     string          `json:"description"`
				Payout   string          `json:"payout_date"`
				Status   string          `json:"status"`
				Settled  bool            `json:"settled"`
				Sender   struct{ Name string }
				Receiver struct{ Type string }
			}
		}
		get(t, srv, "/v1/transactions?perPage=10000&wallet="+wallet).want(t, http.StatusOK).data(t, &page)
		var lines []line
		for _, tx := range page.Transactions {
			lines = append(lines, line{tx.ID, tx.Wallet, tx.Amount.String(), tx.Currency, tx.Flow == "out"})
			flat, err := tx.Amount.Flat()
			funded, in := strings.HasPrefix(tx.Memo, "Wallet funded"), tx.Flow == "in"
			for rule, holds := range map[string]bool{
				"only a deposit is paid out":               funded == (tx.Payout != ""),
				"only a deposit comes from a bank":         funded == (tx.Sender.Name == "Bank transfer"),
				"only a refund comes from the service":     (in && !funded) == (tx.Sender.Name == "Shipping service"),
				"only what comes in is for the user":       in == (tx.Receiver.Type == "user"),
				"only what is not pending is settled":      tx.Settled == (tx.Status != "pending"),
				"flat_amount is the amount in minor units": err == nil && flat == tx.Flat,
			} {
				if !holds {
					t.Errorf("%s: %+v", rule, tx)
				}
			}
		}
		shippingtest.Diff(t, "wallet "+wallet, entries[wallet], lines)
	}
}

// Specification, "Transaction": txRef can be absent, metadata can be empty, payout_date can be null.
func TestTransactions_HaveWhatMayBeMissing(t *testing.T) {
	t.Parallel()
	srv := start(t)
	body := string(get(t, srv, "/v1/transactions?perPage=1000&wallet="+srv.Wallets()[0]).want(t, http.StatusOK).body)
	for _, member := range []string{
		`"txRef":"`, `"metadata":{}`, `"metadata":{"shipment_id":"SH-`, `"payout_date":null`, `"payout_date":"`,
		`"reversed":true`, `"status":"success"`, `"status":"pending"`,
	} {
		shippingtest.Contains(t, "transactions", body, member)
	}
	if strings.Count(body, `"txRef"`) == strings.Count(body, `"transactionId"`) {
		t.Error("each transaction has a txRef")
	}
}

// Over HTTP, wallets can be funded and exchange rates can be set: all that a request contains, or nothing.
func TestAdmin_FundsAndSetsExchangeRates(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	wallet := srv.Wallets()[0]
	before, _ := srv.Balance(wallet)
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	fund := func(order string) string {
		return `{"fund":[{"wallet":"` + wallet + `","amount":1},` + order + `],"exchange_rates":{"NGN":1}}`
	}
	for body, want := range map[string]string{
		`{}`:                                 "with a wallet that GET /_mock/ledger lists",
		fund(`{"wallet":"` + wallet + `"}`):  "write a number above zero",
		fund(`{"wallet":"VA-1","amount":1}`): "VA-1",
		fund(`{"wallet":"` + wallet + `","amount":0.00}`):                              "write a number above zero",
		fund(`{"wallet":"` + wallet + `","amount":-1}`):                                "write a number above zero",
		`{"fund":[{"wallet":"` + wallet + `","amount":1}],"exchange_rates":{"NGN":0}}`: "must be above zero",
		`{"fund":[{"wallet":"` + wallet +
			`","amount":1}],"exchange_rates":{"naira":1}}`: "no wallet holds that currency; wallets hold NGN",
		`{"exchange_rates":{"USD":2}}`:  "a dollar always buys one",
		`{"exchange_rates":{"NGN":-1}}`: "a rate must be above zero",
	} {
		do(t, srv, http.MethodPatch, "/_mock/ledger", body).refusal(t, 400, want)
	}
	same, _ := srv.Balance(wallet)
	shippingtest.Diff(t, "balance after refused deposits", before, same)
	shippingtest.Diff(t, "prices after refused exchange rates", draft.AvailableDocuments,
		analyzeShipment(t, srv, srv.Shipments()[0]).AvailableDocuments)

	do(t, srv, http.MethodPatch, "/_mock/ledger", fund(`{"wallet":"`+wallet+`","amount":11.50}`)).want(t, 200).
		has(t, "data.exchange_rates.NGN=1")
	get(t, srv, "/v1/transactions?perPage=1&wallet="+wallet).has(t, "data.transactions.0.amount=11.5")
	want := shippingtest.Must(before.Add(amount(t, "12.50")))(t)
	after, _ := srv.Balance(wallet)
	shippingtest.Diff(t, "balance", want, after)
	if cheaper := analyzeShipment(t, srv, srv.Shipments()[0]); reflect.DeepEqual(cheaper.AvailableDocuments,
		draft.AvailableDocuments) {
		t.Error("the prices are the same")
	}
}
