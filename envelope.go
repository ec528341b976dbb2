package shipping

import (
	"errors"
	"fmt"
	"sync"

	"github.com/shipping-go/shipping/internal/jsonread"
)

// envelope is the JSON object of every response.
//
// Specification: "Response envelope".
type envelope[T any] struct {
	Status  envelopeStatus `json:"status"`
	Message string         `json:"message"`
	Data    T              `json:"data" read:"strict"`
}

// envelopeStatus is the envelope's status. value is nil if the status is missing or cannot be read. A response
// with several statuses can report success and failure at once.
type envelopeStatus struct {
	value   *bool
	several bool
}

// decodeReply reads a 2xx response in one pass over its bytes; see [responses].
func decodeReply[T any](c *core, got *exchange) (T, *Error) {
	var reply envelope[T]
	options := jsonread.Options{Elements: maxElements(c.maxBody)}
	differences := driftCounts{}
	if c.drift != nil {
		options.Report = differences.add
	}
	err := responses().Read(got.response.Body, &reply, options)
	switch {
	case err == jsonread.ErrCrowded:
		failure := c.unexpected(got, fmt.Errorf("%w: its lists hold more than %d elements", ErrBodyTooLarge, options.Elements))
		failure.kind = ErrBodyTooLarge
		return reply.Data, failure
	case err == jsonread.ErrSyntax:
		return reply.Data, c.unexpected(got, errNoJSON)
	case reply.Status.several:
		return reply.Data, c.unexpected(got, errors.New("the envelope has more than one status"))
	case reply.Status.value != nil && *reply.Status.value && err != nil:
		return reply.Data, c.unexpected(got, err) // lost records would end a list without an error
	}
	if c.drift != nil {
		if data, ok := any(reply.Data).(requestData); ok && data.wrapped {
			differences.dropMissing("data.")
		}
		c.drift(c.key, got.operation.Name, differences)
	}
	switch {
	case reply.Status.value == nil:
		return reply.Data, c.unexpected(got, errors.New("the response is JSON but not the documented envelope: it has no status"))
	case *reply.Status.value:
		return reply.Data, nil
	}
	failure := c.failureOf(got)
	failure.kind = ErrInvalidRequest
	return reply.Data, failure
}

// errNoJSON is a body to be described by describeBody.
var errNoJSON = errors.New("the body is not JSON")

// responses returns the reader of all JSON that the service sends. The tags of a struct define how its fields
// are read.
var responses = sync.OnceValue(func() *jsonread.Reader {
	return jsonread.New(
		jsonread.Custom("number", readAmount, func(a *Amount) { *a = Amount{state: amountUnreadable} }),
		jsonread.Custom("", func(d *jsonread.Decoder, r *RawJSON) { *r = RawJSON(d.RawText()) }, nil),
		jsonread.Custom("", readRequestData, (*requestData).givenTwice),
		jsonread.Custom("", func(d *jsonread.Decoder, s *envelopeStatus) { d.Read(&s.value) }, func(s *envelopeStatus) { s.several = true }),
	)
})

func readAmount(d *jsonread.Decoder, a *Amount) { *a = amountOf(d.Raw()) }

// readJSON reads a part of a response. A value that cannot be read leaves its field zero.
func readJSON(text []byte, into any) error {
	return responses().Read(text, into, jsonread.Options{})
}

// An element of a list takes the memory of a whole record however short it is: a million bytes of "0,0,0"
// would become a gigabyte of rates. So not only the bytes of a response are bounded, but also the elements of
// its lists: one for each elementShare bytes that a response may have, and at least fewestElements. Documented
// records are several times longer than elementShare.
const (
	elementShare   = 256
	fewestElements = 4096
)

func maxElements(maxBody int64) int {
	return int(max(fewestElements, min(maxBody/elementShare, 1<<30)))
}
