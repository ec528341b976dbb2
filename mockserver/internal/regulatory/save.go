package regulatory

import (
	"encoding/json"
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
	// Due is when each of the documents changes next, by its type, and when generation starts.
	Due     map[string]time.Time `json:"due,omitempty"`
	History []Step               `json:"history,omitempty"`
}

// MarshalJSON writes every request, oldest first.
func (d *Requests) MarshalJSON() ([]byte, error) {
	all := make([]saved, 0, len(d.order))
	for _, r := range d.Records() {
		all = append(all, saved{Record: r.JSON(), Rate: r.rate, Purchased: r.purchased, Due: r.due, History: r.history})
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
		special, _ := specialInput(AnalyzeInput{ShipmentID: r.ShipmentID, FileURL: r.FileURL})
		r.script = special.script
		r.encodeOnce()
		d.records[r.RequestID] = r
		d.order = append(d.order, r.RequestID)
		d.bytes += len(r.JSON())
	}
	return nil
}
