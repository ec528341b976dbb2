package evidence

import "strings"

// levels returns the objects of a response that may hold the record: data and data.request.
func levels(data Value) []Value { return []Value{data, data.get("request")} }

// Unclear returns the reason why the data of a response is not evidence; "" if it is evidence.
func Unclear(data Value) string {
	if data.get("request").get("request").is('{') {
		return "nests records"
	}
	for _, level := range levels(data) {
		if level.is('[') {
			return "holds a list instead of a record"
		}
		if name, twice := level.repeated(); twice {
			return "gives " + quote(name) + " twice"
		}
		for _, name := range []string{"request_id", "status"} {
			if !level.get(name).scalar() {
				return "has a " + name + " that cannot be read"
			}
		}
	}
	return contradictoryLevels(data.members(), data.get("request").members())
}

// contradictoryLevels returns how two records in one response, one within the other, contradict each other.
func contradictoryLevels(outer, inner map[string]Value) string {
	if outer["request_id"].text() == "" {
		return "" // the outer object is not a record: its status is that of the operation
	}
	for _, name := range []string{"request_id", "status"} {
		if one, other := outer[name].text(), inner[name].text(); one != "" && other != "" && one != other {
			return "gives two values for " + name
		}
	}
	return ""
}

// ShowsStatus reports whether the data of a response shows the request in a status.
func ShowsStatus(data Value, status string) bool {
	for _, level := range levels(data) {
		if strings.EqualFold(strings.TrimSpace(level.get("status").text()), status) {
			return true
		}
	}
	return false
}

// UnreadableCharge reports whether a field for the charge in the data of a response holds a value that is
// neither a charge nor the absence of one, such as "5 NGN". isCharge reports whether a text is an amount that
// may have been charged.
func UnreadableCharge(data Value, isCharge func(string) bool) bool {
	for _, level := range levels(data) {
		if text := level.get("charged_amount").text(); text != "" && !isCharge(text) {
			return true
		}
		if !level.get("transaction_id").scalar() {
			return true
		}
	}
	return false
}
