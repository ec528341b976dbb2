package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// authenticate returns the world that a request is for; or the one of the requests without an account, and why
// the request is refused.
//
// Specification: "Authentication" (Authorization: Bearer <SECRET_KEY>; none for the PDF operation).
// Assumption: countries and webhooks need it too; see [Assumptions.OpenOperations]. A key may open a world
// of its own; see [Server.Open].
func (s *API) authenticate(r *http.Request, op *operation) (*world.World, *wire.Reply) {
	scheme, key := Bearer(r)
	err := world.ErrKeyForm
	if strings.EqualFold(scheme, "Bearer") {
		var w *world.World
		if w, err = s.Worlds.OpenKey(key); err == nil {
			return w, nil
		}
	}
	if s.IsOpen(&op.Operation) {
		return s.keyless(r), nil
	}
	var message string
	switch {
	case errors.Is(err, world.ErrTooManyWorlds):
		p := wire.Refused(http.StatusServiceUnavailable, wire.CodeFull, err.Error())
		return s.Worlds.Unauthenticated, &p
	case !errors.Is(err, world.ErrKeyForm):
		message = "the secret key names a scenario that there is not, or asks too much of it: GET " + wire.ControlPrefix + "scenarios lists them"
	case scheme == "":
		message = "the Authorization header is missing: send Authorization: Bearer <SECRET_KEY>"
	case !strings.EqualFold(scheme, "Bearer") || key == "":
		message = "the Authorization header is malformed: write it as Bearer, a space and the secret key"
	default:
		message = "the secret key is not one of this server's: use the secret_key that it printed when it started (in Go: Server.SecretKey), or a key that opens a world of its own: GET " + wire.ControlPrefix + "scenarios lists the scenarios"
	}
	p := wire.Refused(http.StatusUnauthorized, wire.CodeUnauthorized, message)
	p.Header = http.Header{"Www-Authenticate": {`Bearer realm="shipping"`}}
	return s.Worlds.Unauthenticated, &p
}

// WorldFor returns the world that a secret key opens.
func (s *API) WorldFor(key string) (*world.World, bool) {
	w, err := s.Worlds.OpenKey(key)
	return w, err == nil
}

// IsOpen reports whether an operation needs no key.
func (s *API) IsOpen(op *shipping.Operation) bool {
	return op.Open || slices.Contains(s.OpenOperations, op.Name)
}

// keyless returns the world that a request to an open operation is for if its key opens none: the first, in
// the order of their opening, that has the regulatory request which the path names. Otherwise it is the home
// world for a request without a key, and that of the requests without an account for one with a wrong key. A fork
// has the requests of its parent, under the same ids: use the fork's key, or GET /_mock/regulatory-requests/….
func (s *API) keyless(r *http.Request) *world.World {
	if id := r.PathValue("request_id"); id != "" {
		for _, w := range s.Worlds.Worlds() {
			if w.HasRequest(id) {
				return w
			}
		}
	}
	if r.Header.Get("Authorization") != "" {
		return s.Worlds.Unauthenticated
	}
	return s.Worlds.Home()
}

// Bearer splits the Authorization header.
func Bearer(r *http.Request) (scheme, key string) {
	scheme, key, _ = strings.Cut(r.Header.Get("Authorization"), " ")
	return scheme, strings.TrimSpace(key)
}
