package batch_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/batchtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/status"
)

// The ends of the paths of an analysis and of a purchase.
const analyze, purchase = "/analyze", "/purchase"

// What the next run does with an item that an earlier run left in each state: the table of docs/batches.md. A failed
// item once stayed failed in every later run, although a retry had completed it, or its analysis would have succeeded.
func TestBatch_WhatTheNextRunDoes(t *testing.T) {
	t.Parallel()
	none := func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) { return nil, nil }
	at := func(step shipping.Step) batch.Record {
		record := purchasing(t, "SH-1")
		record.Step, record.Purchase = step, nil
		return record
	}
	recorded, refused := at(batch.StepPurchased), purchasing(t, "SH-1")
	refused.Purchase.Refused = true
	recorded.Documents = nil
	analyzed := batch.Record{Key: "SH-1", Step: batch.StepAnalyzed, RequestID: "RD-SH-1"}
	unanalyzed := batch.Record{Key: "SH-1", Step: batch.StepFailed, RequestID: "RD-SH-1"}
	type row struct {
		record    batch.Record // of the earlier run
		status    string       // of the request now
		analyzes  bool
		reads     bool
		purchases int
		state     batch.State
		err       string // in the error of the item
	}
	shippingtest.EachInBubble(t, map[string]row{
		"completed":                      {at(batch.StepCompleted), "completed", false, false, 0, batch.StateCompleted, ""},
		"closed":                         {at(batch.StepClosed), "failed", false, false, 0, batch.StateClosed, ""},
		"draft, over budget, or refused": {analyzed, "draft", false, true, 1, batch.StateCompleted, ""},
		"purchased outside the batch": {analyzed, "completed", false, true, 0, batch.StateError,
			"purchased outside this batch, or by a run whose records this journal lacks"},
		"being purchased outside the batch": {analyzed, "purchasing", false, true, 0, batch.StateError, `"purchasing"`},
		"being generated":                   {analyzed, "processing", false, true, 0, batch.StateError, "Regulatory.Wait"},
		"failed outside the batch":          {analyzed, "failed", false, true, 0, batch.StateError, "Regulatory.Wait"},
		"in an unknown state":               {analyzed, "archived", false, true, 0, batch.StateError, "has not finished"},
		"not analyzed":                      {batch.Record{Key: "SH-1"}, "", true, true, 1, batch.StateCompleted, ""},
		"purchased":                         {at(batch.StepPurchased), "completed", false, true, 0, batch.StateCompleted, ""},
		"unknown, and charged":              {purchasing(t, "SH-1"), "completed", false, true, 0, batch.StateCompleted, ""},
		"unknown, and not charged":          {purchasing(t, "SH-1"), "draft", false, true, 1, batch.StateCompleted, ""},
		"unknown, and undecided": {purchasing(t, "SH-1"), "unlisted", false, true, 0, batch.StateUnknown,
			"outcome unknown"},
		// The advice was to run the batch again once the cause of the refusal is removed, which never ended.
		"refused, undecided, and gone": {refused, "gone", false, true, 0, batch.StateUnknown, "check the wallet's"},
		"failed analysis":              {unanalyzed, "failed", true, true, 1, batch.StateCompleted, ""},
		"failed generation": {at(batch.StepFailed), "failed", false, true, 0, batch.StateFailed,
			"generation failed for request RD-SH-1"},
		"failed generation, retried":       {at(batch.StepFailed), "completed", false, true, 0, batch.StateCompleted, ""},
		"failed generation, being retried": {at(batch.StepFailed), "processing", false, true, 0, batch.StateCompleted, ""},
		"failed generation, a draft again": {at(batch.StepFailed), "draft", false, true, 0, batch.StateFailed,
			"does not purchase it a second time; the wallet was charged; compare the wallet's transactions, then close"},
		// Its advice was that of a failed analysis: to record that it was not charged.
		"recorded by a program, and failed": {recorded, "failed", false, true, 0, batch.StateFailed, "generation failed"},
		"failed generation, cannot be read": {at(batch.StepFailed), "gone", false, true, 0, batch.StateFailed, "404"},
	}, func(t *testing.T, test row) {
		service, journal := &walletService{}, batch.Memory()
		if test.record.Step != "" {
			journal = newMemoryJournal(t, test.record)
			service.put("RD-SH-1", test.status)
		}
		time.AfterFunc(30*time.Second, func() {
			service.mu.Lock()
			defer service.mu.Unlock()
			if request := service.requests["RD-SH-1"]; request.status == "processing" {
				request.status = "completed"
			}
		})
		sent := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
			if test.status == "gone" {
				return shippingtest.Refusal(404, "gone")(r)
			}
			return service.RoundTrip(r)
		})
		options := batch.Options{Select: shipping.SelectAll, Budget: nairaBudget(t, "150"), Journal: journal}
		report := shippingtest.Must(batch.Run(t.Context(), walletClient(t, sent), walletItems(1), &options))(t)
		got := report.Results[0]
		if got.State != test.state || (got.Err == nil) != (test.err == "") || got.Err != nil &&
			!strings.Contains(got.Err.Error(), test.err) {
			t.Errorf("%s, %v", got.State, got.Err)
		}
		if text := fmt.Sprint(got.Err); strings.Contains(text, "correct the shipment") {
			t.Errorf("the advice of a failed analysis: %s", text)
		}
		// A purchase, and a possible one, counts against the budget; the rest gives its reservation back.
		counts := test.purchases > 0 || test.record.Committed() && test.record.Amount.Known()
		if committed := report.Committed.String() == "100"; committed != counts {
			t.Errorf("%s is committed", report.Committed)
		}
		analyses, reads := sent.CountPath(analyze), sent.Count(http.MethodGet)
		purchases := func() int { return sent.CountPath(purchase) }
		if (analyses > 0) != test.analyzes || (reads > 0) != test.reads || purchases() != test.purchases {
			t.Errorf("%d analyses, %d reads, %d purchases", analyses, reads, purchases())
		}
		// The error advised to settle the purchase with the client, and to run the batch again.
		if open := report.Err(); (open == nil) != (test.err == "") || open != nil && (!errors.Is(open, got.Err) ||
			strings.Contains(open.Error(), "call Regulatory.") || strings.Contains(open.Error(), "Regulatory.Resume")) {
			t.Errorf("the report's error is %v", open)
		}
		if last := lastRecord(t, journal, "SH-1"); got.State == batch.StateCompleted && last.Purchase != nil {
			t.Errorf("the journal keeps the purchase of a known outcome: %+v", last)
		}
		// A document is never bought again, whatever is selected.
		options.Select = none
		again, err := batch.Run(t.Context(), walletClient(t, sent), walletItems(1), &options)
		if err != nil || again.Results[0].State != test.state || purchases() != test.purchases {
			t.Errorf("again: %+v after %d purchases, %v", again, purchases(), err)
		}
	})
}

// An item with the key of another shipment was completed at once, and nothing was bought for its own shipment. Two
// orders of one shipment bought the same documents twice, and so did a job that began to set keys. Items that a killed
// run had begun, with keys that are not ids of shipments, could not be given to the next run.
func TestBatch_KeysAndShipments(t *testing.T) {
	t.Parallel()
	order := func(key, shipment string) batch.Item {
		return batch.Item{Key: key, Analyze: shipping.AnalyzeRequest{ShipmentID: shipment}}
	}
	anew := order("ORD-2", "SH-1")
	anew.Again = true
	invoice := batch.Item{Key: "ORD-1", Analyze: shipping.AnalyzeRequest{FileURL: "https://invoices.example/1.pdf"}}
	at := func(step shipping.Step) batch.Record {
		record := purchasing(t, "ORD-1")
		record.ShipmentID, record.Step = "SH-1", step
		if step != batch.StepPurchasing {
			record.Purchase = nil
		}
		return record
	}
	completed, unknown := at(batch.StepCompleted), at(batch.StepPurchasing)
	analyzed := batch.Record{Key: "ORD-1", Step: batch.StepAnalyzed, ShipmentID: "SH-1", RequestID: "RD-ORD-1"}
	failed := analyzed
	failed.Step = batch.StepFailed
	failedInvoice, unknownInvoice := failed, unknown
	failedInvoice.ShipmentID, unknownInvoice.ShipmentID = "", ""
	// An invoice whose address is signed anew each night was bought every night.
	file := func(key, address string) batch.Item {
		return batch.Item{Key: key, Analyze: shipping.AnalyzeRequest{FileURL: "https://invoices.example/" + address}}
	}
	filed := completed
	hash := sha256.Sum256([]byte("https://invoices.example/1.pdf"))
	filed.ShipmentID, filed.FileHash = "", fmt.Sprintf("sha256:%x", hash)
	refiled := file("ORD-2", "1.pdf?X-Signature=b#page=2")
	refiled.Again = true
	others, adopted := completed, at(batch.StepPurchased)
	others.Documents, adopted.Documents = []shipping.DocumentType{"FDA"}, nil
	named := func(document shipping.DocumentType) batch.Item {
		item := order("ORD-2", "SH-1")
		item.Documents = []shipping.DocumentType{document}
		return item
	}
	same := others
	same.RequestID = "RD-SH-1" // which the analysis of SH-1 returns
	lacks := named("CUSTOMS")
	lacks.Key, lacks.Documents = "ORD-1", append(lacks.Documents, "FDA", "WATCH")
	const other = `belongs to another shipment: "SH-1" in the journal, and "`
	const again, rekeyed = "bought a second time: ", `"ORD-1", whose documents would be bought a second time: ` +
		"use that Key"
	type row struct {
		record    batch.Record
		items     []batch.Item
		purchases int
		errs      []string // of the items
	}
	shippingtest.EachInBubble(t, map[string]row{
		"a shipment that is completed":        {completed, []batch.Item{order("ORD-1", "SH-1")}, 0, []string{""}},
		"another shipment than the completed": {completed, []batch.Item{order("ORD-1", "SH-2")}, 0, []string{other}},
		"an invoice, a shipment is completed": {completed, []batch.Item{invoice}, 0, []string{other}},
		"another shipment than the unknown": {unknown, []batch.Item{order("ORD-1", "SH-2")}, 0,
			[]string{"is not finished, so add an item for it"}},
		"another shipment than the analyzed": {analyzed, []batch.Item{order("ORD-1", "SH-2")}, 1, []string{""}},
		"corrected after a failed analysis":  {failed, []batch.Item{order("ORD-1", "SH-2")}, 1, []string{""}},
		"a shipment after a failed invoice":  {failedInvoice, []batch.Item{order("ORD-1", "SH-1")}, 1, []string{""}},
		"a record without its shipment":      {unknownInvoice, []batch.Item{order("ORD-1", "SH-1")}, 0, []string{""}},
		"unfinished, without a shipment":     {unknown, []batch.Item{order("ORD-1", "")}, 0, []string{""}},
		"a key that the journal lacks":       {unknown, []batch.Item{order("ORD-2", "")}, 0, []string{"are both empty"}},
		"another key of the completed":       {completed, []batch.Item{order("ORD-2", "SH-1")}, 0, []string{rekeyed}},
		"no key any more":                    {completed, []batch.Item{order("", "SH-1")}, 0, []string{rekeyed}},
		"another key of the unknown":         {unknown, []batch.Item{order("ORD-2", "SH-1")}, 0, []string{rekeyed}},
		"another key of the analyzed":        {analyzed, []batch.Item{order("ORD-2", "SH-1")}, 1, []string{""}},
		"another key of one not charged":     {at(batch.StepAnalyzed), []batch.Item{order("ORD-2", "SH-1")}, 1, []string{""}},
		"another key of a failed one":        {failed, []batch.Item{order("ORD-2", "SH-1")}, 1, []string{""}},
		"purchased again":                    {completed, []batch.Item{anew}, 1, []string{""}},
		"purchased again, beside it":         {completed, []batch.Item{anew, order("ORD-1", "SH-1")}, 1, []string{"", ""}},
		"other documents":                    {others, []batch.Item{named("CUSTOMS")}, 1, []string{""}},
		"a document that it lacks":           {others, []batch.Item{lacks}, 0, []string{`without "CUSTOMS, WATCH": name`}},
		"other documents of one request":     {same, []batch.Item{named("CUSTOMS")}, 0, []string{"returned the request"}},
		"the same documents":                 {others, []batch.Item{named("FDA")}, 0, []string{`leave "FDA" out of Doc`}},
		"documents beside unknown ones": {adopted, []batch.Item{named("FDA")}, 0,
			[]string{"known until a run has read it; run"}},
		"a document that is not offered":  {failed, []batch.Item{named("FDA")}, 0, []string{"does not offer FDA"}},
		"an invoice, signed anew":         {filed, []batch.Item{file("ORD-1", "1.pdf?X-Signature=b")}, 0, []string{""}},
		"an invoice that has moved":       {filed, []batch.Item{file("ORD-1", "2.pdf")}, 0, []string{""}},
		"an invoice, not signed any more": {filed, []batch.Item{file("", "1.pdf")}, 0, []string{rekeyed}},
		"another key of an invoice":       {filed, []batch.Item{file("ORD-2", "1.pdf?sign=b")}, 0, []string{rekeyed}},
		"an invoice purchased again":      {filed, []batch.Item{refiled}, 1, []string{""}},
		"another invoice":                 {filed, []batch.Item{file("ORD-2", "2.pdf?X-Signature=b")}, 1, []string{""}},
		"a shipment, an invoice completed": {filed, []batch.Item{order("ORD-1", "SH-1")}, 0,
			[]string{"an invoice in the journal"}},
		"two orders of an invoice": {completed, []batch.Item{file("B", "3.pdf?id=1"), file("A", "3.pdf?id=2")}, 1,
			[]string{"if two invoices differ only in the query of the address, set Again", ""}},
		"two orders of a shipment": {completed, []batch.Item{order("B", "SH-3"), order("A", "SH-3")}, 1,
			[]string{again, ""}},
		"two orders, the second completed": {completed, []batch.Item{order("A", "SH-1"), order("ORD-1", "SH-1")}, 0,
			[]string{again, ""}},
		"two orders, the second unfinished": {unknown, []batch.Item{order("A", "SH-1"), order("ORD-1", "")}, 0,
			[]string{again, ""}},
		"two orders, one with another's key": {completed, []batch.Item{order("ORD-1", "SH-2"), order("B", "SH-2")}, 1,
			[]string{other, ""}},
	}, func(t *testing.T, test row) {
		for _, journal := range []batch.Journal{batch.Memory(), batchtest.NewJournal(time.Hour)} {
			shippingtest.NoError(t, appendTo(t.Context(), journal, test.record))
			service := &walletService{}
			service.put("RD-ORD-1", "completed")
			options := batch.Options{Select: shipping.SelectAll, Journal: journal}
			report := shippingtest.Must(batch.Run(t.Context(), walletClient(t, service), test.items, &options))(t)
			for i, want := range test.errs {
				got, source := report.Results[i], test.items[i].Analyze.ShipmentID
				if got.State == batch.StateCompleted != (want == "") || !strings.Contains(fmt.Sprint(got.Err), want) {
					t.Errorf("lease %s: %+v", journal.Lease(), got)
				}
				if last := lastRecord(t, journal, got.Key); want == "" && source != "" && last.ShipmentID != source {
					t.Errorf("lease %s: the journal has %+v", journal.Lease(), last)
				}
			}
			shippingtest.Diff(t, fmt.Sprintf("lease %s: purchases", journal.Lease()), test.purchases, service.purchases)
		}
	})
}

// A signed address is a secret for as long as it is valid. The journal holds a hash of it, without the signature.
func TestBatch_AJournalHoldsNoSignature(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	journal := shippingtest.Must(batch.OpenFile(path))(t)
	const address = "https://user:pass@invoices.example/1.pdf?sign=ed"
	items := []batch.Item{{Key: "INV-1", Analyze: shipping.AnalyzeRequest{FileURL: address}}}
	report, err := batch.Run(t.Context(), walletClient(t, &walletService{}), items,
		&batch.Options{Select: shipping.SelectAll, Journal: journal})
	shippingtest.NoError(t, errors.Join(err, report.Err(), journal.Close()))
	written := string(shippingtest.Must(os.ReadFile(path))(t))
	if !strings.Contains(written, "sha256:") || strings.Contains(written, "sign") || strings.Contains(written, "pass") {
		t.Errorf("the journal holds %s", written)
	}
}

// Two runs whose lists had different keys for a shipment, as on two machines, both found no purchase of it, and both
// purchased it. Here the other run records its purchase at the last moment before this one does.
func TestBatch_FindsAPurchaseOfTheShipmentBeforeItsOwn(t *testing.T) {
	t.Parallel()
	service, memory := &walletService{}, batch.Memory()
	other := batch.Record{Key: "ORD-1", Step: batch.StepPurchased, ShipmentID: "SH-1", RequestID: "RD-1",
		Documents: []shipping.DocumentType{"CUSTOMS"}}
	journal := hooked{memory, func(ctx context.Context, _ string, record batch.Record, do func() error) error {
		if record.Step == batch.StepPurchasing {
			shippingtest.NoError(t, appendTo(ctx, memory, other))
		}
		return do()
	}}
	report := shippingtest.Must(batch.Run(t.Context(), walletClient(t, service), walletItems(1),
		&batch.Options{Select: shipping.SelectAll, Journal: journal}))(t)
	if err := report.Err(); service.purchases != 0 || !strings.Contains(fmt.Sprint(err), "bought a second time") {
		t.Errorf("%d purchases, %v", service.purchases, err)
	}
}

// Without a journal that finds the purchases of a shipment, nothing is analyzed or purchased.
func TestBatch_StopsIfThePurchasesOfAShipmentCannotBeRead(t *testing.T) {
	t.Parallel()
	service, broken := &walletService{}, errors.New("broken")
	journal := hooked{batch.Memory(), func(_ context.Context, call string, record batch.Record, do func() error) error {
		if call == "related" && record.Key != "" {
			return broken
		}
		return do()
	}}
	report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(2),
		&batch.Options{Select: shipping.SelectAll, Journal: journal})
	if _, failed := errors.AsType[*batch.JournalError](err); !failed || !errors.Is(err, broken) ||
		report.Count(batch.StateCompleted) > 0 || len(service.requests) > 0 {
		t.Errorf("%+v after %d requests, %v", report, len(service.requests), err)
	}
}

// A generation that fails again and again adds no records to the journal, and one that a retry completes is completed.
func TestBatch_AFailedGenerationAddsNoRecords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failed := purchasing(t, "SH-1")
		failed.Step, failed.Purchase = batch.StepFailed, nil
		service := &walletService{}
		service.put("RD-SH-1", "failed")
		// stops the purchases
		service.requests["RD-SH-1"].report = `,"charged_amount":90,"currency":"USD"`
		journal := openJournal(t, t.TempDir()+"/journal")
		shippingtest.NoError(t, appendTo(t.Context(), journal, failed))
		options := batch.Options{Concurrency: 1, Select: shipping.SelectAll, Budget: nairaBudget(t, "350"), Journal: journal}
		for run := range 3 {
			report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(2), &options)
			if err != nil || report.Results[0].State != batch.StateFailed || report.Results[1].State != batch.StateOverBudget ||
				report.Results[1].Need() != batch.NeedCharge {
				t.Errorf("run %d: %+v, %v", run+1, report, err)
			}
		}
		records, err := journal.Records()
		ofItem := slices.DeleteFunc(records, func(r batch.Record) bool { return r.Key != "SH-1" })
		if err != nil || len(ofItem) != 2 {
			t.Errorf("%d records of the item, %v", len(ofItem), err)
		}
	})
}

// If the service was busy when a run repeated a failed analysis, the item counted as failed, and Retryable was false.
// If the generation has failed, the item was charged, whatever the service responds now.
func TestBatch_AFailedItemThatTheServiceRefusesNow(t *testing.T) {
	t.Parallel()
	type row struct {
		bought    bool
		status    int
		state     batch.State
		retryable bool
	}
	shippingtest.EachInBubble(t, map[string]row{
		"an analysis, busy":           {false, http.StatusServiceUnavailable, batch.StateError, true},
		"a generation, unauthorized":  {true, http.StatusUnauthorized, batch.StateFailed, false},
		"a generation, not available": {true, http.StatusServiceUnavailable, batch.StateFailed, true}, // the first item
	}, func(t *testing.T, test row) {
		failed := batch.Record{Key: "SH-2", Step: batch.StepFailed, ShipmentID: "SH-2", RequestID: "RD-SH-2"}
		if test.bought {
			failed.Documents = []shipping.DocumentType{"CUSTOMS"}
		}
		client := walletClient(t, shippingtest.NewService(shippingtest.Refusal(test.status, "no")))
		report, err := batch.Run(t.Context(), client, walletItems(2), // the first one has no record
			&batch.Options{Concurrency: 1, Select: shipping.SelectAll, Journal: newMemoryJournal(t, failed)})
		if err != nil || report.Results[1].State != test.state || report.Retryable() != test.retryable {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// If the record of a failed analysis lists documents, somebody else has purchased them. After another analysis, they
// would be bought again. The charge of that purchase was compared with a cost of 0, and ended the purchases of the
// batch.
func TestBatch_AFailedAnalysisThatListsDocumentsIsNotAnalyzedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, currency := range []string{"NGN", `\u0000`} { // no journal can keep the other one
			failed := `{"request_id":"RD-SH-1","status":"failed","source":"shipment","line_items":[],"available_documents":[],` +
				`"documents":[{"document_type":"CUSTOMS","status":"failed"},{"document_type":"\u0000","status":"failed"}],` +
				`"charged_amount":100,"currency":"` + currency + `"}`
			sent := shippingtest.NewService(func(r *http.Request) (*http.Response, error) { return shippingtest.OK(failed)(r) })
			options := batch.Options{Select: shipping.SelectAll, Budget: nairaBudget(t, "150"), Journal: batch.Memory()}
			for _, want := range []batch.State{batch.StateFailed, batch.StateFailed, batch.StateCompleted} {
				if want == batch.StateCompleted {
					failed = strings.NewReplacer("failed", "completed", "100", "200").Replace(failed)
				}
				report, err := batch.Run(t.Context(), walletClient(t, sent), walletItems(1), &options)
				got := report.Results[0]
				if err != nil || got.State != want || report.Committed.Sign() != 0 || len(got.Documents) != 1 ||
					!got.Charged.Known() || errors.Is(got.Err, shipping.ErrOvercharged) {
					t.Errorf("%+v, %v", report, err)
				}
			}
			if sent.CountPath(analyze) != 1 || sent.Count(http.MethodPost) != 1 {
				t.Errorf("%d analyses, %d purchases", sent.CountPath(analyze), sent.CountPath(purchase))
			}
		}
	})
}

// A failed analysis shows a transaction, and no documents: the next run analyzed the item again, and bought it again.
func TestBatch_AFailedAnalysisThatShowsAPurchaseIsNotAnalyzedAgain(t *testing.T) {
	t.Parallel()
	const record = `{"request_id":"RD-SH-1","status":"failed","transaction_id":"T-1","charged_amount":100}`
	shippingtest.EachInBubble(t, map[string]httpmock.Responder{
		"a record":  shippingtest.OK(record),
		"a refusal": httpmock.NewStringResponder(422, `{"status":false,"message":"failed","data":`+record+`}`),
	}, func(t *testing.T, analysis httpmock.Responder) {
		sent := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				return analysis(r)
			}
			return shippingtest.OK(record)(r)
		})
		options := batch.Options{Select: shipping.SelectAll, Journal: batch.Memory()}
		for range 2 {
			report, err := batch.Run(t.Context(), walletClient(t, sent), walletItems(1), &options)
			if text := fmt.Sprint(report.Err()); err != nil || report.Retryable() || strings.Contains(text, "not charged") ||
				strings.Contains(text, "nothing was") || !strings.Contains(text, " it may have been purchased outside this batch") {
				t.Errorf("%s, %v", text, err)
			}
		}
		shippingtest.Diff(t, "analyses and purchases", 1, sent.Count(http.MethodPost))
	})
}

// A proxy repeated the response to an analysis: one request was purchased for each item. Only the items of the run were
// compared, and with a lease only those that it had claimed; two invoices with one address were not.
func TestBatch_ARequestBelongsToOneItem(t *testing.T) {
	t.Parallel()
	invoices := []batch.Item{
		{Key: "SH-1", Analyze: shipping.AnalyzeRequest{FileURL: "https://files.example/invoice?id=17"}},
		{Key: "SH-2", Analyze: shipping.AnalyzeRequest{FileURL: "https://files.example/invoice?id=18"}, Again: true},
	}
	type row struct {
		journal batch.Journal
		runs    [][]batch.Item
	}
	shippingtest.EachInBubble(t, map[string]row{
		"in a run":         {batch.Memory(), [][]batch.Item{walletItems(3)}},
		"in two runs":      {batch.Memory(), [][]batch.Item{walletItems(1), walletItems(3)[1:]}},
		"in two processes": {batchtest.NewJournal(7 * time.Minute), [][]batch.Item{walletItems(1), walletItems(3)[1:]}},
		"with one address": {batch.Memory(), [][]batch.Item{invoices}},
	}, func(t *testing.T, test row) {
		service := &walletService{}
		repeating := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, analyze) {
				r.Body = io.NopCloser(strings.NewReader(`{"shipment_id":"SH-1"}`))
				service.put("RD-SH-1", "draft") // an older copy
			}
			return service.RoundTrip(r)
		})
		for _, items := range test.runs {
			report, err := batch.Run(t.Context(), walletClient(t, repeating), items,
				&batch.Options{Concurrency: 1, Select: shipping.SelectAll, Journal: test.journal})
			if text := fmt.Sprint(report.Err()); err != nil || service.purchases != 1 ||
				report.Results[len(items)-1].Key != "SH-1" &&
					!strings.Contains(text, `returned the request "RD-SH-1" of the item "SH-1"; nothing was purchased`) {
				t.Errorf("%d purchases, %s, %v", service.purchases, text, err)
			}
		}
	})
}

// An item was reported as completed although its shipment needs a document that Select had left out. The result and the
// journal name what was not selected.
func TestBatch_ReportsWhatWasNotSelected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const offers = `{"document_type":"CUSTOMS","amount":1,"currency":"NGN"},` +
			`{"document_type":"QUARANTINE","amount":1,"currency":"NGN"},{"document_type":"FDA","amount":1,"currency":"NGN"},` +
			`{"document_type":"FDA","amount":1,"currency":"NGN"},{"document_type":"\u0000","amount":1,"currency":"NGN"}`
		service := requestService(offers, shippingtest.Record("processing"), shippingtest.Record("completed"))
		journal := batch.Memory()
		for range 2 { // the second run has it from the journal
			report, err := batch.Run(t.Context(), shippingtest.NewClient(t, service), walletItems(1), &batch.Options{
				Select: shipping.SelectOnly("CUSTOMS"), Journal: journal,
			})
			want := []shipping.DocumentType{"QUARANTINE", "FDA"}
			if err != nil || report.Results[0].State != batch.StateCompleted ||
				!slices.Equal(report.Results[0].NotSelected, want) {
				t.Errorf("%+v, %v", report, err)
			}
		}
	})
}

// Which of several items of one shipment was purchased depended on the time of responses.
func TestBatch_ItemsThatExcludeEachOther(t *testing.T) {
	t.Parallel()
	for range 5 {
		synctest.Test(t, func(t *testing.T) {
			server, client := bubbleServer(t)
			var items []batch.Item
			for key, documents := range map[string][]shipping.DocumentType{
				"order 1": {"CUSTOMS"}, "order 2": {"CUSTOMS", "FDA"}, "order 3": {"TEXTILE", "FDA"}, "any": nil,
			} {
				items = append(items, batch.Item{Key: key, Documents: documents,
					Analyze: shipping.AnalyzeRequest{ShipmentID: server.Shipments()[0]}})
			}
			journal := batchtest.NewJournal(7 * time.Minute)
			options := &batch.Options{Select: shipping.SelectAutomated, Journal: journal}
			for range 2 {
				report := shippingtest.Must(batch.Run(t.Context(), client, items, options))(t)
				for _, result := range report.Results {
					want := map[string]string{"order 2": `leave "CUSTOMS" out of Documents`,
						"any": "name the Documents of this item, too"}[result.Key]
					if text := fmt.Sprint(result.Err); (want == "") != (result.State == batch.StateCompleted) ||
						!strings.Contains(text, want) {
						t.Errorf("%s: %s, %s", result.Key, result.State, text)
					}
				}
			}
		})
	}
}

// If an item with Again was purchased first, the other item for the shipment was refused: the order of the list decided
// whether both were purchased.
func TestBatch_AnItemWithAgainBeginsAfterTheOthers(t *testing.T) {
	t.Parallel()
	customs := []shipping.DocumentType{"CUSTOMS"}
	type row struct {
		killed bool   // before the purchase of the other item was sent
		taken  int    // claims that fail because another process has the other item
		before string // the first step of the other item
	}
	shippingtest.EachInBubble(t, map[string]row{
		"in one run":             {before: "analyzed"},
		"after a kill":           {killed: true, before: "settling"},
		"beside another process": {taken: 2, before: "taken, first analyzed"},
	}, func(t *testing.T, test row) {
		server, client := bubbleServer(t)
		analyze := shipping.AnalyzeRequest{ShipmentID: server.Shipments()[0]}
		items := []batch.Item{{Key: "again", Analyze: analyze, Documents: customs, Again: true},
			{Key: "first", Analyze: analyze, Documents: customs}}
		journal := hooked{batch.Memory(), func(_ context.Context, call string, record batch.Record,
			do func() error) error {
			if call == "claim" && record.Key == "first" && test.taken > 0 {
				test.taken--
				return batch.ErrItemTaken
			}
			return do()
		}}
		if test.killed {
			intent, draft := purchasing(t, "first"), shippingtest.Must(client.Regulatory.Analyze(t.Context(), &analyze))(t)
			intent.ShipmentID, intent.RequestID = analyze.ShipmentID, draft.RequestID
			intent.Purchase.RequestID, intent.Purchase.Draft = draft.RequestID, draft
			shippingtest.NoError(t, appendTo(t.Context(), journal, intent))
		}
		var steps []string
		report := shippingtest.Must(batch.Run(t.Context(), client, items, &batch.Options{Journal: journal, Concurrency: 1,
			Progress: func(event batch.Event) {
				steps = append(steps, event.Item.Key+" "+string(event.Step))
			}}))(t)
		if n := server.Requests(shipping.OpPurchase); n != 2 || report.Count(batch.StateCompleted) != 2 {
			t.Errorf("%d purchases: %v", n, report.Err())
		}
		before, _, _ := strings.Cut(strings.Join(slices.Compact(steps), ", "), ", again")
		shippingtest.Diff(t, "the steps", "first "+test.before+", first selected, first purchased, first polled", before)
	})
}

// An item buys its own documents. Unfinished returns those of the purchase that an earlier run began. If it settled as
// not charged, Select chose others, because it may depend on the night's list.
func TestBatch_BuysTheDocumentsOfItsItem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := &walletService{
			offer:    `"amount":100,"currency":"NGN"},{"document_type":"FDA","amount":70,"currency":"NGN"`,
			purchase: func(n int) purchaseFault { return purchaseFault{Ignore: n == 1} },
		}
		client := walletClient(t, service)
		journal := shippingtest.Must(batch.OpenFile(filepath.Join(t.TempDir(), "batch.journal")))(t)
		defer journal.Close()
		buys := func(shipment string, document shipping.DocumentType) batch.Item {
			return batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: shipment},
				Documents: []shipping.DocumentType{document}}
		}
		shippingtest.Must(batch.Run(t.Context(), client, []batch.Item{buys("SH-1", "FDA")}, &batch.Options{Journal: journal,
			Budget: nairaBudget(t, "1000"), Purchase: shipping.PurchaseOptions{SettleFor: time.Second}}))(t)
		items := append(batch.Unfinished(shippingtest.Must(journal.Records())(t), nil), buys("SH-2", "fda"),
			buys("SH-3", "WATCH"))
		report, err := batch.Run(t.Context(), client, items, &batch.Options{Journal: journal, Select: shipping.SelectAll})
		if err != nil || report.Count(batch.StateCompleted) != 1 ||
			!slices.Equal(report.Results[0].Documents, []shipping.DocumentType{"FDA"}) {
			t.Errorf("%+v, %v", report, err)
		}
		for i, want := range []string{`Item.Documents names "fda"`, "Item.Documents: the draft does not offer WATCH"} {
			if got := report.Results[i+1]; !strings.Contains(got.Reason(), want) || got.Need() != batch.NeedItem {
				t.Errorf("%v, needs %s, want %q", got.Err, got.Need(), want)
			}
		}
	})
}

// A run that waited for the purchase of an earlier run, or for another process, was silent for a minute or more.
func TestBatch_ReportsWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service, journal := &walletService{}, batchtest.NewJournal(7*time.Minute)
		service.put("RD-SH-1", "draft")
		shippingtest.NoError(t, appendTo(t.Context(), journal, purchasing(t, "SH-1")))
		shippingtest.Must(journal.Claim(t.Context(), "SH-1"))(t) // by another process, which dies
		var steps []string
		report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(1), &batch.Options{
			Select: shipping.SelectAll, Journal: journal,
			Progress: func(event batch.Event) {
				steps = append(steps, string(event.Step))
				if waits := event.Step == "taken" || event.Step == "settling"; waits &&
					(event.Next <= 0 || event.Item.Key != "SH-1") {
					t.Errorf("%+v", event)
				}
			},
		})
		if err != nil || report.Count(batch.StateCompleted) != 1 {
			t.Fatalf("%+v, %v", report, err)
		}
		got := strings.Join(slices.Compact(steps), " ")
		shippingtest.Diff(t, "the steps", "taken settling selected purchased ended", got)
	})
}

// A run was held until its deadline, an hour, by a status that lasts for days. Such a status has another time here, and
// the run ends its wait like lacksEvidence.
func TestBatch_WaitsForEachStatusOfAPurchase(t *testing.T) {
	t.Parallel()
	waits := map[string]time.Duration{"purchasing": time.Hour, "processing": time.Hour}
	for _, row := range status.All() {
		if row.Purchased && !row.Final {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), time.Hour)
				defer stop()
				began, record := time.Now(), shippingtest.Record(row.Name)
				_, _ = batch.Run(ctx, shippingtest.NewClient(t, requestService(customs, record, record)), walletItems(1),
					&batch.Options{Select: shipping.SelectAll, Journal: batch.Memory()}) // the time matters, not the error
				shippingtest.Diff(t, "the wait for "+row.Name, waits[row.Name], time.Since(began).Round(time.Minute))
			})
		}
	}
}

// The advice for a document that waits for evidence was another run, each night, and the wait held the run until its
// deadline.
func TestBatch_ADocumentWithoutEvidenceNeedsAPerson(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := requestService(customs, shippingtest.Record("processing"), shippingtest.Record("processing",
			`"documents":[{"document_type":"CUSTOMS","status":"awaiting_evidence"}]`))
		began := time.Now()
		for _, limit := range []time.Duration{30 * time.Second, time.Hour} { // the first run is interrupted
			ctx, stop := context.WithTimeout(t.Context(), limit)
			defer stop()
			report, err := batch.Run(ctx, shippingtest.NewClient(t, service), walletItems(1), &batch.Options{
				Select: shipping.SelectAll, Journal: batch.Memory()})
			got := report.Results[0]
			if (err != nil) != (limit < time.Minute) || got.State != batch.StateWaiting || got.Need() != batch.NeedEvidence ||
				report.Retryable() || !strings.Contains(got.Err.Error(), `"CUSTOMS" waits for evidence that a person supplies`) ||
				!strings.HasSuffix(got.Err.Error(), "; once the evidence is supplied, run the batch again") {
				t.Errorf("%s, needs %s: %v, %v", got.State, got.Need(), got.Err, err)
			}
		}
		// A purchase that Adopt has added had no documents while it waited, and a person bought them again.
		adopted := purchasing(t, "SH-1")
		adopted.RequestID, adopted.Step, adopted.Documents, adopted.Purchase = "RD-1", batch.StepPurchased, nil, nil
		journal := newMemoryJournal(t, adopted)
		shippingtest.Must(batch.Run(t.Context(), shippingtest.NewClient(t, service), walletItems(1), &batch.Options{
			Journal: journal}))(t)
		if last := lastRecord(t, journal, "SH-1"); !slices.Equal(last.Documents, []shipping.DocumentType{"CUSTOMS"}) {
			t.Errorf("the journal has %+v", last)
		}
		if took := time.Since(began); took > 5*time.Minute {
			t.Errorf("the run waited for %s", took)
		}
	})
}

// If the disk was full at the last record of an item, the item was reported as completed, with the advice of a charge
// above its cost. After a failed analysis, the advice was to close the item with Resolve, without a record of it. If
// the analysis listed documents, the advice was another run, which would analyze the item and might buy them again.
func TestBatch_AnEndThatIsNotRecordedIsNotReached(t *testing.T) {
	t.Parallel()
	const documents = `"documents":[{"document_type":"CUSTOMS","status":"failed"}]`
	type row struct {
		analysis, read httpmock.Responder
		full, next     string // the state and the need of each run
		purchases      int
	}
	shippingtest.EachInBubble(t, map[string]row{
		"completed":           {nil, shippingtest.Record("completed"), "waiting run", "completed ", 1},
		"a failed generation": {nil, shippingtest.Record("failed"), "failed retry", "failed retry", 1},
		"a failed analysis":   {shippingtest.Record("failed"), nil, "error person", "failed item", 0},
		"an analysis that took longer": {shippingtest.Record("analyzing"), shippingtest.Record("failed"), "error person",
			"error item", 0},
		"an analysis with documents": {shippingtest.Record("failed", documents), nil, "failed item", "failed retry", 0},
	}, func(t *testing.T, test row) {
		service := requestService(customs, shippingtest.Record("processing"), test.read)
		if test.analysis != nil {
			service.RegisterResponder(http.MethodPost, shippingtest.BaseURL+"/v1/regulatory-documents/analyze", test.analysis)
		}
		isFull := true
		journal := hooked{batch.Memory(), func(_ context.Context, call string, record batch.Record, do func() error) error {
			if isFull && call == "append" && (record.Step == batch.StepCompleted || record.Step == batch.StepFailed) {
				return errors.New("no space left on device")
			}
			return do()
		}}
		for _, want := range []string{test.full, test.next} {
			report, err := batch.Run(t.Context(), shippingtest.NewClient(t, service), walletItems(1), &batch.Options{
				Select: shipping.SelectAll, Journal: journal})
			got := report.Results[0]
			// The advice of a completed item was that of documents that do not come.
			if fmt.Sprint(got.State, " ", got.Need()) != want || (err != nil) != isFull ||
				service.CountPath(purchase) != test.purchases || strings.Contains(fmt.Sprint(got.Err), "a day") {
				t.Errorf("%s, needs %q: %v, %v", got.State, got.Need(), got.Err, err)
			}
			isFull = false
		}
	})
}

// An item whose list named another document, after its purchase was charged, was completed without an error in the run
// that read its documents.
func TestBatch_AnItemThatIsCompletedWithoutADocumentIsAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service, record := &walletService{}, purchasing(t, "SH-1")
		service.put("RD-SH-1", "completed")
		record.Step, record.Purchase = batch.StepPurchased, nil
		item := walletItems(1)[0]
		item.Documents = append(slices.Clone(record.Documents), "WATCH")
		journal := newMemoryJournal(t, record)
		for range 2 {
			report, err := batch.Run(t.Context(), walletClient(t, service), []batch.Item{item}, &batch.Options{Journal: journal})
			if got := report.Results[0]; err != nil || got.State != batch.StateError || got.Need() != batch.NeedItem ||
				got.RequestID == "" ||
				!strings.Contains(got.Reason(), `completed without "WATCH"`) || service.purchases > 0 {
				t.Errorf("%s, needs %q: %v, %v", got.State, got.Need(), got.Err, err)
			}
		}
		shippingtest.Diff(t, "the step in the journal", batch.StepCompleted, lastRecord(t, journal, "SH-1").Step)
	})
}

// Resolve closes an item that no run completes: nothing is sent for it, and the report has no error of it.
// Once closed, it stays closed. An item that was resolved as not charged lost the charge of its record.
func TestResolve_ClosesWhatNoRunCompletes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		step      shipping.Step
		bought    bool
		outcome   shipping.PurchaseOutcome
		committed string
		charge    string // that a first call closes
	}{
		"failed generation":           {batch.StepFailed, true, shipping.OutcomeCharged, "100", ""},
		"failed generation, refunded": {batch.StepFailed, true, shipping.OutcomeNotCharged, "0", ""},
		"failed analysis":             {batch.StepFailed, false, shipping.OutcomeNotCharged, "0", ""},
		"purchased, never generated":  {batch.StepPurchased, true, shipping.OutcomeCharged, "100", ""},
		"purchased, above its cost":   {batch.StepPurchased, true, shipping.OutcomeCharged, "100", "900 NGN"},
	} {
		record := batch.Record{Key: "SH-1", RequestID: "RD-SH-1"}
		if test.bought {
			record = purchasing(t, "SH-1")
			record.Purchase, record.Charged, record.ChargedCurrency = nil, record.Amount, record.Currency
		}
		record.Step, record.Overcharge = test.step, test.charge
		journal, service := openJournal(t, t.TempDir()+"/journal"), shippingtest.NewService(new(walletService).RoundTrip)
		shippingtest.NoError(t, appendTo(t.Context(), journal, record))
		if test.charge != "" {
			shippingtest.NoError(t, batch.Resolve(t.Context(), journal, "SH-1", test.outcome, "compared"))
			if last := lastRecord(t, journal, "SH-1"); last.Step != test.step || last.Overcharged() {
				t.Errorf("%s: the first call left %+v", name, last)
			}
		}
		if err := batch.Resolve(t.Context(), journal, "SH-1", test.outcome, "seen"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(1), &batch.Options{
			Select: shipping.SelectAll, Budget: nairaBudget(t, "150"), Journal: journal,
		})
		if err != nil || report.Err() != nil || report.Count(batch.StateClosed) != 1 ||
			report.Committed.String() != test.committed {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
		last := lastRecord(t, journal, "SH-1")
		if service.Count("") > 0 || last.Note != "seen" || last.Charged.Known() != test.bought {
			t.Errorf("%s: %d requests, %+v", name, service.Count(""), last)
		}
		again := batch.Resolve(t.Context(), journal, "SH-1", shipping.OutcomeCharged, "seen")
		shippingtest.WantErrorWith(t, name+": closed again", again, shipping.ErrInvalidRequest, "no run purchases it again")
	}
}

// One journal serves all nights. A budget of 250 bounds each period; items cost 100. A journal was once the scope of
// the budget and of the purchases: one for each night bought a shipment twice, and one for all nights stopped the
// second night.
func TestBatch_EachPeriodHasItsBudget(t *testing.T) {
	t.Parallel()
	shippingtest.EachInBubble(t, map[string]func(t *testing.T) batch.Journal{
		"in memory": func(*testing.T) batch.Journal { return batch.Memory() },
		"in a file": func(t *testing.T) batch.Journal { return openJournal(t, t.TempDir()+"/journal") },
		"shared":    func(*testing.T) batch.Journal { return batchtest.NewJournal(7 * time.Minute) },
	}, func(t *testing.T, open func(t *testing.T) batch.Journal) {
		lost := 0
		service := &walletService{purchase: func(n int) purchaseFault { return purchaseFault{Ignore: n == lost} }}
		journal := open(t)
		night := func(period string, items int, committed string, completed, purchases int) *batch.Report {
			t.Helper()
			report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(items), &batch.Options{
				Concurrency: 1, Select: shipping.SelectAll, Budget: nairaBudget(t, "250"), Period: period, Journal: journal,
				Purchase: shipping.PurchaseOptions{QuietFor: time.Minute},
			})
			if err != nil || report.Committed.String() != committed || report.Count(batch.StateCompleted) != completed {
				t.Errorf("%s: %+v, %v", period, report, err)
			}
			if _, sent := service.total(); sent != purchases {
				t.Errorf("%s: %d purchases", period, sent)
			}
			return report
		}
		night("Monday", 3, "200", 2, 2) // in list order
		night("Monday", 3, "200", 2, 2) // what is left is not enough
		lost = 4
		report := night("Tuesday", 4, "200", 3, 4)
		if unknown := report.Results[3]; unknown.State != batch.StateUnknown || unknown.Period != "Tuesday" ||
			report.Results[0].Period != "Monday" {
			t.Errorf("%+v", report)
		}
		// The unknown purchase counts in its own period until it is settled, and then in the one that purchases it.
		night("Wednesday", 3, "0", 3, 4)
		lost = 0
		night("Wednesday", 4, "100", 4, 5)
		night("Tuesday", 3, "100", 3, 5)
		night("Monday", 6, "200", 4, 5)
		night("Wednesday", 6, "200", 5, 6)
	})
}

// A batch advised to leave out an item whose analysis was not finished. Now it waits, whichever run began the analysis.
// If the analysis fails, the item has failed, and nothing is purchased.
func TestBatch_AnalysesThatAreNotFinished(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]batch.State{"draft": batch.StateCompleted, "failed": batch.StateFailed,
		"analyzing": batch.StateError} {
		for _, resumed := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				service, started, journal := &walletService{}, time.Now(), batch.Memory()
				if resumed {
					journal = newMemoryJournal(t, batch.Record{Key: "SH-1", Step: batch.StepAnalyzed, RequestID: "RD-SH-1"})
				}
				service.put("RD-SH-1", "analyzing")
				sent := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
					analyzes := strings.HasSuffix(r.URL.Path, "/analyze")
					if !analyzes && service.requests["RD-SH-1"].status == "analyzing" && time.Since(started) > 2*time.Second {
						service.put("RD-SH-1", status)
					}
					if analyzes {
						return shippingtest.OK(`{"request_id":"RD-SH-1","status":"analyzing"}`)(r)
					}
					return service.RoundTrip(r)
				})
				options := batch.Options{Select: shipping.SelectAll, Budget: nairaBudget(t, "150"), Journal: journal}
				report := shippingtest.Must(batch.Run(t.Context(), walletClient(t, sent), walletItems(1), &options))(t)
				got, purchases, completes := report.Results[0], sent.CountPath(purchase), want == batch.StateCompleted
				if got.State != want || purchases != map[bool]int{true: 1}[completes] || (got.Err == nil) != completes {
					t.Errorf("%s, resumed: %t: %s after %d purchases, %v", status, resumed, got.State, purchases, got.Err)
				}
			})
		}
	}
}

// A run that is killed before midnight continues after it within the budget of the day on which it was due, and so do
// two machines in different time zones. If the clock decided, the purchases after midnight would have another budget.
func TestBatch_ThePeriodIsNotTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(24*time.Hour - 30*time.Second) // 2000-01-01 23:59:30 UTC
		due := "2000-01-01"
		service, journal := &walletService{}, batchtest.NewJournal(7*time.Minute)
		run := func(ctx context.Context, zone string, offset int) *batch.Report {
			zoned := time.FixedZone(zone, offset)
			report, err := batch.Run(ctx, walletClient(t, service), walletItems(6), &batch.Options{
				Concurrency: 1, Select: shipping.SelectAll, Budget: nairaBudget(t, "350"), Period: due, Journal: journal,
				Progress: func(event batch.Event) {
					if event.Committed.Cmp(shippingtest.Amount(t, "350")) > 0 {
						t.Errorf("%s: %s is committed at %s", zone, event.Committed, time.Now().In(zoned))
					}
				},
			})
			if err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			return report
		}
		killed, kill := context.WithCancel(t.Context())
		service.charged = func() { // within the purchase, so that its response is lost
			kill()
			service.charged = nil
		}
		run(killed, "Lagos", 3600)
		time.Sleep(time.Minute)
		var machines sync.WaitGroup
		for zone, offset := range map[string]int{"Lagos": 3600, "Los Angeles": -8 * 3600} {
			machines.Go(func() {
				if report := run(t.Context(), zone, offset); report.Count(batch.StateCompleted) != 3 ||
					report.Count(batch.StateOverBudget) != 3 {
					t.Errorf("%s: %+v", zone, report)
				}
			})
		}
		machines.Wait()
		if spent, purchases := service.total(); spent.String() != "300" || purchases != 3 {
			t.Errorf("%s spent in %d purchases", spent, purchases)
		}
	})
}

// A record of another period is not compared with the budget of this run, whose currency may be another one.
func TestBatch_SettlesAPurchaseOfAPeriodWithAnotherCurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open, service := purchasing(t, "SH-1"), &walletService{}
		open.Period = "Monday"
		service.put("RD-SH-1", "completed")
		report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(1), &batch.Options{
			Select: shipping.SelectAll, Journal: newMemoryJournal(t, open), Period: "Tuesday",
			Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "5"), Currency: "USD"},
		})
		if err != nil || report.Err() != nil || report.Committed.Sign() != 0 {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// An item whose generation is being retried when the run is interrupted has not failed. A status that nothing lists is
// named.
func TestBatch_ARetryThatIsInterruptedIsWaitedFor(t *testing.T) {
	t.Parallel()
	type row struct{ status, want string }
	shippingtest.EachInBubble(t, map[string]row{
		"listed":   {"processing", `request "RD-SH-1" is purchased, and the generation had failed`},
		"unlisted": {"packing", `neither the specification nor the dialect lists the status "packing"; if generation`},
	}, func(t *testing.T, test row) {
		failed, service := purchasing(t, "SH-1"), &walletService{}
		failed.Step, failed.Purchase = batch.StepFailed, nil
		service.put("RD-SH-1", test.status)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		report, err := batch.Run(ctx, walletClient(t, service), walletItems(1), &batch.Options{
			Select: shipping.SelectAll, Journal: newMemoryJournal(t, failed),
		})
		if !errors.Is(err, context.DeadlineExceeded) || report.Results[0].State != batch.StateWaiting ||
			!strings.Contains(report.Err().Error(), test.want) {
			t.Errorf("%+v, %v", report.Err(), err)
		}
	})
}
