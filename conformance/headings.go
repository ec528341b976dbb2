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

// The headings of the specification that are not taken from the description of the service.
const (
	headingLimits     = "Limits"
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
		later    = rates + "; the check of the charge finds it only if a price changes between analysis and purchase"
		paths    = "the specification shows no path for it"
		receiver = "only a receiver sees deliveries: mockserver doctor tests one"
		partly   = "only the first page, and the beginning and the end of a list in pages of two, are read"
	)
	unseen := func(heading, rule, reason string) check {
		return check{heading, rule, missing{Unseen, reason}, nil, stated}
	}
	return []check{
		unseen(headingFlow, "amounts are converted into the wallet's currency when a request is analyzed", rates),
		unseen(headingFlow, "a purchase does not compute its amounts anew", later),
		unseen(headingFlow, "drafts can be edited, and failed automated documents retried", paths),
		unseen(headingAccess, "the operation that generates a PDF needs no Authorization", paths),
		unseen(headingStates, "draft, purchasing and processing come before completed or failed", "states that end between two reads are not seen"),
		unseen(headingStates, "completed means that all purchased documents were generated", "one document is purchased, and the path of its PDF is not shown"),
		unseen(headingErrors, "a request whose analysis or generation fails has the status failed", "no request is known to fail"),
		unseen(headingReplay, "a replay without webhook_id goes to every active webhook that is subscribed, and one with it to no other", receiver),
		unseen(headingReplay, "a replay of a delivery_id sends the exact stored payload", receiver),
		unseen("Events", "a notification is sent to the url of a webhook while it is active", receiver),
		unseen("Webhook pagination object", "pagingCounter", "the specification does not define it; its value is an open point"),
		unseen("GET /v1/rates", "the rates are those that the user generated", "no operation generates rates"),
		unseen("Rate", "records beyond the first page have the fields of their tables", partly),
	}
}
