package batch_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// Which transactions are purchases of documents.
func TestPayments(t *testing.T) {
	t.Parallel()
	amount := shippingtest.Amount(t, "5")
	rd := shipping.RawJSON(`{"shipment_id":"SH-1","request_id":"RD-1"}`)
	for name, test := range map[string]struct {
		transaction shipping.Transaction
		want        string // the request
	}{
		"metadata":           {shipping.Transaction{Flow: "out", Status: "success", Metadata: rd}, "RD-1"},
		"reference":          {shipping.Transaction{Flow: "out", Status: "success", TxRef: "RD-2"}, "RD-2"},
		"pending":            {shipping.Transaction{Flow: "out", Status: "pending", TxRef: "RD-2"}, "RD-2"},
		"an unknown flow":    {shipping.Transaction{Flow: "sideways", Status: "success", TxRef: "RD-2"}, "RD-2"},
		"failed":             {shipping.Transaction{Flow: "out", Status: "failed", TxRef: "RD-2"}, ""},
		"money that came in": {shipping.Transaction{Flow: "in", Status: "success", TxRef: "RD-2"}, ""},
		"a label":            {shipping.Transaction{Flow: "out", Status: "success", TxRef: "LB-1"}, ""},
	} {
		test.transaction.Amount = amount
		got := ""
		for _, payment := range batch.Payments([]*shipping.Transaction{&test.transaction}) {
			got = payment.RequestID
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Which payments a journal lacks.
func TestMissing(t *testing.T) {
	t.Parallel()
	record := func(key, request string, step shipping.Step) batch.Record {
		return batch.Record{Key: key, ShipmentID: key, RequestID: request, Step: step}
	}
	item := func(shipment string) batch.Item {
		return batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: shipment}}
	}
	var paid []batch.Record // the last for an invoice
	for _, payment := range [][2]string{{"SH-3", "RD-3"}, {"SH-2", "RD-2"}, {"SH-1", "RD-1"}, {"", "RD-0"}} {
		paid = append(paid, record(payment[0], payment[1], batch.StepPurchased))
	}
	named, again := item("SH-1"), item("SH-1")
	named.Key, again.Key, again.Again = "order 1", "more", true
	ordered := named
	ordered.Documents = []shipping.DocumentType{"FDA"}
	one, has2 := []batch.Item{item("SH-1")}, record("SH-2", "RD-2", batch.StepCompleted)
	has0 := batch.Record{Key: "invoice 7", RequestID: "RD-0", Step: batch.StepCompleted}
	has3, other := record("SH-3", "RD-3", batch.StepCompleted), record("SH-1", "RD-9", batch.StepCompleted)
	invoice := batch.Item{Analyze: shipping.AnalyzeRequest{FileURL: "https://example.com/1.pdf"}}
	for name, test := range map[string]struct {
		records []batch.Record
		items   []batch.Item
		want    string // keys and requests
	}{
		"a new journal":    {nil, nil, "SH-3 RD-3, SH-2 RD-2, SH-1 RD-1, RD-0 RD-0"},
		"a shipment twice": {nil, append(one, named), "SH-3 RD-3, SH-2 RD-2, SH-1 RD-1, RD-0 RD-0"},
		"a key":            {[]batch.Record{has0, has2, has3}, []batch.Item{named}, "order 1 RD-1"},
		"an invoice":       {[]batch.Record{has2, has3}, []batch.Item{named, invoice}, "order 1 RD-1, RD-0 RD-0"},
		"recorded":         {[]batch.Record{record("SH-1", "RD-1", batch.StepPurchasing), has0, has2, has3}, one, ""},
		"settled as not charged": {[]batch.Record{has0, has2, has3, record("SH-1", "RD-1", batch.StepAnalyzed)}, one,
			"SH-1 RD-1"},
		"an older copy": {[]batch.Record{has0, has2}, nil, "SH-3 RD-3, SH-1 RD-1"},
		"unfinished": {[]batch.Record{has0, has2, has3, record("SH-1", "RD-9", batch.StepPurchasing)}, nil,
			"SH-1 RD-1"},
		"beside a purchase": {[]batch.Record{has0, has2, has3, other}, []batch.Item{again}, "more RD-1"},
		"of two items":      {[]batch.Record{has0, has2, has3, other}, append(one, again, named), "more RD-1"},
		"another wallet":    {[]batch.Record{other}, one, "error"},
		// A person recorded a charge, and corrected it: the error was that of another wallet for ever.
		"corrected": {[]batch.Record{has0, has3, other, record("SH-1", "RD-9", batch.StepAnalyzed)}, one,
			"SH-2 RD-2, SH-1 RD-1"},
		"no charges": {[]batch.Record{record("SH-9", "RD-9", batch.StepFailed)}, one,
			"SH-3 RD-3, SH-2 RD-2, SH-1 RD-1, RD-0 RD-0"},
	} {
		missing, err := batch.Missing(test.records, paid, test.items)
		var got []string
		for _, payment := range missing {
			got = append(got, payment.Key+" "+payment.RequestID)
		}
		if errors.Is(err, batch.ErrOtherWallet) {
			got = []string{"error"}
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, test.want)
		}
	}
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
		var all []*shipping.Transaction
		options := &shipping.TransactionListOptions{Wallet: server.Wallets()[0]}
		for transaction, err := range client.Transactions.All(t.Context(), options) {
			shippingtest.NoError(t, err)
			all = append(all, transaction)
		}
		missing := shippingtest.Must(batch.Missing(nil, batch.Payments(all), items))(t)
		added := shippingtest.Must(batch.Adopt(t.Context(), journal, missing, "1", "ticket 4711"))(t)
		if len(added) != purchases {
			t.Errorf("%d purchases, added %d: %v", purchases, len(added), added)
		}
		items = append(items, batch.Unfinished(added, items)...)
		budget := shippingtest.Must(shipping.ParseBudget("900000 NGN"))(t)
		report := shippingtest.Must(batch.Run(t.Context(), client, items, &batch.Options{Select: shipping.SelectAutomated,
			Journal: journal, Budget: budget, Period: "1"}))(t)
		spent := shipping.Amount{}
		for _, payment := range missing {
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
		records := shippingtest.Must(journal.Records())(t)
		if missing, err := batch.Missing(records, batch.Payments(all), items); err != nil || len(missing) > 0 {
			t.Errorf("missing again: %v, %v", missing, err)
		}
		if _, err := batch.Adopt(t.Context(), journal, nil, "1", ""); err == nil {
			t.Error("no note is needed")
		}
		shippingtest.NoError(t, journal.Close())
	})
}
