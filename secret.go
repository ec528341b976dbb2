package shipping

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

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

// redactedJSON returns a value without the key, as JSON also if the key is a number or a part of one.
func redactedJSON(key redact.Key, value RawJSON) RawJSON {
	safe := RawJSON(key.Text(string(value)))
	if safe == value || json.Valid([]byte(safe)) {
		return safe
	}
	decoder := json.NewDecoder(strings.NewReader(string(value)))
	decoder.UseNumber()
	var decoded any
	if decoder.Decode(&decoded) != nil {
		return RawJSON(`"` + redact.Mark + `"`)
	}
	encoded, err := json.Marshal(redactedValue(key, decoded))
	if err != nil {
		return RawJSON(`"` + redact.Mark + `"`)
	}
	return RawJSON(encoded)
}

// redactedValue returns a decoded value without the key. A number that shows it becomes a string.
func redactedValue(key redact.Key, value any) any {
	switch v := value.(type) {
	case string:
		return key.Text(v)
	case json.Number:
		if key.In(v.String()) {
			return key.Text(v.String())
		}
	case []any:
		for i := range v {
			v[i] = redactedValue(key, v[i])
		}
	case map[string]any:
		safe := make(map[string]any, len(v))
		for name, member := range v {
			safe[key.Text(name)] = redactedValue(key, member)
		}
		return safe
	}
	return value
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
	return c.withoutKey(record)
}

// withoutKey returns a record that goes into an error: record itself if it does not show the key, else a copy
// without it.
func (c *core) withoutKey(record *RegulatoryRequest) *RegulatoryRequest {
	if c == nil || record == nil {
		return record
	}
	raw := redactedJSON(c.key, record.Raw)
	if raw == record.Raw {
		return record
	}
	safe := decodeRecord(raw)
	setDefault(&safe.RequestID, record.RequestID) // the service may have left it out
	setDefault(&safe.Status, record.Status)
	return safe
}
