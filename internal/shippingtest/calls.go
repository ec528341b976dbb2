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
	Data      string // of a success
	Sent      string // the query of a GET request, or the body of another one
	Do        func(ctx context.Context, c *shipping.Client, options ...shipping.CallOption) error
}

// RequestID is the regulatory request of the calls.
const RequestID = "RD-A1B2C3D4E5F6G7H8"

// Calls returns every method that sends something, so that no method misses a case. The lists follow the services of the
// client; every other method is a row.
func Calls() (calls []Call) {
	for _, list := range Lists() {
		calls = append(calls, list.asCall())
	}
	const draft = `{"request_id":"` + RequestID + `","status":"draft","source":"shipment","available_documents":[],"line_items":[]}`
	return append(calls, []Call{
		{shipping.OpReplayWebhook, `{"shipment_id":"SH-1"}`, `{"delivery_id":"WD-1"}`, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Webhooks.Replay(ctx, &shipping.ReplayRequest{DeliveryID: "WD-1"}, o...)
			return err
		}},
		{shipping.OpAnalyze, draft, `{"shipment_id":"SH-1"}`, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: "SH-1"}, o...)
			return err
		}},
		{shipping.OpGetRequest, draft, "", func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.Get(ctx, RequestID, o...)
			return err
		}},
		{shipping.OpPurchase, `{"request_id":"` + RequestID + `","status":"processing"}`, `{"request_id":"` + RequestID + `","document_types":["FDA"]}`, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
				RequestID: RequestID, DocumentTypes: []shipping.DocumentType{"FDA"}, Draft: DraftRecord(RequestID),
			}, o...)
			return err
		}},
		{operations.UpdateItems, draft, `{"line_items":[{"description":"tea","quantity":0}]}`, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.UpdateItems(ctx, RequestID, []shipping.LineItem{{Description: "tea"}}, o...)
			return err
		}},
		{operations.UpdateAddresses, draft, `{"origin":{"country":"CN"}}`, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.UpdateAddresses(ctx, RequestID, shipping.Addresses{Origin: &shipping.Address{Country: "CN"}}, o...)
			return err
		}},
		{operations.UpdateShipping, draft, `{"incoterm":"DAP"}`, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.UpdateShipping(ctx, RequestID, shipping.ShippingDetails{Incoterm: "DAP"}, o...)
			return err
		}},
		{operations.UpdateProfile, draft, `{"product_code":"54YFT10"}`, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.UpdateProfile(ctx, RequestID, "FDA", map[string]string{"product_code": "54YFT10"}, o...)
			return err
		}},
		{operations.RetryRequest, draft, `{}`, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.Retry(ctx, RequestID, o...)
			return err
		}},
		{operations.DocumentPDF, "", "", func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.PDF(ctx, RequestID, "FDA", o...)
			return err
		}},
		{"do", `{}`, `{"parcel":"PC-1"}`, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			return c.Do(ctx, http.MethodPost, "/v1/shipments", nil, map[string]string{"parcel": "PC-1"}, nil, o...)
		}},
	}...)
}

// asCall returns a call of List that gets no records.
func (l List) asCall() Call {
	const wallet = "VA-1"
	return Call{l.Operation, l.Data(""), l.Query(wallet), func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
		_, _, err := l.Get(ctx, c, wallet, o...)
		return err
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
	values := map[string]string{"{request_id}": RequestID, "{document_type}": "FDA"}
	return operation.Method, placeholder.ReplaceAllStringFunc(operation.Route, func(name string) string {
		if values[name] == "" {
			panic("shippingtest: Call.Request has no value for " + name + " of " + c.Operation)
		}
		return values[name]
	})
}

// Body returns the body of a success.
func (c Call) Body() string {
	if c.Operation == operations.DocumentPDF {
		return "%PDF-1.7 …"
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
