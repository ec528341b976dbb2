package regulatory

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/compliance"
)

// Generation proceeds document by document. An automated document takes its form's time; a manual one first
// waits for evidence. The request ends when every document has ended: completed if all were
// generated, failed if any failed (specification: "generation ends").
//
// Assumption: a failed document does not end the request before the others have ended, because
// the specification mentions the end of generation. To switch, change this file.

// startGenerationLater starts the generation of a charged request after a time in purchasing.
func (d *Desk) startGenerationLater(record *Record, wait time.Duration) *Record {
	next := record.draft()
	next.due = d.config.Now().Add(wait)
	stored := d.store(next)
	d.schedule(stored)
	return stored
}

// startGeneration moves a charged request to processing and starts each of its documents.
func (d *Desk) startGeneration(record *Record) *Record {
	next := record.draft()
	d.fire(next, TriggerGenerationStarts)
	next.due = time.Time{}
	for _, slug := range next.purchased {
		offer, _ := next.offered(slug)
		next.Documents = append(next.Documents, Document{
			DocumentType: offer.DocumentType, Name: offer.Name, Mode: offer.Mode, Amount: offer.Amount, Currency: offer.Currency,
		})
	}
	for i := range next.Documents {
		if doc := &next.Documents[i]; doc.Mode == compliance.ModeManual {
			d.awaitEvidence(doc)
		} else {
			d.startAttempt(next, doc)
		}
	}
	stored := d.store(next)
	d.schedule(stored)
	return stored
}

func (d *Desk) awaitEvidence(doc *Document) {
	doc.Status = DocumentAwaitingEvidence
	if after := d.config.Settings.EvidenceAfter; after > 0 {
		doc.due = d.config.Now().Add(after)
	}
}

func (d *Desk) startAttempt(next *Record, doc *Document) {
	doc.Status, doc.Failure = DocumentGenerating, ""
	doc.Attempts++
	doc.due = d.config.Now().Add(d.duration(doc.DocumentType) + next.script.delay)
}

// duration returns how long a form takes to generate.
func (d *Desk) duration(slug string) time.Duration {
	form, known := d.config.Rules().Form(slug)
	if !known {
		return 0
	}
	scaled := float64(form.Generation) * max(0, d.config.Settings.GenerationScale)
	return time.Duration(min(scaled, float64(math.MaxInt64/2)))
}

// SubmitEvidence submits the evidence for a manual document, and starts its generation.
//
// Assumption: the specification does not mention how evidence arrives; this method serves the control
// surface. To receive evidence automatically, set [Settings.EvidenceAfter].
func (d *Desk) SubmitEvidence(requestID, slug string) (*Record, error) {
	record, refusal := d.find(requestID)
	if refusal != nil {
		return nil, refusal
	}
	if _, refusal := allow(record, TriggerEvidence); refusal != nil {
		return nil, refusal
	}
	doc := record.document(slug)
	if doc == nil {
		return nil, notFound("purchased document", slug, "use one in documents of the request")
	}
	if doc.Status != DocumentAwaitingEvidence {
		return nil, &Refusal{Code: CodeNoEvidenceAwaited, Rule: assumeManual,
			Message: fmt.Sprintf("%s of request %s is %s and requires no evidence", slug, requestID, doc.Status)}
	}
	return d.evidenceArrived(record, slug), nil
}

func (d *Desk) evidenceArrived(record *Record, slug string) *Record {
	next := record.draft()
	d.fire(next, TriggerEvidence)
	d.startAttempt(next, next.document(slug))
	stored := d.store(next)
	d.scheduleDocument(stored, *stored.document(slug))
	return stored
}

// Retry generates the failed automated documents of a failed request again, free of charge.
// Generated documents stay generated, failed manual ones stay failed. It is refused with
// [CodeNotRetryable] if there is nothing to retry.
//
// Specification: "Failed automated documents can be retried."
//
// Assumption: the request is processing during the retry; see [Transitions].
func (d *Desk) Retry(requestID string) (*Record, error) {
	record, refusal := d.find(requestID)
	if refusal != nil {
		return nil, refusal
	}
	if _, refusal := allow(record, TriggerRetry); refusal != nil {
		return nil, refusal
	}
	next := record.draft()
	var started []string
	for i := range next.Documents {
		if doc := &next.Documents[i]; doc.Status == DocumentFailed && doc.Mode == compliance.ModeAutomated {
			d.startAttempt(next, doc)
			started = append(started, doc.DocumentType)
		}
	}
	if len(started) == 0 {
		return nil, notRetryable(record)
	}
	d.fire(next, TriggerRetry)
	next.FailureReason = ""
	stored := d.store(next)
	for _, slug := range started {
		d.scheduleDocument(stored, *stored.document(slug))
	}
	return stored, nil
}

func notRetryable(record *Record) *Refusal {
	why := "its analysis failed; correct the shipment or the invoice and analyze again"
	if len(record.Documents) > 0 {
		why = "only manual documents failed, and only automated ones can be retried"
	}
	return &Refusal{
		Code: CodeNotRetryable, Rule: specRetry, Data: map[string]any{"request_id": record.RequestID, "status": record.Status},
		Message: fmt.Sprintf("request %s cannot be retried: %s", record.RequestID, why),
	}
}

// schedule schedules everything that is due on the record.
func (d *Desk) schedule(record *Record) {
	if due := record.due; !due.IsZero() {
		d.config.After(due.Sub(d.config.Now()), "start generation of "+record.RequestID, func() {
			if current := d.records[record.RequestID]; current.Status == StatePurchasing && current.due.Equal(due) {
				d.startGeneration(current)
			}
		})
	}
	for _, doc := range record.Documents {
		d.scheduleDocument(record, doc)
	}
}

func (d *Desk) scheduleDocument(record *Record, doc Document) {
	if doc.due.IsZero() {
		return
	}
	id, label := record.RequestID, "generate "
	if doc.Status == DocumentAwaitingEvidence {
		label = "evidence for "
	}
	d.config.After(doc.due.Sub(d.config.Now()), label+doc.DocumentType+" of "+id, func() {
		current := d.records[id]
		now := current.document(doc.DocumentType)
		switch { // the document may have changed since the call was scheduled
		case now.Status != doc.Status || now.Attempts != doc.Attempts:
		case now.Status == DocumentAwaitingEvidence:
			d.evidenceArrived(current, doc.DocumentType)
		default:
			d.endAttempt(current, doc.DocumentType)
		}
	})
}

// endAttempt ends one attempt to generate a document and, with the last one, the generation.
func (d *Desk) endAttempt(record *Record, slug string) {
	next := record.draft()
	doc := next.document(slug)
	doc.due = time.Time{}
	if failure := d.failure(next, doc); failure != "" {
		doc.Status, doc.Failure = DocumentFailed, failure
	} else {
		doc.Status, doc.GeneratedAt = DocumentGenerated, Timestamp{d.config.Now().UTC()}
	}
	d.endGeneration(next)
	d.store(next)
}

// failure returns the reason why the attempt fails, or "".
func (d *Desk) failure(next *Record, doc *Document) string {
	if doc.Attempts <= next.script.failures && doc.DocumentType == next.firstAutomated() {
		return "the document service did not accept the form"
	}
	if d.config.Hooks.Generate == nil {
		return ""
	}
	if err := d.config.Hooks.Generate(next.RequestID, doc.DocumentType, doc.Attempts); err != nil {
		return err.Error()
	}
	return ""
}

func (r *Record) firstAutomated() string {
	for _, doc := range r.Documents {
		if doc.Mode == compliance.ModeAutomated {
			return doc.DocumentType
		}
	}
	return ""
}

// endGeneration ends the request if every document has ended.
func (d *Desk) endGeneration(next *Record) {
	var failed []string
	for _, doc := range next.Documents {
		switch doc.Status {
		case DocumentGenerated:
		case DocumentFailed:
			failed = append(failed, doc.DocumentType)
		default:
			return
		}
	}
	if len(failed) == 0 {
		d.fire(next, TriggerAllGenerated)
		return
	}
	d.fire(next, TriggerGenerationFailed)
	next.FailureReason = "Generation failed: " + strings.Join(failed, ", ")
}
