package shipping

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Retry is the condition under which the client sends an operation again.
type Retry uint8

const (
	// RetryNever: the operation is sent once, whatever happens. It is the zero value, so that an operation
	// without a condition is never retried.
	RetryNever Retry = iota
	// RetryUnsent: the operation is retried only on evidence that nothing was sent, such as a refused
	// connection.
	RetryUnsent
	// RetrySafe: the operation changes nothing on the service and is retried after any failure that may pass.
	RetrySafe
)

// String returns "never", "unsent" or "safe".
func (r Retry) String() string {
	switch r {
	case RetrySafe:
		return "safe"
	case RetryUnsent:
		return "unsent"
	default:
		return "never"
	}
}

// Operation describes one operation of the service. The client's retry decisions, the labels of
// logs, errors and metrics, and the reference server's router all follow from it.
type Operation struct {
	// Name is a stable, low-cardinality label such as "rates.list".
	Name string
	// Method is the HTTP method.
	Method string
	// Route is the path below the base address, with placeholders in braces, such as
	// "/v1/regulatory-documents/request/{request_id}".
	Route string
	// Retry is the condition under which the client sends the operation again.
	Retry Retry
	// Pages is true if the operation lists records in pages, with the query parameters page and perPage.
	Pages bool
	// Charges is true if the operation takes money from the wallet.
	Charges bool
	// Open is true if the operation needs no Authorization header.
	Open bool
	// Provisional is true if the specification names the operation but not its path. The route
	// is then an assumption; see [WithProvisionalRoutes].
	Provisional bool
}

// Route is the route of an operation that the specification names without a path; see
// [WithProvisionalRoutes].
type Route struct {
	// Operation is the name of the operation, such as [OpRetryRequest].
	Operation string
	// Method is the HTTP method; empty for the assumed one.
	Method string
	// Path is the path below the base address. It has the placeholders of the assumed route in
	// [ProvisionalOperations], such as "/v1/forms/{request_id}/{document_type}".
	Path string
}

// Names of the operations that the specification documents with their paths.
const (
	OpListRates        = "rates.list"
	OpListCountries    = "countries.list"
	OpListWebhooks     = "webhooks.list"
	OpReplayWebhook    = "webhooks.replay"
	OpListTransactions = "transactions.list"
	OpAnalyze          = "regulatory.analyze"
	OpPurchase         = "regulatory.purchase"
	OpGetRequest       = "regulatory.get"
)

// Names of the operations that the specification names without a path; see [WithProvisionalRoutes].
const (
	OpUpdateItems     = "regulatory.items.update"
	OpUpdateAddresses = "regulatory.addresses.update"
	OpUpdateShipping  = "regulatory.shipping.update"
	OpUpdateProfile   = "regulatory.profile.update"
	OpRetryRequest    = "regulatory.retry"
	OpDocumentPDF     = "regulatory.pdf"
)

const (
	regulatoryBase      = "/v1/regulatory-documents"
	regulatoryRequest   = regulatoryBase + "/request/{request_id}"
	regulatoryRequestID = "request_id"
	regulatoryDocument  = "document_type"
)

// Operations returns every operation, documented ones first, in the order of the specification
// ("Endpoints"). The caller may change the slice.
func Operations() []Operation {
	return append([]Operation{
		{Name: OpListRates, Method: http.MethodGet, Route: "/v1/rates", Retry: RetrySafe, Pages: true},
		{Name: OpListCountries, Method: http.MethodGet, Route: "/v1/countries", Retry: RetrySafe},
		{Name: OpListWebhooks, Method: http.MethodGet, Route: "/v1/webhooks", Retry: RetrySafe, Pages: true},
		{Name: OpReplayWebhook, Method: http.MethodPost, Route: "/v1/webhooks/replay", Retry: RetryUnsent},
		{Name: OpListTransactions, Method: http.MethodGet, Route: "/v1/transactions", Retry: RetrySafe, Pages: true},
		{Name: OpAnalyze, Method: http.MethodPost, Route: regulatoryBase + "/analyze", Retry: RetryUnsent},
		{Name: OpPurchase, Method: http.MethodPost, Route: regulatoryBase + "/purchase", Charges: true},
		{Name: OpGetRequest, Method: http.MethodGet, Route: regulatoryRequest, Retry: RetrySafe},
	}, ProvisionalOperations()...)
}

// ProvisionalOperations returns the operations that the specification names without a path
// ("Regulatory documents": editing, retry, PDF), on the routes that this project assumes. The
// reference server serves this table, and [WithProvisionalRoutes] changes it.
//
// Assumption: every route in it. Pass the routes of your service to [WithProvisionalRoutes] if they differ.
func ProvisionalOperations() []Operation {
	return []Operation{
		{Name: OpUpdateItems, Method: http.MethodPut, Route: regulatoryRequest + "/items", Retry: RetryUnsent, Provisional: true},
		{Name: OpUpdateAddresses, Method: http.MethodPut, Route: regulatoryRequest + "/addresses", Retry: RetryUnsent, Provisional: true},
		{Name: OpUpdateShipping, Method: http.MethodPut, Route: regulatoryRequest + "/shipping", Retry: RetryUnsent, Provisional: true},
		{Name: OpUpdateProfile, Method: http.MethodPut, Route: regulatoryRequest + "/profiles/{document_type}", Retry: RetryUnsent, Provisional: true},
		{Name: OpRetryRequest, Method: http.MethodPost, Route: regulatoryRequest + "/retry", Retry: RetryUnsent, Provisional: true},
		{Name: OpDocumentPDF, Method: http.MethodGet, Route: regulatoryRequest + "/documents/{document_type}/pdf", Retry: RetrySafe, Open: true, Provisional: true},
	}
}

// operationTable returns every operation by name, with the caller's routes applied.
func operationTable(routes []Route) (map[string]Operation, error) {
	table := map[string]Operation{}
	for _, operation := range Operations() {
		table[operation.Name] = operation
	}
	for _, route := range routes {
		operation := table[route.Operation]
		if problem := route.problem(operation); problem != "" {
			return nil, invalidOption("WithProvisionalRoutes", problem)
		}
		operation.Route, operation.Method = route.Path, cmp.Or(route.Method, operation.Method)
		table[operation.Name] = operation
	}
	return table, nil
}

// problem returns why the route cannot be that of an operation; "" if it can.
func (r Route) problem(assumed Operation) string {
	if !assumed.Provisional {
		return fmt.Sprintf("names %q, which is not a provisional operation; see ProvisionalOperations()", r.Operation)
	}
	if !strings.HasPrefix(r.Path, "/") {
		return fmt.Sprintf("gives %s the route %q: routes start with a slash", r.Operation, r.Path)
	}
	needed, given := placeholders(assumed.Route), placeholders(r.Path)
	for _, name := range needed {
		if !slices.Contains(given, name) {
			return fmt.Sprintf("gives %s the route %q, which lacks the placeholder {%s}", r.Operation, r.Path, name)
		}
	}
	for _, name := range given {
		if !slices.Contains(needed, name) {
			return fmt.Sprintf("gives %s the route %q, whose placeholder {%s} is unknown", r.Operation, r.Path, name)
		}
	}
	return ""
}

// placeholders returns the names in braces of a route.
func placeholders(route string) (names []string) {
	for {
		_, rest, found := strings.Cut(route, "{")
		if !found {
			return names
		}
		name, after, _ := strings.Cut(rest, "}")
		names, route = append(names, name), after
	}
}
