// Package vectors holds responses to a purchase that no honest service sends, or only under stress, as data for clients
// in any language, and grades clients with them. README.md describes the format.
package vectors

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed vectors.json
var file []byte

// Vector is one response with its true reports.
type Vector struct {
	Name string `json:"name"`
	// Response is sent once the request was read. Then the connection is closed.
	Response []Part `json:"response,omitempty"`
	// Refused: nobody listens, and the connection is refused.
	Refused bool `json:"refused,omitempty"`
	// Endless: the response ends only if the client closes the connection.
	Endless bool `json:"endless,omitempty"`

	// Error is the class of the error of any call with this response; empty for a success, and "any" if a result and an
	// error are both right.
	Error string `json:"error,omitempty"`
	// Status is the HTTP status that the error reports; 0 if none has to be reported.
	Status int `json:"status,omitempty"`
	// RetryAfter is how long the response asks the client to wait, in milliseconds.
	RetryAfter int64 `json:"retry_after_ms,omitempty"`
	// Retry: a call that is safe to retry may be retried.
	Retry bool `json:"retry,omitempty"`

	Purchase Purchase `json:"purchase"`
}

// Purchase holds the true reports of a purchase.
type Purchase struct {
	// Sends is how many requests for the purchase reach the service.
	Sends int `json:"sends"`
	// Charged is the report if the service charged the wallet before it responded, and NotCharged if it did not. A missing
	// one is not graded.
	Charged    *Report `json:"charged,omitempty"`
	NotCharged *Report `json:"not_charged,omitempty"`
}

// Report is the result of a purchase, as a client reports it.
type Report struct {
	// Outcome is "charged", "not charged" or "unknown".
	Outcome string `json:"outcome"`
	// Error is the class of the error; empty if the purchase succeeded.
	Error string `json:"error,omitempty"`
}

// Part is a part of a response: exactly one of its fields is set.
type Part struct {
	// Text is sent as it is, in UTF-8.
	Text string `json:"text,omitempty"`
	// Base64 is bytes that are not text.
	Base64 []byte `json:"base64,omitempty"`
	// Repeat is sent Times times.
	Repeat *Repeat `json:"repeat,omitempty"`
	// Gzip is sent compressed, without its last Cut bytes.
	Gzip *Gzip `json:"gzip,omitempty"`
	// Success stands for the body of a success of the call.
	Success bool `json:"success,omitempty"`
	// Length stands for the number of bytes of that body.
	Length bool `json:"length,omitempty"`
	// Forever is sent until the client closes the connection.
	Forever string `json:"forever,omitempty"`
	// Drip is sent one byte a second.
	Drip string `json:"drip,omitempty"`
	// Silence sends nothing until the client closes the connection.
	Silence bool `json:"silence,omitempty"`
	// Reset ends the connection with a TCP reset.
	Reset bool `json:"reset,omitempty"`
}

// Repeat is a text that is sent several times.
type Repeat struct {
	Text  string `json:"text"`
	Times int    `json:"times"`
}

// Gzip is a compressed part of a response.
type Gzip struct {
	Parts []Part `json:"parts"`
	Cut   int    `json:"cut,omitempty"`

	compressed []byte
}

// Success is the body of a confirmation, for the parts that stand for it.
const Success = `{"status":true,"message":"done","data":{"request_id":"` + RequestID + `","status":"processing"}}`

// All returns the vectors.
func All() ([]Vector, error) {
	all, err := read()
	return slices.Clone(all), err
}

// read reads the vectors once: to compress their parts takes time.
var read = sync.OnceValues(func() ([]Vector, error) {
	var all []Vector
	decoder := json.NewDecoder(bytes.NewReader(file))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("vectors.json: %w", err)
	}
	for _, v := range all {
		for _, part := range v.Response {
			if part.Gzip != nil {
				part.Gzip.compress()
			}
		}
	}
	return all, nil
})

// compress compresses the parts once, so that sending them needs little memory.
func (g *Gzip) compress() {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	for _, part := range g.Parts {
		part.writeTo(w, "")
	}
	_ = w.Close() // into memory: it never fails
	g.compressed = out.Bytes()[:out.Len()-g.Cut]
}

// Write sends the response. success is the body of a success of the call.
func (v Vector) Write(to net.Conn, success string) {
	for _, part := range v.Response {
		if part.writeTo(to, success) != nil {
			return
		}
	}
}

// writeTo sends a part to a connection or a compressor. Some parts need a connection.
func (p Part) writeTo(to io.Writer, success string) (err error) {
	switch {
	case p.Base64 != nil:
		_, err = to.Write(p.Base64)
	case p.Repeat != nil:
		err = repeat(to, p.Repeat.Text, p.Repeat.Times)
	case p.Gzip != nil:
		_, err = to.Write(p.Gzip.compressed)
	case p.Success:
		_, err = io.WriteString(to, success)
	case p.Length:
		_, err = fmt.Fprint(to, len(success))
	case p.Forever != "":
		err = repeat(to, p.Forever, math.MaxInt)
	case p.Drip != "":
		err = drip(to.(net.Conn), p.Drip)
	case p.Silence:
		_, _ = io.Copy(io.Discard, to.(net.Conn)) // until the other side closes it
	case p.Reset:
		err = to.(*net.TCPConn).SetLinger(0)
	default:
		_, err = io.WriteString(to, p.Text)
	}
	return err
}

// repeat sends a text several times, in pieces of up to 16 KiB.
func repeat(to io.Writer, text string, times int) error {
	many := min(times, 1+(16<<10)/len(text))
	piece := []byte(strings.Repeat(text, many))
	for ; times > 0; times -= many {
		if _, err := to.Write(piece[:min(many, times)*len(text)]); err != nil {
			return err
		}
	}
	return nil
}

// drip sends a byte a second until the other side closes the connection.
func drip(to net.Conn, text string) error {
	closed := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, to)
		close(closed)
	}()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for i := range len(text) {
		if _, err := to.Write([]byte{text[i]}); err != nil {
			return err
		}
		select {
		case <-second.C:
		case <-closed:
			return net.ErrClosed
		}
	}
	return nil
}
