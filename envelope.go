package shipping

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/shipping-go/shipping/internal/jsonexact"
)

// envelope is what every answer is wrapped in.
//
// Specification: "Response envelope".
type envelope[T any] struct {
	Status  *bool  `json:"status"`
	Message string `json:"message"`
	Data    T      `json:"data"`
}

// decodeReply reads a 2xx answer in one pass over its bytes: in the fast one of decode.go, or where
// that is not sure, or not wanted, in encoding/json's. Both match the names of members exactly.
func decodeReply[T any](c *core, got *exchange) (T, *Error) {
	body := got.response.Body
	var answer envelope[T]
	if err := c.crowded(body); err != nil {
		failure := c.unexpected(got, err)
		failure.kind = ErrBodyTooLarge
		return answer.Data, failure
	}
	read := false
	if !c.plainDecoding {
		answer, read = scanEnvelope[T](body)
	}
	if !read {
		var err error
		if answer, err = plainEnvelope[T](body); err != nil {
			return answer.Data, c.unexpected(got, err)
		}
	}
	if c.drift != nil {
		reportDrift[envelope[T]](c.drift, got.operation.Name, "", body)
	}
	if answer.Status != nil && *answer.Status {
		return answer.Data, nil
	}
	if answer.Status == nil {
		return answer.Data, c.unexpected(got, errors.New("the answer is JSON but not the documented envelope: it has no status"))
	}
	failure := c.failureOf(got)
	failure.kind = ErrInvalidRequest
	return answer.Data, failure
}

// errNoJSON is a body to be described by describeBody.
var errNoJSON = errors.New("the body is not JSON")

// plainEnvelope reads an answer with encoding/json. Where that meets a value of another type than
// documented, the body is straightened (see repair.go) and read again.
//
// A body with more than one status is an error: it reports success and failure at once.
func plainEnvelope[T any](body []byte) (envelope[T], error) {
	var answer envelope[T]
	if severalStatuses(body) {
		return answer, errors.New("the envelope has more than one status")
	}
	body = jsonexact.Text(body, &answer)
	err := json.Unmarshal(body, &answer)
	if err == nil {
		return answer, nil
	}
	if _, syntax := errors.AsType[*json.SyntaxError](err); syntax || len(bytes.TrimSpace(body)) == 0 {
		return answer, errNoJSON
	}
	answer = envelope[T]{}
	if err = json.Unmarshal(straighten[envelope[T]](body), &answer); err == nil && answer.Status != nil && *answer.Status {
		err = lostRecords[T](body)
	}
	return answer, err
}

// severalStatuses reports whether an envelope has its status more than once.
func severalStatuses(body []byte) bool {
	if bytes.Count(body, []byte(`status"`)) < 2 && !bytes.Contains(body, []byte(`\u`)) {
		return false
	}
	var answer struct {
		Status onceOnly `json:"status"`
	}
	return jsonexact.Unmarshal(body, &answer) == nil && answer.Status.several
}

// onceOnly reads any value, and reports whether its member is given more than once.
type onceOnly struct {
	_       jsonexact.Once
	several bool
}

func (o *onceOnly) UnmarshalJSON(data []byte) error {
	o.several = string(data) == jsonexact.GivenTwice
	return nil
}
