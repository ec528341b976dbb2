package batch_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// If the draft of an earlier night had expired, its item failed every night, and no run analyzed it again. Now a run
// does, but only if the draft has certainly expired, each purchase was refused or never sent, and nothing shows a
// purchase: the service refuses a second purchase of the same request, but not that of a new one.
func TestBatch_AnExpiredDraftIsAnalyzedAgainOnlyIfNothingWasSold(t *testing.T) {
	t.Parallel()
	const declared = "record.states=expired=expired,refusal.expired_code=request_expired"
	draft := batch.Record{Key: "SH-1", Step: batch.StepAnalyzed, ShipmentID: "SH-1", RequestID: "RD-old"}
	with := func(change func(r *batch.Record)) batch.Record {
		record := draft
		change(&record)
		return record
	}
	documents := []shipping.DocumentType{"CUSTOMS"}
	earlier := func(what string) batch.Record {
		return with(func(r *batch.Record) { r.Documents, r.Earlier = documents, what })
	}
	open := purchasing(t, "SH-1")
	open.ShipmentID, open.RequestID, open.Purchase.RequestID, open.Earlier = "SH-1", "RD-old", "RD-old",
		batch.EarlierRefused
	refused := open
	sent := *open.Purchase
	sent.Refused, refused.Purchase = true, &sent
	record := func(status string, members ...string) httpmock.Responder {
		return shippingtest.OK(`{"request_id":"RD-old","status":"` + status + `","available_documents":[{"document_type":` +
			`"CUSTOMS","amount":100,"currency":"NGN"}]` + strings.Join(members, "") + `}`)
	}
	gone := shippingtest.Refusal(http.StatusNotFound, "Request not found")
	code := func(code string) httpmock.Responder {
		return httpmock.NewStringResponder(400,
			`{"status":false,"message":"no","data":{"error_code":"`+code+`"}}`)
	}
	const listed, charge = `,"documents":[{"document_type":"CUSTOMS","status":"generated"}]`, `,"charged_amount":100`
	const named = `,"purchased_documents":["CUSTOMS"]`
	const quoted = "purchase.quoted=true"
	const resolve = "batch.Resolve with OutcomeNotCharged lets the next run analyze it again"
	type row struct {
		record   batch.Record
		dialect  string
		read     []httpmock.Responder // of the old request, one for each run
		purchase httpmock.Responder   // of the old request
		analyses int                  // in all runs
		want     string               // in the error of the last run; empty if the item is completed
	}
	shippingtest.EachInBubble(t, map[string]row{
		"gone":                           {draft, "", responders{gone}, nil, 1, ""},
		"gone, after a refusal":          {earlier(batch.EarlierRefused), "", responders{gone}, nil, 1, ""},
		"gone, lost and settled":         {earlier(batch.EarlierLost), "", responders{gone}, nil, 0, resolve},
		"gone, of an earlier version":    {earlier(""), "", responders{gone}, nil, 0, resolve},
		"lost and settled, then gone":    {open, "", responders{record("draft"), gone}, code("closed"), 0, resolve},
		"refused and settled, then gone": {refused, "", responders{record("draft"), gone}, code("closed"), 1, ""},
		"bought elsewhere, then gone": {draft, "", responders{record("completed", listed), gone}, nil, 0,
			"its request may have shown a purchase"},
		"bought elsewhere, being generated, then gone": {draft, "record.states=in_production=generating",
			responders{record("in_production"), gone}, nil, 0, "its request may have shown a purchase"},
		"bought elsewhere, then an older copy": {draft, "", responders{record("completed", listed), record("draft")}, nil, 0,
			"the request has shown a purchase, and reads as a draft now, so it is not purchased"},
		"bought elsewhere, purchased documents, then gone": {draft, "", responders{record("in_production", named), gone},
			nil, 0, "its request may have shown a purchase"},
		"bought elsewhere, then an older copy after another status": {draft, "", responders{record("completed", listed),
			record("in_production").Then(record("draft"))}, nil, 0, "reads as a draft now"},
		"bought elsewhere, then an older copy that lists what it offers": {draft, "", responders{record("completed"),
			record("draft", listed)}, nil, 0, "reads as a draft now"},
		"bought elsewhere, then an older copy with its quote": {draft, quoted, responders{record("completed", charge),
			record("draft", charge)}, nil, 0, "reads as a draft now"},
		"a transaction beside a quote, then an older copy": {draft, quoted, responders{record("draft", charge,
			`,"transaction_id":"T-1"`), record("draft", charge)}, nil, 0, "reads as a draft now"},
		"a draft that lists documents, then none": {draft, "", responders{record("draft", named), record("draft")},
			code("closed"), 0, "reads as a draft now"},
		"a draft that lists documents, then gone": {draft, "", responders{record("draft", named), gone}, code("closed"), 0,
			"its request may have shown a purchase"},
		"a draft that lists documents": {draft, "", responders{record("draft", listed), record("draft", listed)},
			code("closed"), 0, `"refusal.expired_code = closed"`}, // it is purchased
		"refused with a documented code": {draft, "", []httpmock.Responder{record("draft"), record("draft")},
			code("charge_refused"), 0, "; once this is corrected, run the batch again"},
		"a transaction, then gone": {draft, "", responders{record("draft", `,"transaction_id":"T-1"`), gone}, nil, 0,
			"its request may have shown a purchase"},
		"resolved by hand, then gone": {with(func(r *batch.Record) { r.Documents, r.Note = documents, "no debit" }), "",
			responders{gone}, nil, 1, ""},
		"status":                   {draft, declared, responders{record("expired")}, nil, 1, ""},
		"status, lost and settled": {earlier(batch.EarlierLost), declared, responders{record("expired")}, nil, 0, resolve},
		"status, with documents":   {draft, declared, responders{record("expired", listed)}, nil, 0, resolve},
		"status, with a charge":    {draft, declared, responders{record("expired", charge)}, nil, 0, resolve},
		"undeclared status":        {draft, "", responders{record("expired")}, nil, 0, `"record.states += expired=expired"`},
		"unknown status, bought by hand": {draft, declared, responders{record("archived", listed)}, nil, 0,
			"it may have been purchased outside this batch"},
		"code": {draft, declared, responders{record("draft")}, code("request_expired"), 1, ""},
		"code, and then the status": {draft, declared, responders{record("draft").Then(record("expired"))},
			code("request_expired"), 1, ""},
		"a quote, refused, then gone": {draft, quoted, responders{record("draft", charge), gone},
			code("closed"), 1, ""},
		"code, lost once": {earlier(batch.EarlierLost), declared, responders{record("draft")}, code("request_expired"), 0,
			resolve},
		"undeclared code": {draft, "", responders{record("draft")}, code("request_expired"), 0,
			`"refusal.expired_code = request_expired"`},
		// The error of the second night with an empty wallet advised to declare this code as that of an expired draft.
		"no money": {draft, "", responders{record("draft")}, code("insufficient_funds"), 0,
			"; add money to the wallet; once the wallet has the money, run the batch again"},
		"no money, declared": {draft, "refusal.funds_code=E_FUNDS", responders{record("draft")}, code("E_FUNDS"), 0,
			"; add money to the wallet; once the wallet has the money, run the batch again"},
		"already purchased": {draft, declared, responders{record("draft")}, code("already_purchased"), 0,
			"400 Bad Request: no"},
	}, func(t *testing.T, test row) {
		service := &walletService{}
		analyses := 0
		runs := -1
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case strings.HasSuffix(r.URL.Path, analyze):
				analyses++
			case strings.HasSuffix(r.URL.Path, "RD-old"):
				return test.read[runs](r)
			case strings.HasSuffix(r.URL.Path, purchase) && analyses == 0 && test.purchase != nil:
				return test.purchase(r)
			}
			return service.RoundTrip(r)
		})
		client := shippingtest.NewClient(t, transport, shipping.WithDialect(shippingtest.Dialect(t, test.dialect)))
		journal := newMemoryJournal(t, test.record)
		var report *batch.Report
		for runs = range test.read {
			report = shippingtest.Must(batch.Run(t.Context(), client, walletItems(1),
				&batch.Options{Select: shipping.SelectAll, Journal: journal}))(t)
		}
		err := report.Err()
		if analyses != test.analyses || service.purchases != test.analyses || (err == nil) != (test.want == "") ||
			!strings.Contains(fmt.Sprint(err), test.want) ||
			strings.Contains(fmt.Sprint(err), "expired_code") != strings.Contains(test.want, "expired_code") {
			t.Errorf("%d analyses, %d purchases, %v", analyses, service.purchases, err)
		}
	})
}

type responders = []httpmock.Responder

// A person opens an item that no condition allows to analyze again. The next run then analyzes it, and a new draft that
// is refused at once is not analyzed again and again.
func TestResolve_OpensAnItemWhoseDraftHasExpired(t *testing.T) {
	t.Parallel()
	outcomes := map[string]bool{"bought": false, "refused again": true}
	shippingtest.EachInBubble(t, outcomes, func(t *testing.T, refuses bool) {
		declared := shippingtest.Dialect(t, "refusal.expired_code=expired")
		service, analyses := &walletService{}, 0
		client := shippingtest.NewClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case strings.HasSuffix(r.URL.Path, analyze):
				analyses++
			case strings.HasSuffix(r.URL.Path, "RD-old"):
				t.Error("the old request is read")
			case strings.HasSuffix(r.URL.Path, purchase) && refuses:
				return httpmock.NewStringResponse(400, `{"status":false,"message":"no","data":{"error_code":"expired"}}`), nil
			}
			return service.RoundTrip(r)
		}), shipping.WithDialect(declared))
		journal := newMemoryJournal(t, batch.Record{Key: "SH-1", Step: batch.StepAnalyzed, ShipmentID: "SH-1",
			RequestID: "RD-old", Documents: []shipping.DocumentType{"CUSTOMS"}, Earlier: batch.EarlierLost})
		const notCharged = shipping.OutcomeNotCharged
		for range 2 { // a repeated call changes nothing
			shippingtest.NoError(t, batch.Resolve(t.Context(), journal, "SH-1", notCharged, "no debit, ticket 4711"))
		}
		if err := batch.Resolve(t.Context(), journal, "SH-1", shipping.OutcomeCharged, "a mistake"); err == nil {
			t.Error("an item without a request is charged")
		}
		report := shippingtest.Must(batch.Run(t.Context(), client, walletItems(1),
			&batch.Options{Select: shipping.SelectAll, Journal: journal}))(t)
		got := report.Results[0]
		if analyses != 1 || (got.State == batch.StateCompleted) == refuses || refuses &&
			!errors.Is(got.Err, shipping.ErrInvalidRequest) {
			t.Errorf("%d analyses, %+v", analyses, got)
		}
	})
}

// The draft of a purchase whose response was lost has expired, so no run can settle the purchase: a person finds the
// outcome. If the dialect declared the status, each run asked for another run instead.
func TestBatch_AnExpiredDraftOfAnUnknownPurchase(t *testing.T) {
	shippingtest.EachInBubble(t, map[string]string{"not found": "time.draft_life=12h",
		"declared": "record.states=expired=expired,time.draft_life=12h"}, func(t *testing.T, lines string) {
		declared := shippingtest.Dialect(t, lines)
		server, _ := bubbleServer(t, mockserver.WithDialect(declared))
		client, items := server.Client(t, shipping.WithDialect(declared)), shipmentItems(server, 1)
		shippingtest.NoError(t, server.Inject(fault.Rule{Operation: shipping.OpPurchase, First: 1, Fault: fault.Drop()}))
		options := &batch.Options{Select: shipping.SelectAutomated, Journal: batch.Memory()}
		shippingtest.Must(batch.Run(t.Context(), client, items, options))(t)
		time.Sleep(24 * time.Hour)
		report := shippingtest.Must(batch.Run(t.Context(), client, items, options))(t)
		if got := report.Results[0]; got.State != batch.StateUnknown || got.Need() != batch.NeedOutcome {
			t.Errorf("%s needs %s: %v", got.State, got.Need(), got.Err)
		}
		shippingtest.NoError(t, batch.Resolve(t.Context(), options.Journal, items[0].Analyze.ShipmentID,
			shipping.OutcomeNotCharged, "no debit"))
		report = shippingtest.Must(batch.Run(t.Context(), client, items, options))(t)
		if report.Count(batch.StateCompleted) != 1 || server.Requests(shipping.OpPurchase) != 2 {
			t.Errorf("after Resolve: %v", report.Err())
		}
	})
}
