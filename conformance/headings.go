package conformance

// What a check needs, as the command and as Go name it.
const (
	needsWallet           = "needs a wallet: -wallet, or Target.Wallet in Go"
	needsShipment         = "needs a shipment: -shipment, or Target.Shipment in Go"
	needsInvoice          = "needs an invoice: -invoice, or Target.Invoice in Go"
	needsWrites           = "changes the service: -write, or WithWrites in Go"
	needsSecondPurchase   = "a service that fails it charges again: -second-purchase, or WithSecondPurchase in Go"
	needsRefusedPurchases = "a service that fails it charges: -refused-purchases, or WithRefusedPurchases in Go"
)

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
