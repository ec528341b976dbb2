package shippingtest

import (
	"context"
	"net/http"
	"regexp"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
)

// Call is one operation of the client with arguments that pass its checks.
type Call struct {
	Operation string
	Golden    string // the golden response of a success; "": Data is its data
	Data      string
	Sent      string // the query of a GET request, or the body of another one
	Do        func(ctx context.Context, c *shipping.Client, options ...shipping.CallOption) (any, error)
}

// RequestID is the regulatory request of the calls.
const RequestID = "RD-A1B2C3D4E5F6G7H8"

// Calls returns every method that sends something, so that no test misses one: the methods of lists from [Lists], and
// rows for the others.
func Calls() (calls []Call) {
	for _, list := range Lists() {
		calls = append(calls, list.asCall())
	}
	const draft = "draft.json"
	return append(calls, []Call{
		{shipping.OpReplayWebhook, "replay.json", "", `{"delivery_id":"WD-1"}`,
			func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
				return c.Webhooks.Replay(ctx, &shipping.ReplayRequest{DeliveryID: "WD-1"}, o...)
			}},
		{shipping.OpAnalyze, draft, "", `{"shipment_id":"SH-7Q2MX09DKA4B8C1E"}`,
			func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
				return c.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: "SH-7Q2MX09DKA4B8C1E"}, o...)
			}},
		{shipping.OpGetRequest, "request.json", "", "",
			func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
				return c.Regulatory.Get(ctx, RequestID, o...)
			}},
		{shipping.OpPurchase, "purchase.json", "", `{"request_id":"` + RequestID + `","document_types":["FDA","CUSTOMS"]}`,
			func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
				return c.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
					RequestID: RequestID, DocumentTypes: []shipping.DocumentType{"FDA", "CUSTOMS"}, Draft: DraftRecord(RequestID),
				}, o...)
			}},
		{operations.UpdateItems, draft, "",
			`{"line_items":[{"description":"tea","quantity":1,"unit_price":12.5,"currency":"USD"}]}`,
			func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
				price, err := shipping.ParseAmount("12.5")
				if err != nil {
					return nil, err
				}
				return c.Regulatory.UpdateItems(ctx, RequestID,
					[]shipping.LineItem{{Description: "tea", Quantity: 1, UnitPrice: price, Currency: "USD"}}, o...)
			}},
		{operations.UpdateAddresses, draft, "", `{"origin":{"country":"CN"}}`,
			func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
				return c.Regulatory.UpdateAddresses(ctx, RequestID, shipping.Addresses{Origin: &shipping.Address{Country: "CN"}},
					o...)
			}},
		{operations.UpdateShipping, "invoice.json", "", `{"incoterm":"DAP"}`,
			func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
				return c.Regulatory.UpdateShipping(ctx, RequestID, shipping.ShippingDetails{Incoterm: "DAP"}, o...)
			}},
		{operations.UpdateProfile, draft, "", `{"product_code":"54YFT10"}`,
			func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
				return c.Regulatory.UpdateProfile(ctx, RequestID, "FDA", map[string]string{"product_code": "54YFT10"}, o...)
			}},
		{operations.RetryRequest, draft, "", `{}`,
			func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
				return c.Regulatory.Retry(ctx, RequestID, o...)
			}},
		{operations.DocumentPDF, "", "", "",
			func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
				return c.Regulatory.PDF(ctx, RequestID, "FDA", o...)
			}},
		{"do", "", `{}`, `{"parcel":"PC-1"}`,
			func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
				return nil, c.Do(ctx, http.MethodPost, "/v1/shipments", nil, map[string]string{"parcel": "PC-1"}, nil, o...)
			}},
	}...)
}

// asCall returns a call of List that gets no records.
func (l List) asCall() Call {
	const wallet = "VA-2244668800"
	return Call{l.Operation, "", l.Data(""), l.Query(wallet),
		func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
			return first(l.Get(ctx, c, wallet, o...))
		}}
}

// placeholder matches a placeholder of a route.
var placeholder = regexp.MustCompile(`\{\w+\}`)

// Request returns the method and the path of the request, by the table of operations.
func (c Call) Request() (method, path string) {
	if c.Operation == "do" {
		return http.MethodPost, "/v1/shipments"
	}
	operation := Operation(c.Operation)
	return operation.Method, PathOf(operation)
}

// PathOf returns the path of an operation, with the values that the calls give to its placeholders.
func PathOf(operation operations.Operation) string {
	values := map[string]string{"{request_id}": RequestID, "{document_type}": "FDA"}
	return placeholder.ReplaceAllStringFunc(operation.Route, func(name string) string {
		if values[name] == "" {
			panic("shippingtest: PathOf has no value for " + name + " of " + operation.Name)
		}
		return values[name]
	})
}

func (c Call) Body() string {
	if c.Operation == operations.DocumentPDF {
		return "%PDF-1.7 …"
	}
	if c.Golden != "" {
		text, err := golden(c.Golden)
		if err != nil {
			panic(err)
		}
		return text
	}
	return Envelope(c.Data)
}

// Success returns a responder of what the call expects.
func (c Call) Success() httpmock.Responder {
	return httpmock.NewStringResponder(http.StatusOK, c.Body()).SetContentLength()
}

// Operation returns the row of an operation in the table; Do, which is in no table, is retried if it was not sent.
func Operation(name string) operations.Operation {
	for _, operation := range operations.All() {
		if operation.Name == name {
			return operation
		}
	}
	return operations.Operation{Name: name, Retry: operations.Unsent}
}
