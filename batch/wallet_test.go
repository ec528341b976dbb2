package batch_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/goods"
)

// compared returns what a run that compares a wallet with records returns: the payments that are missing, as keys and
// requests, or the error. Nothing is purchased if there are any.
func compared(t *testing.T, records []batch.Record, items []batch.Item, transactions ...string) string {
	t.Helper()
	service := shippingtest.NewService(shippingtest.Refusal(400, "no"))
	service.RegisterResponder(http.MethodGet, shippingtest.BaseURL+"/v1/transactions",
		shippingtest.OK(`{"transactions":[`+strings.Join(transactions, ",")+`],"pagination":{}}`))
	service.RegisterResponder(http.MethodGet, shippingtest.BaseURL+"/v1/regulatory-documents/request/RD-8",
		shippingtest.Refusal(409, "busy"))
	bought := `"shipment_id":"SH-5","documents":[{"document_type":%q}]`
	for request, source := range map[string]string{"RD-0": `"file_url":"https://example.com/1.pdf"`,
		"RD-2": `"shipment_id":"SH-2"`, "RD-4": `"shipment_id":"SH-5"`, "RD-5": fmt.Sprintf(bought, "CUSTOMS"),
		"RD-6": fmt.Sprintf(bought, "FDA"), "RD-7": fmt.Sprintf(bought, "CUSTOMS")} {
		service.RegisterResponder(http.MethodGet, shippingtest.BaseURL+"/v1/regulatory-documents/request/"+request,
			shippingtest.OK(`{"request_id":"`+request+`","status":"processing",`+source+`}`))
	}
	journal := openJournal(t, filepath.Join(t.TempDir(), "batch.journal"))
	defer journal.Close()
	for _, record := range records {
		shippingtest.NoError(t, appendTo(t.Context(), journal, record))
	}
	report, err := batch.Run(t.Context(), shippingtest.NewClient(t, service), items, &batch.Options{
		Select: shipping.SelectAutomated, Journal: journal, Wallet: "VA-1",
	})
	missing, found := errors.AsType[*batch.MissingError](err)
	if sent := service.Count(http.MethodPost); err != nil && sent > 0 {
		t.Errorf("%v: %d requests after it", err, sent)
	}
	if err != nil && (!found || report.Retryable()) {
		return fmt.Sprintf("other wallet %v, retryable %v", errors.Is(err, batch.ErrOtherWallet), report.Retryable())
	}
	var got []string
	if found {
		for _, payment := range missing.Payments {
			got = append(got, payment.Key+" "+payment.RequestID)
		}
	}
	return strings.Join(got, ", ")
}

// Which transactions are purchases of documents.
func TestRun_Payments(t *testing.T) {
	t.Parallel()
	items := walletItems(2)
	for name, test := range map[string][2]string{ // members of the transaction, and the request
		"metadata": {`"flow":"out","status":"success","metadata":{"shipment_id":"SH-1","request_id":"RD-1"}`,
			"SH-1 RD-1"},
		"reference": {`"flow":"out","status":"success","txRef":"RD-2"`, "SH-2 RD-2"},
		"not readable now": {`"flow":"out","status":"success","txRef":"RD-8"`,
			"other wallet false, retryable true"},
		"not readable":       {`"flow":"out","status":"success","txRef":"RD-9"`, " RD-9"},
		"pending":            {`"flow":"out","status":"pending","txRef":"RD-2"`, "SH-2 RD-2"},
		"an unknown flow":    {`"flow":"sideways","status":"success","txRef":"RD-2"`, "SH-2 RD-2"},
		"failed":             {`"flow":"out","status":"failed","txRef":"RD-2"`, ""},
		"money that came in": {`"flow":"in","status":"success","txRef":"RD-2"`, ""},
		"a label":            {`"flow":"out","status":"success","txRef":"LB-1"`, ""},
	} {
		shippingtest.Diff(t, name, test[1], compared(t, nil, items, `{"transactionId":"TR-1","amount":5,`+test[0]+`}`))
	}
}

// Which payments a journal lacks.
func TestRun_MissingPayments(t *testing.T) {
	t.Parallel()
	record := func(key, request string, step shipping.Step) batch.Record {
		return batch.Record{Key: key, ShipmentID: key, RequestID: request, Step: step}
	}
	item := func(shipment string) batch.Item {
		return batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: shipment}}
	}
	var paid []string // the last for an invoice
	for _, payment := range [][2]string{{"SH-3", "RD-3"}, {"SH-2", "RD-2"}, {"SH-1", "RD-1"}, {"", "RD-0"}} {
		paid = append(paid, fmt.Sprintf(`{"transactionId":"TR%s","flow":"out","status":"success","amount":5,`+
			`"currency":"NGN","metadata":{"shipment_id":%q,"request_id":%[1]q}}`, payment[1], payment[0]))
	}
	named, again := item("SH-1"), item("SH-1")
	named.Key, again.Key, again.Again = "order 1", "more", true
	ordered := named
	ordered.Key, ordered.Documents = "order 2", []shipping.DocumentType{"FDA"}
	one, has2 := []batch.Item{item("SH-1")}, record("SH-2", "RD-2", batch.StepCompleted)
	has0 := batch.Record{Key: "invoice 7", RequestID: "RD-0", Step: batch.StepCompleted}
	has3, other := record("SH-3", "RD-3", batch.StepCompleted), record("SH-1", "RD-9", batch.StepCompleted)
	open := batch.Record{Key: "SH-1", ShipmentID: "SH-1", RequestID: "RD-9", Step: batch.StepPurchasing,
		Documents: ordered.Documents}
	draft := batch.Record{Key: ordered.Key, ShipmentID: "SH-1", RequestID: "RD-1", Step: batch.StepAnalyzed}
	invoice := batch.Item{Analyze: shipping.AnalyzeRequest{FileURL: "https://example.com/1.pdf"}}
	for name, test := range map[string]struct {
		records []batch.Record
		items   []batch.Item
		want    string // keys and requests
	}{
		"a new journal":    {nil, nil, " RD-3,  RD-2,  RD-1,  RD-0"},
		"a shipment twice": {nil, append(one, named), " RD-3,  RD-2, SH-1 RD-1,  RD-0"},
		"of two orders":    {[]batch.Record{has0, has2, has3}, []batch.Item{ordered, named}, " RD-1"},
		"an invoice": {[]batch.Record{has2, has3}, []batch.Item{named, invoice},
			"order 1 RD-1, https://example.com/1.pdf RD-0"},
		"recorded": {[]batch.Record{record("SH-1", "RD-1", batch.StepPurchasing), has0, has2, has3}, one, ""},
		"settled as not charged": {[]batch.Record{has0, has2, has3, record("SH-1", "RD-1", batch.StepAnalyzed)}, one,
			"SH-1 RD-1"},
		"an older copy": {[]batch.Record{has0, has2}, one, " RD-3, SH-1 RD-1"},
		// The payment was added to another item. The error of the right item advised to have it analyzed again, which
		// purchased its documents a second time.
		"an older copy with the draft": {[]batch.Record{has0, has2, has3, draft}, append(one, named), "order 2 RD-1"},
		"beside the purchase of a later draft": {[]batch.Record{has0, has2, has3, record("SH-1", "RD-1", batch.StepAnalyzed),
			other}, one, " RD-1"},
		"unfinished":        {[]batch.Record{has0, has2, has3, open}, one, " RD-1"},
		"beside a purchase": {[]batch.Record{has0, has2, has3, other}, []batch.Item{again}, " RD-1"},
		"of two items":      {[]batch.Record{has0, has2, has3, other}, append(one, again, named), " RD-1"},
		"another wallet":    {[]batch.Record{other}, one, "other wallet true, retryable false"},
		// After a person recorded a charge and corrected it, each run returned the error of another wallet.
		"corrected": {[]batch.Record{has0, has3, other, record("SH-1", "RD-9", batch.StepAnalyzed)}, one,
			" RD-2, SH-1 RD-1"},
		"no charges": {[]batch.Record{record("SH-9", "RD-9", batch.StepFailed)}, one,
			" RD-3,  RD-2, SH-1 RD-1,  RD-0"},
	} {
		shippingtest.Diff(t, name, test.want, compared(t, test.records, test.items, paid...))
	}
}

// Which item of a shipment a missing payment is for.
func TestRun_MissingPaymentsOfOneShipment(t *testing.T) {
	t.Parallel()
	item := func(key string, documents ...shipping.DocumentType) batch.Item {
		return batch.Item{Key: key, Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-5"}, Documents: documents}
	}
	bought := func(key, request string, documents ...shipping.DocumentType) []batch.Record {
		return []batch.Record{{Key: "SH-9", ShipmentID: "SH-9", RequestID: "RD-9", Step: batch.StepCompleted},
			{Key: key, ShipmentID: "SH-5", RequestID: request, Step: batch.StepCompleted, Documents: documents}}
	}
	again := item("again")
	again.Again = true
	for name, test := range map[string]struct {
		records []batch.Record
		items   []batch.Item
		paid    string // requests
		want    string // their keys
	}{
		"no item":                      {nil, nil, "RD-5", ""},
		"the same documents":           {nil, []batch.Item{item("any"), item("customs", "CUSTOMS")}, "RD-5", "customs"},
		"the same, in another order":   {nil, []batch.Item{item("customs", "CUSTOMS"), item("any")}, "RD-5", "customs"},
		"each its own":                 {nil, []batch.Item{item("c", "CUSTOMS"), item("f", "FDA")}, "RD-6 RD-5", "f c"},
		"no documents":                 {nil, []batch.Item{item("fda", "FDA"), item("any")}, "RD-5", "any"},
		"others":                       {nil, []batch.Item{item("fda", "FDA")}, "RD-5", ""},
		"more":                         {nil, []batch.Item{item("both", "CUSTOMS", "FDA")}, "RD-5", ""},
		"two with these documents":     {nil, []batch.Item{item("2", "CUSTOMS"), item("1", "CUSTOMS")}, "RD-5", "1"},
		"beside an item with Again":    {nil, []batch.Item{item("customs", "CUSTOMS"), again}, "RD-5", ""},
		"twice":                        {nil, []batch.Item{item("customs", "CUSTOMS")}, "RD-5 RD-7", " "},
		"twice, other documents":       {nil, []batch.Item{item("any")}, "RD-5 RD-6", "any "},
		"the item has a purchase":      {bought("any", "RD-8", "TEXTILE"), []batch.Item{item("any")}, "RD-5", ""},
		"bought under another key":     {bought("old", "RD-8", "CUSTOMS"), []batch.Item{item("any")}, "RD-5", ""},
		"unread, under another key":    {bought("old", "RD-8"), []batch.Item{item("any")}, "RD-5", ""},
		"others, under another key":    {bought("old", "RD-8", "FDA"), []batch.Item{item("any")}, "RD-5", "any"},
		"unread, beside documents":     {nil, []batch.Item{item("any"), item("fda", "FDA")}, "RD-4", ""},
		"unread, beside a purchase":    {bought("old", "RD-8", "FDA"), []batch.Item{item("any")}, "RD-4", ""},
		"not shown":                    {nil, []batch.Item{{Key: "any"}}, "RD-3", ""},
		"the wallet shows that one":    {bought("old", "RD-6", "FDA"), []batch.Item{item("any")}, "RD-6 RD-5", "any"},
		"of another shipment":          {nil, walletItems(3), "RD-5", ""},
		"of an item without documents": {nil, []batch.Item{item("SH-5")}, "RD-5", "SH-5"},
	} {
		paid := []string{`{"transactionId":"TR","flow":"out","status":"success","amount":5,"txRef":"RD-9"}`}
		for request := range strings.FieldsSeq(test.paid) {
			paid = append(paid, strings.Replace(paid[0], "RD-9", request, 1))
		}
		if test.records == nil {
			paid = paid[1:]
		}
		var got []string
		for payment := range strings.SplitSeq(compared(t, test.records, test.items, paid...), ", ") {
			key, _, _ := strings.Cut(payment, " RD-")
			got = append(got, key)
		}
		shippingtest.Diff(t, name, test.want, strings.Join(got, " "))
	}
}

// A wallet that cannot be read stops the batch before it sends anything else, and only some errors may pass.
func TestRun_AWalletThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]batch.Need{503: batch.NeedService, 409: batch.NeedRun, 404: batch.NeedPerson,
		401: batch.NeedPerson} {
		service := shippingtest.NewService(shippingtest.Refusal(status, "no"))
		journal := openJournal(t, filepath.Join(t.TempDir(), "batch.journal"))
		report, err := batch.Run(t.Context(), shippingtest.NewClient(t, service, shippingtest.FastRetries()), walletItems(1),
			&batch.Options{Select: shipping.SelectAutomated, Journal: journal, Wallet: "VA-1"})
		if got := report.Results[0]; got.State != batch.StateWaiting || got.Need() != want || service.Count("POST") > 0 ||
			!strings.Contains(fmt.Sprint(err), `the wallet "VA-1" cannot be compared with the journal`) {
			t.Errorf("%d: %s needs %s: %v", status, got.State, got.Need(), err)
		}
		shippingtest.NoError(t, journal.Close())
	}
	for _, journal := range []batch.Journal{nil, batch.Memory()} { // of which nothing is left after a run
		options := &batch.Options{Select: shipping.SelectAutomated, Journal: journal, Wallet: "VA-1"}
		_, err := batch.Run(t.Context(), walletClient(t, &walletService{}), walletItems(1), options)
		if _, refused := errors.AsType[*shipping.ValidationError](err); !refused {
			t.Errorf("a journal without records: %v", err)
		}
	}
}

// A draft that charges another wallet than that which is compared is not purchased, also for an item with Documents.
func TestRun_ADraftOfAnotherWallet(t *testing.T) {
	t.Parallel()
	server, client := bubbleServer(t)
	items := shipmentItems(server, 2)
	items[1].Documents = []shipping.DocumentType{"CUSTOMS"}
	journal := openJournal(t, filepath.Join(t.TempDir(), "batch.journal"))
	report, err := batch.Run(t.Context(), client, items, &batch.Options{
		Select: shipping.SelectAutomated, Journal: journal, Wallet: server.Wallets()[1],
	})
	for _, result := range report.Results {
		if result.State != batch.StateError || !errors.Is(result.Err, batch.ErrOtherWallet) ||
			result.Need() != batch.NeedPerson {
			t.Errorf("%s needs %s: %v", result.State, result.Need(), result.Err)
		}
	}
	if n := server.Requests(shipping.OpPurchase); n > 0 || err != nil {
		t.Errorf("%d purchases, %v", n, err)
	}
	shippingtest.NoError(t, journal.Close())
}

// missingIn gives the options a new journal, and returns the error of a run with it.
func missingIn(t *testing.T, server *mockserver.Server, items []batch.Item,
	options *batch.Options) *batch.MissingError {
	t.Helper()
	options.Journal = openJournal(t, filepath.Join(t.TempDir(), "batch.journal"))
	options.Wallet = server.Wallets()[0]
	_, err := batch.Run(t.Context(), server.Client(t), items, options)
	missing, lacks := errors.AsType[*batch.MissingError](err)
	if !lacks {
		t.Fatal(err)
	}
	return missing
}

// A journal was lost after purchases, two of them for one shipment. The next run with a new one waits for the
// documents, purchases nothing again, and counts what was paid.
func TestAdopt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := mockserver.New(mockserver.WithScenario("shipments5"), mockserver.WithoutListener())
		defer server.Close()
		client := server.Client(t)
		var items []batch.Item
		for _, shipment := range server.Shipments() {
			items = append(items, batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: shipment}})
		}
		twice := items[0]
		twice.Key, twice.Again = "more", true
		for _, bought := range [][]batch.Item{items, {twice}} {
			shippingtest.Must(batch.Run(t.Context(), client, bought, &batch.Options{Select: shipping.SelectAutomated}))(t)
		}
		purchases := server.Requests(shipping.OpPurchase)
		journal := shippingtest.Must(batch.OpenFile(filepath.Join(t.TempDir(), "batch.journal")))(t)
		failed := batch.Record{Key: items[1].Analyze.ShipmentID, Step: batch.StepFailed} // its analysis, before the purchase
		claim := shippingtest.Must(journal.Claim(t.Context(), failed.Key))(t)
		shippingtest.Must(claim.Append(t.Context(), failed, nil, nil))(t)
		shippingtest.NoError(t, claim.Release(t.Context()))
		budget := shippingtest.Must(shipping.ParseBudget("900000 NGN"))(t)
		options := &batch.Options{Select: shipping.SelectAutomated, Journal: journal, Budget: budget, Period: "1",
			Wallet: server.Wallets()[0]}
		_, err := batch.Run(t.Context(), client, items, options)
		missing, lacks := errors.AsType[*batch.MissingError](err)
		if !lacks {
			t.Fatal(err)
		}
		keys := []string{items[0].Analyze.ShipmentID, twice.Key} // as a person sets them
		for i := range missing.Payments {
			if payment := &missing.Payments[i]; payment.Key == "" {
				payment.Key, keys = keys[0], keys[1:]
			}
		}
		added := shippingtest.Must(batch.Adopt(t.Context(), journal, missing.Payments, "1", "ticket 4711"))(t)
		if len(added) != purchases {
			t.Errorf("%d purchases, added %d: %v", purchases, len(added), added)
		}
		items = append(items, batch.Unfinished(added, items)...)
		report := shippingtest.Must(batch.Run(t.Context(), client, items, options))(t)
		spent := shipping.Amount{}
		for _, payment := range missing.Payments {
			spent = shippingtest.Must(spent.Add(payment.Amount))(t)
		}
		again := server.Requests(shipping.OpPurchase) - purchases
		if again > 0 || report.Err() != nil || report.Committed.Cmp(spent) != 0 {
			t.Errorf("%d purchases, %s of %s counts, %v", again, report.Committed, spent, report.Err())
		}
		for _, result := range report.Results { // a second purchase of a shipment was closed, and its documents forgotten
			if result.State != batch.StateCompleted || len(report.Results) != purchases {
				t.Errorf("%d results, %s: %s", len(report.Results), result.Key, result.State)
			}
		}
		if _, err := batch.Run(t.Context(), client, nil, options); err != nil {
			t.Errorf("missing again: %v", err)
		}
		if _, err := batch.Adopt(t.Context(), journal, nil, "1", ""); err == nil {
			t.Error("no note is needed")
		}
		shippingtest.NoError(t, journal.Close())
	})
}

// The payment of an invoice was added without its source, so that another item for the invoice paid for it again.
func TestAdopt_AnInvoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := bubbleServer(t)
		invoice := batch.Item{Key: "first", Analyze: shipping.AnalyzeRequest{FileURL: server.Invoices()[0]}}
		options := &batch.Options{Select: shipping.SelectAutomated}
		shippingtest.Must(batch.Run(t.Context(), client, []batch.Item{invoice}, options))(t)
		missing := missingIn(t, server, nil, options)
		missing.Payments[0].Key = missing.Payments[0].RequestID
		added := shippingtest.Must(batch.Adopt(t.Context(), options.Journal, missing.Payments, "", "ticket 4711"))(t)
		invoice.Key = "second"
		items := append(batch.Unfinished(added, nil), invoice)
		report := shippingtest.Must(batch.Run(t.Context(), client, items, options))(t)
		if bought := server.Requests(shipping.OpPurchase); bought != 1 || report.Count(batch.StateCompleted) != 1 {
			t.Errorf("%d purchases: %v", bought, report.Err())
		}
	})
}

// Adopt stored an amount that cannot be booked, after which no run of the period began, or ended with an error that no
// action corrected.
func TestAdopt_AnAmountThatCannotBeBooked(t *testing.T) {
	t.Parallel()
	for amount, known := range map[string]bool{"-5": true, "null": false, `"abc"`: false} {
		service := shippingtest.NewService(shippingtest.Refusal(400, "no"))
		service.RegisterResponder(http.MethodGet, shippingtest.BaseURL+"/v1/transactions", shippingtest.OK(
			`{"transactions":[{"transactionId":"T","flow":"out","status":"success","amount":`+amount+
				`,"currency":"NGN","metadata":{"shipment_id":"SH-1","request_id":"RD-1"}}],"pagination":{}}`))
		service.RegisterResponder(http.MethodGet, shippingtest.BaseURL+"/v1/regulatory-documents/request/RD-1",
			shippingtest.Record("completed", `"documents":[{"document_type":"CUSTOMS","status":"generated"}]`))
		options := &batch.Options{Select: shipping.SelectAutomated, Wallet: "VA-1", Budget: nairaBudget(t, "9"), Period: "1",
			Journal: openJournal(t, filepath.Join(t.TempDir(), "batch.journal"))}
		client := shippingtest.NewClient(t, service)
		_, err := batch.Run(t.Context(), client, walletItems(1), options)
		missing, _ := errors.AsType[*batch.MissingError](err)
		if !known {
			_, err := batch.Adopt(t.Context(), options.Journal, missing.Payments, "1", "ticket 4711")
			shippingtest.Contains(t, "without an amount", err, "set its Amount")
			missing.Payments[0].Amount = shippingtest.Amount(t, "5")
		}
		shippingtest.Must(batch.Adopt(t.Context(), options.Journal, missing.Payments, "1", "ticket 4711"))(t)
		report := shippingtest.Must(batch.Run(t.Context(), client, walletItems(1), options))(t)
		if counts := report.Committed.String(); counts != "5" || report.Count(batch.StateCompleted) != 1 {
			t.Errorf("%s: %s counts: %v", amount, counts, report.Err())
		}
	}
}

// leased is a journal of several processes.
type leased struct{ batch.Journal }

func (leased) Lease() time.Duration { return time.Hour }

// The service no longer had the request of an invoice. Its payment was added under the id of the request, so that the
// item for the invoice paid for it again.
func TestAdopt_APaymentOfAnUnknownInvoice(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		key   string // "": that of the request
		again bool   // the service shows the request again
		keys  []string
		next  int  // the first of the items in the list of the next run
		lease bool // of several processes
	}{
		{"first", true, []string{"first"}, 0, false}, {"", true, []string{"first"}, 0, false},
		{"first", false, []string{"first", "second"}, 0, false},
		// The item was not in the list of the next run, which then purchased another one for the invoice.
		{"first", false, []string{"first", "second"}, 1, false}, {"first", true, []string{"first", "second"}, 1, false},
		{"first", false, []string{"first", "second"}, 1, true}, {"first", true, []string{"first", "second"}, 1, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			server, client := bubbleServer(t)
			var items []batch.Item
			for _, key := range test.keys {
				items = append(items, batch.Item{Key: key, Analyze: shipping.AnalyzeRequest{FileURL: server.Invoices()[0]},
					Documents: []shipping.DocumentType{"CUSTOMS"}})
			}
			options := &batch.Options{}
			shippingtest.Must(batch.Run(t.Context(), client, items, options))(t)
			gone := fault.Rule{Operation: shipping.OpGetRequest, Fault: fault.Status(404, nil)}
			shippingtest.NoError(t, server.Inject(gone))
			missing := missingIn(t, server, items, options)
			shippingtest.Contains(t, "the error", missing, "for an unknown shipment or invoice")
			payment := missing.Payments[0]
			adopt := func() ([]batch.Record, error) {
				return batch.Adopt(t.Context(), options.Journal, []batch.Record{payment}, "", "ticket 4711")
			}
			_, err := adopt()
			shippingtest.Contains(t, "without a key", err, "set its Key")
			payment.Key = cmp.Or(test.key, payment.RequestID)
			added := shippingtest.Must(adopt())(t)
			shippingtest.Diff(t, "added again", 0, len(shippingtest.Must(adopt())(t)))
			payment.RequestID = "RD-2" // of another order for the invoice, which was purchased again
			_, err = adopt()
			shippingtest.Contains(t, "with the key of another purchase", err, "has another purchase",
				"if the other purchase was not charged, record that with batch.Resolve first")
			if test.again {
				server.ClearFaults()
				slow := fault.Rule{Operation: shipping.OpGetRequest, Fault: fault.Latency(time.Second)}
				shippingtest.NoError(t, server.Inject(slow)) // the invoice would be purchased before the request is read
			}
			if test.lease {
				options.Journal, options.Wallet = leased{options.Journal}, ""
			}
			items = append(items[test.next:], batch.Unfinished(added, items[test.next:])...)
			report := shippingtest.Must(batch.Run(t.Context(), client, items, options))(t)
			completed := report.Count(batch.StateCompleted) == 1
			if bought := server.Requests(shipping.OpPurchase); bought != 1 || completed != test.again {
				t.Errorf("%+v: %d purchases: %v", test, bought, report.Err())
			}
		})
	}
}

// Addresses of invoices that differ in the query only. All payments had the key of the first invoice, so the second
// one was purchased again. Only a person knows which item a payment was for, even if the run has one of them.
func TestAdopt_InvoicesWithQueries(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			server, client := bubbleServer(t)
			var items []batch.Item
			for _, key := range []string{"17", "18"} {
				address := shippingtest.Must(server.AddInvoice(goods.Invoice{URL: "https://erp.example/invoice?id=" + key}))(t)
				items = append(items, batch.Item{Key: key, Analyze: shipping.AnalyzeRequest{FileURL: address},
					Again: key == "18" || again})
			}
			options := &batch.Options{Select: shipping.SelectAutomated}
			before := shippingtest.Must(batch.Run(t.Context(), client, items[1:], options))(t)
			payments := missingIn(t, server, items[:1], options).Payments
			_, err := batch.Adopt(t.Context(), options.Journal, payments, "", "ticket 4711")
			shippingtest.Contains(t, "without a key", err, "for an invoice")
			shippingtest.Diff(t, "the request", before.Results[0].RequestID, payments[0].RequestID)
			payments[0].Key = "18"
			shippingtest.Must(batch.Adopt(t.Context(), options.Journal, payments, "", "ticket 4711"))(t)
			report := shippingtest.Must(batch.Run(t.Context(), client, items, options))(t)
			bought := server.Requests(shipping.OpPurchase)
			if again && bought != 2 || report.Count(batch.StateCompleted) != bought {
				t.Errorf("again %v: %d purchases for 2 invoices: %v", again, bought, report.Err())
			}
		})
	}
}

// The documents of a purchase were never read, and a person has closed it. An item for other documents of the shipment
// waited for this reading in every run.
func TestAdopt_AClosedPaymentOfUnknownDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := bubbleServer(t)
		shipment, journal := server.Shipments()[0], batch.Memory()
		amount := shippingtest.Must(shipping.ParseAmount("5"))(t)
		payment := batch.Record{Key: shipment, ShipmentID: shipment, RequestID: "RD-0000000000000000", Amount: amount,
			Currency: "NGN", Step: batch.StepPurchased}
		shippingtest.Must(batch.Adopt(t.Context(), journal, []batch.Record{payment}, "", "ticket 4711"))(t)
		shippingtest.NoError(t, batch.Resolve(t.Context(), journal, shipment, shipping.OutcomeCharged, "ticket 4711"))
		order := batch.Item{Key: "order", Analyze: shipping.AnalyzeRequest{ShipmentID: shipment},
			Documents: []shipping.DocumentType{"CUSTOMS"}}
		report := shippingtest.Must(batch.Run(t.Context(), client, []batch.Item{order}, &batch.Options{Journal: journal}))(t)
		if result := report.Results[0]; result.Need() != batch.NeedItem || server.Requests(shipping.OpPurchase) > 0 {
			t.Errorf("needs %s: %v", result.Need(), result.Err)
		}
	})
}

// Orders have keys and documents of their own. After the journal was lost, payments had the key of the shipment, so
// that each order was refused for ever, and the orders of an invoice were purchased again.
func TestAdopt_Orders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := bubbleServer(t)
		shipment := shipping.AnalyzeRequest{ShipmentID: server.Shipments()[0]}
		invoice := shipping.AnalyzeRequest{FileURL: server.Invoices()[0]}
		items := []batch.Item{
			{Key: "order 1", Analyze: shipment, Documents: []shipping.DocumentType{"FDA", "TEXTILE"}},
			{Key: "order 2", Analyze: shipment, Documents: []shipping.DocumentType{"CUSTOMS"}},
			{Key: "order 3", Analyze: invoice, Documents: []shipping.DocumentType{"CUSTOMS"}},
			{Key: "order 4", Analyze: shipping.AnalyzeRequest{ShipmentID: server.Shipments()[1]}},
		}
		options := &batch.Options{Select: shipping.SelectAutomated}
		first := shippingtest.Must(batch.Run(t.Context(), client, items, options))(t)
		missing := missingIn(t, server, items, options)
		shippingtest.Must(batch.Adopt(t.Context(), options.Journal, missing.Payments, "", "ticket 4711"))(t)
		report := shippingtest.Must(batch.Run(t.Context(), client, items, options))(t)
		for i, result := range report.Results {
			before := first.Results[i]
			if i == 0 && slices.Contains(slices.Concat(result.NotSelected, before.NotSelected), "CUSTOMS") {
				t.Errorf("not bought: what order 2 has bought: %s, before %s", result.NotSelected, before.NotSelected)
			}
			if !slices.Equal(result.Documents, before.Documents) || result.RequestID != before.RequestID ||
				result.State != batch.StateCompleted || before.State != batch.StateCompleted {
				t.Errorf("%+v, before %+v", result, before)
			}
		}
		shippingtest.Diff(t, "purchases", len(items), server.Requests(shipping.OpPurchase))
	})
}

// Nights with orders for few shipments and an invoice. Responses of purchases are lost, and before each run the journal
// may be replaced by an older copy. A person adopts what it lacks. No document is purchased twice, and each order is
// completed, or refused because another has its documents.
func TestAdopt_OlderCopiesBuyNothingTwice(t *testing.T) {
	adopted := 0
	for seed := range uint64(4) {
		synctest.Test(t, func(t *testing.T) { adopted += olderCopies(t, seed) })
	}
	if adopted < 4 {
		t.Errorf("%d payments were adopted", adopted)
	}
}

func olderCopies(t *testing.T, seed uint64) (adopted int) {
	random := rand.New(rand.NewPCG(seed, 1))
	server, client := bubbleServer(t, mockserver.WithScenario("shipments5"), mockserver.WithSeed(seed))
	shippingtest.NoError(t, server.Inject(fault.Rule{Operation: shipping.OpPurchase, Point: fault.BeforeReply,
		Probability: 0.2}))
	orders := make([]batch.Item, 6)
	for n := range orders {
		orders[n] = batch.Item{Key: fmt.Sprint("order ", n), Analyze: shipping.AnalyzeRequest{
			ShipmentID: server.Shipments()[random.IntN(2)]}}
		if random.IntN(3) == 0 {
			orders[n].Analyze = shipping.AnalyzeRequest{FileURL: server.Invoices()[0]}
		}
		if random.IntN(2) == 0 {
			orders[n].Documents = []shipping.DocumentType{"CUSTOMS"}
		}
	}
	path := filepath.Join(t.TempDir(), "batch.journal")
	reported := map[string]string{} // keys by request
	for night := range 8 {
		if lines := bytes.SplitAfter(readFile(t, path), []byte("\n")); night > 0 && night < 7 && random.IntN(2) == 0 {
			keep := 1 + random.IntN(len(lines)-1) // the first line is the header
			shippingtest.NoError(t, os.WriteFile(path, bytes.Join(lines[:keep], nil), 0o600))
		}
		journal := shippingtest.Must(batch.OpenFile(path))(t)
		options := &batch.Options{Select: shipping.SelectAutomated, Journal: journal, Wallet: server.Wallets()[0]}
		items := slices.Clone(orders)
		random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		if items = items[:3]; night > 5 {
			items = slices.Clone(orders)
		}
		time.Sleep(5 * time.Minute)
		report, err := batch.Run(t.Context(), client, append(items, unfinished(t, journal, items)...), options)
		if missing, lacks := errors.AsType[*batch.MissingError](err); lacks {
			for i := range missing.Payments {
				if payment := &missing.Payments[i]; payment.Key == "" {
					payment.Key = cmp.Or(reported[payment.RequestID], payment.RequestID)
				}
			}
			added := shippingtest.Must(batch.Adopt(t.Context(), journal, missing.Payments, "", "ticket 4711"))(t)
			adopted += len(added)
			report, err = batch.Run(t.Context(), client, append(items, unfinished(t, journal, items)...), options)
		}
		shippingtest.NoError(t, errors.Join(err, journal.Close()))
		for _, result := range report.Results {
			reported[result.RequestID] = result.Key
			if need := result.Need(); night == 7 && need != "" && need != batch.NeedItem {
				t.Errorf("seed %d: %s needs %s: %v", seed, result.Key, need, result.Err)
			}
		}
	}
	bought := map[string]string{} // the request by source and document
	for payment, err := range client.Transactions.All(t.Context(), &shipping.TransactionListOptions{
		Wallet: server.Wallets()[0]}) {
		request, unread := client.Regulatory.Get(t.Context(), payment.TxRef)
		if shippingtest.NoError(t, err); unread != nil {
			continue // no purchase of documents
		}
		for _, document := range request.Documents {
			key := cmp.Or(request.ShipmentID, request.FileURL) + " " + string(document.DocumentType)
			if bought[key] != "" {
				t.Errorf("seed %d: %s was purchased with %s and %s", seed, key, bought[key], request.RequestID)
			}
			bought[key] = request.RequestID
		}
	}
	return adopted
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if !errors.Is(err, os.ErrNotExist) {
		shippingtest.NoError(t, err)
	}
	return text
}

func unfinished(t *testing.T, journal *batch.File, items []batch.Item) []batch.Item {
	t.Helper()
	return batch.Unfinished(shippingtest.Must(journal.Records())(t), items)
}
