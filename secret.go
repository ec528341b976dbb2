package shipping

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/shipping-go/shipping/internal/redact"
)

// redactor removes the key from what a transport returns, so that no handler around it, no attempt, log or
// observer meets one: from its errors, because net/http quotes what it cannot read; and from the header. Bodies
// are data; [core.redacted] redacts those that go into an error.
type redactor struct {
	next http.RoundTripper
	key  redact.Key
}

func (r redactor) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if partial, ok := errors.AsType[*bodyError](err); ok {
		return nil, &bodyError{partial.status, r.key.Header(partial.header), r.key.Bytes(partial.body), r.key.Error(partial.err)}
	}
	if err != nil {
		return nil, r.key.Error(err)
	}
	response.Header, response.Status = r.key.Header(response.Header), r.key.Text(response.Status)
	return response, nil
}

// redacted bounds an error, and removes the key from everything in it that a service may have sent. Every
// [Error] is returned by it.
func (c *core) redacted(e *Error) *Error {
	e.Message = clip(c.key.Text(e.Message), maxErrorMessage)
	e.RequestID = c.key.Text(e.RequestID)
	if len(e.Data) > maxErrorBody {
		e.Data = ""
	}
	e.Data = redactedJSON(c.key, e.Data)
	e.Body = c.key.Start(e.Body, maxErrorBody)
	e.Cause = c.key.Error(e.Cause)
	return e
}

// redactedJSON returns a value without the key, as JSON also if the key was a number or part of one.
func redactedJSON(key redact.Key, value RawJSON) RawJSON {
	safe := RawJSON(key.Text(string(value)))
	if safe != value && !json.Valid([]byte(safe)) {
		return RawJSON(`"` + redact.Mark + `"`)
	}
	return safe
}

// redactedRecord returns a record without the key if the record belongs to an error or shows the key in what
// an error may name: its identifier, its status, its documents and their currencies.
func (c *core) redactedRecord(record *RegulatoryRequest) *RegulatoryRequest {
	named := []string{record.RequestID, string(record.Status), record.Currency}
	for _, document := range record.AvailableDocuments {
		named = append(named, string(document.DocumentType), document.Currency)
	}
	shown := record.Status == StatusFailed
	for _, text := range named {
		shown = shown || c.key.In(text)
	}
	if !shown {
		return record
	}
	raw := redactedJSON(c.key, record.Raw)
	if raw == record.Raw {
		return record
	}
	if safe := decodeRecord(raw); safe.Status != "" {
		return safe
	}
	safe := *record // the key is a number, or stands in the name of a member
	safe.RequestID, safe.Status = c.key.Text(record.RequestID), RequestStatus(c.key.Text(string(record.Status)))
	safe.FailureReason, safe.Raw = c.key.Text(record.FailureReason), raw
	safe.Documents = slices.Clone(record.Documents)
	for i := range safe.Documents {
		safe.Documents[i].Failure = c.key.Text(safe.Documents[i].Failure)
	}
	return &safe
}
