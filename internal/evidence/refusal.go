package evidence

import (
	"slices"
	"strings"
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
	root := parse(body)
	var r Refused
	r.read(root)
	records := []node{root.get("data"), root.get("data").get("request"), root.get("request")}
	if root.get("status").text != "false" {
		records = append(records, root)
	}
	for _, record := range records {
		status := strings.TrimSpace(record.get("status").text)
		if record.get("status").kind == '"' && status != "" {
			r.StatesDraft = r.StatesDraft || status == "draft"
			if !strings.EqualFold(status, "draft") {
				r.contradicts = otherStatus
			}
		}
		if id := record.get("request_id").text; id != "" && id != requestID {
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
func (r *Refused) read(n node) {
	if _, twice := n.repeated(); twice {
		r.contradicts = "it gives a member twice"
	}
	for _, m := range n.members {
		value := m.value
		switch m.name {
		case "status":
			if slices.Contains([]string{"purchasing", "processing", "completed", "failed"}, strings.ToLower(value.text)) {
				r.contradicts = otherStatus
			}
		case "transaction_id":
			if value.text != "" || !value.scalar() {
				r.contradicts = "it shows a transaction"
			}
		case "charged_amount":
			switch {
			case !value.scalar() || value.text != "" && !isNumber(value.text):
				r.contradicts = showsCharge
			case value.text != "" && !isZero(value.text):
				r.charges = append(r.charges, value.text)
			}
		}
		r.read(value)
	}
	for _, entry := range n.entries {
		r.read(entry)
	}
}

// Contradiction returns why the refusal does not prove that a purchase of this draft charged nothing; "" if it may. A
// charge that the draft showed already is no contradiction.
func (r Refused) Contradiction(draft *Record) string {
	if slices.ContainsFunc(r.charges, func(charge string) bool { return charge != draft.Charge }) {
		return showsCharge
	}
	return r.contradicts
}
