package conformance_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// after changes the service once a number of POST requests to a path that hold a text have been made.
func after(count int, path, holding string, then breaking) breaking {
	return func(next http.Handler) http.Handler {
		changed, requests := then(next), 0
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			counting := posted(path, func(_ http.Handler, _ *http.Request, body string) string {
				if strings.Contains(body, holding) {
					requests++
				}
				return body
			})
			handler := next
			if requests >= count {
				handler = changed
			}
			counting(handler).ServeHTTP(w, r)
		})
	}
}

// responding responds to each request to a path with a status.
func responding(path string, status int) breaking {
	return responds(status, `{"status":false,"message":"not now"}`,
		func(r *http.Request, _ string) bool { return strings.HasPrefix(r.URL.Path, path) })
}

// listing changes the lists of transactions.
func listing(edit func(transactions []map[string]any, pagination map[string]any) []map[string]any) breaking {
	return answers(func(r *http.Request, status int, body []byte) (int, []byte) {
		var list struct {
			Status  bool   `json:"status"`
			Message string `json:"message"`
			Data    struct {
				Transactions []map[string]any `json:"transactions"`
				Pagination   map[string]any   `json:"pagination"`
			} `json:"data"`
		}
		if r.URL.Path == "/v1/transactions" && status == http.StatusOK && json.Unmarshal(body, &list) == nil {
			list.Data.Transactions = edit(list.Data.Transactions, list.Data.Pagination)
			body, _ = json.Marshal(list) // it was JSON
		}
		return status, body
	})
}

// another adds a payment of the wallet to the first page, for something else than the requests of a run.
func another(transactions []map[string]any, pagination map[string]any) []map[string]any {
	if pagination["page"] != 1.0 {
		return transactions
	}
	payment := maps.Clone(transactions[len(transactions)-1])
	payment["transactionId"], payment["flow"] = "TR-OTHER", "out" // the oldest can be income
	payment["amount"], payment["created_at"] = 77.77, transactions[0]["created_at"]
	return append(transactions, payment)
}

// dearer adds 1 to the amount of the newest payment.
func dearer(transactions []map[string]any, pagination map[string]any) []map[string]any {
	if amount, ok := transactions[0]["amount"].(float64); ok && pagination["page"] == 1.0 {
		transactions[0]["amount"] = amount + 1
	}
	return transactions
}

// hidden removes the newest payments, as a list does that is limited, and keeps their number.
func hidden(count int) func([]map[string]any, map[string]any) []map[string]any {
	return func(transactions []map[string]any, pagination map[string]any) []map[string]any {
		if pagination["page"] != 1.0 {
			return transactions
		}
		return transactions[count:]
	}
}

// uncounted removes the newest payment, and does not show how many there are.
func uncounted(transactions []map[string]any, pagination map[string]any) []map[string]any {
	delete(pagination, "total")
	return hidden(1)(transactions, pagination)
}

// A service that charged twice passed "charges nothing more" if its transactions could not be read after the second
// purchase, or did not show their number, and one that charged once failed. A check whose evidence is missing is not
// made.
func TestCheck_AChargeThatCannotBeReadIsNotJudged(t *testing.T) {
	t.Parallel()
	const (
		analysis = "What the service does/an analysis charges nothing"
		once     = "What the service does/the wallet is charged the stored amount"
		again    = "States and transitions/a purchase that is sent again charges nothing more"
		refusal  = "What the service does/a purchase of a document that the draft does not offer charges nothing"
		bought   = "document_types"
	)
	unreadable, limited := responding("/v1/transactions", http.StatusInternalServerError),
		responding("/v1/transactions", http.StatusTooManyRequests)
	other := listing(another) // another program pays from the wallet meanwhile
	shop := serve(t)
	twice := func(second breaking) breaking {
		return both(charging(shop, purchase, bought, 2), after(2, purchase, bought, second))
	}
	type row struct {
		how    breaking
		notRun []string
	}
	shippingtest.EachRow(t, map[string]row{
		"charged twice, then unreadable": {twice(unreadable), []string{again, refusal}},
		"charged twice, then limited":    {twice(limited), []string{again, refusal}},
		"charged twice, then not listed": {twice(listing(hidden(1))), []string{again}},
		"charged twice, then uncounted":  {twice(listing(uncounted)), []string{again, refusal}},
		"unreadable after a purchase":    {after(1, purchase, bought, unreadable), []string{once, again}},
		"limited after a purchase":       {after(1, purchase, bought, limited), []string{once, again}},
		"not listed after a purchase":    {after(1, purchase, bought, listing(hidden(1))), []string{once, again}},
		"unreadable after an analysis":   {after(1, analyze, "shipment_id", unreadable), []string{analysis, once, again}},
		"limited after an analysis":      {after(1, analyze, "shipment_id", limited), []string{analysis, once, again}},

		"another payment after an analysis":        {after(1, analyze, "shipment_id", other), []string{analysis}},
		"another payment after a purchase":         {after(1, purchase, bought, other), []string{once}},
		"another payment after the second":         {after(2, purchase, bought, other), []string{again}},
		"another payment after a refused purchase": {after(3, purchase, bought, other), []string{refusal}},
	}, func(t *testing.T, test row) {
		srv := serve(t)
		report := check(t, srv, test.how(srv), whole()...)
		if !report.Conforms() {
			t.Errorf("failed: %q", verdicts(report, conformance.Fail))
		}
		for _, result := range report.Results {
			for _, want := range test.notRun {
				if result.Heading+"/"+result.Check == want && result.Verdict != conformance.NotRun {
					t.Errorf("%s: %s %s", want, result.Verdict, result.Detail)
				}
			}
		}
		if report.Complete() {
			t.Error("every check was made")
		}
		sent := slices.DeleteFunc(report.Purchases, func(p conformance.Purchase) bool { return p.MustFail })
		if slices.Contains(test.notRun, once) && len(sent) != 1 { // nothing would show whether it was charged again
			t.Errorf("a purchase whose charge was not seen was sent a second time: %+v", sent)
		}
	})
}

// Without a shipment the draft of the invoice is purchased. A service that conforms failed the checks of refused
// purchases, whose draft it was.
func TestCheck_ADraftThatWasPurchasedIsNotRefused(t *testing.T) {
	t.Parallel()
	srv := serve(t)
	at := target(srv)
	at.Shipment = ""
	if report := checkAt(t, at, srv, srv, whole()...); !report.Conforms() || len(report.Purchases) != 2 {
		t.Errorf("purchases %+v; failed: %q", report.Purchases, verdicts(report, conformance.Fail))
	}
}

// A service that makes no transaction for a document that costs nothing conforms: it failed the check of the charge.
func TestCheck_AFreeDocumentNeedsNoTransaction(t *testing.T) {
	t.Parallel()
	srv := serve(t)
	free := changed(analyze, "data.available_documents",
		`[{"document_type":"FDA","amount":0,"currency":"NGN"}]`)(&greedy{next: srv})
	report := check(t, srv, free, conformance.WithPurchase("FDA", "0 NGN"))
	for _, result := range report.Results {
		if result.Check == "the wallet is charged the stored amount" && result.Verdict != conformance.Pass {
			t.Errorf("%+v", result)
		}
	}
}

// A service that limits the rate of requests neither fails nor passes the checks whose requests it did not process.
func TestCheck_ALimitedRateIsNoResult(t *testing.T) {
	t.Parallel()
	for every := range 7 {
		srv, requests := serve(t), 0
		limited := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next := http.Handler(srv)
			if requests++; requests%7 == every {
				next = responding("/", http.StatusTooManyRequests)(nil)
			}
			next.ServeHTTP(w, r)
		})
		report := check(t, srv, limited, whole()...)
		if !report.Conforms() || report.Complete() {
			t.Errorf("failed: %q", verdicts(report, conformance.Fail))
		}
	}
	srv := serve(t)
	broken := always("/v1/webhooks/replay", "{}", `{"status":true,"message":"queued","data":{}}`)
	report := check(t, srv, responding("/v1/webhooks/replay", http.StatusTooManyRequests)(broken(srv)))
	for _, result := range report.Results {
		if result.Heading == "POST /v1/webhooks/replay" && result.Verdict == conformance.Pass {
			t.Errorf("%+v", result)
		}
	}
}
