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
