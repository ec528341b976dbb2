package api

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
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

// members are the members of a JSON object.
type members map[string]json.RawMessage

// move gives a member another name. A name with a dot is that of a member of a member; "-" removes the member.
func (m members) move(from, to string) {
	value, has := m[from]
	if !has || to == "" || to == from {
		return
	}
	delete(m, from)
	outer, inner, nested := strings.Cut(to, ".")
	switch {
	case to == "-":
	case nested:
		object := members{}
		if m[outer] != nil && json.Unmarshal(m[outer], &object) != nil {
			object = members{} // the dialect names a member that is a value here
		}
		object[inner] = value
		m[outer] = raw(object)
	default:
		m[to] = value
	}
}

// remove removes members.
func (m members) remove(names []string) {
	for _, name := range names {
		delete(m, name)
	}
}

// shapes reports whether a dialect changes the format of replies.
func shapes(d *dialect.Dialect) bool {
	r, o := d.Record, d.Offer
	names := r.At + r.LineItems + r.Documents + r.ChargedAmount + r.TransactionID + r.Currency + r.Wallet +
		o.DocumentType + o.Amount + o.Currency + o.Mode + d.Document.DocumentType
	return names != "" || len(r.Absent)+len(o.Absent) > 0 || d.Purchase.AnalyzeStatus != 0 || d.Purchase.Status != 0 ||
		d.Purchase.Confirmation != "" || d.Refusal.Format != "" || d.Refusal.Code != "" || d.Time.Unlisted > 0
}

// shape converts a reply to the format that the dialect of its world decides.
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
	var reshaped any = &envelope
	switch {
	case refused:
		shapeRefusal(d, data)
		if d.Refusal.Format == "problem" {
			p.ContentType = problemType
			reshaped = problem(p.Status, envelope.Message, data)
		}
		envelope.Data = raw(data)
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
	p.Body = raw(reshaped)
}

// raw encodes a value that was decoded from JSON, which cannot fail.
func raw(value any) []byte {
	encoded, err := jsontext.Encode(value)
	if err != nil {
		return []byte("null")
	}
	return encoded
}

// shapeRefusal moves the error code, which has other values in another place.
func shapeRefusal(d *dialect.Dialect, data members) {
	if d.Refusal.Code == "" || d.Refusal.Code == dialect.Reference().Refusal.Code {
		return
	}
	var code string
	if json.Unmarshal(data["error_code"], &code) == nil {
		data["error_code"] = raw("ERR_" + strings.ToUpper(code))
	}
	data.move("error_code", strings.TrimPrefix(d.Refusal.Code, "data."))
}

// problem returns a refusal as problem details (RFC 9457), with the data as extension members.
func problem(status int, message string, data members) members {
	delete(data, "status") // of a regulatory request; in problem details it is the HTTP status
	data["title"], data["status"], data["detail"] = raw(http.StatusText(status)), raw(status), raw(message)
	return data
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

// nameRecord gives the members of a record the names of a dialect.
func nameRecord(d *dialect.Dialect, data members) {
	offer := map[string]string{"document_type": d.Offer.DocumentType, "amount": d.Offer.Amount, "currency": d.Offer.Currency, "mode": d.Offer.Mode}
	nameDocuments(data, "available_documents", offer, d.Offer.Absent)
	offer["document_type"] = d.Document.DocumentType
	nameDocuments(data, "documents", offer, nil)
	for usual, name := range map[string]string{
		"line_items": d.Record.LineItems, "documents": d.Record.Documents, "charged_amount": d.Record.ChargedAmount,
		"transaction_id": d.Record.TransactionID, "currency": d.Record.Currency, "wallet": d.Record.Wallet,
	} {
		data.move(usual, name)
	}
}

// nameDocuments gives the members of the objects of a list other names.
func nameDocuments(data members, list string, names map[string]string, absent []string) {
	var documents []members
	if json.Unmarshal(data[list], &documents) != nil || documents == nil {
		return
	}
	for _, document := range documents {
		document.remove(absent)
		for usual, name := range names {
			document.move(usual, name)
		}
	}
	data[list] = raw(documents)
}

// showState shows a state that the specification does not list, as long as the dialect states.
func showState(w *world.World, record *regulatory.Record, data members) {
	d := w.Dialect()
	if record.Status != regulatory.StateProcessing || w.Clock.Now().Sub(record.UpdatedAt.Time) >= time.Duration(d.Time.Unlisted) {
		return
	}
	state := "queued"
	for _, name := range slices.Sorted(maps.Keys(d.Record.States)) {
		if d.Record.States[name] == "generating" {
			state = name
			break
		}
	}
	data["status"] = raw(state)
}
