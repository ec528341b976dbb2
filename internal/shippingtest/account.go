package shippingtest

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
)

// Identifiers of an [Account].
const (
	Shipment = "SH-7Q2MX09DKA4B8C1E"
	Wallet   = "VA-2244668800"
)

// Account is a service for examples. It responds as the specification shows, has 250 rates and 3 transactions, and
// generates documents as soon as they are purchased. It has no rules: the package mockserver has the whole service.
type Account struct {
	*Service
	// LosesPurchase is true if the connection breaks when a purchase has been made.
	LosesPurchase bool
	// Down is true while the account responds 502 to each request.
	Down atomic.Bool

	purchased atomic.Bool
}

// NewAccount returns an account with the draft of [RequestID].
func NewAccount() *Account {
	a := &Account{Service: &Service{MockTransport: httpmock.NewMockTransport()}}
	a.RegisterNoResponder(Refusal(http.StatusNotFound, "not found"))
	for _, call := range Calls() {
		a.respond(call.Operation, call.Success())
	}
	a.respond(shipping.OpListRates, paginated("rates", 250, `{"rate_id":"RT-%[1]d","parcel":"PC-1",
		"carrier_name":"Carrier %[1]d","amount":%[1]d50.25,"currency":"NGN","delivery_eta":1440,
		"delivery_time":"Within 24 hours"}`))
	a.respond(shipping.OpListTransactions, paginated("transactions", 3, `{"transactionId":"TR-%[1]d",
		"amount":%[1]d0.25,"flat_amount":%[1]d025,"currency":"NGN","flow":"in","status":"success"}`))
	a.respond(shipping.OpListCountries, Call{Golden: "countries.json"}.Success())
	a.respond(shipping.OpGetRequest, a.request)
	a.respond(shipping.OpPurchase, a.purchase)
	return a
}

func (a *Account) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.Down.Load() {
		return Refusal(http.StatusBadGateway, "down")(r)
	}
	return a.Service.RoundTrip(r)
}

func (a *Account) respond(operation string, responder httpmock.Responder) {
	method, path := Call{Operation: operation}.Request()
	a.RegisterResponder(method, BaseURL+path, responder)
}

func (a *Account) request(r *http.Request) (*http.Response, error) {
	if !a.purchased.Load() {
		return Call{Golden: "draft.json"}.Success()(r)
	}
	return OK(`{"request_id":"` + RequestID + `","status":"completed","documents":[
		{"document_type":"FDA","status":"generated"},{"document_type":"CUSTOMS","status":"generated"}],
		"charged_amount":18450.5,"currency":"NGN","transaction_id":"TR-5FQJ2M81KD0XA7NB"}`)(r)
}

func (a *Account) purchase(r *http.Request) (*http.Response, error) {
	a.purchased.Store(true)
	if a.LosesPurchase {
		return NoResponse()(r)
	}
	return Call{Golden: "purchase.json"}.Success()(r)
}

// paginated returns a responder of a list of total records, each the format with its number.
func paginated(list string, total int, format string) httpmock.Responder {
	return func(r *http.Request) (*http.Response, error) {
		number := func(name string) int {
			n, _ := strconv.Atoi(r.URL.Query().Get(name))
			return n
		}
		page, perPage := cmp.Or(number("page"), 1), cmp.Or(number("perPage"), 100)
		var records []string
		for n := (page-1)*perPage + 1; n <= min(page*perPage, total); n++ {
			records = append(records, fmt.Sprintf(format, n))
		}
		return OK(fmt.Sprintf(`{%q:[%s],"pagination":{"total":%d,"perPage":%d,"page":%d,"pageCount":%d}}`,
			list, strings.Join(records, ","), total, perPage, page, (total+perPage-1)/perPage))(r)
	}
}
