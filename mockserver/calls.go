package mockserver

import (
	"net/http"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// WithJournal sets how many calls a world remembers, and how many bytes of their bodies. The default
// is 1,024 calls with 2 KiB of each body; 0 calls remembers none.
func WithJournal(calls, bodyBytes int) Option {
	return func(c *config) { c.Journal, c.JournalBody = max(0, calls), max(0, bodyBytes) }
}

// fingerprint returns that of a request's key. The world's own is known beforehand.
func fingerprint(w *world.World, r *http.Request) string {
	_, key := bearer(r)
	if key == w.SecretKey {
		return w.KeyPrint
	}
	return wire.Fingerprint(key)
}
