package regulatory

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
)

// Generation proceeds document by document. An automated document takes its form's time; a manual one first
// waits for evidence. The request ends when every document has ended: completed if all were
// generated, failed if any failed (specification: "generation ends").
//
// Assumption: a failed document does not end the request before the others have ended, because
// the specification mentions the end of generation. To switch, change this file.

// startGenerationLater leaves a charged request in the status purchasing for a time before its generation starts.
func (d *Service) startGenerationLater(record *Record, wait time.Duration) *Record {
	next := record.clone()
	next.due = d.config.Now().Add(wait)
	stored := d.store(next)
	d.schedule(stored)
	return stored
}

// startGeneration moves a charged request to processing and starts each of its documents.
func (d *Service) startGeneration(record *Record) *Record {
	next := record.clone()
	d.fire(next, triggerGenerationStarts)
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

func (d *Service) awaitEvidence(doc *Document) {
	doc.Status = DocumentAwaitingEvidence
	if after := d.config.Assume.EvidenceAfter; after > 0 {
		doc.due = d.config.Now().Add(after)
	}
}

func (d *Service) startAttempt(next *Record, doc *Document) {
	doc.Status, doc.Failure = DocumentGenerating, ""
	doc.Attempts++
	doc.due = d.config.Now().Add(d.duration(doc.DocumentType) + next.script.delay)
}

// defaultScale makes every built-in form ready within two seconds, so that nobody waits for a first purchase.
const defaultScale = 0.05

// duration returns how long a form takes to generate.
func (d *Service) duration(slug string) time.Duration {
	form, known := d.config.Rules().Form(slug)
	if !known {
		return 0
	}
	scaled := float64(form.Generation()) * max(0, cmp.Or(d.config.Assume.GenerationScale, defaultScale))
	return time.Duration(min(scaled, float64(math.MaxInt64/2)))
}

// SubmitEvidence submits the evidence for a manual document, and starts its generation.
//
// Assumption: the specification does not mention how evidence arrives; this method serves the control
// surface. To receive evidence automatically, set [assumption.Set.EvidenceAfter].
func (d *Service) SubmitEvidence(requestID, slug string) (*Record, error) {
	record, err := d.open(requestID, TriggerEvidence)
	if err != nil {
		return nil, err
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

func (d *Service) evidenceArrived(record *Record, slug string) *Record {
	next := record.clone()
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
// Assumption: the request is processing during the retry; see the table of transitions.
func (d *Service) Retry(requestID string) (*Record, error) {
	record, err := d.open(requestID, TriggerRetry)
	if err != nil {
		return nil, err
	}
	next := record.clone()
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
	refusal := &Refusal{Code: CodeNotRetryable, Rule: specRetry, Message: fmt.Sprintf("request %s cannot be retried: %s", record.RequestID, why)}
	return refusal.of(record)
}

// schedule schedules everything that is due on the record.
func (d *Service) schedule(record *Record) {
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

func (d *Service) scheduleDocument(record *Record, doc Document) {
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
func (d *Service) endAttempt(record *Record, slug string) {
	next := record.clone()
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
func (d *Service) failure(next *Record, doc *Document) string {
	if doc.Attempts <= next.script.failures && doc.DocumentType == next.firstAutomated() {
		return "the document service did not accept the form"
	}
	if d.config.FailFirst && doc.Attempts == 1 {
		return "the scenario fails the first attempt at " + doc.DocumentType
	}
	if err := d.config.At(fault.Generation, "", next.RequestID+" "+doc.DocumentType); err != nil {
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
func (d *Service) endGeneration(next *Record) {
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
		d.fire(next, triggerAllGenerated)
		return
	}
	d.fire(next, triggerGenerationFailed)
	next.FailureReason = "Generation failed: " + strings.Join(failed, ", ")
}
