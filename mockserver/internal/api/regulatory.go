package api

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/shipping-go/shipping/mockserver/internal/inject"
	"github.com/shipping-go/shipping/mockserver/internal/pdf"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

func analyze(w *world.World, x *wire.Exchange) wire.Reply {
	var in regulatory.AnalyzeInput
	if refusal := w.Decoding().Decode(x, &in); refusal != nil {
		return *refusal
	}
	w.Lock()
	defer w.Unlock()
	if err := w.Room(len(x.Body)); err != nil {
		return full(err)
	}
	w.Stored(x.Body)
	record, err := w.Regulatory.Analyze(in)
	if refusal, ok := errors.AsType[*regulatory.Refusal](err); ok && refusal.Code == regulatory.CodeAnalysisFailed &&
		w.Dialect().Refusal.Analysis == http.StatusOK {
		if id, ok := refusal.Data["request_id"].(string); ok {
			record, err = w.Regulatory.Get(id)
		}
	}
	return AnswerRecord(w, x, "Analysis finished", record, err)
}

func purchase(w *world.World, x *wire.Exchange) wire.Reply {
	var in regulatory.PurchaseInput
	if r := w.Decoding().Decode(x, &in); r != nil {
		return wire.Refused(r.Status, r.Refusal.Code, r.Refusal.Message+"; nothing was charged")
	}
	w.Lock()
	defer w.Unlock()
	receipt, err := w.Regulatory.Purchase(in)
	if err != nil {
		return RegulatoryRefused(w, x, err)
	}
	p := wire.Succeed("Wallet charged, document generation started", receipt)
	p.Record, _ = w.Regulatory.Get(receipt.RequestID)
	return p
}

func getRequest(w *world.World, x *wire.Exchange) wire.Reply {
	w.Lock()
	defer w.Unlock()
	record, err := w.Regulatory.Get(x.PathValue("request_id"))
	if err == nil && vanishes(w) {
		err = w.Regulatory.CheckExpired(record)
	}
	return AnswerRecord(w, x, "Regulatory document request retrieved successfully", record, err)
}

// edit returns the handler of a provisional operation that changes a request with the body, and responds with the
// record.
func edit[T any](change func(s *regulatory.Service, requestID string, in T) (*regulatory.Record, error)) handler {
	return func(w *world.World, x *wire.Exchange) wire.Reply {
		var in T
		if refusal := w.Decoding().Decode(x, &in); refusal != nil {
			return *refusal
		}
		w.Lock()
		defer w.Unlock()
		if err := w.Room(len(x.Body)); err != nil {
			return full(err)
		}
		record, err := change(w.Regulatory, x.PathValue("request_id"), in)
		if err == nil {
			w.Stored(x.Body)
		}
		return AnswerRecord(w, x, "Regulatory document request updated successfully", record, err)
	}
}

// updateProfile serves the provisional operation that sets the profile of a form.
func updateProfile(w *world.World, x *wire.Exchange) wire.Reply {
	return edit(func(s *regulatory.Service, id string, in regulatory.Profile) (*regulatory.Record, error) {
		return s.UpdateProfile(id, x.PathValue("document_type"), in)
	})(w, x)
}

// retry retries the failed automated documents of a request. The body has no members.
func retry(s *regulatory.Service, requestID string, _ struct{}) (*regulatory.Record, error) {
	return s.Retry(requestID)
}

// DocumentPDF serves the provisional operation that needs no Authorization.
func DocumentPDF(w *world.World, x *wire.Exchange) wire.Reply {
	requestID, slug := x.PathValue("request_id"), x.PathValue("document_type")
	w.Lock()
	lines, err := w.Regulatory.Sheet(requestID, slug)
	w.Unlock()
	if err != nil {
		return RegulatoryRefused(w, x, err)
	}
	return wire.Reply{
		Status: http.StatusOK, ContentType: "application/pdf", Body: pdf.Page(lines),
		Header: http.Header{"Content-Disposition": {fmt.Sprintf("inline; filename=%q", slug+"-"+requestID+".pdf")}},
	}
}

// AnswerRecord returns a reply with a record, or with the refusal in err.
func AnswerRecord(w *world.World, x *wire.Exchange, message string, record *regulatory.Record, err error) wire.Reply {
	if err != nil {
		return RegulatoryRefused(w, x, err)
	}
	p := wire.SucceedJSON(message, record.JSON())
	p.Record = record
	return p
}

// RegulatoryRefused converts an error of package regulatory to a reply. The refusal of an invalid request names
// misspelt fields.
func RegulatoryRefused(w *world.World, x *wire.Exchange, err error) wire.Reply {
	if interrupted, ok := errors.AsType[*inject.Interruption](err); ok {
		p := interrupted.Reply()
		p.Then = func(x *wire.Exchange) { interrupted.Before(x, w) }
		return p
	}
	refusal, ok := errors.AsType[*regulatory.Refusal](err)
	if !ok {
		return wire.Refused(http.StatusInternalServerError, wire.CodeInternal, err.Error())
	}
	if refusal.Code == regulatory.CodeExpired && vanishes(w) {
		gone := *refusal
		gone.Code = regulatory.CodeNotFound
		refusal = &gone
	}
	status := http.StatusBadRequest
	switch refusal.Code {
	case regulatory.CodeNotFound:
		status = http.StatusNotFound
	case regulatory.CodeAnalysisFailed:
		status = w.Dialect().Refusal.Analysis
	case regulatory.CodeImpossible:
		status = http.StatusInternalServerError
	}
	if refusal.Code == regulatory.CodeInvalidRequest && len(x.Unknown) > 0 {
		explained := *refusal
		explained.Message += x.Misspelt
		refusal = &explained
	}
	return refusedBy(status, refusal)
}

// vanishes reports whether an expired draft is not found, because the dialect declares neither a status nor a code for
// it.
func vanishes(w *world.World) bool {
	return w.Dialect().Refusal.ExpiredCode == "" && stateThatIs("expired", w) == ""
}

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
		out[i] = regulatory.Problem{Field: wire.Bounded(problems[i].Field, wire.MaxReason),
			Reason: wire.Bounded(problems[i].Reason, wire.MaxReason)}
	}
	return out
}
