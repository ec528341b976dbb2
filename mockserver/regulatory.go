package mockserver

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/formpdf"
	"github.com/shipping-go/shipping/mockserver/internal/inject"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// openDesk gives the world the desk that keeps its regulatory document requests. What the desk is
// asked, it is asked under the world's lock, and so are its timers.
func (w *core) openDesk() {
	timers := w.timers
	w.desk = regulatory.NewDesk(regulatory.Config{
		Rules:  w.settings.rules,
		Ledger: w.account.Ledger,
		Rate:   w.rate,
		Shipment: func(id string) (regulatory.Consignment, bool) {
			s, known := w.account.Shipments[id]
			if !known {
				return regulatory.Consignment{}, false
			}
			return s.Consignment(), true
		},
		Invoice: func(url string) (regulatory.Consignment, bool) {
			goods, known := w.account.Invoices[url]
			return goods, known
		},
		Now: w.clock.Now,
		After: func(d time.Duration, label string, fn func()) {
			timers.After(d, label, func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				fn()
			})
		},
		NewID:    w.account.IDs.Coded,
		Charged:  w.charged,
		Settings: w.assume.settings(),
		Room:     w.room,
		Hooks:    w.hooks(),
	})
}

// charged puts a purchase's debit at the head of its wallet's transactions. Encoding it cannot fail
// where encoding the same kind of entry did not during seeding; should it, the log says so.
func (w *core) charged(e ledger.Entry, record *regulatory.Record) {
	about := account.TransactionMetadata{ShipmentID: record.ShipmentID, RequestID: record.RequestID}
	if err := w.account.AddTransaction(e, account.TransactionDetails{About: about, TxRef: record.RequestID}); err != nil {
		w.settings.logger.Error("a charge is not listed", "error", err)
	}
}

// analyze answers POST /v1/regulatory-documents/analyze.
func analyze(w *core, c *wire.Call) wire.Reply {
	var in regulatory.AnalyzeInput
	if refusal := w.decoding().Decode(c, &in); refusal != nil {
		return *refusal
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.roomForBytes(len(c.Body)); err != nil {
		return ruleBroken(w, err.Error())
	}
	stored := w.desk.Len()
	record, err := w.desk.Analyze(in)
	if w.desk.Len() > stored { // a failed analysis is stored too
		w.resized(0, len(w.desk.Newest(0, 1)[0].JSON()))
	}
	if refusal, ok := errors.AsType[*regulatory.Refusal](err); ok && refusal.Code == regulatory.CodeAnalysisFailed && w.assume.AnalyzeFailureOK {
		if id, ok := refusal.Data["request_id"].(string); ok {
			record, err = w.desk.Get(id)
		}
	}
	return answerRecord(w, c, "Analysis finished", record, err)
}

// purchase answers POST /v1/regulatory-documents/purchase.
func purchase(w *core, c *wire.Call) wire.Reply {
	var in regulatory.PurchaseInput
	if refusal := w.decoding().Decode(c, &in); refusal != nil {
		return *refusal
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.requestSize(in.RequestID)
	receipt, err := w.desk.Purchase(in)
	if err != nil {
		return deskRefused(w, err)
	}
	w.resized(before, w.requestSize(receipt.RequestID))
	p := wire.SucceedWith(c.Buffer, "Wallet charged, document generation started", receipt)
	p.Record, _ = w.desk.Get(receipt.RequestID)
	return p
}

// getRequest answers GET /v1/regulatory-documents/request/:request_id.
func getRequest(w *core, c *wire.Call) wire.Reply {
	w.mu.Lock()
	defer w.mu.Unlock()
	record, err := w.desk.Get(c.PathValue("request_id"))
	return answerRecord(w, c, "Regulatory document request retrieved successfully", record, err)
}

// updateItems answers the provisional operation that replaces the line items of a draft.
func updateItems(w *core, c *wire.Call) wire.Reply {
	var in regulatory.ItemsUpdate
	return edit(w, c, &in, func(id string) (*regulatory.Record, error) { return w.desk.UpdateItems(id, in) })
}

// updateAddresses answers the provisional operation that replaces addresses of a draft.
func updateAddresses(w *core, c *wire.Call) wire.Reply {
	var in regulatory.AddressesUpdate
	return edit(w, c, &in, func(id string) (*regulatory.Record, error) { return w.desk.UpdateAddresses(id, in) })
}

// updateShipping answers the provisional operation that edits shipping, in the invoice flow only.
func updateShipping(w *core, c *wire.Call) wire.Reply {
	var in regulatory.Shipping
	return edit(w, c, &in, func(id string) (*regulatory.Record, error) { return w.desk.UpdateShipping(id, in) })
}

// updateProfile answers the provisional operation that fills in the profile of a form.
func updateProfile(w *core, c *wire.Call) wire.Reply {
	var in regulatory.Profile
	return edit(w, c, &in, func(id string) (*regulatory.Record, error) {
		return w.desk.UpdateProfile(id, c.PathValue("document_type"), in)
	})
}

// retryRequest answers the provisional operation that generates failed automated documents again.
func retryRequest(w *core, c *wire.Call) wire.Reply {
	var in struct{}
	return edit(w, c, &in, func(id string) (*regulatory.Record, error) { return w.desk.Retry(id) })
}

// edit reads the body into in and answers with the record that change returns.
func edit(w *core, c *wire.Call, in any, change func(requestID string) (*regulatory.Record, error)) wire.Reply {
	if refusal := w.decoding().Decode(c, in); refusal != nil {
		return *refusal
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.requestSize(c.PathValue("request_id"))
	if err := w.roomForBytes(len(c.Body) - before); err != nil {
		return ruleBroken(w, err.Error())
	}
	record, err := change(c.PathValue("request_id"))
	if err == nil {
		w.resized(before, len(record.JSON()))
	}
	return answerRecord(w, c, "Regulatory document request updated successfully", record, err)
}

// documentPDF answers the provisional operation that needs no Authorization. Drawing takes longer than
// anything else here and is done without the lock.
func documentPDF(w *core, c *wire.Call) wire.Reply {
	w.mu.Lock()
	sheet, err := w.desk.Sheet(c.PathValue("request_id"), c.PathValue("document_type"))
	w.mu.Unlock()
	if err != nil {
		return deskRefused(w, err)
	}
	var pdf bytes.Buffer
	if err := formpdf.Render(&pdf, page(sheet)); err != nil {
		return wire.Refused(http.StatusInternalServerError, wire.CodeInternal, "the document cannot be drawn: "+err.Error())
	}
	name := fmt.Sprintf("inline; filename=%q", sheet.DocumentType+"-"+sheet.RequestID+".pdf")
	return wire.Reply{
		Status: http.StatusOK, ContentType: "application/pdf", Body: pdf.Bytes(),
		Header: http.Header{"Content-Disposition": {name}},
	}
}

// page lays out what the desk knows of a document.
func page(s regulatory.Sheet) formpdf.Document {
	doc := formpdf.Document{
		RequestID: s.RequestID, DocumentType: s.DocumentType, Title: s.Title, Subtitle: s.Description,
		Reference: s.Reference, Date: s.GeneratedAt,
		Exporter: formpdf.Address(s.Addresses.Origin), Importer: formpdf.Address(s.Addresses.Destination),
	}
	for _, item := range s.Items {
		doc.Items = append(doc.Items, formpdf.Item{
			Description: item.Description, HSCode: item.HSCode, OriginCountry: item.OriginCountry,
			Quantity: int(item.Quantity), UnitPrice: item.UnitPrice, Currency: item.Currency,
		})
	}
	for _, field := range s.Fields {
		doc.Fields = append(doc.Fields, formpdf.Field{Label: field.Label, Value: field.Value, Required: field.Required, Choices: field.Choices})
	}
	return doc
}

// answerRecord answers with a record, or with why there is none.
func answerRecord(w *core, c *wire.Call, message string, record *regulatory.Record, err error) wire.Reply {
	if err != nil {
		return deskRefused(w, err)
	}
	p := wire.CloseEnvelope(record.AppendJSON(wire.OpenEnvelope(c.Buffer, message)))
	p.Record = record
	return p
}

// deskRefused puts a refusal of the desk into the envelope.
func deskRefused(w *core, err error) wire.Reply {
	if interrupted, ok := errors.AsType[*inject.Interruption](err); ok {
		p := interrupted.Reply()
		p.Then = func(x *wire.Exchange) { interrupted.Strike(x, w.forFaults()) }
		return p
	}
	refusal, ok := errors.AsType[*regulatory.Refusal](err)
	if !ok {
		return wire.Refused(http.StatusInternalServerError, wire.CodeInternal, err.Error())
	}
	status := w.assume.ruleFailure()
	switch refusal.Code {
	case regulatory.CodeNotFound:
		status = http.StatusNotFound
	case regulatory.CodeImpossible:
		status = http.StatusInternalServerError
	}
	return refusedBy(status, refusal)
}

// refusedBy is a refusal of the regulatory desk, whose data says more than a code.
func refusedBy(status int, r *regulatory.Refusal) wire.Reply {
	data := r.Payload()
	if problems, ok := data["problems"].([]regulatory.Problem); ok {
		data["problems"] = boundedProblems(problems)
	}
	return wire.RefusedWith(status, wire.Refusal{Code: string(r.Code), Message: r.Message, Rule: r.Rule}, data)
}

func boundedProblems(problems []regulatory.Problem) []regulatory.Problem {
	out := make([]regulatory.Problem, min(len(problems), wire.MaxProblems))
	for i := range out {
		out[i] = regulatory.Problem{Field: wire.Bounded(problems[i].Field, wire.MaxReason), Reason: wire.Bounded(problems[i].Reason, wire.MaxReason)}
	}
	return out
}
