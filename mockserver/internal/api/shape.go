package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// problemType is the media type of problem details (RFC 9457).
const problemType = "application/problem+json"

type members map[string]json.RawMessage

// move gives a member another name. A name with a dot is that of a member of a member; "-" removes the member.
func (m members) move(from, to string) {
	value, has := m[from]
	if !has || to == "" || to == from {
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
		value = raw(object)
	}
	if at != "-" {
		m[outer] = value
	}
}

func (m members) remove(names []string) {
	for _, name := range names {
		delete(m, name)
	}
}

// shapes reports whether a dialect changes the format of replies.
func shapes(d *dialect.Dialect) bool {
	decided := func(groups ...any) bool {
		return slices.ContainsFunc(groups, func(group any) bool { return !reflect.ValueOf(group).IsZero() })
	}
	return decided(d.Record, d.Offer, d.Document, d.Purchase, d.Refusal) || d.Time.Unlisted > 0
}

func shape(w *world.World, operation string, p *wire.Reply) {
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
	d := w.Dialect()
	switch {
	case refused:
		if d.Refusal.Format == "problem" {
			p.ContentType = problemType
		}
		p.Body = raw(shapeRefusal(d, p.Status, envelope.Message, data))
		return
	case operations.Has(operation, operations.Charges):
		p.Status = cmp.Or(d.Purchase.Status, p.Status)
		shapePurchase(w, p.Record, data)
		envelope.Data = raw(data)
	default:
		if operation == shipping.OpAnalyze {
			p.Status = cmp.Or(d.Purchase.AnalyzeStatus, p.Status)
		}
		envelope.Data = raw(shapeRecord(w, p.Record, data))
	}
	p.Body = raw(&envelope)
}

// raw encodes a value that was decoded from JSON, which cannot fail.
func raw(value any) []byte {
	encoded, err := jsontext.Encode(value)
	if err != nil {
		return []byte("null")
	}
	return encoded
}

// shapeRefusal returns the body of a refusal. In problem details (RFC 9457) the data are extension members, and the
// path of a member of data is its name. A code in another place has other values.
func shapeRefusal(d *dialect.Dialect, status int, message string, data members) members {
	code := data["error_code"]
	delete(data, "error_code")
	reason, place := "message", cmp.Or(d.Refusal.Code, "data.error_code")
	var body members
	if d.Refusal.Format == "problem" {
		reason, place = "detail", strings.TrimPrefix(place, "data.")
		body = maps.Clone(data)
		body["title"], body["status"] = raw(http.StatusText(status)), raw(status)
	} else {
		body = members{"data": raw(data)}
		if d.Refusal.Format != "object" {
			body["status"] = raw(false)
		}
	}
	var text string
	if json.Unmarshal(code, &text) == nil {
		switch {
		case text == "insufficient_funds" && d.Refusal.FundsCode != "":
			code = raw(d.Refusal.FundsCode)
		case text == string(regulatory.CodeExpired) && d.Refusal.ExpiredCode != "":
			code = raw(d.Refusal.ExpiredCode)
		case d.Refusal.Code != "" && d.Refusal.Code != "data.error_code":
			code = raw("ERR_" + strings.ToUpper(text))
		}
		body.put(place, code)
	}
	body.put(cmp.Or(d.Refusal.Message, reason), raw(message))
	return body
}

func shapePurchase(w *world.World, record *regulatory.Record, data members) {
	if w.Dialect().Purchase.Confirmation == "empty" {
		clear(data)
		return
	}
	showState(w, record, data)
	nameRecord(w.Dialect(), data)
}

func shapeRecord(w *world.World, record *regulatory.Record, data members) any {
	d := w.Dialect()
	showState(w, record, data)
	if d.Purchase.Quoted && record.Status == regulatory.StateDraft {
		data["charged_amount"] = raw(quote(record))
	}
	data.remove(d.Record.Absent)
	nameRecord(d, data)
	switch d.Record.At {
	case "":
		return data
	case "[0]":
		return []members{data}
	}
	return members{d.Record.At: raw(data)}
}

func quote(record *regulatory.Record) (sum shipping.Amount) {
	for _, document := range record.AvailableDocuments {
		sum, _ = sum.Add(document.Amount) // prices are far from the largest amount
	}
	return sum
}

func nameRecord(d *dialect.Dialect, data members) {
	eachDocument(data, "available_documents", func(document members) {
		showBeside(document, d.Offer.Beside)
		document.remove(d.Offer.Absent)
		nameDocument(d, document, d.Offer.DocumentType)
	})
	eachDocument(data, "documents", func(document members) { nameDocument(d, document, d.Document.DocumentType) })
	for usual, name := range map[string]string{
		"line_items": d.Record.LineItems, "documents": d.Record.Documents, "charged_amount": d.Record.ChargedAmount,
		"transaction_id": d.Record.TransactionID, "currency": d.Record.Currency, "wallet": d.Record.Wallet,
	} {
		data.move(usual, name)
	}
}

// eachDocument changes the objects of a list.
func eachDocument(data members, list string, change func(members)) {
	var documents []members
	if json.Unmarshal(data[list], &documents) != nil || documents == nil {
		return
	}
	for _, document := range documents {
		change(document)
	}
	data[list] = raw(documents)
}

// showBeside adds amounts and currencies that a purchase does not charge. The amounts are below the price: a client
// takes a higher one for a price that was swapped with it.
func showBeside(document members, beside []string) {
	var amount float64
	if json.Unmarshal(document["amount"], &amount) != nil {
		return
	}
	for i, name := range beside {
		other := fmt.Appendf(nil, "%.2f", amount/float64(2+i))
		if strings.HasSuffix(name, "currency") {
			other = raw("XTS")
		}
		document.put(name, other)
	}
}

// nameDocument gives the members of a document, and the mode automated, the names of a dialect.
func nameDocument(d *dialect.Dialect, document members, documentType string) {
	if d.Offer.Automated != "" && string(document["mode"]) == `"automated"` {
		document["mode"] = raw(d.Offer.Automated)
	}
	for usual, name := range map[string]string{"document_type": documentType, "amount": d.Offer.Amount,
		"currency": d.Offer.Currency, "mode": d.Offer.Mode} {
		document.move(usual, name)
	}
}

// showState shows a state that the specification does not list: of an expired draft, and of a purchased request as long
// as the dialect states.
func showState(w *world.World, record *regulatory.Record, data members) {
	d := w.Dialect()
	if expired := stateThatIs("expired", d); expired != "" && w.Regulatory.CheckExpired(record) != nil {
		data["status"] = raw(expired)
	}
	if record.Status == regulatory.StateProcessing &&
		w.Clock.Now().Sub(record.UpdatedAt.Time) < time.Duration(d.Time.Unlisted) {
		data["status"] = raw(cmp.Or(stateThatIs("generating", d), "queued"))
	}
}

// stateThatIs returns the first status of a dialect with a meaning, or "".
func stateThatIs(meaning string, d *dialect.Dialect) string {
	for _, name := range slices.Sorted(maps.Keys(d.Record.States)) {
		if d.Record.States[name] == meaning {
			return name
		}
	}
	return ""
}
