package fault

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shipping-go/shipping/internal/spelling"
)

// Kind describes a kind of fault, as GET /_mock/faults lists it.
type Kind struct {
	Kind string `json:"kind"`
	// Needs are the JSON names of the fields of [Fault] that the kind reads.
	Needs []string `json:"needs"`
	// Effect describes the fault.
	Effect string `json:"effect"`
	// Example is a fault of the kind.
	Example Fault `json:"-"`

	problem func(Fault) string // returns a problem of the fields, or ""
}

// Kinds returns every kind. Each has a constructor below, and an effect in the table of
// mockserver/internal/inject/effects.go. The caller may change the slice.
func Kinds() []Kind {
	none, sound := []string{}, func(Fault) string { return "" }
	return []Kind{
		{"status", []string{"status", "header"}, "responds with a status", Status(503, http.Header{"Retry-After": {"7"}}),
			func(f Fault) string { return cmp.Or(f.badStatus(), f.badHeader()) }},
		{"rate-limit", []string{"retry_after", "duration"}, "responds with 429 and a Retry-After in one of several forms",
			RateLimit(RetryAfterSeconds, 90*time.Second), Fault.badRetryAfter},
		{"redirect", []string{"location"}, "responds with 308", Redirect("/elsewhere"), func(f Fault) string {
			return unless(f.Location != "", "a redirect needs a location")
		}},
		{"latency", []string{"duration"}, "delays the response, by the world's clock", Latency(time.Second),
			Fault.noDuration},
		{"drop", none, "closes the connection without a response", Drop(), sound},
		{"reset", none, "resets the connection", Reset(), sound},
		{"arrive-late", []string{"duration"}, "closes the connection without a response, and performs the operation after " +
			"the duration, whatever the client does by then", ArriveLate(time.Minute), Fault.noDuration},
		{"gateway-timeout", []string{"duration"}, "responds with 504, as a gateway that no longer waits for the service, " +
			"and performs the operation after the duration, whatever the client does by then", GatewayTimeout(time.Minute),
			Fault.noDuration},
		{"repeat", none, "performs a changing operation twice, as if a proxy had repeated the request, and responds as " +
			"to the second", Repeat(), sound},
		{"truncate", []string{"bytes"}, "sends the first bytes of the body and closes", Truncate(9), func(f Fault) string {
			return unless(f.Bytes >= 0, "bytes must be at least 0")
		}},
		{"slow-body", []string{"duration"}, "sends one byte of the body per duration", SlowBody(time.Millisecond),
			Fault.noDuration},
		{"early-hints", none, "sends 103 before the response", EarlyHints(), sound},
		{"malformed", none, "sends half of the JSON as if it were complete", Malformed(), sound},
		{"content-type", []string{"content_type"}, "sends another Content-Type", ContentType("text/plain"),
			func(f Fault) string {
				return unless(f.ContentType != "", "set the content_type, such as text/plain")
			}},
		{"html", []string{"status"}, "responds with an HTML page, as proxies do", HTML(502), func(f Fault) string {
			return cmp.Or(f.badStatus(), unless(hasBody(f.Status),
				fmt.Sprintf("a response of status %d has no body: choose another", f.Status)))
		}},
		{"empty", none, "responds with 200 and no body", Empty(), sound},
		{"repeat-page", none, "responds with the previous page of a list", RepeatPage(), sound},
		{"cap-page", []string{"per_page"}, "responds with pages of at most that many records", CapPage(3),
			func(f Fault) string {
				return unless(f.PerPage >= 1, "per_page must be at least 1")
			}},
		{"insert-rows", []string{"rows"}, "inserts new records at the head of a list before the response", InsertRows(2),
			Fault.badRows},
		{"remove-rows", []string{"rows"}, "removes the newest records of a list before the response", RemoveRows(2),
			Fault.badRows},
		{"respond", []string{"status", "header", "body", "body_base64"}, "responds exactly as given, without an envelope",
			Respond(200, http.Header{"Content-Type": {"text/plain"}}, "exactly"), Fault.badResponse},
		{"repeat-notification", none, "loses the response to the first attempt of a notification, so that it is sent again " +
			"at once", RepeatNotification(), sound},
		{"replay-notification", none, "sends an accepted notification again, with other ids and the same " +
			"payload, as a replay does", ReplayNotification(), sound},
		{"delay-notification", []string{"duration"}, "sends a notification later, by the world's clock",
			DelayNotification(time.Minute), Fault.noDuration},
		{"reorder-notification", []string{"duration"}, "sends a notification after the next one, but waits no longer than " +
			"the duration", ReorderNotification(time.Minute), Fault.noDuration},
		{"drop-notification", none, "never sends a notification", DropNotification(), sound},
		{"forge-notification", none, "sends another notification first, about another shipment and with a wrong signature",
			ForgeNotification(), sound},
	}
}

// Status returns a fault that responds with a status and an error envelope. header, which may be nil, is added to the
// usual header.
func Status(code int, header http.Header) Fault {
	return Fault{Kind: "status", Status: code, Header: Header(header.Clone())}
}

// RateLimit returns a fault that responds with 429 and a Retry-After that asks to wait for d, rounded up to seconds.
// Forms that are not a time ignore d. Dates, and the Date header beside them, are by the world's clock.
//
// Assumption: the service limits rates in this way. The specification has no limit, and without the fault the server
// has none.
func RateLimit(form RetryAfter, d time.Duration) Fault {
	return Fault{Kind: "rate-limit", RetryAfter: form, Duration: Duration(d)}
}

// Redirect returns a fault that responds with 308 and a Location, which a careful client does not follow.
func Redirect(location string) Fault { return Fault{Kind: "redirect", Location: location} }

// Respond returns a fault that responds exactly as given: the body byte for byte, without an envelope. The status
// is from 200 to 599.
//
// The header may have any name but Content-Length and Transfer-Encoding, which the server sets for the body. If it has
// no Content-Type, the response has none. The server adds Date, X-Request-Id and X-Mock-Why, as to every response that
// a fault struck. The given header can replace each of them, or remove it by a name without values.
//
// A later rule can change the response, with [Truncate], [SlowBody] or another fault that changes responses.
func Respond(status int, header http.Header, body string) Fault {
	f := Fault{Kind: "respond", Status: status, Header: Header(header.Clone())}
	if utf8.ValidString(body) {
		f.Body = body
	} else {
		f.BodyBase64 = []byte(body)
	}
	return f
}

// HTML returns a fault that responds with an HTML page in place of JSON, as proxies do. A status of 200 is the
// hardest to detect.
func HTML(status int) Fault { return Fault{Kind: "html", Status: status} }

// Empty returns a fault that responds with 200 and no body.
func Empty() Fault { return Fault{Kind: "empty"} }

// Drop returns a fault that closes the connection without a response.
func Drop() Fault { return Fault{Kind: "drop"} }

// Reset returns a fault that resets the connection without a response: on a socket the caller gets "connection
// reset by peer". On a connection in memory it does the same as [Drop].
func Reset() Fault { return Fault{Kind: "reset"} }

// ArriveLate returns a fault that closes the connection at once without a response, and performs the operation after d
// on the world's clock, even if the client has given up: the request was still on its way. World.ClearFaults performs
// it sooner. The journal shows one entry, whose fault states when the operation took effect, or why it was refused.
//
// The fault determines when the operation is performed, so a rule with it sets neither a [Point] nor Committed. A
// request that only reads is not performed.
func ArriveLate(d time.Duration) Fault { return Fault{Kind: "arrive-late", Duration: Duration(d)} }

// GatewayTimeout returns a fault that responds with 504 and an HTML page at once, like a gateway that no longer waits
// for the service, and performs the operation after d, like [ArriveLate]. With [Latency] before it, the response comes
// later, and d begins then: Latency(29s) and GatewayTimeout(91s) perform the operation 120 s after the request.
func GatewayTimeout(d time.Duration) Fault {
	return Fault{Kind: "gateway-timeout", Duration: Duration(d)}
}

// Repeat returns a fault that performs the operation twice and sends the second response, as if a proxy had
// repeated the request: a purchase is charged, and the response is a refusal, because the request was purchased. The
// journal shows one entry. A request that only reads is not repeated.
func Repeat() Fault { return Fault{Kind: "repeat"} }

// Latency returns a fault that delays by d on the world's clock. A virtual clock must be advanced that far.
// If the world is closed meanwhile, the connection closes without a response.
func Latency(d time.Duration) Fault { return Fault{Kind: "latency", Duration: Duration(d)} }

// EarlyHints returns a fault that sends an informational response, 103, before the real one, which is unchanged.
func EarlyHints() Fault { return Fault{Kind: "early-hints"} }

// Truncate returns a fault that announces the whole body, sends its first n bytes and closes the connection.
func Truncate(n int) Fault { return Fault{Kind: "truncate", Bytes: n} }

// SlowBody returns a fault that sends the body one byte at a time, the first at once and then one every tick of the
// world's clock: ten ticks send ten bytes. If the world is closed meanwhile, the connection closes before the end
// of the body.
func SlowBody(tick time.Duration) Fault { return Fault{Kind: "slow-body", Duration: Duration(tick)} }

// Malformed returns a fault that sends half of the body as if it were complete: valid HTTP, invalid JSON.
func Malformed() Fault { return Fault{Kind: "malformed"} }

// ContentType returns a fault that sends the unchanged body with another Content-Type, such as "text/plain".
func ContentType(contentType string) Fault {
	return Fault{Kind: "content-type", ContentType: contentType}
}

// RepeatPage returns a fault of lists that responds with the page before the requested one, and with that page's
// pagination. The first page is unchanged.
func RepeatPage() Fault { return Fault{Kind: "repeat-page"} }

// CapPage returns a fault of lists that responds with pages of at most n records, whatever perPage requests.
func CapPage(n int) Fault { return Fault{Kind: "cap-page", PerPage: n} }

// InsertRows returns a fault of lists that adds n new records to the head of the list before the response, as if they
// arrived while somebody reads the pages: every record moves n places back. The records are real: a webhook is
// inactive, and a transaction is a deposit of one unit into the wallet.
func InsertRows(n int) Fault { return Fault{Kind: "insert-rows", Rows: n} }

// RemoveRows returns a fault of lists that removes the n newest records of the list before the response, so that every
// other record moves n places forward. It strikes every list with pages except transactions. Records that a scenario
// computes stay.
func RemoveRows(n int) Fault { return Fault{Kind: "remove-rows", Rows: n} }

// RepeatNotification returns a fault of notifications that loses the response to the first attempt. The notification is
// sent again at once with the same delivery id, after any response, and even if the dialect allows only one attempt.
func RepeatNotification() Fault { return Fault{Kind: "repeat-notification"} }

// ReplayNotification returns a fault of notifications that sends an accepted notification again, like a replay:
// with another delivery id, another event id and the same payload. The replay is sent once, whatever its response.
func ReplayNotification() Fault { return Fault{Kind: "replay-notification"} }

// DelayNotification returns a fault of notifications that sends a notification after d on the world's clock. Other
// notifications are sent meanwhile.
func DelayNotification(d time.Duration) Fault {
	return Fault{Kind: "delay-notification", Duration: Duration(d)}
}

// ReorderNotification returns a fault of notifications that sends a notification after its webhook has responded to a
// later one. If that does not happen within limit on the world's clock, the notification is sent then, and the fault
// has not struck.
func ReorderNotification(limit time.Duration) Fault {
	return Fault{Kind: "reorder-notification", Duration: Duration(limit)}
}

// DropNotification returns a fault of notifications that never sends a notification, and does not retry it. A replay of
// it is another notification.
func DropNotification() Fault { return Fault{Kind: "drop-notification"} }

// ForgeNotification returns a fault of notifications that first sends a forged one: about another shipment of the
// world, with other ids, and with the genuine signature, which does not match its body.
func ForgeNotification() Fault { return Fault{Kind: "forge-notification"} }

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
		if meant := spelling.Meant(f.Kind, names); meant != "" {
			return fmt.Errorf("unknown kind %q%s", f.Kind, meant)
		}
		return fmt.Errorf("unknown kind %.40q: choose one of %s", f.Kind, strings.Join(names, ", "))
	}
	for field, value := range reflect.ValueOf(f).Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "kind" && !value.IsZero() && !slices.Contains(kinds[i].Needs, name) {
			return fmt.Errorf("%s does not apply to a fault of kind %s, which reads %s", name, f.Kind,
				strings.Join(append([]string{"kind"}, kinds[i].Needs...), ", "))
		}
	}
	if problem := kinds[i].problem(f); problem != "" {
		return errors.New(problem)
	}
	if size := f.size(); size > maxSize {
		return fmt.Errorf("the body, the header and the other texts have %d bytes: use at most %d", size, maxSize)
	}
	return nil
}

// CheckResponse returns an error if the response of a fault of the kind respond cannot be sent, or would be changed by
// net/http. Unlike [Fault.Check], it accepts a body of any size.
func (f Fault) CheckResponse() error {
	if problem := f.badResponse(); problem != "" {
		return errors.New(problem)
	}
	return nil
}

func (f Fault) badResponse() string { return cmp.Or(f.badStatus(), f.badHeader(), f.badBody()) }

// maxSize limits the memory of a fault, in bytes.
const maxSize = 64 << 10

// size returns the number of bytes of the texts of the fault.
func (f Fault) size() int {
	size := len(f.Body) + len(f.BodyBase64) + len(f.Location) + len(f.ContentType)
	for name, values := range f.Header {
		size += len(name)
		for _, value := range values {
			size += len(value)
		}
	}
	return size
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
	return unless(f.Status >= 200 && f.Status <= 599, fmt.Sprintf("status %d does not end an exchange: choose one from "+
		`200 to 599, such as "status": 503`, f.Status))
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
	for _, name := range slices.Sorted(maps.Keys(f.Header)) {
		switch key := http.CanonicalHeaderKey(name); {
		case !isToken(name):
			return fmt.Sprintf("invalid header name %q: use letters, digits and hyphens", name)
		case key == "Content-Length" || key == "Transfer-Encoding":
			return fmt.Sprintf("header %s follows from the body: leave it out, or add a rule with truncate to announce more "+
				"than is sent", key)
		case slices.ContainsFunc(f.Header[name], func(value string) bool { return strings.ContainsAny(value, "\r\n\x00") }):
			return fmt.Sprintf("header %s contains a line break or a zero byte: remove it", key)
		}
	}
	return ""
}

// isToken reports whether a text is a token of RFC 9110 (5.6.2), as names in a header are.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text,
		func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) })
}
