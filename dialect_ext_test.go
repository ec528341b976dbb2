package shipping_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// Whatever field of a dialect about money is wrong, nothing is bought above the budget of 100 NGN by what the offer
// shows.
func TestDialect_AWrongFieldDoesNotOverspend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one := func(members string) string { return `"available_documents":[{"document_type":"FDA",` + members + `}]` }
		priced := one(`"amount":9,"currency":"NGN"`)
		type (
			offer   = dialect.Offer
			members = dialect.RecordMembers
		)
		in := func(o offer) dialect.Dialect { return dialect.Dialect{Offer: o} }
		recorded := func(r members) dialect.Dialect { return dialect.Dialect{Record: r} }
		for name, test := range map[string]struct {
			dialect dialect.Dialect
			draft   string
			cost    string // with which it is bought, or a part of the error
		}{
			"fits":            {dialect.Dialect{}, one(`"amount":90,"tax":7.5,"currency":"NGN"`), "97.5"},
			"does not fit":    {dialect.Dialect{}, one(`"amount":99,"tax":7.5,"currency":"NGN"`), "106.50 NGN needed"},
			"tax not charged": {in(offer{Beside: []string{"tax"}}), one(`"amount":99,"tax":7.5,"currency":"NGN"`), "99"},
			"price is the tax": {in(offer{Amount: "tax"}),
				one(`"amount":1500,"tax":7.5,"currency":"NGN"`), "1507.50 NGN needed"},
			"price not sent": {in(offer{Amount: "price"}), priced, `"price" (offer.amount), which it does not show`},
			"price twice": {in(offer{Amount: "price.amount"}),
				one(`"price":{"amount":9},"price":{"amount":900},"currency":"NGN"`), `"price" is given twice`},
			"swapped": {in(offer{Amount: "amount", Beside: []string{"converted_amount"}}),
				one(`"amount":1.5,"converted_amount":2501.03,"currency":"NGN"`), "is more than the price"},
			"more money": {in(offer{Amount: "price", Beside: []string{"tax"}}),
				one(`"price":90,"tax":7.5,"surcharge":50,"currency":"NGN"`), "140.00 NGN needed"},
			"three digits": {in(offer{Amount: "amount"}), one(`"amount":"1.500","currency":"NGN"`), "1500.00 NGN needed"},
			"thousands of dinars": {in(offer{Amount: "amount"}), one(`"amount":"1,500.000","currency":"KWD"`),
				"priced in KWD"},
			"currency not sent": {in(offer{Currency: "ccy"}), priced, `"ccy" (offer.currency), which it does not show`},
			"another's currency": {in(offer{Currency: "shown_in"}),
				one(`"amount":9,"shown_in":"NGN","currency":"USD"`), `currency is "USD"`},
			"nested price": {in(offer{Amount: "price.amount",
				Currency: "price.code"}), one(`"price":{"amount":9,"code":"NGN"},"price_currency":"USD"`), `price_currency is "USD"`},
			"another default": {in(offer{DefaultCurrency: "USD"}), one(`"amount":9`), "priced in USD"},
			"default":         {in(offer{DefaultCurrency: "NGN"}), one(`"amount":9`), "9"},
			"of the wallet":   {in(offer{DefaultCurrency: "wallet"}), one(`"amount":9`), "9"},
			"no currency":     {dialect.Dialect{}, one(`"amount":9`), "offer.default_currency"},
			"of the record":   {recorded(members{Currency: "ccy"}), `"ccy":"USD",` + one(`"amount":9`), "priced in USD"},
			"of the record, object": {recorded(members{Currency: "currency.code"}),
				`"currency":{"code":"NGN"},` + one(`"amount":9`), "9"},
			"other documents": {in(offer{DocumentType: "code"}),
				one(`"code":"MSDS","amount":9,"currency":"NGN"`), "FDA is not offered"},
			"transaction": {recorded(members{TransactionID: "tx"}), `"tx":"TR-1",` + priced, "shows a transaction"},
			"charge":      {recorded(members{ChargedAmount: "paid"}), `"paid":9,` + priced, "purchase.quoted"},
		} {
			service := workflow(record("draft", test.draft), record("completed"))
			client := shippingtest.NewClient(t, service, shipping.WithDialect(&test.dialect))
			budget := &shipping.Budget{Amount: shippingtest.Amount(t, "100"), Currency: "NGN"}
			var cost shipping.Amount
			_, err := client.Regulatory.AnalyzeAndPoll(t.Context(), parcel, &shipping.AnalyzeAndPollOptions{Budget: budget,
				Select: func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
					cost, _ = budget.Check(draft, "FDA")
					return fda, nil
				}})
			purchases := service.Count(http.MethodPost) - 1
			if _, notBought := shipping.ParseAmount(test.cost); notBought == nil {
				if err != nil || purchases != 1 || cost.String() != test.cost {
					t.Errorf("%s: %d purchases for %s, %v", name, purchases, cost, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), test.cost) || purchases != 0 {
				t.Errorf("%s: %d purchases, %v; want %q", name, purchases, err, test.cost)
			}
		}
	})
}

// A service may refuse in JSON without a status. It refuses if the dialect declares this form, and only with a 4xx and
// a text in the place of the message. Without a code, it may be the response of a proxy, so the request has to stay a
// draft for QuietFor.
func TestDialect_RefusalsOfAnotherForm(t *testing.T) {
	t.Parallel()
	object, detail := dialect.Refusal{Format: "object"}, dialect.Refusal{Format: "object", Message: "detail"}
	coded := dialect.Refusal{Format: "object", Message: "error.text", Code: "error.code", FundsCode: "WALLET_LOW"}
	const plainly = `{"statusCode":400,"message":"No money","error":"Bad Request"}`
	for name, test := range map[string]struct {
		refusal dialect.Refusal
		status  int
		body    string
		want    shipping.PurchaseOutcome
		took    time.Duration
	}{
		"not declared":       {dialect.Refusal{}, 400, plainly, unknown, 10 * time.Second},
		"another format":     {dialect.Refusal{Format: "problem"}, 400, plainly, unknown, 10 * time.Second},
		"a status code":      {object, 400, plainly, not, time.Minute},
		"errors":             {object, 422, `{"message":"No","errors":{"wallet":["No"]}}`, not, time.Minute},
		"success false":      {object, 402, `{"success":false,"message":"No"}`, not, time.Minute},
		"status error":       {object, 400, `{"status":"error","message":"No"}`, not, time.Minute},
		"detail":             {detail, 404, `{"detail":"No"}`, not, time.Minute},
		"a code":             {coded, 400, `{"error":{"text":"No","code":"WALLET_LOW"}}`, not, 5 * time.Second},
		"an empty code":      {coded, 400, `{"error":{"text":"No","code":""}}`, not, time.Minute},
		"the usual code":     {object, 400, `{"message":"No","data":{"error_code":"E"}}`, not, 5 * time.Second},
		"a code, and a 409":  {coded, 409, `{"error":{"text":"No","code":"E"}}`, not, time.Minute},
		"elsewhere":          {detail, 400, `{"message":"No"}`, unknown, 10 * time.Second},
		"a list of messages": {object, 400, `{"message":["No"]}`, unknown, 10 * time.Second},
		"a number":           {object, 400, `{"message":400}`, unknown, 10 * time.Second},
		"blank":              {object, 400, `{"message":" "}`, unknown, 10 * time.Second},
		"a list":             {object, 400, `[{"message":"No"}]`, unknown, 10 * time.Second},
		"a text":             {object, 400, `"No"`, unknown, 10 * time.Second},
		"plain text":         {object, 400, `No`, unknown, 10 * time.Second},
		"nothing":            {object, 400, ``, unknown, 10 * time.Second},
		"a success":          {object, 400, `{"status":true,"message":"No"}`, unknown, 10 * time.Second},
		"200":                {object, 200, plainly, unknown, 10 * time.Second},
		"302":                {object, 302, plainly, unknown, 10 * time.Second},
		"408":                {object, 408, plainly, unknown, 10 * time.Second},
		"425":                {object, 425, plainly, unknown, 10 * time.Second},
		"502":                {object, 502, plainly, unknown, 10 * time.Second},
		"a purchased record": {object, 400, `{"message":"No","status":"processing"}`, unknown, 10 * time.Second},
		"a transaction":      {object, 400, `{"message":"No","transaction_id":"TR-1"}`, unknown, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			service := requestService(responders{body(test.status, test.body)}, responders{record("draft")})
			client := shippingtest.NewClient(t, service, shipping.WithDialect(&dialect.Dialect{Refusal: test.refusal}))
			started := time.Now()
			_, err := shippingtest.Purchase(t.Context(), client, false)
			if took := time.Since(started); shippingtest.Outcome(nil, err) != test.want || took.Round(time.Second) != test.took {
				t.Errorf("%s: after %s: %v", name, took, err)
			}
			advised := strings.Contains(err.Error(), "if the service refuses in this form")
			undeclared := test.want == unknown && test.status/100 == 4 && test.body != "" && test.body[0] == '{'
			other := []string{"408", "425", "a success", "a purchased record", "a transaction", "a list of messages", "a number",
				"blank"}
			if want := undeclared && !slices.Contains(other, name); advised != want {
				t.Errorf("%s: %v", name, err)
			}
			if errors.Is(err, shipping.ErrInsufficientFunds) != (name == "a code" || test.status == 402) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// plain is the dialect of a plausible service.
var plain = &dialect.Dialect{
	Record: dialect.RecordMembers{At: "regulatory", LineItems: "goods", Documents: "paid_documents",
		ChargedAmount: "payment.total", TransactionID: "payment.id", Wallet: "-"},
	Offer: dialect.Offer{DocumentType: "code", Amount: "price.amount", Currency: "price.currency", Mode: "kind",
		Automated: "auto"},
	Refusal:  dialect.Refusal{Message: "error.text", Code: "error.code", FundsCode: "WALLET_LOW"},
	Document: dialect.Document{DocumentType: "code"},
}

// A client reads the records of a service under its names, also those of a purchase whose response was lost and that
// was stored in between.
func TestDialect_RecordsAndPurchases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const offers = `"available_documents":[{"code":"FDA","kind":"auto","price":{"amount":12.5,"currency":"NGN"}},` +
			`{"code":"MSDS","kind":"hand","price":{"amount":3,"currency":"NGN"}}]`
		record := func(status, more string) httpmock.Responder {
			return success(`{"regulatory":{"request_id":"RD-1","status":"` + status +
				`","goods":[{"description":"watch"}],"line_items":[],` + offers + more + `}}`)
		}
		paid := record("processing", `,"uploads":[],"paid_documents":[{"code":"FDA"}],"payment":{"total":12.5,"id":"TR-1"}`)
		service := requestService(responders{shippingtest.NoResponse()}, responders{record("draft", ""), record("draft", "")})
		client := shippingtest.NewClient(t, service, shipping.WithDialect(plain))
		draft := shippingtest.Must(client.Regulatory.Get(t.Context(), "RD-1"))(t)
		selected, err := shipping.SelectAutomated(draft)
		if len(draft.LineItems) != 1 || err != nil || len(selected) != 1 || selected[0] != "FDA" {
			t.Errorf("%+v, selected %v, %v", draft, selected, err)
		}
		if price, currency, err := draft.Price("FDA", "MSDS"); err != nil || price != shippingtest.Amount(t, "15.5") ||
			currency != "NGN" {
			t.Errorf("%s %s, %v", price, currency, err)
		}
		_, err = client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: selected,
			Draft: draft})
		purchase := stored(t, unclear(t, err).Purchase)
		later := shippingtest.NewClient(t, shippingtest.NewService(paid), shipping.WithDialect(plain))
		result, err := later.Regulatory.SettlePurchase(t.Context(), purchase)
		if err != nil || result.TransactionID != "TR-1" || result.ChargedAmount != shippingtest.Amount(t, "12.5") {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

// A list that a draft had already under the name of the dialect is not evidence after the purchase was stored, either.
func TestDialect_AStoredDraftKeepsItsLists(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		listed := `{"regulatory":{"request_id":"RD-1","status":"STATUS","paid_documents":["FDA"],"available_documents":[]}}`
		service := requestService(responders{shippingtest.NoResponse()},
			responders{success(strings.ReplaceAll(listed, "STATUS", "draft"))})
		_, err := regulatory(t, service, shipping.WithDialect(plain)).Purchase(t.Context(),
			&shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: fda})
		purchase := stored(t, unclear(t, err).Purchase)
		later := shippingtest.NewClient(t,
			shippingtest.NewService(success(strings.ReplaceAll(listed, "STATUS", "processing"))),
			shipping.WithDialect(plain))
		if result, err := later.Regulatory.SettlePurchase(t.Context(), purchase); err == nil {
			t.Errorf("settled as %+v", result)
		}
	})
}

// Reason, code and an empty wallet are found where the dialect has them, and the file of the dialect in the
// environment.
func TestDialect_OfTheEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.json")
	shippingtest.NoError(t, os.WriteFile(file, shippingtest.Must(json.Marshal(plain))(t), 0o600))
	t.Setenv("SHIPPING_SECRET_KEY", shippingtest.Key)
	t.Setenv("SHIPPING_BASE_URL", shippingtest.BaseURL)
	t.Setenv("SHIPPING_DIALECT", file)
	service := shippingtest.NewService(body(422, `{"status":false,"error":{"text":"no money left","code":"WALLET_LOW"}}`))
	client, err := shipping.NewClientFromEnv(shipping.WithHTTPClient(&http.Client{Transport: service}))
	shippingtest.NoError(t, err)
	_, err = client.Regulatory.Get(t.Context(), "RD-1")
	if failure := shippingtest.ErrorIn(t, err); failure.Code != "WALLET_LOW" || failure.Message != "no money left" ||
		!errors.Is(err, shipping.ErrInsufficientFunds) {
		t.Errorf("%+v", err)
	}
	shippingtest.NoError(t, os.WriteFile(file, []byte(`{"offer":{"ammount":"x"}}`), 0o600))
	if _, err := shipping.NewClientFromEnv(); err == nil || !strings.Contains(err.Error(),
		`SHIPPING_DIALECT cannot be read: service.json: unknown member "offer.ammount"`) {
		t.Error(err)
	}
}

// The first day with a real service: an error prints the line that declares what the service has decided otherwise. In
// a file, the line makes the call succeed.
func TestDialect_ErrorsPrintTheLineThatHelps(t *testing.T) {
	t.Parallel()
	offered := func(offers ...string) *shippingtest.Service {
		return shippingtest.NewService(record("draft", `"available_documents":[`+strings.Join(offers, ",")+`]`))
	}
	analyzed := func(ctx context.Context, client *shipping.Client) (*shipping.RegulatoryRequest, error) {
		return client.Regulatory.Analyze(ctx, parcel)
	}
	automated := func(ctx context.Context, client *shipping.Client) error {
		draft, err := analyzed(ctx, client)
		if err != nil {
			return err
		}
		selected, err := shipping.SelectAutomated(draft)
		if err == nil && len(selected) != 1 {
			return fmt.Errorf("selected %v", selected)
		}
		return err
	}
	priced := func(ctx context.Context, client *shipping.Client) error {
		draft, err := analyzed(ctx, client)
		if err == nil {
			_, err = (&shipping.Budget{Amount: shippingtest.Amount(t, "100"), Currency: "NGN"}).Check(draft, "FDA")
		}
		return err
	}
	inDinars := func(ctx context.Context, client *shipping.Client) error {
		draft := shippingtest.Must(analyzed(ctx, client))(t)
		_, err := (&shipping.Budget{Amount: shippingtest.Amount(t, "45"), Currency: "KWD"}).Check(draft, "FDA")
		return err
	}
	read := func(ctx context.Context, client *shipping.Client) error {
		_, err := client.Regulatory.Get(ctx, "RD-1")
		return err
	}
	retried := func(ctx context.Context, client *shipping.Client) error {
		_, err := client.Regulatory.Retry(ctx, "RD-1")
		return err
	}
	unbudgeted := func(ctx context.Context, client *shipping.Client) error {
		draft, err := analyzed(ctx, client)
		if err == nil {
			_, _, err = draft.Price("FDA")
		}
		return err
	}
	stored := func(ctx context.Context, client *shipping.Client) error {
		draft, again := shippingtest.Must(analyzed(ctx, client))(t), new(shipping.RegulatoryRequest)
		shippingtest.NoError(t, json.Unmarshal(shippingtest.Must(json.Marshal(draft))(t), again))
		again.Dialect = draft.Dialect
		_, _, err := again.Price("FDA")
		return err
	}
	quoted := func(ctx context.Context, client *shipping.Client) error {
		draft := shippingtest.Must(analyzed(ctx, client))(t)
		_, err := client.Regulatory.Purchase(ctx,
			&shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: fda, Draft: draft})
		if strings.Contains(err.Error(), "set Sole of the purchase") {
			return nil // the charge is read as a quote
		}
		return err
	}
	coded := func(ctx context.Context, client *shipping.Client) error {
		_, err := shippingtest.Purchase(ctx, client, false)
		if failure := shippingtest.ErrorIn(t, err); failure.Code != "" {
			return nil
		}
		return err
	}
	empty := func(ctx context.Context, client *shipping.Client) error {
		_, err := shippingtest.Purchase(ctx, client, false)
		if errors.Is(err, shipping.ErrInsufficientFunds) {
			return nil
		}
		return err
	}
	refused := func(ctx context.Context, client *shipping.Client) error {
		_, err := shippingtest.Purchase(ctx, client, false)
		if shippingtest.Outcome(nil, err) == not {
			return nil
		}
		return err
	}
	refusal := func(err error) error {
		if failed, ok := errors.AsType[*shipping.Error](err); ok && failed.Refused() {
			return nil
		}
		return err
	}
	edited := func(ctx context.Context, client *shipping.Client) error {
		return refusal(shippingtest.Err(client.Regulatory.UpdateItems(ctx, "RD-1", nil)))
	}
	refusedAnalysis := func(ctx context.Context, client *shipping.Client) error {
		return refusal(shippingtest.Err(analyzed(ctx, client)))
	}
	waited := func(ctx context.Context, client *shipping.Client) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		_, err := client.Regulatory.Wait(ctx, "RD-1", nil)
		if strings.Contains(err.Error(), "the draft has expired") {
			return nil
		}
		return err
	}
	reached := func(ctx context.Context, client *shipping.Client) error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Hour)
		defer cancel()
		if _, err := client.Regulatory.Wait(ctx, "RD-1", nil); !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return nil
	}
	const mode = `"amount":9,"currency":"NGN",`
	for name, test := range map[string]struct {
		service *shippingtest.Service
		call    func(context.Context, *shipping.Client) error
		lines   []string
	}{
		"the name of a price": {offered(`{"document_type":"FDA","value_due":9,"currency":"NGN"}`), priced,
			[]string{"offer.amount = value_due"}},
		"the name of a price with its currency": {offered(`{"document_type":"FDA","kosten":"9.00 NGN"}`), priced,
			[]string{"offer.amount = kosten"}},
		"the name of a price, without a budget": {offered(`{"document_type":"FDA","value_due":9,"currency":"NGN"}`),
			unbudgeted, []string{"offer.amount = value_due"}},
		"the quote of a draft": {shippingtest.NewService(record("draft",
			`"charged_amount":9,"available_documents":[{"slug":"FDA",`+mode+`"mode":"automated"}]`)), quoted,
			[]string{"purchase.quoted = true"}},
		"the name of a price, without a currency": {offered(`{"document_type":"FDA","value_due":9}`),
			unbudgeted, []string{"offer.amount = value_due", "offer.default_currency = XXX"}},
		"the name of a type, without a budget": {offered(`{` + mode + `"code":"FDA","mode":"automated"}`), unbudgeted,
			[]string{"offer.document_type = code"}},
		"the names of a draft that was stored": {offered(`{"code":"FDA","value_due":9,"currency":"NGN"}`), stored,
			[]string{"offer.document_type = code", "offer.amount = value_due"}},
		"a price with three decimals": {offered(`{"document_type":"FDA","amount":"41.500","fee":"0.250","currency":"KWD"}`), inDinars,
			[]string{"offer.amount = amount"}},
		"the price with three decimals and its currency": {offered(`{"document_type":"FDA","amount":"41.500 KWD"}`), inDinars,
			[]string{"offer.amount = amount"}},
		"a price with three decimals and its currency": {offered(`{"document_type":"FDA","due":"41.500 KWD","fee":"0.250"}`), inDinars,
			[]string{"offer.amount = due"}},
		"the currency of a price": {offered(`{"document_type":"FDA","amount":9}`), unbudgeted,
			[]string{"offer.default_currency = XXX"}},
		"the name of a currency": {offered(`{"document_type":"FDA","amount":9,"cost":{"unit":"NGN"}}`), priced,
			[]string{"offer.currency = cost.unit"}},
		"the name of a type in other words": {offered(`{` + mode + `"code":"zoll","mode":"automated"}`), automated,
			[]string{"offer.document_type = code"}},
		"the name of a type": {offered(`{`+mode+`"code":"FDA","mode":"automated"}`, `{`+mode+`"code":"MSDS","mode":"manual"}`),
			automated, []string{"offer.document_type = code"}},
		"the name of a mode": {offered(`{`+mode+`"slug":"FDA","kind":"AUTOMATED"}`, `{`+mode+`"slug":"MSDS","kind":"manual"}`),
			automated, []string{"offer.mode = kind"}},
		"the path of a mode": {offered(`{` + mode + `"slug":"FDA","made":{"how":"automated"}}`), automated,
			[]string{"offer.mode = made.how"}},
		"a mode": {offered(`{`+mode+`"slug":"FDA","mode":"robot"}`, `{`+mode+`"slug":"MSDS","mode":"manual"}`), automated,
			[]string{"offer.automated = robot"}},
		"the name of a mode in other words": {offered(`{`+mode+`"slug":"FDA","label":"Fda","way":"instant"}`,
			`{`+mode+`"slug":"MSDS","label":"Msds","way":"by_hand"}`), automated,
			[]string{"offer.mode = way", "offer.automated = instant"}},
		"the name of a mode that is true or false": {offered(`{`+mode+`"slug":"FDA","how":{"robot":true}}`,
			`{`+mode+`"slug":"MSDS","how":{"robot":false}}`), automated, []string{"offer.mode = how.robot", "offer.automated = true"}},
		"a draft that has expired": {shippingtest.NewService(record("lapsed")), waited, []string{"record.states += lapsed=expired"}},
		"a draft that has expired before its purchase": {requestService(responders{ofDraft}, responders{record("lapsed")}),
			refused, []string{"record.states += lapsed=expired"}},
		"a step before the end": {shippingtest.NewService(record("printing", `"transaction_id":"TR-1"`)), reached,
			[]string{"record.states += printing=generating"}},
		"the place of a record": {shippingtest.NewService(success(`{"document":{"request_id":"RD-1","status":"draft"}}`)), read, []string{"record.at = document"}},
		"the form of a refusal": {requestService(responders{body(422, `{"error":{"reason":"Not possible"}}`)},
			responders{record("draft")}), refused,
			[]string{"refusal.format = object", "refusal.message = error.reason"}},
		"the form of a refusal with a code": {requestService(responders{body(422,
			`{"statusCode":"422","error":{"reason":"Not possible","code":"E_RULE"}}`)}, responders{record("draft")}), coded,
			[]string{"refusal.format = object", "refusal.message = error.reason", "refusal.code = error.code"}},
		"the form of a refusal with a code of another name": {requestService(responders{body(422,
			`{"problem":{"kind":"E_RULE","detail":"Not possible"}}`)}, responders{record("draft")}), coded,
			[]string{"refusal.format = object", "refusal.message = problem.detail", "refusal.code = problem.kind"}},
		"the form of a refused edit": {shippingtest.NewService(body(422, `{"error":{"reason":"Not possible","code":"E"}}`)), edited,
			[]string{"routes += regulatory.items.update=PUT /v1/regulatory-documents/request/{request_id}/items",
				"refusal.format = object", "refusal.message = error.reason", "refusal.code = error.code"}},
		"the form of a refused analysis": {shippingtest.NewService(body(422, `{"detail":"Not possible"}`)), refusedAnalysis,
			[]string{"refusal.format = object", "refusal.message = detail"}},
		"the place of a code in a list": {requestService(responders{body(422,
			`{"status":false,"errors":[{"no":"E17","why":"Not possible"}]}`)}, responders{record("draft")}), coded,
			[]string{"refusal.code = errors.0.no"}},
		"the place of a code": {requestService(responders{body(422, `{"status":false,"message":"Not possible","errorCode":"E_RULE"}`)},
			responders{record("draft")}), coded, []string{"refusal.code = errorCode"}},
		"the code of an empty wallet": {requestService(responders{body(422,
			`{"status":false,"message":"Too little money: the balance is 3","data":{"error_code":"E_FUNDS"}}`)},
			responders{record("draft")}), empty, []string{"refusal.funds_code = E_FUNDS"}},
		"a route": {shippingtest.NewService(record("processing")), retried,
			[]string{"routes += regulatory.retry=POST /v1/regulatory-documents/request/{request_id}/retry"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var lines []string
			file := filepath.Join(t.TempDir(), "service.dialect")
			for len(lines) <= len(test.lines) {
				shippingtest.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600))
				d := shippingtest.Must(dialect.Read(file))(t)
				err := test.call(t.Context(), shippingtest.NewClient(t, test.service, shipping.WithDialect(d)))
				if err == nil {
					break
				}
				lines = append(lines, declared(err)...)
			}
			shippingtest.Diff(t, name, test.lines, lines)
		})
	}
}

// A draft that shows its offers under another name looked like one that needs no documents. An empty list of offers is
// an ordinary draft.
func TestDialect_ADraftWithoutItsOffers(t *testing.T) {
	t.Parallel()
	reads := func(of func(*shipping.RegulatoryRequest) error) call {
		return func(ctx context.Context, client *shipping.Client) error {
			return of(shippingtest.Must(client.Regulatory.Get(ctx, "RD-1"))(t))
		}
	}
	selects := func(choose func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error)) call {
		return reads(func(draft *shipping.RegulatoryRequest) error { return shippingtest.Err(choose(draft)) })
	}
	priced := func(sum func(*shipping.RegulatoryRequest, ...shipping.DocumentType) (shipping.Amount, string, error)) call {
		return reads(func(draft *shipping.RegulatoryRequest) error {
			_, _, err := sum(draft, "FDA")
			return err
		})
	}
	buys := func(way string) call {
		fixed := func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) { return nil, nil }
		return func(ctx context.Context, client *shipping.Client) error {
			return waysToBuy(&shipping.AnalyzeAndPollOptions{Select: fixed})[way](ctx, client.Regulatory)
		}
	}
	budget := shipping.Budget{Amount: shippingtest.Amount(t, "100"), Currency: "NGN"}
	const none, notOffered = "<nil>", "FDA is not offered"
	for name, test := range map[string]struct {
		call  call
		empty string // the error if the draft offers nothing
	}{
		"SelectAll":       {selects(shipping.SelectAll), none},
		"SelectAutomated": {selects(shipping.SelectAutomated), none},
		"SelectOnly":      {selects(shipping.SelectOnly("FDA")), "SelectOnly: the draft does not offer FDA"},
		"AnalyzeAndPoll":  {buys("AnalyzeAndPoll"), none},
		"Resume":          {buys("Resume"), none},
		"Prepare":         {buys("Prepare"), "DocumentTypes is empty"},
		"Price":           {priced((*shipping.RegulatoryRequest).Price), notOffered},
		"Cost":            {priced((*shipping.RegulatoryRequest).Cost), notOffered},
		"Check": {reads(func(draft *shipping.RegulatoryRequest) error { return shippingtest.Err(budget.Check(draft, "FDA")) }),
			notOffered},
	} {
		for members, want := range map[string]string{
			`"goods":[],"forms":[{"code":"FDA","price":9}]`: "draft shows no list available_documents, only goods, forms: no line",
			`"available_documents":{"FDA":{"price":9}}`:     "draft shows no list available_documents, only members that are no lists",
			`"available_documents":[]`:                      test.empty,
			`"available_documents":null`:                    test.empty,
		} {
			synctest.Test(t, func(t *testing.T) {
				service := shippingtest.NewService(record("draft", members))
				err := test.call(t.Context(), shippingtest.NewClient(t, service))
				if !strings.Contains(fmt.Sprint(err), want) || service.CountPath("/purchase") > 0 {
					t.Errorf("%s: %s: %v", name, members, err)
				}
			})
		}
	}
	// A Select that names documents needs no list, but a budget does.
	only := func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) { return fda, nil }
	for purchases, options := range []*shipping.AnalyzeAndPollOptions{{Select: only, Budget: &budget}, {Select: only}} {
		synctest.Test(t, func(t *testing.T) {
			service := shippingtest.NewService(record("draft", `"forms":[]`))
			_, err := shippingtest.NewClient(t, service).Regulatory.Resume(t.Context(), "RD-1", options)
			if sent := service.CountPath("/purchase"); sent != purchases || err == nil {
				t.Errorf("%d purchases: %v, want %d", sent, err, purchases)
			}
		})
	}
}

// An error prints no line that the file has already, or that changes nothing: it names what the service shows instead.
func TestDialect_ErrorsWithoutALine(t *testing.T) {
	t.Parallel()
	get := func(ctx context.Context, client *shipping.Client) error {
		return shippingtest.Err(client.Regulatory.Get(ctx, "RD-1"))
	}
	purchase := func(ctx context.Context, client *shipping.Client) error {
		return shippingtest.Err(shippingtest.Purchase(ctx, client, false))
	}
	unpriced := func(ctx context.Context, client *shipping.Client) error {
		_, _, err := shippingtest.Must(client.Regulatory.Get(ctx, "RD-1"))(t).Price("FDA")
		return err
	}
	for name, test := range map[string]struct {
		service *shippingtest.Service
		call    call
		dialect string
		want    string
	}{
		"the name of the id": {shippingtest.NewService(success(`{"id":"RD-1","state":"draft"}`)),
			func(ctx context.Context, client *shipping.Client) error {
				return shippingtest.Err(client.Regulatory.Analyze(ctx, parcel))
			}, "", "request_id is missing, and no line of the dialect gives it another name: the record shows id, state"},
		"the name of the status": {shippingtest.NewService(success(`{"form":{"request_id":"RD-1","state":"draft"}}`)), get,
			"record.at=form", "status is missing, and no line of the dialect gives it another name: the record shows request_id, state"},
		"a price of no member that can be named": {shippingtest.NewService(record("draft", `"available_documents":[`+
			`{"document_type":"FDA","kosten":{"zahl":{"wert":9}},"nr_id":7,"etwa":"ca. 9","art":"auto"}]`)), unpriced, "",
			`it shows neither amount nor price, but kosten.zahl.wert 9, nr_id 7, etwa "ca. 9"`},
		"types that nobody knows": {shippingtest.NewService(record("draft", `"available_documents":[{"nr":17}]`)), unpriced, "",
			"no readable document_type"},
		"a form that is declared": {requestService(responders{body(422, `{"status":true,"error":{"reason":"Not possible"}}`)},
			responders{record("draft")}), purchase, "refusal.format=object,refusal.message=error.reason", "outcome unknown"},
		"the code of an expired draft": {requestService(responders{body(400,
			`{"status":false,"message":"Too late","data":{"error_code":"late"}}`)}, responders{record("draft")}), purchase,
			"refusal.expired_code=late", "; the draft has expired: call Regulatory.Analyze again"},
		"another code of a wallet that holds too little": {requestService(responders{body(402,
			`{"status":false,"message":"The balance is 3","data":{"error_code":"E17"}}`)}, responders{record("draft")}), purchase,
			"", "add money to the wallet"},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := shippingtest.NewClient(t, test.service, shipping.WithDialect(shippingtest.Dialect(t, test.dialect)))
			err := test.call(t.Context(), client)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "write in the dialect") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

type call func(context.Context, *shipping.Client) error

// declared returns the lines of the first "write in the dialect" of an error.
func declared(err error) (lines []string) {
	_, text, _ := strings.Cut(err.Error(), "write in the dialect ")
	for line := range strings.SplitSeq(text, `" and "`) {
		line, _, more := strings.Cut(strings.TrimPrefix(line, `"`), `"`)
		if lines = append(lines, line); more {
			break
		}
	}
	return lines
}

// A route of the dialect that the service does not have is an error with the line that has another, with the method
// that the response allows.
func TestDialect_ARouteThatIsMissing(t *testing.T) {
	t.Parallel()
	const line, path = "routes += regulatory.retry=POST", " /v1/again/{request_id}"
	for _, test := range []struct {
		status      int
		body, allow string
		want        string
	}{
		{404, `{"message":"Cannot POST"}`, "", line}, {404, "not found", "", line}, {405, "", "", line},
		{405, `{"status":false,"message":"no"}`, "PUT", "routes += regulatory.retry=PUT"},
		{405, "", "GET, PUT", line}, {405, "", `P"T`, line},
		{404, `{"status":false,"message":"no such request"}`, "", ""}, {409, `{"message":"no"}`, "PUT", ""},
	} {
		client := shippingtest.NewClient(t, shippingtest.NewService(body(test.status, test.body).
			HeaderSet(http.Header{"Allow": {test.allow}})), shipping.WithDialect(shippingtest.Dialect(t, line+path)))
		_, err := client.Regulatory.Retry(t.Context(), "RD-1")
		if want := test.want + path; (declared(err)[0] == want) != (test.want != "") {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
