package conformance

// unchecked returns the rules of the specification that no run can check.
func unchecked() []Unchecked {
	const (
		paths    = "the specification shows no path for it"
		receiver = "only a receiver sees deliveries: mockserver doctor tests one"
		rates    = "no operation shows the exchange rate"
	)
	return []Unchecked{
		{headingFlow, "amounts are converted into the wallet's currency when a request is analyzed", rates},
		{headingFlow, "a purchase does not compute its amounts anew", rates + "; the check of the charge finds it only if a price changes between analysis and purchase"},
		{headingFlow, "drafts can be edited, and failed automated documents retried", paths},
		{headingAccess, "the operation that generates a PDF needs no Authorization", paths},
		{headingStates, "draft, purchasing and processing come before completed or failed", "states that end between two reads are not seen"},
		{headingStates, "completed means that all purchased documents were generated", "one document is purchased, and the path of its PDF is not shown"},
		{headingErrors, "a request whose analysis or generation fails has the status failed", "no request is known to fail"},
		{headingReplay, "a replay without webhook_id goes to every active webhook that is subscribed, and one with it to no other", receiver},
		{headingReplay, "a replay of a delivery_id sends the exact stored payload", receiver},
		{headingEvents, "a notification is sent to the url of a webhook while it is active", receiver},
		{headingWebhookPages, "pagingCounter", "the specification does not define it; its value is an open point"},
		{"GET /v1/rates", "the rates are those that the user generated", "no operation generates rates"},
		{headingRate, "records beyond the first page have the fields of their tables", "only the first page, and the beginning and the end of a list in pages of two, are read"},
	}
}
