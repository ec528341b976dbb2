package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/byname"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// problemType is the media type of problem details (RFC 9457).
const problemType = "application/problem+json"

type members map[string]json.RawMessage

// move gives a member another name. A name with a dot is a path; "-" removes the member.
func (m members) move(from, to string) {
	value, has := m[from]
	if !has || to == from {
		return
	}
	delete(m, from)
	m.put(to, value)
}

// put sets the member at a path. A value on the way becomes an object.
func (m members) put(at string, value json.RawMessage) {
	outer, inner, nested := strings.Cut(at, ".")
	if nested {
		object := members{}
		if json.Unmarshal(m[outer], &object) != nil || object == nil {
			object = members{}
		}
		object.put(inner, value)
		value = jsontext.Of(object)
	}
	if at != "-" {
		m[outer] = value
	}
}

// shape gives a reply, once, the names, places and formats that the world decides.
func shape(w *world.World, operation string, p *wire.Reply) {
	if p.Shaped || !w.Shapes() {
		return
	}
	p.Shaped = true
	var envelope struct {
		Status  bool            `json:"status"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	}
	refused := p.Refusal.Code != ""
	if p.ContentType != "" || !refused && p.Record == nil || json.Unmarshal(p.Body, &envelope) != nil {
		return
	}
	var data members
	if json.Unmarshal(envelope.Data, &data) != nil {
		return
	}
	isPurchase := byname.Has(operation, byname.Charges)
	switch {
	case refused:
		if w.Dialect().Refusal.Format == "problem" {
			p.ContentType = problemType
		}
		p.Body = jsontext.Of(shapeRefusal(w, p.Status, envelope.Message, data))
		return
	case isPurchase && w.Dialect().Purchase.Confirmation == "empty":
		envelope.Data = jsontext.Of(members{})
	default:
		envelope.Data = jsontext.Of(shapeRecord(w, operation, p.Record, data))
	}
	p.Body = jsontext.Of(&envelope)
}

// shapeRefusal returns the body of a refusal. In problem details (RFC 9457) the data are extension members, whose paths
// do not begin with "data.". If the code has another place than data.error_code, its values differ, too.
func shapeRefusal(w *world.World, status int, message string, data members) members {
	decided := w.Dialect().Refusal
	code, place := data["error_code"], decided.Code
	delete(data, "error_code")
	var body members
	switch decided.Format {
	case "problem":
		place = strings.TrimPrefix(place, "data.")
		body = maps.Clone(data)
		body["title"], body["status"] = jsontext.Of(http.StatusText(status)), jsontext.Of(status)
	case "object":
		body = members{"data": jsontext.Of(data)}
	default:
		body = members{"data": jsontext.Of(data), "status": jsontext.Of(false)}
	}
	var text string
	if json.Unmarshal(code, &text) == nil {
		switch {
		case text == string(regulatory.CodeInsufficientFunds):
			code = jsontext.Of(decided.FundsCode)
		case text == string(regulatory.CodeExpired) && decided.ExpiredCode != "":
			code = jsontext.Of(decided.ExpiredCode)
		case decided.Code != "data.error_code":
			code = jsontext.Of("ERR_" + strings.ToUpper(text))
		}
		body.put(place, code)
	}
	body.put(decided.Message, jsontext.Of(message))
	return body
}

// shapeRecord returns the data of a response with a record, or with the receipt of a purchase.
func shapeRecord(w *world.World, operation string, record *regulatory.Record, data members) any {
	d := w.Dialect()
	showState(w, operation, record, data)
	if d.Purchase.Quoted && record.Status == regulatory.StateDraft {
		data["charged_amount"] = jsontext.Of(quote(record))
	}
	for _, name := range d.Record.Absent {
		delete(data, name)
	}
	nameRecord(w, data)
	switch d.Record.At {
	case "data":
		return data
	case "[0]":
		return []members{data}
	}
	return members{d.Record.At: jsontext.Of(data)}
}

func quote(record *regulatory.Record) (sum shipping.Amount) {
	for _, document := range record.AvailableDocuments {
		sum, _ = sum.Add(document.Amount) // prices are far from the largest amount
	}
	return sum
}

// nameRecord gives the members of a record the names that the world decides.
func nameRecord(w *world.World, data members) {
	d := w.Dialect()
	eachDocument(data, "available_documents", func(document members) any {
		showBeside(document, d.Offer.Beside)
		return nameDocument(w, document, d.Offer.DocumentType)
	})
	eachDocument(data, "documents", func(document members) any {
		return nameDocument(w, document, d.Document.DocumentType)
	})
	for usual, name := range map[string]string{
		"line_items": d.Record.LineItems, "documents": d.Record.Documents, "charged_amount": d.Record.ChargedAmount,
		"transaction_id": d.Record.TransactionID, "currency": d.Record.Currency, "wallet": d.Record.Wallet,
	} {
		data.move(usual, name)
	}
}

// eachDocument replaces the objects of a list.
func eachDocument(data members, list string, change func(members) any) {
	var documents []members
	if json.Unmarshal(data[list], &documents) != nil || documents == nil {
		return
	}
	changed := make([]any, len(documents))
	for i, document := range documents {
		changed[i] = change(document)
	}
	data[list] = jsontext.Of(changed)
}

// showBeside adds amounts and currencies that a purchase does not charge. The amounts are below the price, because a
// client assumes that a higher one was swapped with the price.
func showBeside(document members, beside []string) {
	var amount float64
	if json.Unmarshal(document["amount"], &amount) != nil {
		return
	}
	for i, name := range beside {
		other := fmt.Appendf(nil, "%.2f", amount/float64(2+i))
		if strings.HasSuffix(name, "currency") {
			other = jsontext.Of("XTS")
		}
		document.put(name, other)
	}
}

// nameDocument returns a document with the names and the mode that the world decides, or only its type. If prices have
// a default currency, documents show no currency.
func nameDocument(w *world.World, document members, documentType string) any {
	offer := w.Dialect().Offer
	if documentType == "-" {
		return document["document_type"]
	}
	if string(document["mode"]) == `"automated"` {
		document["mode"] = jsontext.Of(offer.Automated)
	}
	if offer.DefaultCurrency != "" {
		delete(document, "currency")
	}
	for usual, name := range map[string]string{"document_type": documentType, "amount": offer.Amount,
		"currency": offer.Currency, "mode": offer.Mode} {
		document.move(usual, name)
	}
	return document
}

// showState shows a status that the specification does not list: for the response to an analysis, for an expired draft,
// or in place of processing.
func showState(w *world.World, operation string, record *regulatory.Record, data members) {
	meaning := ""
	switch {
	case record.Status == regulatory.StateProcessing:
		meaning = "generating"
	case w.Regulatory.CheckExpired(record) != nil:
		meaning = "expired"
	case operation == shipping.OpAnalyze && record.Status == regulatory.StateDraft:
		meaning = "analyzing"
	}
	if state := stateThatIs(meaning, w); state != "" {
		data["status"] = jsontext.Of(state)
	}
}

// stateThatIs returns the first status with a meaning in the world's dialect, or "".
func stateThatIs(meaning string, w *world.World) string {
	states := w.Dialect().Record.States
	for _, name := range slices.Sorted(maps.Keys(states)) {
		if states[name] == meaning {
			return name
		}
	}
	return ""
}
