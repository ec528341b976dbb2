package mockserver

import (
	"net/http"
	"slices"
	"strings"
)

// authenticate returns the world that a request is for, or the world to journal it in and why it is
// refused.
//
// Specification: "Authentication" (Authorization: Bearer <SECRET_KEY>; none for the PDF operation).
// Assumption: countries and webhooks need it too; see [Assumptions.OpenOperations].
func (s *Server) authenticate(r *http.Request, op *operation) (*World, *reply) {
	scheme, key := bearer(r)
	if w, known := s.worldFor(key); known && strings.EqualFold(scheme, "Bearer") {
		return w, nil
	}
	if op.Open || slices.Contains(s.config.assume.OpenOperations, op.Name) {
		return s.home, nil
	}
	var message string
	switch {
	case scheme == "":
		message = "the Authorization header is missing: send Authorization: Bearer <SECRET_KEY>"
	case !strings.EqualFold(scheme, "Bearer") || key == "":
		message = "the Authorization header is malformed: write it as Bearer, a space and the secret key"
	default:
		message = "the secret key is not one of this server's: use the secret_key that it printed when it started, or Server.SecretKey"
	}
	p := refused(http.StatusUnauthorized, codeUnauthorized, message)
	p.header = http.Header{"Www-Authenticate": {`Bearer realm="shipping"`}}
	return s.home, &p
}

// worldFor returns the world that a secret key opens.
func (s *Server) worldFor(key string) (*World, bool) {
	w, err := s.world(key)
	return w, err == nil
}

// bearer splits the Authorization header.
func bearer(r *http.Request) (scheme, key string) {
	scheme, key, _ = strings.Cut(r.Header.Get("Authorization"), " ")
	return scheme, strings.TrimSpace(key)
}
