package mockserver

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// fixedBody is an answer that is the same for ever. Its compressed form and its tags are made when they are
// first asked for, once.
type fixedBody struct {
	plain  []byte
	zipped func() []byte
	tag    func() string // without quotes; that of the compressed form has a suffix
}

func newFixedBody(plain []byte) *fixedBody {
	return &fixedBody{
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

func (f *fixedBody) reply() reply { return reply{status: http.StatusOK, body: f.plain, fixed: f} }

// negotiate settles how an answer that is the same for ever is sent: compressed where the caller takes that,
// and not at all where the caller has it. The journal remembers the body as it reads.
//
// Assumption: the specification says nothing of ETag and Content-Encoding. They work as in RFC 9110, and a
// caller that sends neither If-None-Match nor Accept-Encoding gets the list as ever.
func (p *reply) negotiate(asked http.Header) {
	if p.fixed == nil {
		return
	}
	p.header = http.Header{"Vary": {"Accept-Encoding"}}
	tag := `"` + p.fixed.tag() + `"`
	if takesGzip(asked.Values("Accept-Encoding")) {
		tag = `"` + p.fixed.tag() + `-gzip"`
		p.coded = p.fixed.zipped()
		p.header.Set("Content-Encoding", "gzip")
	}
	p.header["Etag"] = []string{tag}
	if names(asked.Values("If-None-Match"), tag) {
		p.status, p.body, p.coded = http.StatusNotModified, nil, nil
		p.header.Del("Content-Encoding")
	}
}

// names reports whether an If-None-Match names a tag. It compares weakly, as RFC 9110, 13.1.2 asks for.
func names(conditions []string, tag string) bool {
	for _, condition := range conditions {
		for each := range strings.SplitSeq(condition, ",") {
			each = strings.TrimSpace(each)
			if each == "*" || strings.TrimPrefix(each, "W/") == tag {
				return true
			}
		}
	}
	return false
}

// takesGzip reads an Accept-Encoding: gzip by its name, else by "*", unless its weight is 0 (RFC 9110, 12.5.3).
func takesGzip(accepted []string) bool {
	named, others := -1.0, -1.0
	for _, line := range accepted {
		for each := range strings.SplitSeq(line, ",") {
			coding, parameter, _ := strings.Cut(each, ";")
			weight := 1.0
			if q, given := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parameter)), "q="); given {
				weight, _ = strconv.ParseFloat(strings.TrimSpace(q), 64) // what is no number counts as 0
			}
			switch strings.ToLower(strings.TrimSpace(coding)) {
			case "gzip", "x-gzip":
				named = weight
			case "*":
				others = weight
			}
		}
	}
	return named > 0 || (named < 0 && others > 0)
}
