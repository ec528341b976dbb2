// Package fault describes injected faults. A [Fault] is something that goes wrong with a request or a notification, and
// a [Rule] selects the requests or notifications that it strikes. Both are data with JSON tags, of the same shape in Go
// and in POST /_mock/faults. This package only describes faults; World.Inject of package mockserver adds rules to a
// world.
//
//	srv.Inject(
//		fault.Rule{Operation: shipping.OpListRates, First: 2, Fault: fault.Status(503, nil)},
//		fault.Rule{Operation: shipping.OpPurchase, Committed: true, Fault: fault.Drop()},
//		fault.Rule{First: 1, Fault: fault.RepeatNotification()},
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
//   - Two faults that decide the response, such as Status and Drop.
//   - A fault that changes any response, such as Truncate, and a later rule that decides it. In the other order both
//     strike: Status and then Truncate make a truncated error response. After a fault that sends no response, such as
//     Drop, nothing can be changed.
//   - A fault that prevents the operation, and one that needs it. A rule that is not committed prevents the operation
//     if its fault decides or changes the response. Committed rules, points, Repeat and faults of lists need it; a
//     later rule may still prevent the operation after Repeat or a fault of lists.
//   - Two faults of the same kind, unless their effects add up, as those of Latency and InsertRows do.
//   - Two faults of notifications.
//
// A rule that can never strike, because an earlier one without a limit strikes all of its requests, is refused.
package fault

import (
	"bytes"
	"reflect"
)

// Fault is an injected fault. The functions of this package return faults; [Kinds] lists the fields that each kind
// reads.
type Fault struct {
	// Kind is the name of the kind, such as "drop".
	Kind string `json:"kind" doc:"Name of the kind, such as drop. GET /_mock/faults lists the kinds, and the members that each reads."`
	// Status is the HTTP status of the response.
	Status int `json:"status,omitempty" doc:"Status of the response."`
	// Header is the header of the response.
	Header Header `json:"header,omitempty" doc:"Header of the response."`
	// Duration is a delay, "90s" in JSON.
	Duration Duration `json:"duration,omitempty" doc:"A delay on the clock of the world, such as 90s."`
	// Bytes is how many bytes of the body are sent.
	Bytes int `json:"bytes,omitempty" doc:"How many bytes of the body are sent."`
	// ContentType replaces the Content-Type of the response.
	ContentType string `json:"content_type,omitempty" doc:"Content-Type of the response."`
	// Location is the target of a redirect.
	Location string `json:"location,omitempty" doc:"Target of a redirect."`
	// RetryAfter is the form of the Retry-After header.
	RetryAfter RetryAfter `json:"retry_after,omitempty" doc:"Form of the Retry-After header, which states the duration."`
	// PerPage is the largest page of a list.
	PerPage int `json:"per_page,omitempty" doc:"The largest page of a list."`
	// Rows is how many records are added to a list, or removed from it.
	Rows int `json:"rows,omitempty" doc:"How many records are added to a list, or removed from it."`
	// Body is the body of the response.
	Body string `json:"body,omitempty" doc:"Body of the response."`
	// BodyBase64 is the body instead, if it is not text. JSON has it in base64.
	BodyBase64 []byte `json:"body_base64,omitempty" doc:"Body of the response in base64, in place of body."`
}

// IsZero reports whether the fault is the zero Fault, which means none.
func (f Fault) IsZero() bool { return reflect.ValueOf(f).IsZero() }

// Clone returns a copy that shares no memory with f. The names in its header are in their canonical form.
func (f Fault) Clone() Fault {
	if f.Header != nil {
		f.Header = canonical(f.Header)
	}
	f.BodyBase64 = bytes.Clone(f.BodyBase64)
	return f
}
