package wire

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
)

// Static is an answer that is the same for ever. Its compressed form and its tags are made when they are
// first asked for, once.
type Static struct {
	plain  []byte
	zipped func() []byte
	tag    func() string // without quotes; that of the compressed form has a suffix
}

func NewStatic(plain []byte) *Static {
	return &Static{
		plain:  plain,
		zipped: sync.OnceValue(func() []byte { return compressed(plain) }),
		tag: sync.OnceValue(func() string {
			sum := sha256.Sum256(plain)
			return hex.EncodeToString(sum[:12])
		}),
	}
}

func compressed(plain []byte) []byte {
	var buffer bytes.Buffer
	w := gzip.NewWriter(&buffer)
	// Neither can fail: a buffer takes everything.
	_, _ = w.Write(plain)
	_ = w.Close()
	return buffer.Bytes()
}

func (f *Static) Reply() Reply { return Reply{Status: http.StatusOK, Body: f.plain, fixed: f} }

// Negotiate settles how an answer that is the same for ever is sent: compressed where the caller takes that,
// and not at all where the caller has it. The journal remembers the body as it reads.
//
// Assumption: the specification says nothing of ETag and Content-Encoding. They work as in RFC 9110, and a
// caller that sends neither If-None-Match nor Accept-Encoding gets the list as ever.
func (p *Reply) Negotiate(asked http.Header) {
	if p.fixed == nil {
		return
	}
	p.Header = http.Header{"Vary": {"Accept-Encoding"}}
	tag := `"` + p.fixed.tag() + `"`
	if takesGzip(asked) {
		tag = `"` + p.fixed.tag() + `-gzip"`
		p.coded = p.fixed.zipped()
		p.Header.Set("Content-Encoding", "gzip")
	}
	p.Header["Etag"] = []string{tag}
	if MatchesTag(asked.Values("If-None-Match"), tag) {
		p.Status, p.Body, p.coded = http.StatusNotModified, nil, nil
		p.Header.Del("Content-Encoding")
	}
}
