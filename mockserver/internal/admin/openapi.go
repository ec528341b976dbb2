package admin

import (
	"net/http"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// getOpenAPI serves GET /_mock/openapi.json: the document of a world, with the routes and the open operations
// of its server and the assumptions of the world.
func (s *Admin) getOpenAPI(c *control) wire.Reply {
	document, tag, err := s.OpenAPI(c.world)
	if err != nil {
		return wire.Refused(http.StatusInternalServerError, wire.CodeInternal, err.Error())
	}
	p := wire.Reply{Status: http.StatusOK, Body: document, Header: http.Header{"Etag": {tag}}}
	if wire.MatchesTag(c.Header.Values("If-None-Match"), tag) {
		p.Status, p.Body = http.StatusNotModified, nil
	}
	return p
}
