package webhook

import (
	"cmp"
	"crypto/fips140"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"

	"github.com/shipping-go/shipping/dialect"
)

// WithDialect receives from a service of this dialect: it sets the header and the hash of the signature, and the headers
// of the identifiers, as [WithSignature], [WithIDHeader] and [WithEventIDHeader] do. What the dialect does not set stays as
// it is. The keys are those of [WithKeys]. A nil dialect changes nothing.
func WithDialect(d *dialect.Dialect) Option {
	return func(s *settings) {
		if d == nil {
			return
		}
		n := d.Notification
		if n.Signature != (dialect.Signature{}) {
			s.header = cmp.Or(n.Signature.Header, DefaultSignatureHeader)
			s.sign = signer(n.Signature)
		}
		s.idHeader = named(n.DeliveryID, s.idHeader)
		s.eventHeader = named(n.EventID, s.eventHeader)
	}
}

// named returns the header that a dialect names; "-" is none, and an empty name leaves it as it is.
func named(chosen, usual string) string {
	if chosen == "-" {
		return ""
	}
	return cmp.Or(chosen, usual)
}

// signer returns the function that signs by the scheme of a dialect.
func signer(scheme dialect.Signature) func(key string, body []byte) string {
	return func(key string, body []byte) string {
		if fips140.Enforced() && len(key) < 112/8 {
			return "" // see Sign
		}
		sum := hmac.New(sha512.New, []byte(key))
		if scheme.Hash == "sha256" {
			sum = hmac.New(sha256.New, []byte(key))
		}
		sum.Write(body) // it never fails
		return scheme.Prefix + hex.EncodeToString(sum.Sum(nil))
	}
}
