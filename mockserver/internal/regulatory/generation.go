package regulatory

import (
	"math"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
)

// Generation proceeds document by document. An automated document takes its form's time; a manual one first
// waits for evidence. The request ends when every document has ended: completed if all were
// generated, failed if any failed (specification: "generation ends").
//
// Assumption: a failed document does not end the request before the others have ended, because
// the specification mentions the end of generation.

// startGeneration moves a charged request to processing and starts each of its documents.
func (d *Service) startGeneration(record *Record) *Record {
	next := record.clone()
	d.fire(next, triggerGenerationStarts)
	for _, slug := range next.purchased {
		offer, _ := next.offered(slug)
		next.Documents = append(next.Documents, Document{
			DocumentType: offer.DocumentType, Name: offer.Name, Mode: offer.Mode, Amount: offer.Amount, Currency: offer.Currency,
		})
	}
	for i := range next.Documents {
		if doc := &next.Documents[i]; doc.Mode == compliance.ModeManual {
			d.awaitEvidence(next, doc)
		} else {
			d.startAttempt(next, doc)
		}
	}
	return d.store(next)
}

// later calls fn with the request of a record after a time.
func (d *Service) later(wait time.Duration, what string, record *Record, fn func(current *Record)) {
	id := record.RequestID
	d.config.After(wait, what+" of "+id, func() { fn(d.records[id]) })
}

func (d *Service) awaitEvidence(next *Record, doc *Document) {
	doc.Status = DocumentAwaitingEvidence
	after, slug := d.config.Times.Evidence, doc.DocumentType
	if after <= 0 {
		return
	}
	d.later(after, "evidence for "+slug, next, func(current *Record) {
		if current.document(slug).Status == DocumentAwaitingEvidence { // else it was submitted
			d.evidenceArrived(current, slug)
		}
	})
}

func (d *Service) startAttempt(next *Record, doc *Document) {
	doc.Status, doc.Failure = DocumentGenerating, ""
	doc.Attempts++
	slug := doc.DocumentType
	d.later(d.duration(slug)+next.script.delay, "generate "+slug, next,
		func(current *Record) { d.endAttempt(current, slug) })
}

func (d *Service) duration(slug string) time.Duration {
	form, known := d.config.Rules().Form(slug)
	if !known {
		return 0
	}
	scaled := float64(form.Generation()) * max(0, d.config.Times.Generation)
	return time.Duration(min(scaled, float64(math.MaxInt64/2)))
}

// SubmitEvidence submits the evidence for a manual document, and starts its generation.
//
// Assumption: the specification does not mention how evidence arrives; this method serves the control
// surface. To receive evidence automatically, set [Times].
func (d *Service) SubmitEvidence(requestID, slug string) (*Record, error) {
	record, err := d.open(requestID, TriggerEvidence)
	if err != nil {
		return nil, err
	}
	doc, err := record.purchasedDocument(slug)
	if err != nil {
		return nil, err
	}
	if doc.Status != DocumentAwaitingEvidence {
		return nil, refuse(CodeNoEvidenceAwaited, assumeManual, "%s of request %s is %s and requires no evidence", slug,
			requestID, doc.Status)
	}
	return d.evidenceArrived(record, slug), nil
}

func (d *Service) evidenceArrived(record *Record, slug string) *Record {
	next := record.clone()
	d.startAttempt(next, next.document(slug))
	return d.store(next)
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
	next, retried := record.clone(), false
	for i := range next.Documents {
		if doc := &next.Documents[i]; doc.Status == DocumentFailed && doc.Mode == compliance.ModeAutomated {
			d.startAttempt(next, doc)
			retried = true
		}
	}
	if !retried {
		return nil, notRetryable(record)
	}
	d.fire(next, TriggerRetry)
	next.FailureReason = ""
	return d.store(next), nil
}

func notRetryable(record *Record) *Refusal {
	why := "its analysis failed; correct the shipment or the invoice and analyze again"
	if len(record.Documents) > 0 {
		why = "only manual documents failed, and only automated ones can be retried"
	}
	return refuse(CodeNotRetryable, specRetry, "request %s cannot be retried: %s", record.RequestID, why).of(record)
}

// endAttempt ends one attempt to generate a document and, with the last one, the generation.
func (d *Service) endAttempt(record *Record, slug string) {
	next := record.clone()
	doc := next.document(slug)
	if failure := d.failure(next, doc); failure != "" {
		doc.Status, doc.Failure = DocumentFailed, failure
	} else {
		doc.Status, doc.GeneratedAt = DocumentGenerated, jsontext.Timestamp{Time: d.config.Now().UTC()}
	}
	d.endGeneration(next)
	d.store(next)
}

func (d *Service) failure(next *Record, doc *Document) string {
	if doc.Attempts <= next.script.failures && doc.DocumentType == next.firstAutomated() {
		return "the document service did not accept the form"
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
