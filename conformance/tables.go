package conformance

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
	headingRates        = "GET /v1/rates"
	headingCountries    = "GET /v1/countries"
	headingWebhooks     = "GET /v1/webhooks"
	headingReplay       = "POST /v1/webhooks/replay"
	headingReplayed     = "Webhook replay result"
	headingTransactions = "GET /v1/transactions"
	headingRegulatory   = "Regulatory documents, base path /v1/regulatory-documents"
	headingDraft        = "Regulatory document request (draft record)"
	headingStates       = "States and transitions"
	headingFlow         = "What the service does"
)

// rateFields is the table under the heading "Rate".
func rateFields() fields {
	return fields{
		{name: "rate_id", is: digits("RT")},
		{name: "amount", is: number},
		{name: "currency", is: text},
		{name: "breakdown", is: listOf(present)},
		{name: "carrier_name", is: text},
		{name: "carrier_slug", is: text},
		{name: "carrier_logo", is: text},
		{name: "carrier_rate_description", is: text},
		{name: "carrier_reference", is: digits("CA")},
		{name: "delivery_address", is: digits("AD")},
		{name: "pickup_address", is: digits("AD")},
		{name: "parcel", is: digits("PC")},
		{name: "delivery_date", is: timestamp},
		{name: "delivery_eta", is: number},
		{name: "delivery_time", is: text},
		{name: "pickup_eta", is: number},
		{name: "pickup_time", is: text},
		{name: "includes_insurance", is: boolean},
		{name: "insurance_fee", is: number},
		{name: "insurance_coverage", is: number},
		{name: "metadata", is: record(fields{
			{name: "localProductCode", is: text, optional: true},
			{name: "productCode", is: text, optional: true},
		})},
		{name: "used", is: boolean},
		{name: "user", is: digits("USER")},
		{name: "created_at", is: timestamp},
		{name: "updated_at", is: timestamp},
	}
}

// countryFields is the table under the heading "Country".
func countryFields() fields {
	return fields{
		{name: "isoCode", is: matching("a two-letter country code", `[A-Z]{2}`)},
		{name: "name", is: text},
		{name: "phonecode", is: matching("a dialling code without a plus sign", `[^+]*`)},
		{name: "flag", is: text},
		{name: "currency", is: text},
		{name: "latitude", is: degrees(90)},
		{name: "longitude", is: degrees(180)},
		{name: "timezones", is: listOf(record(fields{
			{name: "zoneName", is: text},
			{name: "gmtOffset", is: number},
			{name: "gmtOffsetName", is: text},
			{name: "abbreviation", is: text},
			{name: "tzName", is: text},
		}))},
	}
}

// webhookFields is the table under the heading "Webhook".
func webhookFields() fields {
	return fields{
		{name: "webhook_id", is: digits("WA")},
		{name: "_id", is: text},
		{name: "id", is: text},
		{name: "name", is: text},
		{name: "url", is: text},
		{name: "event", is: listOf(text)},
		{name: "active", is: boolean},
		{name: "live", is: boolean},
		{name: "user", is: digits("USER")},
		{name: "created_at", is: timestamp},
		{name: "updated_at", is: timestamp},
		{name: "__v", is: number},
	}
}

// transactionFields is the table under the heading "Transaction".
func transactionFields() fields {
	return fields{
		{name: "transactionId", is: alphanumerics("TR")},
		{name: "_id", is: text},
		{name: "accountId", is: text},
		{name: "account_reference", is: digits("VA")},
		{name: "store_reference", is: text},
		{name: "txRef", is: text, optional: true},
		{name: "amount", is: number},
		{name: "amount_received", is: number},
		{name: "converted_amount", is: number},
		{name: "currency", is: text},
		{name: "currency_converted_to", is: text},
		{name: "flat_amount", is: integer},
		{name: "fee", is: number},
		{name: "platform_fee", is: number},
		{name: "description", is: text},
		{name: "flow", is: text},
		{name: "status", is: text},
		{name: "metadata", is: record(fields{{name: "shipment_id", is: text, optional: true}})},
		{name: "platform", is: text},
		{name: "transaction_source", is: text},
		{name: "receiver", is: record(fields{{name: "name", is: text}, {name: "reference", is: text}, {name: "type", is: text}})},
		{name: "sender", is: record(fields{{name: "name", is: text}, {name: "id", is: text}, {name: "account_number", is: text}})},
		{name: "recipient", is: text},
		{name: "reversed", is: boolean},
		{name: "settled", is: boolean},
		{name: "settlement_reference", is: text},
		{name: "payout_date", is: orNull(text)},
		{name: "created_at", is: timestamp},
		{name: "updated_at", is: timestamp},
		{name: "__v", is: number},
	}
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
	return fields{
		{name: "shipment_id", is: alphanumerics("SH")},
		{name: "event", is: text},
		{name: "webhook_event_id", is: alphanumerics("WE")},
		{name: "delivery_id", is: alphanumerics("WD")},
		{name: "replay_mode", is: text},
	}
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
