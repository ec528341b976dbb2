package regulatory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
)

// Saved is the complete data of a request, for a file.
type Saved struct {
	// Record is the JSON of the request in responses.
	Record json.RawMessage `json:"record"`
	// Rate is the value of a US dollar in the wallet's currency at analyze time.
	Rate shipping.Amount `json:"rate,omitzero"`
	// Purchased are the document types that were purchased, in the order of the purchase.
	Purchased []string `json:"purchased,omitempty"`
	// Due is when generation starts, DocumentsDue when each of the documents changes next; zero
	// if nothing is scheduled.
	Due          time.Time   `json:"due,omitzero"`
	DocumentsDue []time.Time `json:"documents_due,omitempty"`
	// History is the history of the request, oldest first.
	History []Step `json:"history,omitempty"`
}

// Save returns every request, oldest first, for [Desk.Load].
func (d *Desk) Save() []Saved {
	saved := make([]Saved, 0, len(d.order))
	for _, r := range d.Records() {
		s := Saved{Record: r.JSON(), Rate: r.rate, Purchased: r.purchased, Due: r.due, History: r.history}
		for _, doc := range r.Documents {
			s.DocumentsDue = append(s.DocumentsDue, doc.due)
		}
		saved = append(saved, s)
	}
	return saved
}

// Load adds the requests that [Desk.Save] returned, with all scheduled changes postponed by shift, to a new desk. After
// an error the desk must not be used. Load returns an error if a record is malformed, appears twice, or contradicts
// the ledger.
func (d *Desk) Load(saved []Saved, shift time.Duration) error {
	for i, s := range saved {
		r, err := s.restore()
		if err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
		if d.records[r.RequestID] != nil {
			return fmt.Errorf("request %d: %s appears twice", i, r.RequestID)
		}
		r.number = i
		d.records[r.RequestID] = r
		d.order = append(d.order, r.RequestID)
	}
	if err := d.Check(); err != nil {
		return err
	}
	for _, r := range d.Records() {
		d.resume(r, shift)
	}
	return nil
}

func (s Saved) restore() (*Record, error) {
	r := &Record{rate: s.Rate, purchased: s.Purchased, due: s.Due, history: s.History, encoded: new(encoded)}
	if err := json.Unmarshal(s.Record, r); err != nil {
		return nil, err
	}
	text, err := r.encode()
	if err != nil {
		return nil, err
	}
	// Encoders differ in how they write <, > and &; nothing else may differ.
	var compact, read, written bytes.Buffer
	if err := json.Compact(&compact, s.Record); err != nil {
		return nil, err
	}
	json.HTMLEscape(&read, compact.Bytes())
	json.HTMLEscape(&written, text)
	switch {
	case !bytes.Equal(read.Bytes(), written.Bytes()):
		return nil, errors.New("the record has unknown fields, or another order of fields")
	case r.RequestID == "" || !r.Status.known():
		return nil, fmt.Errorf("request %q has the unknown status %q", r.RequestID, r.Status)
	case len(s.DocumentsDue) != len(r.Documents):
		return nil, fmt.Errorf("%s has %d documents, but times for %d", r.RequestID, len(r.Documents), len(s.DocumentsDue))
	}
	for i, due := range s.DocumentsDue {
		r.Documents[i].due = due
	}
	for _, slug := range r.purchased {
		if _, offered := r.offered(slug); !offered {
			return nil, fmt.Errorf("%s has purchased %s, which it does not offer", r.RequestID, slug)
		}
	}
	magic, _ := magicFor(AnalyzeInput{ShipmentID: r.ShipmentID, FileURL: r.FileURL})
	r.script = magic.script
	return r, nil
}
