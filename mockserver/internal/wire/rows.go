package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
)

// Rows is the body of a list. Its records are encoded as they are sent, so that a client that reads slowly holds a
// buffer and not the whole page.
type Rows struct {
	before, after []byte
	records       []func() json.RawMessage
	length        int
}

// maxBuffer is how many bytes of a list are encoded at a time.
const maxBuffer = 64 << 10

// SucceedRows is like [Succeed], with a list of records and the pagination, as JSON.
func SucceedRows(message, name string, records []func() json.RawMessage, pagination []byte) Reply {
	r := &Rows{
		before:  fmt.Appendf(nil, `{"status":true,"message":%q,"data":{%q:[`, message, name),
		after:   fmt.Appendf(nil, `],"pagination":%s}}`, pagination),
		records: records,
	}
	for part := range r.parts() {
		r.length += len(part)
	}
	return Reply{Status: http.StatusOK, Rows: r}
}

func (r *Rows) parts() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !yield(r.before) {
			return
		}
		comma := []byte(",")
		for i, record := range r.records {
			if i > 0 && !yield(comma) || !yield(record()) {
				return
			}
		}
		yield(r.after)
	}
}

func (r *Rows) write(w io.Writer) error {
	out := bufio.NewWriterSize(w, min(r.length, maxBuffer))
	for part := range r.parts() {
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	return out.Flush()
}

// start returns the first bytes of the body, at most that many.
func (r *Rows) start(most int) []byte {
	body := bytes.NewBuffer(make([]byte, 0, min(r.length, most)))
	for part := range r.parts() {
		if body.Len() >= most {
			break
		}
		body.Write(part[:min(len(part), most-body.Len())])
	}
	return body.Bytes()
}
