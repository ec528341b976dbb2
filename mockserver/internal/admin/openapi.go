package admin

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"net/http"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// adminOpenAPI answers GET /_mock/openapi.json.
func (s *Admin) adminOpenAPI(c *control) wire.Reply {
	document, err := s.OpenAPI(c.world)
	if err != nil {
		return wire.Refused(http.StatusInternalServerError, wire.CodeInternal, "the document cannot be written: "+err.Error())
	}
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(document))
	p := wire.Reply{Status: http.StatusOK, Body: document, Header: http.Header{"Etag": {tag}}}
	if wire.MatchesTag(c.Header.Values("If-None-Match"), tag) {
		p.Status, p.Body = http.StatusNotModified, nil
	}
	return p
}
