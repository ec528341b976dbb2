package regulatory

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
)

// saved is the complete data of a request, for a file.
type saved struct {
	Record json.RawMessage `json:"record"` // as in responses
	Rate   shipping.Amount `json:"rate,omitzero"`
	// Purchased are the document types that were purchased, in the order of the purchase.
	Purchased []string `json:"purchased,omitempty"`
	// Due is when generation starts, DocumentsDue when each of the documents changes next; zero
	// if nothing is scheduled.
	Due          time.Time   `json:"due,omitzero"`
	DocumentsDue []time.Time `json:"documents_due,omitempty"`
	History      []Step      `json:"history,omitempty"`
}

// MarshalJSON writes every request, oldest first.
func (d *Requests) MarshalJSON() ([]byte, error) {
	all := make([]saved, 0, len(d.order))
	for _, r := range d.Records() {
		s := saved{Record: r.JSON(), Rate: r.rate, Purchased: r.purchased, Due: r.due, History: r.history}
		for _, doc := range r.Documents {
			s.DocumentsDue = append(s.DocumentsDue, doc.due)
		}
		all = append(all, s)
	}
	return jsontext.Encode(all)
}

// UnmarshalJSON reads what MarshalJSON has written.
func (d *Requests) UnmarshalJSON(text []byte) error {
	var all []saved
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*d = Requests{records: map[string]*Record{}}
	for _, s := range all {
		r := &Record{rate: s.Rate, purchased: s.Purchased, due: s.Due, history: s.History}
		if err := json.Unmarshal(s.Record, r); err != nil {
			return err
		}
		if len(s.DocumentsDue) != len(r.Documents) {
			return fmt.Errorf("request %s has %d documents, but times for %d", r.RequestID, len(r.Documents), len(s.DocumentsDue))
		}
		for i, due := range s.DocumentsDue {
			r.Documents[i].due = due
		}
		special, _ := specialInput(AnalyzeInput{ShipmentID: r.ShipmentID, FileURL: r.FileURL})
		r.script = special.script
		r.encodeOnce()
		d.records[r.RequestID] = r
		d.order = append(d.order, r.RequestID)
		d.bytes += len(r.JSON())
	}
	return nil
}
