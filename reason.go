package shipping

import (
	"net/http"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/internal/jsonread"
)

// maxShownBody is how many bytes of a body are shown if it has no known reason.
const maxShownBody = 200

// reasonMembers are the members that hold the reason of a failure, in the order in which they are shown.
//
// Assumption: the specification shows the member "message" only. The others are widespread conventions.
var reasonMembers = []string{
	"message", "msg", "title", "detail", "error", "error_description", "reason", "description", "errors", "details",
}

// subjectMembers name the input that a reason in a list is about.
var subjectMembers = []string{"field", "property", "param"}

// reason returns the reason of a failure: the text of its JSON body (of the reasonMembers, if the body is an object),
// or else message, or else the start of the body. It is empty if the body holds only a status.
func (c *core) reason(status int, body []byte, message string) string {
	if len(body) <= maxErrorBody {
		value := jsonread.Parse(string(body))
		text, stated := reasonText(value, http.StatusText(status))
		if stated || value.Kind != '{' {
			return text
		}
		if text, stated := reasonText(value.Get("data"), ""); stated {
			return text
		}
		if !slices.ContainsFunc(value.Members,
			func(m jsonread.Member) bool { return m.Name != "status" && !isEmpty(m.Value) }) {
			return ""
		}
	}
	if message != "" {
		return message
	}
	return c.startOf(body)
}

func isEmpty(value jsonread.Value) bool {
	return value.Text == "" && len(value.Members) == 0 && len(value.Elements) == 0
}

// startOf returns the start of a body on one line.
func (c *core) startOf(body []byte) string {
	start := string(c.key.Start(body, maxShownBody+1))
	return oneLine(strings.Join(strings.Fields(start), " "), maxShownBody)
}

// reasonText returns the text of a value; for an object, the text of its reasonMembers, or else of all its members.
// stated reports whether it is a reason. Repeated reasons and the name of the HTTP status are left out.
func reasonText(value jsonread.Value, statusText string) (text string, stated bool) {
	switch value.Kind {
	case '[':
		var texts []string
		for _, element := range value.Elements {
			if text, _ := reasonText(element, statusText); text != "" {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, "; "), len(texts) > 0
	case '{':
		return objectReason(value, statusText)
	}
	text = strings.TrimSpace(value.Text)
	return text, text != "" && value.Kind == '"'
}

func objectReason(value jsonread.Value, statusText string) (text string, stated bool) {
	var all, reasons []string
	texts := make(map[string]string, len(value.Members))
	for _, member := range value.Members {
		text, _ := reasonText(member.Value, statusText)
		if text != "" {
			all = append(all, member.Name+": "+text)
		}
		if member.Value.Kind == 'v' {
			text = "" // such as "error": true
		}
		texts[member.Name] = text
	}
	for _, name := range reasonMembers {
		if text := texts[name]; text != "" && text != statusText && !slices.Contains(reasons, text) {
			reasons = append(reasons, text)
		}
	}
	if len(reasons) == 0 {
		return strings.Join(all, "; "), false
	}
	text = strings.Join(reasons, ": ")
	for _, name := range subjectMembers {
		if texts[name] != "" {
			return texts[name] + ": " + text, true
		}
	}
	return text, true
}
