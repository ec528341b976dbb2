package shipping

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// The methods in this file perform operations that the specification names without a path. They send
// nothing and return [ErrProvisionalRoute] unless [WithProvisionalRoutes] is given; routes, methods
// and bodies are assumptions of this project.

// operationTable is every operation by name, with the routes that the caller knows better.
func operationTable(known []Operation) (map[string]Operation, error) {
	table := map[string]Operation{}
	for _, operation := range Operations() {
		table[operation.Name] = operation
	}
	for _, operation := range known {
		assumed, ok := table[operation.Name]
		switch {
		case !ok || !assumed.Provisional:
			return nil, invalidOption("WithProvisionalRoutes",
				fmt.Sprintf("names %q, which is no provisional operation; see ProvisionalOperations()", operation.Name))
		case !strings.HasPrefix(operation.Route, "/"):
			return nil, invalidOption("WithProvisionalRoutes", fmt.Sprintf("gives %s the route %q: routes start with a slash", operation.Name, operation.Route))
		}
		// Only the route and the method are the caller's to know. What the operation means, such as that
		// the PDF is sent no key, stays.
		assumed.Route = operation.Route
		if operation.Method != "" {
			assumed.Method = operation.Method
		}
		table[operation.Name] = assumed
	}
	return table, nil
}

func (c *core) operation(name string) (Operation, error) {
	operation := c.operations[name]
	if operation.Provisional && !c.provisions {
		return operation, fmt.Errorf("%w (%s)", ErrProvisionalRoute, name)
	}
	return operation, nil
}

// UpdateItems replaces the line items of a draft. What the service offers follows from them: an added
// wristwatch brings WATCH, with a price.
//
// Provisional: see [WithProvisionalRoutes].
func (s RegulatoryService) UpdateItems(ctx context.Context, requestID string, items []LineItem, call ...CallOption) (*RegulatoryRequest, error) {
	if items == nil {
		items = []LineItem{}
	}
	body := struct {
		LineItems []LineItem `json:"line_items"`
	}{items}
	return s.edit(ctx, OpUpdateItems, requestID, "", body, call)
}

// UpdateAddresses replaces the addresses of a draft that are not nil.
//
// Provisional: see [WithProvisionalRoutes].
func (s RegulatoryService) UpdateAddresses(ctx context.Context, requestID string, addresses Addresses, call ...CallOption) (*RegulatoryRequest, error) {
	return s.edit(ctx, OpUpdateAddresses, requestID, "", addresses, call)
}

// UpdateShipping replaces how an invoice's goods travel. The service refuses it for a request made
// from a shipment.
//
// Provisional: see [WithProvisionalRoutes].
func (s RegulatoryService) UpdateShipping(ctx context.Context, requestID string, shipping Shipping, call ...CallOption) (*RegulatoryRequest, error) {
	return s.edit(ctx, OpUpdateShipping, requestID, "", shipping, call)
}

// UpdateProfile fills in the profile of one form of a draft. fields is anything that marshals to a
// JSON object, such as a map; see [AvailableDocument] for the fields a form has.
//
// Provisional: see [WithProvisionalRoutes].
func (s RegulatoryService) UpdateProfile(ctx context.Context, requestID string, document DocumentType, fields any, call ...CallOption) (*RegulatoryRequest, error) {
	if fields == nil {
		return nil, invalidRequest(OpUpdateProfile, "fields", "is missing: pass what the form asks for, such as a map")
	}
	return s.edit(ctx, OpUpdateProfile, requestID, document, fields, call)
}

// Retry generates the failed automated documents of a failed request again. Nothing is charged.
//
// Provisional: see [WithProvisionalRoutes]. Assumption: the request goes back to processing.
func (s RegulatoryService) Retry(ctx context.Context, requestID string, call ...CallOption) (*RegulatoryRequest, error) {
	return s.edit(ctx, OpRetryRequest, requestID, "", struct{}{}, call)
}

func (s RegulatoryService) edit(ctx context.Context, operation, requestID string, document DocumentType, body any, call []CallOption) (*RegulatoryRequest, error) {
	return s.record(ctx, request{operation: operation, params: documentParams(requestID, document), body: body}, call)
}

// PDF returns a generated document. The operation needs no authorization, and the key is not sent.
//
// Provisional: see [WithProvisionalRoutes]. Specification: "Authentication", rule 1.
func (s RegulatoryService) PDF(ctx context.Context, requestID string, document DocumentType, call ...CallOption) ([]byte, error) {
	call = append([]CallOption{WithHeader("Accept", "application/pdf")}, call...)
	body, response, err := fetch[rawBody](ctx, s.core, request{operation: OpDocumentPDF, params: documentParams(requestID, document)}, call)
	if err == nil && !bytes.HasPrefix(body, []byte("%PDF-")) {
		err = s.core.redacted(&Error{
			Operation: OpDocumentPDF, StatusCode: response.StatusCode, RequestID: requestID, Attempts: response.Attempts,
			Body: body, kind: ErrUnexpectedBody, Message: "the answer is not a PDF",
		})
	}
	if err != nil {
		return nil, err
	}
	return body, nil
}

func documentParams(requestID string, document DocumentType) map[string]string {
	return map[string]string{regulatoryRequestID: requestID, regulatoryDocument: string(document)}
}
