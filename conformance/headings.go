package conformance

// The needs of checks: the flag of the command, and the option in Go.
const (
	needsWallet           = "needs a wallet: -wallet, or Target.Wallet in Go"
	needsShipment         = "needs a shipment: -shipment, or Target.Shipment in Go"
	needsInvoice          = "needs an invoice: -invoice, or Target.Invoice in Go"
	needsWrites           = "changes the service: -write, or WithWrites in Go"
	needsPurchase         = "charges the wallet: -purchase and -most, or WithPurchase in Go"
	needsSecondPurchase   = "a failing service charges again: -second-purchase, or WithSecondPurchase in Go"
	needsRefusedPurchases = "a failing service charges: -refused-purchases, or WithRefusedPurchases in Go"
)

// The headings of the specification that are not taken from the description of the service.
const (
	headingAccess     = "Authentication"
	headingErrors     = "Errors"
	headingReplay     = "POST /v1/webhooks/replay"
	headingReplayed   = "Webhook replay result"
	headingRegulatory = "Regulatory documents, base path /v1/regulatory-documents"
	headingDraft      = "Regulatory document request (draft record)"
	headingStates     = "States and transitions"
	headingFlow       = "What the service does"
)

// unseen returns the rules of the specification that no run can check.
func unseen() []check {
	const (
		rates    = "no operation shows the exchange rate"
		later    = rates + "; the charge shows it only if a price changes between analysis and purchase"
		paths    = "the specification shows no path for it"
		receiver = "only a receiver gets deliveries: mockserver doctor tests one"
		partly   = "only the first page, and both ends of a list in pages of two, are read"
	)
	return []check{
		{headingFlow, "amounts are converted into the wallet's currency when a request is analyzed", missing{Unseen, rates},
			nil, stated},
		{headingFlow, "a purchase does not compute its amounts anew", missing{Unseen, later}, nil, stated},
		{headingFlow, "drafts can be edited, and failed automated documents retried", missing{Unseen, paths}, nil, stated},
		{headingAccess, "the operation that generates a PDF needs no Authorization", missing{Unseen, paths}, nil, stated},
		{headingStates, "draft, purchasing and processing come before completed or failed",
			missing{Unseen, "states that end between two reads are not seen"}, nil, stated},
		{headingStates, "completed means that all purchased documents were generated",
			missing{Unseen, "one document is purchased, and the path of its PDF is not shown"}, nil, stated},
		{headingErrors, "a request whose analysis or generation fails has the status failed",
			missing{Unseen, "no request is known to fail"}, nil, stated},
		{headingReplay, "a replay goes only to its webhook_id, or without one to every active webhook that is subscribed",
			missing{Unseen, receiver}, nil, stated},
		{headingReplay, "a replay of a delivery_id sends the exact stored payload", missing{Unseen, receiver}, nil, stated},
		{"Events", "a notification is sent to the url of a webhook while it is active", missing{Unseen, receiver}, nil,
			stated},
		{"Webhook pagination object", "pagingCounter",
			missing{Unseen, "the specification does not define it; its value is an open point"}, nil, stated},
		{"GET /v1/rates", "the rates are those that the user generated", missing{Unseen, "no operation generates rates"},
			nil, stated},
		{"Rate", "records beyond the first page have the fields of their tables", missing{Unseen, partly}, nil, stated},
	}
}
