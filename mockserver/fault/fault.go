// Package fault describes injected faults. A [Fault] is something that goes wrong with a request, and a [Rule] selects
// the requests that it strikes. Both are data with JSON tags, of the same shape in Go and in POST /_mock/faults. This
// package only describes faults; World.Inject of package mockserver adds rules to a world.
//
//	srv.Inject(
//		fault.Rule{Operation: shipping.OpListRates, First: 2, Fault: fault.Status(503, nil)},
//		fault.Rule{Operation: shipping.OpPurchase, Committed: true, Fault: fault.Drop()},
//	)
//
// # Several faults on one request
//
// Every rule counts every request that it matches, and several rules can strike one request: first those that strike
// before the operation, then those at a [Point], then those that are committed; in each group in the order in which
// they were injected. A latency and a dropped connection make a connection that closes late.
//
// Faults that exclude each other do not strike together; the rule that was injected first strikes, and the later one
// counts the request without striking it. These pairs exclude each other:
//
//   - Two faults that decide the response. These are Status, RateLimit, Redirect, HTML, Empty,
//     Respond, Drop, Reset and ArriveLate.
//   - A fault that changes the response (Truncate, SlowBody, Malformed, ContentType) and a later rule that decides it. In
//     the other order both strike: Status and then Truncate make a truncated error response. After Drop, Reset and
//     ArriveLate there is no response to change.
//   - A fault that prevents the operation, and one that needs it. A rule that is not committed prevents the operation
//     if its fault decides or changes the response. Committed rules, points and faults of lists need it; a later rule
//     may still prevent the operation after a fault of lists.
//   - Two faults of the same kind, except Latency, CapPage, InsertRows and RemoveRows.
package fault

import (
	"bytes"
	"net/http"
	"reflect"
	"time"
	"unicode/utf8"
)

// Fault is one injected fault. The functions of this package make faults; [Kinds] lists which
// fields each kind reads.
type Fault struct {
	// Kind is the name of the kind, such as "drop".
	Kind string `json:"kind"`
	// Status is the HTTP status of the response.
	Status int `json:"status,omitempty"`
	// Header is the header of the response.
	Header Header `json:"header,omitempty"`
	// Duration is how long something takes, "90s" in JSON.
	Duration Duration `json:"duration,omitempty"`
	// Bytes is how many bytes of the body are sent.
	Bytes int `json:"bytes,omitempty"`
	// ContentType replaces the Content-Type of the response.
	ContentType string `json:"content_type,omitempty"`
	// Location is where a redirect leads.
	Location string `json:"location,omitempty"`
	// RetryAfter is the form of the Retry-After header.
	RetryAfter RetryAfter `json:"retry_after,omitempty"`
	// PerPage is the largest page of a list.
	PerPage int `json:"per_page,omitempty"`
	// Rows is how many records are added to a list, or removed from it.
	Rows int `json:"rows,omitempty"`
	// Body is the body of the response.
	Body string `json:"body,omitempty"`
	// BodyBase64 is the body instead, if it is not text. JSON has it in base64.
	BodyBase64 []byte `json:"body_base64,omitempty"`
}

// IsZero reports whether the fault is the zero Fault, which means none.
func (f Fault) IsZero() bool { return reflect.ValueOf(f).IsZero() }

// Clone returns a copy that shares no memory with f. The names in its header are in their canonical form.
func (f Fault) Clone() Fault {
	if f.Header != nil {
		header := http.Header{}
		for _, name := range sortedNames(f.Header) {
			key := http.CanonicalHeaderKey(name)
			header[key] = append(header[key], f.Header[name]...)
		}
		f.Header = Header(header)
	}
	f.BodyBase64 = bytes.Clone(f.BodyBase64)
	return f
}

// Status returns a fault that responds with a status and an error envelope. header, which may be nil, is added to the
// usual header.
func Status(code int, header http.Header) Fault {
	return Fault{Kind: "status", Status: code, Header: Header(header.Clone())}
}

// RateLimit returns a fault that responds with 429 and a Retry-After that asks to wait for d, rounded up to seconds.
// The forms that are not a time ignore d. Dates count from the world's clock, and so does the Date header beside
// them.
//
// Assumption: the service limits rates in this way. The specification has no limit, and without the fault the server has none.
func RateLimit(form RetryAfter, d time.Duration) Fault {
	return Fault{Kind: "rate-limit", RetryAfter: form, Duration: Duration(d)}
}

// Redirect returns a fault that responds with 308 and a Location, which a careful client does not follow.
func Redirect(location string) Fault { return Fault{Kind: "redirect", Location: location} }

// Respond returns a fault that responds exactly as given: the body byte for byte, without an envelope. The status
// is from 200 to 599.
//
// The header may have any name but Content-Length and Transfer-Encoding, which the server sets for the body. If it
// has no Content-Type, the response has none. The server adds Date, X-Request-Id and X-Mock-Why, as to every
// response that a fault struck; a name of the header replaces them, and a name without values removes them.
//
// The response is what [Truncate], [SlowBody] and the other faults that change a response expect, so that a rule
// behind this one can cut it off.
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

// ArriveLate returns a fault that closes the connection at once without a response, and performs the operation after d on
// the world's clock, whatever the client does by then: the request was still on its way. World.ClearFaults performs it
// sooner. The journal shows one entry, whose fault states when the operation took effect, or why it was refused.
//
// A request that is on its way is part of a snapshot and of a state file. The fault determines when the operation is
// performed, so that a rule with it has neither a [Point] nor Committed set. A request that only reads is not performed.
func ArriveLate(d time.Duration) Fault { return Fault{Kind: "arrive-late", Duration: Duration(d)} }

// Latency returns a fault that delays by d on the world's clock: with a virtual clock until the clock has been
// advanced that far. If the world is closed meanwhile, the connection closes without a response.
func Latency(d time.Duration) Fault { return Fault{Kind: "latency", Duration: Duration(d)} }

// EarlyHints returns a fault that sends an informational response, 103, before the real one, which is unchanged.
func EarlyHints() Fault { return Fault{Kind: "early-hints"} }

// Truncate returns a fault that announces the whole body, sends its first n bytes and closes the connection.
func Truncate(n int) Fault { return Fault{Kind: "truncate", Bytes: n} }

// SlowBody returns a fault that sends the body one byte at a time, the first at once and then one every tick of the
// world's clock: ten ticks send ten bytes. If the world is closed meanwhile, the connection closes before the end
// of the body.
func SlowBody(tick time.Duration) Fault { return Fault{Kind: "slow-body", Duration: Duration(tick)} }

// Malformed returns a fault that sends half of the body as if it were all of it: valid HTTP, invalid JSON.
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

// InsertRows returns a fault of lists that adds n new records to the head of the list before the response, as
// happens while somebody reads page after page: every record moves n places back. The records are real: rates,
// inactive webhooks, or deposits of one unit into the wallet.
func InsertRows(n int) Fault { return Fault{Kind: "insert-rows", Rows: n} }

// RemoveRows returns a fault of lists that removes the n newest records of the list before the response, so that every
// other record moves n places forward. It happens to rates and webhooks: transactions stay, and so do the rates that a
// scenario computes.
func RemoveRows(n int) Fault { return Fault{Kind: "remove-rows", Rows: n} }
