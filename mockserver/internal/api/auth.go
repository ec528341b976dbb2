package api

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// authenticate returns the world of an exchange, and sets the fingerprint of its key. If the request is refused, it
// returns the world without an account and the refusal.
//
// Specification: "Authentication" (Authorization: Bearer <SECRET_KEY>; none for the PDF operation).
// Assumption: countries and webhooks need it too; see Assumptions.OpenOperations. A key may open a new world;
// see Server.Open.
func (s *API) authenticate(x *wire.Exchange, op *operation) (*world.World, *wire.Reply) {
	scheme, key := Bearer(x.Request)
	w, refusal := s.worldOf(x, op, scheme, key)
	x.Key = fingerprint(w, key)
	return w, refusal
}

// worldOf returns the world of a request with a key, like authenticate.
func (s *API) worldOf(x *wire.Exchange, op *operation, scheme, key string) (*world.World, *wire.Reply) {
	err := world.ErrKeyForm
	if strings.EqualFold(scheme, "Bearer") {
		var w *world.World
		if w, err = s.Worlds.OpenKey(key); err == nil {
			return w, nil
		}
	}
	if s.IsOpen(&op.Operation) {
		return s.keyless(x), nil
	}
	var message string
	switch {
	case errors.Is(err, world.ErrTooManyWorlds):
		p := wire.Refused(http.StatusServiceUnavailable, wire.CodeFull, err.Error())
		return s.Worlds.Unauthenticated, &p
	case !errors.Is(err, world.ErrKeyForm):
		message = "the secret key has an unknown or contradictory scenario, or a number out of range: GET " + wire.ControlPrefix + " lists the terms"
	case scheme == "":
		message = "the Authorization header is missing: send Authorization: Bearer <SECRET_KEY>"
	case !strings.EqualFold(scheme, "Bearer") || key == "":
		message = "the Authorization header is malformed: write it as Bearer, a space and the secret key"
	default:
		message = "unknown secret key: use the secret_key that the server printed on start (in Go: Server.SecretKey), or a key that opens a world: GET " + wire.ControlPrefix + " lists the scenarios"
	}
	p := wire.Refused(http.StatusUnauthorized, wire.CodeUnauthorized, message)
	p.Header = http.Header{"Www-Authenticate": {`Bearer realm="shipping"`}}
	return s.Worlds.Unauthenticated, &p
}

// IsOpen reports whether an operation needs no key.
func (s *API) IsOpen(op *operations.Operation) bool {
	return op.Open || slices.Contains(s.OpenOperations, op.Name)
}

// keyless returns the world of a request to an open operation whose key opens none: the first world, in the order
// in which they were opened, that has the regulatory request in the path. Otherwise it is the home world if the
// request has no key, and the world without an account if the key is wrong. A fork has the requests of its parent,
// under the same ids: to reach it, send the fork's key, or use GET /_mock/regulatory-requests/….
func (s *API) keyless(x *wire.Exchange) *world.World {
	if id := x.PathValue("request_id"); id != "" {
		for _, w := range s.Worlds.Worlds() {
			if w.HasRequest(id) {
				return w
			}
		}
	}
	if x.Header.Get("Authorization") != "" {
		return s.Worlds.Unauthenticated
	}
	return s.Worlds.Home()
}

// fingerprint returns the fingerprint of a key. That of the world's key is precomputed.
func fingerprint(w *world.World, key string) string {
	if key == w.SecretKey {
		return w.KeyPrint
	}
	return wire.Fingerprint(key)
}

// Bearer splits the Authorization header.
func Bearer(r *http.Request) (scheme, key string) {
	scheme, key, _ = strings.Cut(r.Header.Get("Authorization"), " ")
	return scheme, strings.TrimSpace(key)
}
