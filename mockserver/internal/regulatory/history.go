package regulatory

import "slices"

// Step is one change of a request: a new state of the request or of one of its documents, or an edit of its
// draft.
type Step struct {
	At Timestamp `json:"at"`
	// Status is the new state of the request.
	Status State `json:"status,omitempty"`
	// Edited is set if the draft was edited.
	Edited bool `json:"edited,omitempty"`
	// DocumentType is the document of the following fields.
	DocumentType   string        `json:"document_type,omitempty"`
	DocumentStatus DocumentState `json:"document_status,omitempty"`
	Attempt        int           `json:"attempt,omitempty"`
	// Failure is the reason why the request or the document failed.
	Failure string `json:"failure,omitempty"`
}

// maxSteps limits the history of a request; the first step and the latest ones are kept.
const maxSteps = 200

// History returns the changes of the request, oldest first. It is not part of any response of the service. The
// slice must not be changed.
func (r *Record) History() []Step { return r.history }

// happened adds the difference to the previous record to the history; before is nil for a new request.
func (r *Record) happened(before *Record) {
	if before == nil {
		before = &Record{}
	}
	var steps []Step
	for i, doc := range r.Documents {
		if i < len(before.Documents) && before.Documents[i].Status == doc.Status && before.Documents[i].Attempts == doc.Attempts {
			continue
		}
		steps = append(steps, Step{
			At: r.UpdatedAt, DocumentType: doc.DocumentType, DocumentStatus: doc.Status, Attempt: doc.Attempts, Failure: doc.Failure,
		})
	}
	came := Step{At: r.UpdatedAt, Status: r.Status, Failure: r.FailureReason}
	switch {
	case before.Status == r.Status:
	case r.Status.Ended(): // caused by its documents
		steps = append(steps, came)
	default:
		steps = append([]Step{came}, steps...)
	}
	if len(steps) == 0 && r.Status == StateDraft {
		steps = append(steps, Step{At: r.UpdatedAt, Edited: true})
	}
	r.history = append(slices.Clip(before.history), steps...)
	if over := len(r.history) - maxSteps; over > 0 {
		r.history = slices.Delete(slices.Clone(r.history), 1, 1+over)
	}
}

// Newest skips the newest skip requests and returns up to most of the others, newest first.
func (d *Desk) Newest(skip, most int) []*Record {
	last := len(d.order) - max(0, skip)
	records := make([]*Record, 0, max(0, min(most, last)))
	for i := last - 1; i >= 0 && len(records) < most; i-- {
		records = append(records, d.records[d.order[i]])
	}
	return records
}

// Stored returns how often the desk has stored a new or changed request.
func (d *Desk) Stored() int { return d.stored }
