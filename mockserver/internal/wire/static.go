package wire

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
)

// Static is an immutable response body. It, its compressed form and its tags are computed once, on first use.
type Static struct {
	plain  func() []byte
	zipped func() []byte
	tags   func() staticTags
}

// staticTags are the entity tags of the two forms of a body.
type staticTags struct{ plain, zipped string }

// NewStatic returns the body that a function computes.
func NewStatic(compute func() []byte) *Static {
	plain := sync.OnceValue(compute)
	return &Static{
		plain:  plain,
		zipped: sync.OnceValue(func() []byte { return compressed(plain()) }),
		tags: sync.OnceValue(func() staticTags {
			sum := sha256.Sum256(plain())
			tag := hex.EncodeToString(sum[:12])
			return staticTags{plain: `"` + tag + `"`, zipped: `"` + tag + `-gzip"`}
		}),
	}
}

func compressed(plain []byte) []byte {
	var buffer bytes.Buffer
	w := gzip.NewWriter(&buffer)
	// Writes to a buffer do not fail.
	_, _ = w.Write(plain)
	_ = w.Close()
	return buffer.Bytes()
}

func (f *Static) Reply() Reply { return Reply{Status: http.StatusOK, Body: f.plain(), fixed: f} }

// Negotiate selects the form of an immutable response: compressed if the caller accepts that, and is on another machine
// or always is true; and 304 if the caller has it. The journal records the uncompressed body.
//
// Assumption: the specification does not mention ETag and Content-Encoding. They work as in RFC 9110. A
// caller that sends neither If-None-Match nor Accept-Encoding gets the plain list.
func (p *Reply) Negotiate(r *http.Request, always bool) {
	if p.fixed == nil {
		return
	}
	tag := p.fixed.tags().plain
	p.Header = http.Header{"Vary": {"Accept-Encoding"}}
	if acceptsGzip(r.Header) && (always || !IsLocal(r)) {
		tag = p.fixed.tags().zipped
		p.coded = p.fixed.zipped()
		p.Header["Content-Encoding"] = []string{"gzip"}
	}
	p.Header["Etag"] = []string{tag}
	if MatchesTag(r.Header["If-None-Match"], tag) {
		p.Status, p.Body, p.coded = http.StatusNotModified, nil, nil
		p.Header.Del("Content-Encoding")
	}
}
