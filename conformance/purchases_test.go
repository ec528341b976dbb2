package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// greedy is a service that conforms to nothing when it is asked for a purchase: it confirms whatever it receives, as
// often as it receives it.
type greedy struct {
	next   http.Handler
	bought []string // the documents, one purchase each; empty for the whole draft
	empty  int      // purchases that named no request
}

func (g *greedy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	confirmed := `{"status":true,"message":"charged","data":{}}`
	responds(http.StatusOK, confirmed, func(r *http.Request, body string) bool {
		if !strings.HasSuffix(r.URL.Path, "/purchase") {
			return false
		}
		var order struct {
			RequestID     string   `json:"request_id"`
			DocumentTypes []string `json:"document_types"`
		}
		_ = json.Unmarshal([]byte(body), &order) // what cannot be read names nothing
		if order.RequestID == "" {
			g.empty++
		} else {
			g.bought = append(g.bought, strings.Join(order.DocumentTypes, ","))
		}
		return true
	})(g.next).ServeHTTP(w, r)
}

// No option sends more purchases than it documents. The service here charges every purchase, even the second one of the
// same document.
func TestCheck_SendsNoMorePurchasesThanItsOptionsAllow(t *testing.T) {
	t.Parallel()
	const offers = `{"document_type":"FDA","amount":20,"currency":"NGN"},{"document_type":"STEEL","amount":12.5,"currency":"NGN"}`
	buys := func(document, most string, opts ...conformance.Option) []conformance.Option {
		return append(opts, conformance.WithPurchase(document, most))
	}
	decided := func(lines string) conformance.Option { return conformance.WithDialect(shippingtest.Dialect(t, lines)) }
	second := conformance.WithSecondPurchase()
	tests := []struct {
		offers string
		opts   []conformance.Option
		bought string
		notRun string
	}{
		{offers, nil, "", ""},
		{offers, writes(), "", ""},
		{offers, append(writes(), second), "", ""},
		{offers, buys("FDA", ""), "", ""},
		{offers, buys("FDA", "20 NGN"), "FDA", ""},
		// The transactions do not show the charge of the first, so they would not show that of a second.
		{offers, buys("STEEL", "12.50 NGN", second), "STEEL", "needs the charge of the first"},

		{offers, buys("FDA", "19.99 NGN"), "", "20.00 NGN needed, 19.99 NGN allowed: raise the limit"},
		{offers, buys("FDA", "20 USD"), "", "it costs up to 20.00 NGN: set a limit in that currency"},
		{offers, buys("WATCH", "20 NGN"), "", "does not offer WATCH (-purchase, WithPurchase): use one of FDA, STEEL"},
		{offers, buys("STEELL", "20 NGN"), "", `does not offer STEELL (-purchase, WithPurchase): did you mean "STEEL"?`},
		{offers, buys("FDA", "all"), "", "write the number first, then a space and the currency"},
		{offers, buys("FDA", "20"), "", "needs an amount and a currency"},
		{`{"slug":"FDA","price":7,"currency":"NGN"}`, buys("FDA", "7 NGN"), "FDA", ""},
		{`{"document_type":"FDA","amount":0,"currency":"NGN"}`, buys("FDA", "0 NGN"), "FDA", ""},

		// Without a cost that is known, nothing is bought.
		{`{"document_type":"FDA","currency":"NGN"}`, buys("FDA", "100 NGN"), "", "FDA has no price"},
		{`{"document_type":"FDA","amount":"about 7","currency":"NGN"}`, buys("FDA", "100 NGN"), "", "FDA has no price"},
		{`{"document_type":"FDA","amount":-7,"currency":"NGN"}`, buys("FDA", "100 NGN"), "", "negative price"},
		{`{"document_type":"FDA","amount":7,"price":8,"currency":"NGN"}`, buys("FDA", "100 NGN"), "", "two prices"},
		{`{"document_type":"FDA","amount":1,"currency":"NGN"},{"document_type":"FDA","amount":1,"currency":"NGN"}`,
			buys("FDA", "100 NGN"), "", "offered more than once"},
		{`{"document_type":"FDA","amount":"1.500,75","currency":"NGN"}`, buys("FDA", "1500 NGN"), "", "1500.75 NGN needed"},
		{`{"document_type":"FDA","amount":100,"total":1600,"currency":"NGN"}`, buys("FDA", "1500 NGN"), "", "1600.00 NGN needed"},

		// The lines for the price were printed by the client only.
		{`{"document_type":"FDA","amount":100,"fee":10,"currency":"NGN"}`, buys("FDA", "100 NGN"), "",
			`write in the dialect "offer.beside += fee"`},
		{`{"code":"FDA","due":7,"currency":"NGN"}`, buys("FDA", "7 NGN", decided("offer.document_type=code")), "",
			`write in the dialect "offer.amount = due"`},
		{`{"code":"FDA","due":7}`, buys("FDA", "7 NGN",
			decided("offer.document_type=code,offer.amount=due,offer.default_currency=wallet")), "FDA", ""},
	}
	for i, test := range tests {
		t.Run(fmt.Sprint(i, " ", test.offers), func(t *testing.T) {
			t.Parallel()
			srv := serve(t)
			service := &greedy{next: changed(analyze, "data.available_documents", "["+test.offers+"]")(srv)}
			report := check(t, srv, service, test.opts...)
			var reported []string
			for _, purchase := range report.Purchases {
				reported = append(reported, purchase.DocumentType)
			}
			if strings.Join(service.bought, " ") != test.bought || strings.Join(reported, " ") != test.bought {
				t.Errorf("bought %q, reported %q, want %q", service.bought, reported, test.bought)
			}
			if notRun := strings.Join(verdicts(report, conformance.NotRun), "\n"); !strings.Contains(notRun, test.notRun) ||
				(test.notRun != "") == report.Complete() {
				t.Errorf("complete: %t; not run:\n%s", report.Complete(), notRun)
			}
			if service.empty > 2 {
				t.Errorf("%d purchases without a request", service.empty)
			}
		})
	}
}

func writes() []conformance.Option { return []conformance.Option{conformance.WithWrites()} }

// A purchase that the service refuses, fails or redirects, or whose connection drops, is not sent again.
func TestCheck_APurchaseThatFailsIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusPaymentRequired, http.StatusInternalServerError, 307, 0} {
		srv, purchases := serve(t), 0
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", r.URL.Path)
			responds(max(status, 200), "", func(r *http.Request, body string) bool {
				if !strings.HasSuffix(r.URL.Path, "/purchase") || !strings.Contains(body, "request_id") {
					return false
				}
				if purchases++; status == 0 {
					panic(http.ErrAbortHandler) // the connection drops
				}
				return true
			})(srv).ServeHTTP(w, r)
		}))
		t.Cleanup(service.Close)
		at := target(srv)
		at.BaseURL = service.URL
		report := conformance.Check(t.Context(), at, append(whole()[:2], conformance.WithSecretKey(srv.SecretKey))...)
		if purchases != 1 || len(report.Purchases) != 1 || report.Conforms() {
			t.Errorf("%d: %d purchases, reported %v", status, purchases, report.Purchases)
		}
	}
}

// The suite sends only the writes that its documentation lists, and net/http cannot send one again: each has a body,
// and none has GetBody. A purchase that is sent twice can cost money twice.
func TestCheck_SendsTheWritesThatItsDocumentationLists(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                        string
		how                         breaking
		opts                        []conformance.Option
		replays, analyses, purchase int
	}{
		{"read-only", plain, nil, 0, 0, 0},
		{"writes", plain, writes(), 6, 3, 0},
		{"purchase", plain, whole()[:1], 6, 3, 1},
		{"second purchase", plain, whole()[:2], 6, 3, 2},
		{"refused purchases", plain, whole()[2:], 6, 3, 3},
		{"read-only, the body is checked before the key", bodyFirst, nil, 0, 0, 0},
		{"purchase, the body is checked before the key", bodyFirst, whole()[:1], 7, 4, 1},
		{"all, the body is checked before the key", bodyFirst, whole(), 7, 4, 6},
	} {
		srv := serve(t)
		counts := map[string]int{}
		service := answers(func(r *http.Request, status int, body []byte) (int, []byte) {
			if test.opts == nil && r.Method != http.MethodGet && status < http.StatusBadRequest {
				t.Errorf("%s: %s %s succeeded", test.name, r.Method, r.URL.Path)
			}
			return status, body
		})(posted("", func(_ http.Handler, r *http.Request, body string) string {
			if r.GetBody != nil || len(body) < 2 || r.ContentLength != int64(len(body)) {
				t.Errorf("%s can be sent again", r.URL.Path)
			}
			// The requests that are always sent name nothing, or only half of a replay.
			named := []string{target(srv).Shipment, "delivery_id", "file_url", "request_id"}
			if slices.ContainsFunc(named, func(name string) bool { return strings.Contains(body, name) }) {
				counts[path.Base(r.URL.Path)]++
			}
			return body
		})(test.how(srv)))
		report := check(t, srv, service, test.opts...)
		shippingtest.Diff(t, test.name+": replays, analyses and purchases", []int{test.replays, test.analyses, test.purchase},
			[]int{counts["replay"], counts["analyze"], counts["purchase"]})
		shippingtest.Diff(t, test.name+": purchases in the report", test.purchase, len(report.Purchases))
	}
}

// A run with an identifier that the service does not have buys nothing, and names it. Checks need their target.
func TestCheck_Targets(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*conformance.Target){
		"the analysis of SH-NOSUCH returned none":    func(to *conformance.Target) { to.Shipment = "SH-NOSUCH" },
		"refuses to list the transactions of VA-404": func(to *conformance.Target) { to.Wallet = "VA-404" },
	} {
		srv := serve(t)
		to := target(srv)
		change(&to)
		report := checkAt(t, to, srv, srv, whole()...)
		if all := fmt.Sprint(report.Results); !strings.Contains(all, want) || report.Conforms() || len(report.Purchases) > 0 {
			t.Errorf("%s: %v, %s", want, report.Purchases, all)
		}
	}
	srv := serve(t)
	report := checkAt(t, conformance.Target{BaseURL: srv.URL + "/v1/"}, srv, srv, writes()...)
	notRun := strings.Join(verdicts(report, conformance.NotRun), "\n")
	for _, want := range []string{"-wallet, or Target.Wallet", "-shipment, or Target.Shipment",
		"-invoice, or Target.Invoice"} {
		if !strings.Contains(notRun, want) || !report.Conforms() {
			t.Errorf("everything was run, though %q: %s", want, report.Results)
		}
	}
}

// A service that returns the request of an earlier analysis shows one that was purchased by an earlier run: the draft
// of the invoice is purchased then.
func TestCheck_PurchasesFromTheInvoiceIfTheShipmentIsNoDraft(t *testing.T) {
	t.Parallel()
	srv := serve(t)
	const earlier = `{"status":true,"message":"","data":{"request_id":"RD-1","status":"completed","source":"shipment"}}`
	report := check(t, srv, always(analyze, srv.Shipments()[0], earlier)(srv), whole()[:1]...)
	if len(report.Purchases) != 1 || report.Purchases[0].RequestID == "RD-1" {
		t.Errorf("%+v", report.Purchases)
	}
}

func plain(next http.Handler) http.Handler { return next }
