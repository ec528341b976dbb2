package regulatory

import "slices"

// Step is something that happened to a request: it came to a state, one of its documents did, or its
// draft was edited.
type Step struct {
	At Timestamp `json:"at"`
	// Status is the state that the request came to.
	Status State `json:"status,omitempty"`
	// Edited is set where a draft was edited.
	Edited bool `json:"edited,omitempty"`
	// DocumentType is the document that the rest is about.
	DocumentType   string        `json:"document_type,omitempty"`
	DocumentStatus DocumentState `json:"document_status,omitempty"`
	Attempt        int           `json:"attempt,omitempty"`
	// Failure says why the request or the document failed.
	Failure string `json:"failure,omitempty"`
}

// maxSteps bounds what a request remembers; its first step and the latest ones are kept.
const maxSteps = 200

// History returns what happened to the request, oldest first. It is the server's own knowledge and in no
// answer of the service. The slice must not be changed.
func (r *Record) History() []Step { return r.history }

// happened adds to a record's history what makes it differ from the one before it; nil for a new one.
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
	case r.Status == StateCompleted || r.Status == StateFailed: // because of what its documents did
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

// Newest returns up to most requests, newest first, after leaving out the newest skip ones.
func (d *Desk) Newest(skip, most int) []*Record {
	last := d.order.Len() - max(0, skip)
	records := make([]*Record, 0, max(0, min(most, last)))
	for i := last - 1; i >= 0 && len(records) < most; i-- {
		record, _ := d.records.Get(d.order.At(i))
		records = append(records, record)
	}
	return records
}

// Stored returns how many times the desk has stored a request, new or changed.
func (d *Desk) Stored() int { return d.stored }
