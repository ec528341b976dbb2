package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
)

// Static is an immutable response body. It and its entity tag are computed once, on first use.
type Static struct {
	body func() []byte
	tag  func() string
}

// NewStatic returns the body that a function computes.
func NewStatic(compute func() []byte) *Static {
	body := sync.OnceValue(compute)
	return &Static{
		body: body,
		tag: sync.OnceValue(func() string {
			sum := sha256.Sum256(body())
			return `"` + hex.EncodeToString(sum[:12]) + `"`
		}),
	}
}

func (f *Static) Reply() Reply { return Reply{Status: http.StatusOK, Body: f.body(), fixed: f} }

// Revalidate makes an immutable response a 304 if the caller has it.
//
// Assumption: the specification does not mention ETag. It works as in RFC 9110.
func (p *Reply) Revalidate(r *http.Request) {
	if p.fixed == nil {
		return
	}
	tag := p.fixed.tag()
	p.Header = http.Header{"Etag": {tag}}
	if MatchesTag(r.Header["If-None-Match"], tag) {
		p.Status, p.Body = http.StatusNotModified, nil
	}
}
