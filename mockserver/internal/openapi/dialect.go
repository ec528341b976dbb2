package openapi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/signature"
)

// applyDialect gives a document the names, places and statuses that a dialect decides.
func applyDialect(document object, declared *dialect.Dialect) {
	d := declared.Resolved()
	components := members(document["components"])
	schemas := members(components["schemas"])
	nameMembers(schemas, d)
	nameHeaders(document, signature.Of(declared))
	placed := []string{"RegulatoryRequestResponse", "PurchaseResponse"}
	if d.Purchase.Confirmation == "empty" { // an empty confirmation has no record to place
		placed = placed[:1]
	}
	for _, response := range placed {
		placeRecord(members(members(members(schemas[response])["properties"])["data"]), d.Record.At)
	}
	if d.Refusal.Format == "problem" {
		for _, response := range members(components["responses"]) {
			content := members(members(response)["content"])
			content["application/problem+json"] = content["application/json"]
			delete(content, "application/json")
		}
	}
	status := members(schemas["RequestStatus"])
	states, _ := status["enum"].([]any)
	unlisted := slices.Sorted(maps.Keys(d.Record.States))
	for _, state := range unlisted {
		states = append(states, state)
		status["x-assumption"] = strings.Join(unlisted, ", ") + ", which the specification does not list"
	}
	status["enum"] = states
}

// placeRecord describes a record as a member of data, or as the only element of a list.
func placeRecord(data object, at string) {
	record := object{"$ref": data["$ref"], "description": "The request."}
	switch at {
	case "data":
		return
	case "[0]":
		data["type"], data["items"] = "array", record
	default:
		data["type"], data["properties"], data["required"] = "object", object{at: record}, []any{at}
	}
	delete(data, "$ref")
	data["x-assumption"] = "the place of the request"
}

// nameHeaders describes the headers of a notification.
func nameHeaders(document object, s signature.Scheme) {
	scheme := members(members(members(document["components"])["securitySchemes"])["webhookSignature"])
	scheme["name"] = s.Header
	prefix := ""
	if s.Prefix != "" {
		prefix = fmt.Sprintf("%q and t", s.Prefix)
	}
	scheme["description"] = fmt.Sprintf("%she %s HMAC-%s of %s, keyed by the account's secret key. Assumption: "+
		"header and algorithm.", cmp.Or(prefix, "T"), s.Encoding, strings.ToUpper(s.Hash),
		s.Signed)
	for _, methods := range members(document["webhooks"]) {
		for _, operation := range members(methods) {
			described, _ := members(operation)["parameters"].([]any)
			parameters := []any{}
			for _, parameter := range described {
				usual := members(parameter)["name"]
				name := map[any]string{signature.DeliveryID: s.DeliveryID, signature.EventID: s.EventID,
					signature.WebhookID: signature.WebhookID}[usual]
				if members(parameter)["name"] = name; name != "" {
					parameters = append(parameters, parameter)
				}
			}
			members(operation)["parameters"] = parameters
		}
	}
}

// nameMembers gives the members of the schemas of a record, its documents and a refusal the names of a dialect.
func nameMembers(schemas object, d *dialect.Dialect) {
	for _, name := range []string{"RegulatoryRequest", "PurchaseResult"} {
		rename(members(schemas[name]), d.Record.Absent, map[string]string{
			"line_items": d.Record.LineItems, "documents": d.Record.Documents, "charged_amount": d.Record.ChargedAmount,
			"transaction_id": d.Record.TransactionID, "currency": d.Record.Currency, "wallet": d.Record.Wallet,
		})
	}
	offer := map[string]string{"document_type": d.Offer.DocumentType, "amount": d.Offer.Amount,
		"currency": d.Offer.Currency, "mode": d.Offer.Mode}
	var hidden []string
	if d.Offer.DefaultCurrency != "" {
		hidden = []string{"currency"}
	}
	for _, name := range []string{"AvailableDocument", "Document"} {
		mode := members(members(members(schemas[name])["properties"])["mode"])
		mode["enum"] = []any{d.Offer.Automated, "manual"}
	}
	rename(members(schemas["AvailableDocument"]), hidden, offer)
	if offer["document_type"] = d.Document.DocumentType; offer["document_type"] == "-" {
		schemas["Document"] = object{"$ref": "#/components/schemas/DocumentType"}
	}
	rename(members(schemas["Document"]), hidden, offer)

	refusal, code := members(schemas["Refusal"]), d.Refusal.Code
	if data, isInData := strings.CutPrefix(code, "data."); isInData {
		rename(members(schemas["RefusalData"]), nil, map[string]string{"error_code": data})
	} else {
		rename(members(schemas["RefusalData"]), nil, map[string]string{"error_code": "-"})
		rename(refusal, nil, map[string]string{"error_code": code})
	}
	rename(refusal, nil, map[string]string{"message": d.Refusal.Message})
	forms := members(refusal[when])
	rename(members(forms["refusal.format=object"]), nil, map[string]string{"message": d.Refusal.Message})
	rename(members(forms["refusal.format=problem"]), nil, map[string]string{"detail": d.Refusal.Message,
		"error_code": strings.TrimPrefix(code, "data.")})
}

// rename renames and removes members of a schema. A path becomes a member of an object.
func rename(schema object, absent []string, names map[string]string) {
	properties, required := members(schema["properties"]), map[string]bool{}
	list, _ := schema["required"].([]any)
	for _, name := range list {
		required[fmt.Sprint(name)] = true
	}
	for _, name := range absent {
		delete(properties, name)
		delete(required, name)
	}
	for _, usual := range slices.Sorted(maps.Keys(names)) {
		name, property := names[usual], properties[usual]
		if name == usual || property == nil {
			continue
		}
		isRequired := required[usual]
		delete(properties, usual)
		delete(required, usual)
		outer, inner, nested := strings.Cut(name, ".")
		switch {
		case name == "-":
			continue
		case nested && properties[outer] == nil:
			property = object{"type": "object", "properties": object{inner: property}}
		case nested:
			members(members(properties[outer])["properties"])[inner] = property
			continue
		}
		properties[outer] = property
		if isRequired {
			required[outer] = true
		}
	}
	kept := []any{}
	for _, name := range slices.Sorted(maps.Keys(required)) {
		kept = append(kept, name)
	}
	if list != nil {
		schema["required"] = kept
	}
}
