package fault

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is a row of the table of kinds, as GET /_mock/faults lists it.
type Kind struct {
	Kind string `json:"kind"`
	// Needs are the JSON names of the fields of [Fault] that the kind reads.
	Needs []string `json:"needs"`
	// Effect describes the fault.
	Effect string `json:"effect"`

	problem func(Fault) string // returns a problem of the fields, or ""
}

// Kinds returns every kind. The slice is the caller's own.
func Kinds() []Kind {
	none, sound := []string{}, func(Fault) string { return "" }
	return []Kind{
		{"status", []string{"status", "header"}, "responds with a status", func(f Fault) string { return first(f.badStatus(), f.badHeader()) }},
		{"rate-limit", []string{"retry_after", "duration"}, "responds with 429 and a Retry-After in one of several forms", Fault.badRetryAfter},
		{"redirect", []string{"location"}, "responds with 308", func(f Fault) string {
			return unless(f.Location != "", "a redirect needs a location")
		}},
		{"latency", []string{"duration"}, "delays the response, by the world's clock", Fault.noDuration},
		{"drop", none, "closes the connection without a response", sound},
		{"reset", none, "resets the connection", sound},
		{"arrive-late", []string{"duration"}, "closes the connection without a response, and performs the operation after the duration, whatever the client does by then", Fault.noDuration},
		{"truncate", []string{"bytes"}, "sends the first bytes of the body and closes", func(f Fault) string {
			return unless(f.Bytes >= 0, "bytes must be at least 0")
		}},
		{"slow-body", []string{"duration"}, "sends one byte of the body per duration", Fault.noDuration},
		{"early-hints", none, "sends 103 before the response", sound},
		{"malformed", none, "sends half of the JSON as if it were complete", sound},
		{"content-type", []string{"content_type"}, "sends another Content-Type", func(f Fault) string {
			return unless(f.ContentType != "", "set the content_type, such as text/plain")
		}},
		{"html", []string{"status"}, "responds with an HTML page, as proxies do", func(f Fault) string {
			return first(f.badStatus(), unless(hasBody(f.Status), fmt.Sprintf("a response of status %d has no body: choose another", f.Status)))
		}},
		{"empty", none, "responds with 200 and no body", sound},
		{"repeat-page", none, "responds with the previous page of a list", sound},
		{"cap-page", []string{"per_page"}, "responds with pages of at most that many records", func(f Fault) string {
			return unless(f.PerPage >= 1, "per_page must be at least 1")
		}},
		{"insert-rows", []string{"rows"}, "inserts new records at the head of a list before the response", Fault.badRows},
		{"remove-rows", []string{"rows"}, "removes the newest records of a list before the response", Fault.badRows},
		{"respond", []string{"status", "header", "body", "body_base64"}, "responds exactly as given, without an envelope", func(f Fault) string {
			return first(f.badStatus(), f.badHeader(), f.badBody())
		}},
	}
}

// Check returns an error if the fault cannot happen: an unknown kind, a field that the kind does not read, or a
// value out of range.
func (f Fault) Check() error {
	kinds := Kinds()
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Kind == f.Kind })
	if i < 0 {
		names := make([]string, len(kinds))
		for i, k := range kinds {
			names[i] = k.Kind
		}
		return fmt.Errorf("unknown kind %q: choose one of %s", f.Kind, strings.Join(names, ", "))
	}
	for field, value := range reflect.ValueOf(f).Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "kind" && !value.IsZero() && !slices.Contains(kinds[i].Needs, name) {
			return fmt.Errorf("%s does not apply to a fault of kind %s, which reads %s", name, f.Kind, strings.Join(append([]string{"kind"}, kinds[i].Needs...), ", "))
		}
	}
	if problem := kinds[i].problem(f); problem != "" {
		return errors.New(problem)
	}
	return nil
}

// first returns the first text that is not empty.
func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func unless(sound bool, problem string) string {
	if sound {
		return ""
	}
	return problem
}

// hasBody reports whether a response of a status can have a body.
func hasBody(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

func (f Fault) badStatus() string {
	return unless(f.Status >= 200 && f.Status <= 599, fmt.Sprintf("status %d does not end an exchange: choose one from 200 to 599", f.Status))
}

func (f Fault) badRows() string {
	return unless(f.Rows >= 1 && f.Rows <= 10_000, "rows must be between 1 and 10000")
}

func (f Fault) noDuration() string {
	return unless(f.Duration > 0, "a delay needs a duration above zero, such as 90s")
}

func (f Fault) badRetryAfter() string {
	forms := RetryAfters()
	if slices.Contains(forms, f.RetryAfter) {
		return unless(f.Duration >= 0, "duration must not be below zero: retry_after negative sends -1")
	}
	known := make([]string, len(forms))
	for i, form := range forms {
		known[i] = string(form)
	}
	return fmt.Sprintf("unknown retry_after %q: choose one of %s", string(f.RetryAfter), strings.Join(known, ", "))
}

func (f Fault) badBody() string {
	switch {
	case f.Body != "" && f.BodyBase64 != nil:
		return "body and body_base64 are both set: leave one of them out"
	case !utf8.ValidString(f.Body):
		return "body is not UTF-8: use body_base64"
	case !hasBody(f.Status) && (f.Body != "" || f.BodyBase64 != nil):
		return fmt.Sprintf("a response of status %d has no body: leave it out", f.Status)
	default:
		return ""
	}
}

// badHeader describes a problem of the header that net/http would drop or change.
func (f Fault) badHeader() string {
	for _, name := range sortedNames(f.Header) {
		switch key := http.CanonicalHeaderKey(name); {
		case !isToken(name):
			return fmt.Sprintf("header %q is not a name: use letters, digits and hyphens", name)
		case key == "Content-Length" || key == "Transfer-Encoding":
			return fmt.Sprintf("header %s follows from the body: leave it out, or add a rule with truncate to announce more than is sent", key)
		case slices.ContainsFunc(f.Header[name], func(value string) bool { return strings.ContainsAny(value, "\r\n\x00") }):
			return fmt.Sprintf("header %s contains a line break or a zero byte: remove it", key)
		}
	}
	return ""
}

// isToken reports whether a text is a token of RFC 9110 (5.6.2), as names in a header are.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) })
}
