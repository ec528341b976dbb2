package openapi

// envelope is the specification's "Response envelope (all endpoints)" around data.
func envelope(data schema) schema {
	return record(`Specification, "Response envelope (all endpoints)".`,
		must("status", schema{Type: "boolean", Const: true}, "true on success."),
		must("message", text(), "Human-readable result text."),
		must("data", data, "Payload."),
	)
}

// controlAnswer is the envelope of the control routes. Lists have their pages beside the data.
func controlAnswer() schema {
	s := envelope(schema{})
	pagination := ref("RatePagination")
	pagination.Description = "Of a list: as that of rates."
	s.Properties = append(s.Properties, member{"pagination", pagination})
	return s
}

// answers are the bodies of the successes.
func answers() map[string]schema {
	return map[string]schema{
		"RateListAnswer":          envelope(ref("RateList")),
		"CountryListAnswer":       envelope(listOf(ref("Country"))),
		"WebhookListAnswer":       envelope(ref("WebhookList")),
		"ReplayAnswer":            envelope(ref("ReplayResult")),
		"TransactionListAnswer":   envelope(ref("TransactionList")),
		"RegulatoryRequestAnswer": envelope(ref("RegulatoryRequest")),
		"PurchaseAnswer":          envelope(ref("PurchaseResult")),
		"ControlAnswer":           controlAnswer().assuming("a route of the reference server, not of the service"),
	}
}

// refusals are the bodies of the failures.
func refusals() map[string]schema {
	return map[string]schema{
		"Refusal": record(`Specification, "Errors": error body format, error codes and HTTP status codes: not shown. The status of the envelope is not true.`,
			must("status", schema{Type: "boolean", Const: false}, "false on failure."),
			must("message", text("wallet is required"), "What is wrong and what to do next."),
			may("data", ref("RefusalData"), "What a program may want to know."),
		).assuming("that a failure is in the envelope"),
		"RefusalData": record("Why a request was refused, for programs.",
			must("error_code", text("unauthorized", "not_found", "invalid_request", "analysis_failed", "insufficient_funds"), "Which refusal it is. More codes may come."),
			may("request_id", alphanumerics("RD"), "The regulatory document request that it is about."),
			may("status", ref("RequestStatus"), "That request's status."),
			may("problems", listOf(record("",
				must("field", text("line_items[2].hs_code"), "Path of the field."),
				must("reason", text("must be 2 to 12 digits"), "What is wrong with it."),
			)), "Everything that is wrong with what was sent."),
			may("wallet", digits("VA"), "The wallet that holds too little."),
			may("currency", currencyCode(), "Its currency."),
			may("balance", money(), "What it holds."),
			may("needed", money(), "What was to be charged."),
		).assuming(ownShape),
	}
}

// response is a row of the table of failures.
type response struct {
	status, name, about, header, headerAbout string
}

func failures() []response {
	return []response{
		{"400", "BadRequest", "A rule of the specification is broken, or the body cannot be read.", "", ""},
		{"401", "Unauthorized", "The secret key is missing, malformed or unknown.", "WWW-Authenticate", "Bearer, as RFC 6750 has it."},
		{"404", "NotFound", "Nothing has this identifier.", "", ""},
		{"405", "MethodNotAllowed", "The path has other methods only.", "Allow", "The methods that the path has."},
		{"413", "BodyTooLarge", "The body is longer than the server takes.", "", ""},
		{"415", "UnsupportedMediaType", "The body is not declared as application/json.", "", ""},
		{"default", "Failure", "Any other failure: too many requests, a fault of the server, or another status where it is set to answer with one.", "", ""},
	}
}
