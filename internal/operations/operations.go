// Package operations is the table of the operations of the service. It determines the retries of the client, the labels
// of logs, errors and metrics, and the router of the reference server.
package operations

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/internal/spelling"
)

// Retry is the condition under which the client sends an operation again.
type Retry uint8

const (
	// Never: the operation is sent once. It is the zero value, so that an operation without a condition is never retried.
	Never Retry = iota
	// Unsent: the operation is retried only on evidence that nothing was sent, such as a refused connection.
	Unsent
	// Safe: the operation changes nothing on the service and is retried after any failure that may pass.
	Safe
)

// Operation is one operation of the service.
type Operation struct {
	// Name is a stable, low-cardinality label such as "rates.list".
	Name   string
	Method string
	// Route is the path below the base address, with placeholders in braces.
	Route string
	// Retry is the condition under which the client sends the operation again.
	Retry Retry
	// Again is what a second request would do, such as "it may charge again": the reason for Retry. It is empty for a
	// read.
	Again string
	// Pages is true if the operation lists records in pages, with the query parameters page and perPage.
	Pages bool
	// Charges is true if the operation takes money from the wallet.
	Charges bool
	// Open is true if the operation needs no Authorization header.
	Open bool
	// Provisional is true if the specification names the operation but not its path. The route is then an assumption.
	Provisional bool
}

// Names of the operations that the specification names without a path.
const (
	UpdateItems     = "regulatory.items.update"
	UpdateAddresses = "regulatory.addresses.update"
	UpdateShipping  = "regulatory.shipping.update"
	UpdateProfile   = "regulatory.profile.update"
	RetryRequest    = "regulatory.retry"
	DocumentPDF     = "regulatory.pdf"
)

const (
	base    = "/v1/regulatory-documents"
	request = base + "/request/{request_id}"
)

// All returns every operation, in the order of the specification ("Endpoints"), and then those that it names without a
// path ("Regulatory documents": editing, retry, PDF). The caller may change the slice.
//
// Assumption: the routes of the provisional operations; see [WithRoutes].
func All() []Operation {
	return []Operation{
		{Name: "rates.list", Method: http.MethodGet, Route: "/v1/rates", Retry: Safe, Pages: true},
		{Name: "countries.list", Method: http.MethodGet, Route: "/v1/countries", Retry: Safe},
		{Name: "webhooks.list", Method: http.MethodGet, Route: "/v1/webhooks", Retry: Safe, Pages: true},
		{Name: "webhooks.replay", Method: http.MethodPost, Route: "/v1/webhooks/replay", Retry: Unsent,
			Again: "it notifies again"},
		{Name: "transactions.list", Method: http.MethodGet, Route: "/v1/transactions", Retry: Safe, Pages: true},
		{Name: "regulatory.analyze", Method: http.MethodPost, Route: base + "/analyze", Retry: Unsent,
			Again: "it makes another draft"},
		{Name: "regulatory.purchase", Method: http.MethodPost, Route: base + "/purchase", Charges: true,
			Again: "it may charge again"},
		{Name: "regulatory.get", Method: http.MethodGet, Route: request, Retry: Safe},

		{Name: UpdateItems, Method: http.MethodPut, Route: request + "/items", Retry: Unsent,
			Again: "it overwrites a later change", Provisional: true},
		{Name: UpdateAddresses, Method: http.MethodPut, Route: request + "/addresses", Retry: Unsent,
			Again: "it overwrites a later change", Provisional: true},
		{Name: UpdateShipping, Method: http.MethodPut, Route: request + "/shipping", Retry: Unsent,
			Again: "it overwrites a later change", Provisional: true},
		{Name: UpdateProfile, Method: http.MethodPut, Route: request + "/profiles/{document_type}", Retry: Unsent,
			Again: "it overwrites a later change", Provisional: true},
		{Name: RetryRequest, Method: http.MethodPost, Route: request + "/retry", Retry: Unsent, Again: "it generates again",
			Provisional: true},
		{Name: DocumentPDF, Method: http.MethodGet, Route: request + "/documents/{document_type}/pdf", Retry: Safe,
			Open: true, Provisional: true},
	}
}

// WithRoutes returns every operation, with other routes for provisional operations by name. A route is a path, or a
// method and a path, such as "PATCH /v1/again/{request_id}". It has the placeholders of the assumed route.
func WithRoutes(routes map[string]string) ([]Operation, error) {
	table := All()
	methods := []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	for name, route := range routes {
		i := slices.IndexFunc(table, func(o Operation) bool { return o.Name == name && o.Provisional })
		if i < 0 {
			var allowed []string
			for _, o := range table {
				if o.Provisional {
					allowed = append(allowed, o.Name)
				}
			}
			return nil, fmt.Errorf("names %q, but only these operations can have a route: %s",
				name, strings.Join(allowed, ", "))
		}
		method, path, found := strings.Cut(route, " ")
		if !found {
			method, path = "", route
		}
		if problem := problemOf(path, table[i].Route); problem != "" {
			return nil, fmt.Errorf("gives %s the route %q, %s", name, path, problem)
		}
		if found && !slices.Contains(methods, method) {
			return nil, fmt.Errorf("gives %s the method %q: write \"routes += %s=%s %s\"", name, method, name,
				cmp.Or(spelling.Nearest(method, methods), table[i].Method), path)
		}
		table[i].Method, table[i].Route = cmp.Or(method, table[i].Method), path
	}
	return table, nil
}

// problemOf returns why a path cannot replace the path of an operation; "" if it can.
func problemOf(path, assumed string) string {
	if !strings.HasPrefix(path, "/") {
		return "which does not begin with a slash"
	}
	needed, given := placeholders(assumed), placeholders(path)
	for _, name := range needed {
		if !slices.Contains(given, name) {
			place := "in the path"
			if len(given) == 1 && !slices.Contains(needed, given[0]) && strings.Contains(path, "{"+given[0]+"}") {
				place = "in place of {" + given[0] + "}"
			}
			return "which lacks the placeholder {" + name + "}: write it " + place
		}
	}
	for _, name := range given {
		if !slices.Contains(needed, name) {
			return "whose placeholder {" + name + "} is unknown"
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
