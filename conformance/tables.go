package conformance

import "github.com/shipping-go/shipping"

// The headings of the specification.
const (
	headingEnvelope     = "Response envelope (all endpoints)"
	headingLimits       = "Limits"
	headingAccess       = "Authentication"
	headingErrors       = "Errors"
	headingRate         = "Rate"
	headingCountry      = "Country"
	headingWebhook      = "Webhook"
	headingTransaction  = "Transaction"
	headingRatePages    = "Rate list pagination object"
	headingWebhookPages = "Webhook pagination object"
	headingTransPages   = "Transaction pagination object"
	headingCountries    = "GET /v1/countries"
	headingReplay       = "POST /v1/webhooks/replay"
	headingReplayed     = "Webhook replay result"
	headingTransactions = "GET /v1/transactions"
	headingRegulatory   = "Regulatory documents, base path /v1/regulatory-documents"
	headingDraft        = "Regulatory document request (draft record)"
	headingStates       = "States and transitions"
	headingFlow         = "What the service does"
	headingEvents       = "Events"
)

// rateFields is the table under the heading "Rate".
func rateFields() fields {
	return fieldsOf[shipping.Rate](map[string]kind{
		"rate_id": digits("RT"), "carrier_reference": digits("CA"), "user": digits("USER"),
		"delivery_address": digits("AD"), "pickup_address": digits("AD"), "parcel": digits("PC"),
		"breakdown": listOf(present),
		"metadata": record(fields{
			{name: "localProductCode", is: text, optional: true},
			{name: "productCode", is: text, optional: true},
		}),
	})
}

// countryFields is the table under the heading "Country".
func countryFields() fields {
	return fieldsOf[shipping.Country](map[string]kind{
		"isoCode":   matching("a two-letter country code", `[A-Za-z]{2}`),
		"phonecode": matching("a dialling code without a plus sign", `[^+]*`),
		"latitude":  degrees(90), "longitude": degrees(180),
	})
}

// webhookFields is the table under the heading "Webhook".
func webhookFields() fields {
	return fieldsOf[shipping.Webhook](map[string]kind{"webhook_id": digits("WA"), "user": digits("USER")})
}

// transactionFields is the table under the heading "Transaction".
func transactionFields() fields {
	return fieldsOf[shipping.Transaction](map[string]kind{
		"transactionId": alphanumerics("TR"), "account_reference": digits("VA"),
		"flat_amount": integer,
		"metadata":    record(fields{{name: "shipment_id", is: text, optional: true}}),
		"payout_date": orNull(text),
	})
}

// ratePagination is the object under the heading "Rate list pagination object".
func ratePagination() fields {
	return fields{
		{name: "total", is: integer},
		{name: "perPage", is: integer},
		{name: "page", is: integer},
		{name: "pageCount", is: integer},
	}
}

// webhookPagination is the object under the heading "Webhook pagination object".
func webhookPagination() fields {
	return append(ratePagination(), fields{
		{name: "currentPage", is: integer},
		{name: "pagingCounter", is: integer},
		{name: "prevPage", is: orNull(integer)},
		{name: "nextPage", is: orNull(integer)},
		{name: "hasPrevPage", is: boolean},
		{name: "hasNextPage", is: boolean},
	}...)
}

// transactionPagination is the object under the heading "Transaction pagination object". Whether
// nextPage is a number after the last page too is left to a separate check.
func transactionPagination() fields {
	return append(ratePagination(), fields{
		{name: "currentPage", is: integer},
		{name: "prevPage", is: integer},
		{name: "nextPage", is: orNull(integer)},
		{name: "hasPrevPage", is: boolean},
		{name: "hasNextPage", is: boolean},
	}...)
}

// replayFields is the table under the heading "Webhook replay result".
func replayFields() fields {
	return fieldsOf[shipping.ReplayResult](map[string]kind{
		"shipment_id": alphanumerics("SH"), "webhook_event_id": alphanumerics("WE"), "delivery_id": alphanumerics("WD"),
	})
}

// draftFields is what the table under the heading "Regulatory document request (draft record)" names.
// It leaves the name of the line items open.
func draftFields(status kind) fields {
	return fields{
		{name: "request_id", is: text},
		{name: "status", is: status},
		{name: "available_documents", is: listOf(record(nil))},
		{name: "source", is: oneOf("shipment", "invoice")},
	}
}

// analyzedFields are those that POST /analyze names: "A draft: request_id, available_documents, line items." The
// others of the table may be left out there.
func analyzedFields() fields {
	table := draftFields(oneOf("draft"))
	for i, f := range table {
		table[i].optional = f.name == "status" || f.name == "source"
	}
	return table
}

// requestStates are the states under the heading "Regulatory document request states".
func requestStates() []string {
	return []string{"draft", "purchasing", "processing", "completed", "failed"}
}

// documentTypes are the supported document type slugs, exact values.
func documentTypes() []string {
	return []string{
		"AMS", "CUSTOMS", "FDA", "DROP-BALL", "FISH-WILDLIFE", "FOOTWEAR", "FUMIGATION", "LITHIUM-BATTERY",
		"MSDS", "MUSEUM", "OTHER", "QUARANTINE", "STEEL", "TEXTILE", "WATCH",
	}
}
