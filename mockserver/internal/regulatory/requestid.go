package regulatory

import (
	"bytes"
)

const requestIDPrefix = "RD-"

// CutRequestID splits a text around the first request_id in it.
func CutRequestID(text []byte) (before, id, after []byte) {
	at := bytes.Index(text, []byte(requestIDPrefix))
	if at < 0 {
		return text, nil, nil
	}
	end := at + len(requestIDPrefix)
	for end < len(text) && (text[end] >= 'A' && text[end] <= 'Z' || text[end] >= '0' && text[end] <= '9') {
		end++
	}
	return text[:at], text[at:end], text[end:]
}
