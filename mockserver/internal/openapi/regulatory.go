package openapi

// Of a regulatory document request the specification shows five fields and says of the others "not
// shown". Everything marked as assumed here is this project's.

const ownShape = "the whole shape; the specification does not show it"

// requests are the records of the regulatory documents flow.
func requests() map[string]schema {
	return map[string]schema{
		"AnalyzeRequest": analyzeRequest(),
		"PurchaseRequest": record(`Specification, "Regulatory documents": POST /purchase.`,
			must("request_id", alphanumerics("RD"), "The draft to purchase."),
			must("document_types", atLeastOne(ref("DocumentType")), "Array of document type slugs, out of the draft's available_documents."),
		),
		"PurchaseResult": record(`Specification, "Regulatory documents": confirmation that the wallet was charged and generation started.`,
			must("request_id", alphanumerics("RD"), "The request."),
			must("status", ref("RequestStatus"), "processing, or purchasing while that lasts."),
			must("document_types", listOf(ref("DocumentType")), "What was bought."),
			must("charged_amount", money(), "Sum of the amounts stored on the draft."),
			must("currency", currencyCode(), "The wallet's currency."),
			must("transaction_id", alphanumerics("TR"), "The wallet transaction."),
		).assuming(ownShape),
		"RequestStatus": oneOf("draft", "purchasing", "processing", "completed", "failed").
			described(`Specification, "Regulatory document request states".`),
		"RegulatoryRequest": record(`Specification, "Regulatory document request (draft record)".`,
			must("request_id", alphanumerics("RD"), "Identifier of the request."),
			must("status", ref("RequestStatus"), "One of the request states."),
			must("source", oneOf("shipment", "invoice"), "shipment or invoice."),
			may("shipment_id", alphanumerics("SH").assuming("in the shipment flow"), "What was analyzed."),
			may("file_url", link().assuming("in the invoice flow"), "What was analyzed."),
			must("wallet", digits("VA").assuming("the whole field"), "The wallet that a purchase charges."),
			must("currency", currencyCode().assuming("the whole field"), "The wallet's currency."),
			must("line_items", listOf(ref("LineItem")).assuming("the name"), "Items of the shipment or invoice."),
			must("available_documents", listOf(ref("AvailableDocument")), "Documents matched at analyze time, each carrying its price converted into the wallet currency."),
			may("documents", listOf(ref("Document")).assuming("the whole field"), "What was purchased, from the start of generation on."),
			may("addresses", record("",
				must("origin", ref("Address"), "Where the goods come from."),
				must("destination", ref("Address"), "Where they go."),
			).assuming("the whole field"), "The two ends of the consignment. Absent after a failed analysis."),
			may("shipping", ref("Shipping"), "In the invoice flow only."),
			must("profiles", mapOf(ref("Profile")).assuming("the whole field"), "What was filled in, by document type."),
			may("charged_amount", money(), "Sum that was charged, after a purchase."),
			may("transaction_id", alphanumerics("TR").assuming("the whole field"), "Wallet transaction, after a purchase."),
			may("failure_reason", text("Generation failed: FDA").assuming("the whole field"), "Why the status is failed."),
			must("created_at", instant().assuming("the whole field"), "ISO 8601 UTC timestamp."),
			must("updated_at", instant().assuming("the whole field"), "ISO 8601 UTC timestamp."),
		).assuming("every field but request_id, status, available_documents, the line items and source"),
		"LineItem": lineItem(`Specification, "Regulatory document request (draft record)": items of the shipment or invoice.`),
		"AvailableDocument": record(`Specification, "Regulatory document request (draft record)": documents matched at analyze time, each carrying its price converted into the wallet currency.`,
			must("document_type", ref("DocumentType"), "Document type slug."),
			must("name", text("FDA prior notice"), "Name of the form."),
			must("mode", oneOf("automated", "manual"), "Automated documents can be retried; manual ones wait for evidence."),
			must("amount", money(), "Price in currency, fixed at analyze time. A purchase charges it as it stands here."),
			must("currency", currencyCode(), "The wallet's currency."),
			must("reasons", listOf(ref("MatchReason")), "Why the form is needed."),
			must("profile_fields", listOf(ref("ProfileField")), "What its profile can hold."),
		).assuming(ownShape),
		"MatchReason": record("Why a form is on the draft.",
			may("item_id", alphanumerics("IT"), "The item. Absent where the whole consignment is the reason."),
			must("rule", oneOf("hs_prefix", "keyword", "cross_border"), "The kind of rule."),
			must("match", text("2106", "CN-US"), "The prefix or word that was found, or the border that is crossed."),
		).assuming(ownShape),
		"ProfileField": record("A field of a form's regulatory profile.",
			must("name", text("product_code"), "Key in the profile."),
			must("label", text("FDA product code"), "Text for a person."),
			must("type", oneOf("string", "number", "date", "boolean", "percent"), "Type of the value."),
			must("required", flag(), "Whether the form is worthless without it."),
		).assuming(ownShape),
		"Document": record("A purchased document and how far its generation is.",
			must("document_type", ref("DocumentType"), "Document type slug."),
			must("name", text("FDA prior notice"), "Name of the form."),
			must("mode", oneOf("automated", "manual"), "Automated documents can be retried; manual ones wait for evidence."),
			must("amount", money(), "What was charged for it."),
			must("currency", currencyCode(), "The wallet's currency."),
			must("status", oneOf("generating", "awaiting_evidence", "generated", "failed"), "State of the document."),
			must("attempts", count().like(1), "How often generation was started."),
			may("failure", text(), "Why the last attempt failed."),
			may("generated_at", instant(), "When it was generated."),
		).assuming(ownShape),
		"Address":  addressRecord("A place and who is reached there."),
		"Shipping": shippingRecord("How the goods travel, which an invoice does not say."),
		"Profile": mapOf(schema{}).described("A form's regulatory profile: values by field name, as the profile_fields of the form say. A text, a number or a boolean.").
			assuming(ownShape).like(map[string]any{"product_code": "54YFT10"}),
	}
}

func analyzeRequest() schema {
	s := record(`Specification, "Regulatory documents": POST /analyze takes shipment_id (shipment flow) or file_url (invoice flow).`,
		may("shipment_id", alphanumerics("SH"), "An existing shipment in the service."),
		may("file_url", link().like("https://invoices.example/1001.pdf"), "The URL of an uploaded commercial invoice."),
		may("wallet", digits("VA").assuming("the whole field"), "The wallet whose currency and money to use; the account's first when omitted."),
	)
	s.If = &schema{Required: []string{"shipment_id"}}
	s.Then = &schema{Not: &schema{Required: []string{"file_url"}}}
	s.Else = &schema{Required: []string{"file_url"}}
	return s
}

// edits are the bodies of the provisional operations.
func edits() map[string]schema {
	const heading = `Specification, "Regulatory documents": editing the draft covers items, addresses, shipping (invoice flow only) and per-form regulatory profiles. `
	return map[string]schema{
		"ItemsEdit": record(heading+"All the items: one that is not listed is removed.",
			must("line_items", atLeastOne(ref("LineItemEdit")), "The items."),
		).assuming(ownShape),
		"LineItemEdit": lineItem("An item. It keeps the item_id that it brings and is given one if it brings none.").
			needing("description", "quantity", "unit_price", "currency"),
		"AddressesEdit": record(heading+"An address that is absent stays as it is.",
			may("origin", ref("AddressEdit"), "Where the goods come from."),
			may("destination", ref("AddressEdit"), "Where they go."),
		).assuming(ownShape),
		"AddressEdit":  addressRecord("A place; the whole address is replaced.").needing("country"),
		"ShippingEdit": shippingRecord(heading + "The whole is replaced.").needing(),
		"Nothing":      schema{Type: "object"}.described(heading + "A retry says nothing more.").assuming(ownShape),
	}
}

func lineItem(about string) schema {
	return record(about,
		must("item_id", alphanumerics("IT"), "Identifier of the item."),
		must("description", text("Vitamin C supplement"), "What the item is."),
		must("hs_code", matching("^([0-9. -]{2,20})?$", "210690"), "Tariff code, empty where it is not known."),
		must("quantity", schema{Type: "integer", Minimum: new(1)}, "How many."),
		must("unit_price", money(), "Price of one, in currency."),
		must("currency", currencyCode(), "Currency of the unit price."),
		must("weight", fraction().like(0.4), "Weight of one in kilograms."),
		must("origin_country", matching("^([A-Z]{2})?$", "CN"), "Where it was made, as a two-letter code; may be empty."),
	).assuming(ownShape)
}

func addressRecord(about string) schema {
	return record(about,
		must("name", text("Ada Obi"), "Person."),
		must("company", text(), "Company; may be empty."),
		must("line1", text("4 Marina"), "Street."),
		must("line2", text(), "Second line; may be empty."),
		must("city", text("Lagos"), "City."),
		must("state", text("LA"), "State or province; may be empty."),
		must("postal_code", text("101241"), "Postal code; may be empty."),
		must("country", matching("^[A-Z]{2}$", "NG"), "Two-letter country code."),
		must("phone", text(), "May be empty."),
		must("email", text(), "May be empty."),
	).assuming(ownShape)
}

func shippingRecord(about string) schema {
	return record(about,
		must("carrier_slug", text("dhl"), "Carrier identifier slug."),
		must("service", text("Express Worldwide"), "Service level."),
		must("incoterm", text("DAP"), "One of the Incoterms 2020 rules; may be empty."),
		must("reason_for_export", text("Sale"), "May be empty."),
		must("port_of_entry", text("Newark, NJ"), "May be empty."),
		must("estimated_arrival", text("2026-01-31"), "A date or an ISO 8601 timestamp; may be empty."),
	).assuming(ownShape)
}

func atLeastOne(items schema) schema {
	s := listOf(items)
	s.MinItems = 1
	return s
}

// notifications are what the service sends to a webhook.
func notifications() map[string]schema {
	withID := func(prefix, name string, s schema) schema {
		s.Properties = append(object{{name, digits(prefix).described("Identifier.")}}, s.Properties...)
		s.Required = append([]string{name}, s.Required...)
		return s
	}
	return map[string]schema{
		"Notification": record(`Specification, "Events": shape of the delivered payload: not shown.`,
			must("event", text("shipment.created", "shipment.updated", "shipment.delivered"), "Event kind."),
			must("data", ref("Shipment"), "The shipment."),
		).assuming(ownShape),
		"Shipment": record("A shipment, as a notification carries it.",
			must("shipment_id", alphanumerics("SH"), "Identifier."),
			must("status", text("draft", "pending", "confirmed", "in-transit", "delivered", "cancelled"), "State."),
			must("address_from", withID("AD", "address_id", addressRecord("")), "Where it is picked up."),
			must("address_to", withID("AD", "address_id", addressRecord("")), "Where it is delivered."),
			must("parcel", record("",
				must("parcel_id", digits("PC"), "Identifier."),
				must("items", listOf(ref("LineItem")), "What is in it."),
			), "The parcel."),
			must("carrier_name", text("DHL Express Worldwide"), "Carrier."),
			must("carrier_slug", text("dhl"), "Carrier identifier slug."),
			must("tracking_number", text("7788991122"), "Tracking number."),
			must("amount", money(), "Price."),
			must("currency", currencyCode(), "Currency code."),
			must("events", listOf(record("",
				must("created_at", instant(), "ISO 8601 UTC timestamp."),
				must("description", text(), "What happened."),
				must("location", text(), "Where."),
				must("status", text(), "State from then on."),
			)), "History."),
			must("user", digits("USER"), "Owner identifier."),
			must("created_at", instant(), "ISO 8601 UTC timestamp."),
			must("updated_at", instant(), "ISO 8601 UTC timestamp."),
		).assuming(ownShape),
	}
}
