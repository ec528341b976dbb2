package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// problemType is the media type of problem details (RFC 9457).
const problemType = "application/problem+json"

// stateUnknown is the state of Assumptions.UnknownState.
const stateUnknown = "queued"

// members are the members of a JSON object.
type members map[string]json.RawMessage

func (m members) rename(from, to string) {
	if value, has := m[from]; has {
		m[to] = value
		delete(m, from)
	}
}

// keep removes all other members.
func (m members) keep(names ...string) {
	maps.DeleteFunc(m, func(name string, _ json.RawMessage) bool { return !slices.Contains(names, name) })
}

// shape converts a reply to the format that the assumptions of its world select.
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
	var reshaped any = &envelope
	switch {
	case refused:
		shapeRefusal(w.Assume(), data)
		if w.Assume().ProblemRefusals {
			p.ContentType = problemType
			reshaped = problem(p.Status, envelope.Message, data)
		}
	case operations.Has(operation, operations.Charges):
		p.Status = statusOr(w.Assume().PurchaseStatus, p.Status)
		shapePurchase(w, p.Record, data)
	default:
		if operation == shipping.OpAnalyze {
			p.Status = statusOr(w.Assume().AnalyzeStatus, p.Status)
		}
		data = shapeRecord(w, p.Record, data)
	}
	envelope.Data = raw(data)
	p.Body = raw(reshaped)
}

// statusOr returns chosen if it is a status of success, else status.
func statusOr(chosen, status int) int {
	if chosen >= 200 && chosen <= 299 {
		return chosen
	}
	return status
}

// raw encodes a value that was decoded from JSON, which cannot fail.
func raw(value any) []byte {
	encoded, err := jsontext.Encode(value)
	if err != nil {
		return []byte("null")
	}
	return encoded
}

func shapeRefusal(a *assumption.Set, data members) {
	if !a.OtherRefusalNames {
		return
	}
	var code string
	if json.Unmarshal(data["error_code"], &code) == nil {
		data["error_code"] = raw("ERR_" + strings.ToUpper(code))
	}
	data.rename("error_code", "code")
}

// problem returns a refusal as problem details (RFC 9457), with the data as extension members.
func problem(status int, message string, data members) members {
	delete(data, "status") // of a regulatory request; in problem details it is the HTTP status
	data["title"], data["status"], data["detail"] = raw(http.StatusText(status)), raw(status), raw(message)
	return data
}

func shapePurchase(w *world.World, record *regulatory.Record, data members) {
	if w.Assume().MinimalPurchase {
		clear(data)
	} else if justStarted(w, record) {
		data["status"] = raw(stateUnknown)
	}
}

func shapeRecord(w *world.World, record *regulatory.Record, data members) members {
	if justStarted(w, record) {
		data["status"] = raw(stateUnknown)
	}
	if w.Assume().MinimalRecord {
		data.keep("request_id", "status", "source", "line_items", "available_documents")
	}
	shapeDocuments(w.Assume(), data, "available_documents")
	shapeDocuments(w.Assume(), data, "documents")
	if w.Assume().OtherRecordNames {
		data.rename("line_items", "items")
		data.rename("documents", "purchased_documents")
	}
	if w.Assume().WrapRecord {
		return members{"request": raw(data)}
	}
	return data
}

func shapeDocuments(a *assumption.Set, data members, name string) {
	var documents []members
	if json.Unmarshal(data[name], &documents) != nil || documents == nil {
		return
	}
	for _, document := range documents {
		if a.MinimalRecord {
			document.keep("document_type", "amount", "currency")
		}
		if a.OtherRecordNames {
			document.rename("document_type", "slug")
			document.rename("amount", "price")
		}
	}
	data[name] = raw(documents)
}

// justStarted reports whether a request shows the unknown state.
func justStarted(w *world.World, record *regulatory.Record) bool {
	return record.Status == regulatory.StateProcessing && w.Clock.Now().Sub(record.UpdatedAt.Time) < w.Assume().UnknownState
}
