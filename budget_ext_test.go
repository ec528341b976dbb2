package shipping_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// remedy ends each error over budget.
const remedy = ": raise the budget or select fewer documents; nothing was purchased"

// The error over budget names each number that it counted, in whichever document, and the lines of the dialect with
// which the documents fit.
func TestBudget_NamesWhatItCounted(t *testing.T) {
	t.Parallel()
	draft, err := regulatory(t, shippingtest.NewService(record("draft", `"currency":"NGN","available_documents":[`+
		`{"slug":"FDA","amount":100,"tax_rate":7.5,"fees":[{"name":"stamp","amount":4}]},`+
		`{"slug":"MSDS","amount":"1.500"},{"slug":"WATCH","amount":10,"total":12}]`))).Get(t.Context(), "RD-1")
	shippingtest.NoError(t, err)
	budget := shipping.Budget{Amount: shippingtest.Amount(t, "1617"), Currency: "NGN"}
	_, err = budget.Check(draft, "FDA", "MSDS", "WATCH")
	const want = "shipping: over budget: 1623.80 NGN needed, 1617.00 NGN allowed: raise the budget or select fewer " +
		"documents; the cost adds numbers to the price, or counts them instead (FDA: fees.amount 4; FDA: tax_rate " +
		"7.5 (7.8); MSDS: a price that may be 1500; WATCH: total 12); only if a transaction of the wallet shows that it " +
		`is not charged, write in the dialect "offer.beside += tax_rate" (the cost is then 1616.00 NGN); nothing was ` +
		"purchased"
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if price, _, err := draft.Price("FDA", "MSDS", "WATCH"); err != nil || price != shippingtest.Amount(t, "111.5") {
		t.Errorf("the price is %s, %v", price, err)
	}
	cost, currency, err := draft.Cost("FDA", "MSDS", "WATCH")
	if err != nil || cost != shippingtest.Amount(t, "1623.8") || currency != "NGN" {
		t.Errorf("the cost is %s %s, %v", cost, currency, err)
	}
}

// A line that an error prints, in a file, makes the purchase possible, at the cost that the error states. Without one,
// a higher budget is the only remedy. Nothing is bought above the budget of 100 NGN.
func TestBudget_TheLineOfTheErrorBuys(t *testing.T) {
	t.Parallel()
	lines := regexp.MustCompile(`"([a-z_.]+ \+?= [^"]+)"( and|)`)
	for offer, test := range map[string]struct{ declared, cost string }{
		`"amount":100,"tax":7.5`:                            {"offer.beside += tax", "100"},
		`"amount":60,"tax":"7.50 (7.5%)","rush":8`:          {"offer.beside += tax", "68"},
		`"amount":100,"net":93,"base":93,"vat":7`:           {},
		`"amount":50,"tax_rate":300,"rush":60`:              {},
		`"amount":81,"a":19,"b":12,"c":8`:                   {},
		`"amount":90,"value":5000`:                          {"offer.beside += value", "90"}, // of the goods
		`"amount":100,"fees":[{"a":{"b":5}},{"a":{"b":9}}]`: {"offer.beside += fees.a", "100"},
		`"amount":50,"x":1e400,"y":"5 (z)"`:                 {"offer.beside += x; offer.beside += y", "50"},
		`"amount":50,"fee":3,"fee_currency":"USD"`:          {"offer.beside += fee; offer.beside += fee_currency", "50"},
		`"total":90`: {"offer.amount = total", "90"},
		// The line that fitted declared the price as not charged.
		`"duty":54,"quote":{"sum":"184.5"}`:       {"offer.amount = quote.sum", ""},
		`"pricing":{"net":90,"vat":9,"gross":99}`: {"offer.amount = pricing.net", "99"},
		`"amount":90,"price":95`:                  {"offer.amount = amount", "95"},
		`"amount":100,"total":120`:                {}, // perhaps the price
		`"amount":50,"total":"120 or less"`:       {},
		`"amount":50,"price":"USD 50"`:            {},
		`"amount":50,"billing_currency":"USD"`:    {},
		`"amount":200,"tax":7.5`:                  {},
		`"amount":100,"a":1,"b":1,"c":1,"d":1`:    {}, // too many to paste without thinking
		// Of many numbers, the 40 largest are tried. An offer of 1,000 took 12 s.
		`"amount":41` + many(60):                                  {"offer.beside += fee_39", "100"},
		`"amount":50` + many(999):                                 {},
		`"amount":100,"odd, name":1`:                              {},
		`"amount":100,"tax":1,"tax":1`:                            {},
		`"amount":90,"currency":null,"rush":20,"a\"b":"5 (port)"`: {},
	} {
		draft := record("draft", `"currency":"NGN","available_documents":[{"document_type":"FDA",`+offer+`}]`)
		budget := &shipping.Budget{Amount: shippingtest.Amount(t, "100"), Currency: "NGN"}
		buy := func(d *dialect.Dialect) (purchases int, err error) {
			service := workflow(draft, record("completed"))
			client := shippingtest.NewClient(t, service, shipping.WithDialect(d))
			_, err = client.Regulatory.AnalyzeAndPoll(t.Context(), parcel,
				&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll, Budget: budget})
			return service.Count(http.MethodPost) - 1, err
		}
		purchases, first := buy(nil)
		if !errors.Is(first, shipping.ErrOverBudget) || purchases != 0 {
			t.Errorf("%s: %d purchases, %v", offer, purchases, first)
			continue
		}
		var printed []string
		for _, found := range lines.FindAllStringSubmatch(first.Error(), -1) {
			printed = append(printed, found[1])
			if found[2] == "" {
				break // the next lines are another choice
			}
		}
		if got := strings.Join(printed, "; "); got != test.declared {
			t.Errorf("%s: %q in %v; want %q", offer, got, first, test.declared)
		}
		if test.cost == "" { // it is still over the budget
			continue
		}
		declared := new(dialect.Dialect)
		shippingtest.NoError(t, declared.Apply(strings.Join(printed, "\n")))
		purchases, err := buy(shippingtest.Must(dialect.Parse(shippingtest.Must(json.Marshal(declared))(t)))(t))
		stated := "(the cost is then " + test.cost + ".00 NGN)"
		if err != nil || purchases != 1 || !strings.Contains(first.Error(), stated) {
			t.Errorf("%s: %d purchases, %v; the error states %q", offer, purchases, err, stated)
		}
	}
}

// If the dialect names the price, a number above it is not proposed as not charged: the price and a fee may be swapped.
func TestBudget_NoLineForANumberAboveADeclaredPrice(t *testing.T) {
	t.Parallel()
	named := shipping.WithDialect(shippingtest.Dialect(t, "offer.amount=handling,offer.default_currency=NGN"))
	service := shippingtest.NewService(record("draft", of(`"handling":12,"figure":184,"duty":5`)))
	draft := shippingtest.Must(regulatory(t, service, named).Get(t.Context(), "RD-1"))(t)
	for amount, want := range map[string]string{
		"100": "allowed", "196": `"offer.beside += duty" (the cost is then 196.00 NGN)`,
	} {
		_, err := shipping.Budget{Amount: shippingtest.Amount(t, amount), Currency: "NGN"}.Check(draft, "FDA")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "+= figure") {
			t.Errorf("%s: %v", amount, err)
		}
	}
}

// The line for a price without a currency names a code that the draft shows. Pasted unread, it buys nothing that the
// service charges in another currency.
func TestBudget_TheLineOfACurrency(t *testing.T) {
	t.Parallel()
	for draft, test := range map[string]struct {
		line string // the first that the error of a budget in NGN prints
		fits bool   // the budget allows the purchase with it
	}{
		of(`"amount":21`): {"offer.default_currency = XXX", false},
		of(`"amount":21,"cost":{"vat":1.26,"unit":"NGN"}`):       {"offer.currency = cost.unit", true},
		of(`"amount":21,"cost":{"vat":1.26,"unit":"USD"}`):       {"offer.currency = cost.unit", false},
		of(`"amount":21,"country":"NGA"`):                        {"offer.currency = country", false},
		of(`"amount":21`) + `,"charge_currency":"USD"`:           {"record.currency = charge_currency", false},
		of(`"amount":21,"fees":[{"amount":1,"currency":"USD"}]`): {"", false},
		of(`"amount":21`) + `,"purse":{"ccy":"GBP"}`:             {"record.currency = purse.ccy", false},
		// The price that the wallet pays stands beside an original one in the currency of the budget.
		of(`"amount":21,"currency":"NGN","bill":{"net":17,"ccy":"GBP"}`): {
			"offer.amount = bill.net\noffer.currency = bill.ccy\noffer.beside += currency", false},
		of(`"cost":{"net":21,"vat":1.26,"unit":"USD"}`): {"offer.amount = cost.net\noffer.currency = cost.unit", false},
	} {
		check := func(d *dialect.Dialect) error {
			client := shippingtest.NewClient(t, shippingtest.NewService(record("draft", draft)), shipping.WithDialect(d))
			read := shippingtest.Must(client.Regulatory.Get(t.Context(), "RD-1"))(t)
			_, err := shipping.Budget{Amount: shippingtest.Amount(t, "100"), Currency: "NGN"}.Check(read, "FDA")
			return err
		}
		first := check(nil)
		lines := strings.Join(declared(first), "\n")
		if lines != test.line {
			t.Errorf("%s: %q in %v; want %q", draft, lines, first, test.line)
		}
		d := new(dialect.Dialect)
		shippingtest.NoError(t, d.Apply(lines))
		if err := check(d); (err == nil) != test.fits {
			t.Errorf("%s: with %q: %v", draft, lines, err)
		}
	}
}

// many adds n fees of 1.
func many(n int) (members string) {
	for i := range n {
		members += fmt.Sprintf(`,"fee_%d":1`, i)
	}
	return members
}

// of returns the available documents of a draft with one offer.
func of(members string) string {
	return `"available_documents":[{"document_type":"FDA",` + members + `}]`
}

// The specification shows no status in the response to an analysis. Such a draft is read before its purchase, and the
// price that is read is the one that counts: a budget was compared with the price of the analysis.
func TestBudget_IsHeldAgainstTheDraftThatIsPurchased(t *testing.T) {
	t.Parallel()
	offer := func(price, more string) httpmock.Responder {
		return success(`{"request_id":"RD-1",` + more + `"currency":"NGN","available_documents":[{"document_type":"FDA",` +
			`"amount":` + price + `}]}`)
	}
	budget := &shipping.Budget{Amount: shippingtest.Amount(t, "50"), Currency: "NGN"}
	ways := waysToBuy(&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll, Budget: budget})
	changing := waysToBuy(&shipping.AnalyzeAndPollOptions{Budget: budget,
		Select: func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
			draft.AvailableDocuments = nil
			return fda, nil
		}})
	for way, try := range map[string]func(context.Context, shipping.RegulatoryService) error{
		"AnalyzeAndPoll": ways["AnalyzeAndPoll"], "Prepare": ways["Prepare"],
		"AnalyzeAndPoll, whose Select changes the draft": changing["AnalyzeAndPoll"],
	} {
		for reads, answers := range map[string]responders{
			"dearer":                {offer("99", `"status":"draft",`)},
			"dearer, at first late": {refusal(404, "not found"), offer("99", `"status":"draft",`)},
			"dearer at the end":     {offer("10", ""), offer("99", `"status":"draft",`)},
			"unclear at the end":    {offer("10", ""), offer(`"much"`, `"status":"draft",`)},
			"with a fee at the end": {offer("10", ""), offer(`10,"fee":89`, `"status":"draft",`)},
		} {
			synctest.Test(t, func(t *testing.T) {
				service := workflow(offer("10", ""), answers...)
				err := try(t.Context(), regulatory(t, service))
				if err == nil || service.Count(http.MethodPost) != 1 {
					t.Errorf("%s, %s: %d POST requests, %v", way, reads, service.Count(http.MethodPost), err)
				}
				failed, ok := errors.AsType[*shipping.RegulatoryError](err)
				selected := reads != "dearer" || ok && failed.Step == "selected" // the draft that Select is given
				if ok && failed.Outcome != shipping.OutcomeNotCharged || !selected {
					t.Errorf("%s, %s: %v", way, reads, err)
				}
			})
		}
	}
}

// A callback that changes the draft that it is given does not change what the budget allows.
func TestBudget_IsHeldAgainstTheDraftAsItWasSent(t *testing.T) {
	t.Parallel()
	for document, change := range map[string]func(*shipping.RegulatoryRequest){
		`{"document_type":"FDA","amount":500,"currency":"NGN"}`: func(draft *shipping.RegulatoryRequest) {
			draft.AvailableDocuments[0].Amount = shippingtest.Amount(t, "5")
		},
		`{"document_type":"FDA","amount":5,"currency":"USD"}`: func(draft *shipping.RegulatoryRequest) {
			draft.AvailableDocuments[0].Currency = "NGN"
		},
		`{"document_type":"MSDS","amount":5,"currency":"NGN"}`: func(draft *shipping.RegulatoryRequest) {
			draft.AvailableDocuments[0].DocumentType = "FDA"
		},
		`{"document_type":"FDA","amount":5},{"document_type":"FDA","amount":500}`: func(draft *shipping.RegulatoryRequest) {
			draft.AvailableDocuments = draft.AvailableDocuments[:1]
		},
	} {
		service := shippingtest.NewService(record("draft", `"available_documents":[`+document+`]`))
		inWallet := shipping.WithDialect(shippingtest.Dialect(t, "offer.default_currency=wallet"))
		_, err := regulatory(t, service, inWallet).AnalyzeAndPoll(t.Context(), parcel, &shipping.AnalyzeAndPollOptions{
			Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "10"), Currency: "NGN"},
			Select: func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
				change(draft)
				return fda, nil
			},
		})
		shippingtest.WantError(t, document, err, shipping.ErrOverBudget)
		if n := service.Count(http.MethodPost); n != 1 { // the analysis
			t.Errorf("%s: %d requests", document, n)
		}
	}
}

// A draft that a program stores as JSON and reads back costs as much. Without the text that the service sent, its tax
// did not count.
func TestBudget_IsHeldAgainstADraftThatWasStored(t *testing.T) {
	t.Parallel()
	draft := `{"request_id":"RD-1","status":"draft",` +
		`"available_documents":[{"document_type":"FDA","amount":4700,"currency":"NGN","vat":352.5}]}`
	for _, data := range []string{draft, `{"request":` + draft + `}`} {
		sent := shippingtest.Must(regulatory(t, shippingtest.NewService(success(data))).Get(t.Context(), "RD-1"))(t)
		for _, text := range [][]byte{shippingtest.Must(json.Marshal(sent))(t), []byte(sent.Raw)} {
			var stored shipping.RegulatoryRequest
			shippingtest.NoError(t, json.Unmarshal(text, &stored))
			shippingtest.Diff(t, "the stored draft", *sent, stored)
			cost, err := shipping.Budget{Amount: shippingtest.Amount(t, "5000"), Currency: "NGN"}.Check(&stored, "FDA")
			if !errors.Is(err, shipping.ErrOverBudget) || cost != shippingtest.Amount(t, "5052.5") {
				t.Errorf("%s: the cost is %s, %v", text, cost, err)
			}
		}
	}
	made := shipping.RegulatoryRequest{RequestID: "RD-1", Status: "draft", FileURL: "https://invoices.example/1.pdf"}
	var stored shipping.RegulatoryRequest
	shippingtest.NoError(t, json.Unmarshal(shippingtest.Must(json.Marshal(made))(t), &stored))
	if stored.Raw = ""; stored.RequestID != "RD-1" || stored.FileURL != made.FileURL {
		t.Errorf("a record that a program has made is read back as %+v", stored)
	}
	var values struct{ Draft shipping.RegulatoryRequest }
	if err := json.Unmarshal([]byte(`{"Draft":null}`), &values); err != nil || values.Draft.Raw != "" {
		t.Errorf("null, which changes nothing by convention: %+v, %v", values, err)
	}
	if err := json.Unmarshal([]byte(`"RD-1"`), &stored); err == nil {
		t.Errorf("a text is read as the record %+v", stored)
	}
}

// Without a draft, no price is known and nothing can be selected.
func TestBudget_WithoutADraft(t *testing.T) {
	t.Parallel()
	one, empty := shippingtest.Amount(t, "1"), &shipping.RegulatoryRequest{}
	_, noDraft := shipping.Budget{Amount: one, Currency: "NGN"}.Check(nil, "FDA")
	_, noOffer := shipping.Budget{Amount: one, Currency: "NGN"}.Check(empty, "FDA")
	_, noCurrency := shipping.Budget{Amount: one}.Check(empty)
	for want, err := range map[string]error{
		"the draft is nil": noDraft, "FDA is not offered by the draft": noOffer,
		"the budget needs an amount and a currency": noCurrency,
	} {
		shippingtest.WantErrorWith(t, "of a purchase", err, shipping.ErrOverBudget, want)
	}
	// No documents have no currency to compare.
	naira := shipping.Budget{Amount: one, Currency: "NGN"}
	shippingtest.Diff(t, "cost of no documents", 0, shippingtest.Must(naira.Check(empty))(t).Sign())
	for _, choose := range choices("FDA") {
		shippingtest.Diff(t, "selected", 0, len(shippingtest.Must(choose(nil))(t)))
	}
}

// Spent and reserved amounts leave less of a budget.
func TestBudget_Fits(t *testing.T) {
	t.Parallel()
	budget := shipping.Budget{Amount: shippingtest.Amount(t, "100"), Currency: "NGN"}
	for _, test := range []struct{ committed, needed, want string }{
		{"0", "100", ""},
		{"40", "60", ""},
		{"40", "60.01", "shipping: budget of 100.00 NGN: 60.01 needed, 60.00 left after 40.00 were spent or reserved" +
			remedy},
		{"140", "5", "shipping: budget of 100.00 NGN: 5.00 needed, 0.00 left after 140.00 were spent or reserved" + remedy},
		{"999999999999999999", "1", "shipping: amount has more than 18 digits"},
	} {
		err := budget.Fits(shippingtest.Amount(t, test.committed), shippingtest.Amount(t, test.needed))
		if err == nil && test.want != "" || err != nil && !strings.HasPrefix(err.Error(), cmp.Or(test.want, "none")) {
			t.Errorf("%s of %s: %v", test.needed, test.committed, err)
		}
	}
}
