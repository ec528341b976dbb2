package shipping

import (
	"encoding/json"
	"strings"

	"github.com/shipping-go/shipping/internal/jsonexact"
)

// A response to a purchase, and a record that is read afterwards, are evidence about money. What follows
// reads them more strictly than [decodeRecord] does: a record that contradicts itself is no evidence.

// recordLevels returns the objects of a response that may hold the record: data and data.request.
func recordLevels(data RawJSON) []RawJSON { return []RawJSON{data, data.Get("request")} }

// unclear returns why the data of a response is no evidence; "" if it is.
func unclear(data RawJSON) string {
	if data == jsonexact.GivenTwice {
		return "gives data twice"
	}
	if jsonKind(json.RawMessage(data.Get("request").Get("request"))) == "object" {
		return "nests records"
	}
	for _, level := range recordLevels(data) {
		if jsonKind(json.RawMessage(level)) == "array" {
			return "holds a list instead of a record"
		}
		if name, twice := level.repeated(); twice {
			return "gives " + quoteShort(name) + " twice"
		}
		for _, name := range []string{"request_id", "status"} {
			if !scalar(level.Get(name)) {
				return "has a " + name + " that cannot be read"
			}
		}
	}
	return contradictoryLevels(data.members(), data.Get("request").members())
}

// contradictoryLevels returns how two records in one response, one within the other, contradict each other.
func contradictoryLevels(outer, inner map[string]RawJSON) string {
	if outer["request_id"].Text() == "" {
		return "" // the outer object is not a record: its status is that of the operation
	}
	for _, name := range []string{"request_id", "status"} {
		if one, other := outer[name].Text(), inner[name].Text(); one != "" && other != "" && one != other {
			return "gives two values for " + name
		}
	}
	return ""
}

// showsDraft reports whether the data of a response shows the request as a draft.
func showsDraft(data RawJSON) bool {
	for _, level := range recordLevels(data) {
		if strings.EqualFold(strings.TrimSpace(level.Get("status").Text()), string(StatusDraft)) {
			return true
		}
	}
	return false
}

// showsCharge reports whether the record shows that the wallet was charged (assumption: the fields that
// show it).
func (r *RegulatoryRequest) showsCharge() bool {
	return r.TransactionID != "" || r.ChargedAmount.Sign() > 0
}

// unreadableCharge reports whether the data of a response shows something where a charge is shown, and it
// is neither a charge nor the absence of one, such as "5 NGN".
func unreadableCharge(data RawJSON) bool {
	for _, level := range recordLevels(data) {
		if text := level.Get("charged_amount").Text(); text != "" {
			if amount, err := ParseAmount(text); err != nil || amount.Sign() < 0 {
				return true
			}
		}
		if !scalar(level.Get("transaction_id")) {
			return true
		}
	}
	return false
}
