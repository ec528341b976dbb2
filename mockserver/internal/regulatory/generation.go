package regulatory

import (
	"cmp"
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

// startGenerationLater leaves a charged request in the status purchasing for a time before its generation starts.
func (d *Service) startGenerationLater(record *Record, wait time.Duration) *Record {
	next := record.clone()
	next.due[untilGeneration] = d.config.Now().Add(wait)
	stored := d.store(next)
	d.schedule(stored)
	return stored
}

// startGeneration moves a charged request to processing and starts each of its documents.
func (d *Service) startGeneration(record *Record) *Record {
	next := record.clone()
	d.fire(next, triggerGenerationStarts)
	delete(next.due, untilGeneration)
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
	stored := d.store(next)
	d.schedule(stored)
	return stored
}

func (d *Service) awaitEvidence(next *Record, doc *Document) {
	doc.Status = DocumentAwaitingEvidence
	if after := time.Duration(d.config.Time.Evidence); after > 0 {
		next.due[doc.DocumentType] = d.config.Now().Add(after)
	}
}

func (d *Service) startAttempt(next *Record, doc *Document) {
	doc.Status, doc.Failure = DocumentGenerating, ""
	doc.Attempts++
	next.due[doc.DocumentType] = d.config.Now().Add(d.duration(doc.DocumentType) + next.script.delay)
}

// defaultScale makes every built-in form ready within two seconds, so that nobody waits for a first purchase.
const defaultScale = 0.05

// duration returns how long a form takes to generate.
func (d *Service) duration(slug string) time.Duration {
	form, known := d.config.Rules().Form(slug)
	if !known {
		return 0
	}
	scaled := float64(form.Generation()) * max(0, cmp.Or(d.config.Time.Generation, defaultScale))
	return time.Duration(min(scaled, float64(math.MaxInt64/2)))
}

// SubmitEvidence submits the evidence for a manual document, and starts its generation.
//
// Assumption: the specification does not mention how evidence arrives; this method serves the control
// surface. To receive evidence automatically, set [dialect.Time].
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
		return nil, refuse(CodeNoEvidenceAwaited, assumeManual, "%s of request %s is %s and requires no evidence", slug, requestID, doc.Status)
	}
	return d.evidenceArrived(record, slug), nil
}

func (d *Service) evidenceArrived(record *Record, slug string) *Record {
	next := record.clone()
	d.fire(next, TriggerEvidence)
	d.startAttempt(next, next.document(slug))
	stored := d.store(next)
	d.scheduleChange(stored, slug)
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
	for i := range next.Documents {
		if doc := &next.Documents[i]; doc.Status == DocumentFailed && doc.Mode == compliance.ModeAutomated {
			d.startAttempt(next, doc)
		}
	}
	if len(next.due) == 0 { // nothing else is due in a failed request
		return nil, notRetryable(record)
	}
	d.fire(next, TriggerRetry)
	next.FailureReason = ""
	stored := d.store(next)
	d.schedule(stored)
	return stored, nil
}

func notRetryable(record *Record) *Refusal {
	why := "its analysis failed; correct the shipment or the invoice and analyze again"
	if len(record.Documents) > 0 {
		why = "only manual documents failed, and only automated ones can be retried"
	}
	return refuse(CodeNotRetryable, specRetry, "request %s cannot be retried: %s", record.RequestID, why).of(record)
}

// untilGeneration stands for the start of generation among the document types in [Record.due].
const untilGeneration = ""

// schedule schedules everything that is due on the record.
func (d *Service) schedule(record *Record) {
	d.scheduleChange(record, untilGeneration)
	for _, doc := range record.Documents {
		d.scheduleChange(record, doc.DocumentType)
	}
}

// scheduleChange schedules the next change of one document, or the start of generation, if there is one.
func (d *Service) scheduleChange(record *Record, slug string) {
	due, pending := record.due[slug]
	if !pending {
		return
	}
	id, label := record.RequestID, "generate "+slug
	switch doc := record.document(slug); {
	case doc == nil:
		label = "start generation"
	case doc.Status == DocumentAwaitingEvidence:
		label = "evidence for " + slug
	}
	d.config.After(due.Sub(d.config.Now()), label+" of "+id, func() {
		current := d.records[id]
		doc := current.document(slug)
		switch { // the document may have changed since the call was scheduled
		case !current.due[slug].Equal(due):
		case doc == nil:
			d.startGeneration(current)
		case doc.Status == DocumentAwaitingEvidence:
			d.evidenceArrived(current, slug)
		default:
			d.endAttempt(current, slug)
		}
	})
}

// endAttempt ends one attempt to generate a document and, with the last one, the generation.
func (d *Service) endAttempt(record *Record, slug string) {
	next := record.clone()
	doc := next.document(slug)
	delete(next.due, slug)
	if failure := d.failure(next, doc); failure != "" {
		doc.Status, doc.Failure = DocumentFailed, failure
	} else {
		doc.Status, doc.GeneratedAt = DocumentGenerated, jsontext.Timestamp{Time: d.config.Now().UTC()}
	}
	d.endGeneration(next)
	d.store(next)
}

// failure returns the reason why the attempt fails, or "".
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
