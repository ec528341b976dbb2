package evidence

import (
	"slices"
	"strings"

	"github.com/shipping-go/shipping/internal/jsonread"
)

// Refused is what the body of a refusal shows about the request that it refuses. It holds no text of the service, because
// errors keep it.
type Refused struct {
	// StatesDraft: the refusal states that the request is a draft.
	StatesDraft bool

	contradicts string // why the refusal contradicts itself, whatever the draft showed; "" if it does not
	charges     []string
}

// ReadRefusal reads the whole body of the refusal of a request: an envelope, whose status is false, or problem details,
// whose members are those of a record. The members of a record count at any depth, because the form of a refusal is not specified.
func ReadRefusal(body, requestID string) Refused {
	root := jsonread.Parse(body)
	var r Refused
	r.read(root)
	records := []jsonread.Value{root.Get("data"), root.Get("data").Get("request"), root.Get("request")}
	if root.Get("status").Text != "false" {
		records = append(records, root)
	}
	for _, record := range records {
		status := strings.TrimSpace(record.Get("status").Text)
		if record.Get("status").Kind == '"' && status != "" {
			r.StatesDraft = r.StatesDraft || status == "draft"
			if !strings.EqualFold(status, "draft") {
				r.contradicts = otherStatus
			}
		}
		if id := record.Get("request_id").Text; id != "" && id != requestID {
			r.contradicts = "it is about another request"
		}
	}
	return r
}

const (
	otherStatus = "it shows a status other than draft"
	showsCharge = "it shows a charged amount"
)

// read looks for members that the refusal of a draft cannot have.
func (r *Refused) read(n jsonread.Value) {
	if _, twice := n.Repeated(); twice {
		r.contradicts = "it gives a member twice"
	}
	for _, m := range n.Members {
		value := m.Value
		switch m.Name {
		case "status":
			if slices.Contains([]string{"purchasing", "processing", "completed", "failed"}, strings.ToLower(value.Text)) {
				r.contradicts = otherStatus
			}
		case "transaction_id":
			if value.Text != "" || !value.Scalar() {
				r.contradicts = "it shows a transaction"
			}
		case "charged_amount":
			switch {
			case !value.Scalar() || value.Text != "" && !isNumber(value.Text):
				r.contradicts = showsCharge
			case value.Text != "" && !isZero(value.Text):
				r.charges = append(r.charges, value.Text)
			}
		}
		r.read(value)
	}
	for _, entry := range n.Elements {
		r.read(entry)
	}
}

// Contradiction returns why the refusal does not prove that a purchase of this draft charged nothing; "" if it may. A
// charge that the draft showed already is not a contradiction.
func (r Refused) Contradiction(draft *Record) string {
	if slices.ContainsFunc(r.charges, func(charge string) bool { return charge != draft.Charge }) {
		return showsCharge
	}
	return r.contradicts
}
