package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/redact"
)

// scheme describes how a service signs: the base64 HMAC-SHA256 of a text with the id and the time of the delivery.
type scheme struct {
	Header          string        // of the signatures, which are separated by spaces
	Prefix          string        // of a signature of this scheme; others are ignored
	IDHeader        string        // of the delivery
	TimestampHeader string        // in seconds since 1970
	Signed          string        // the text, with {id}, {timestamp} and {body}
	KeyPrefix       string        // of a key; base64 follows it
	Tolerance       time.Duration // the longest time between the timestamp and now
}

// standardWebhooks returns the scheme of https://www.standardwebhooks.com.
func standardWebhooks() scheme {
	return scheme{
		Header: "Webhook-Signature", Prefix: "v1,", IDHeader: "Webhook-Id", TimestampHeader: "Webhook-Timestamp",
		Signed: "{id}.{timestamp}.{body}", KeyPrefix: "whsec_", Tolerance: 5 * time.Minute,
	}
}

// WithStandardWebhooks verifies notifications that are signed by the Standard Webhooks scheme
// (https://www.standardwebhooks.com), with the secrets of the webhook: the current one and, while secrets are rotated,
// the previous or the next one. A secret is "whsec_" and base64. It replaces [WithKeys] and [WithSignature], and sets
// the header of [WithIDHeader] to webhook-id.
//
// The signature covers the id, the time and the body. A delivery whose time differs from now by more than five minutes
// is refused, so that a captured delivery cannot be sent again later.
func WithStandardWebhooks(secrets ...string) Option {
	scheme, keys := standardWebhooks(), redactKeys(secrets)
	return func(s *settings) {
		s.keys, s.idHeader, s.scheme = keys, scheme.IDHeader, &scheme
	}
}

// verifier returns a function that verifies deliveries with keys, or an error if a key is not one of the scheme.
func (s scheme) verifier(keys []redact.Key) (func(http.Header, []byte) error, error) {
	var decoded [][]byte
	for _, held := range keys {
		encoded, found := strings.CutPrefix(held.Reveal(), s.KeyPrefix)
		key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
		if !found || err != nil || len(key) < 112/8 { // FIPS 140 forbids shorter ones
			return nil, fmt.Errorf("webhook: WithStandardWebhooks needs secrets of at least 14 bytes, each %q and base64",
				s.KeyPrefix)
		}
		decoded = append(decoded, key)
	}
	return func(header http.Header, body []byte) error { return s.verify(header, body, decoded) }, nil
}

// verify returns nil if one of the signatures is valid under one of the keys, in a time that does not depend on which.
func (s scheme) verify(header http.Header, body []byte, keys [][]byte) error {
	id, timestamp := single(header, s.IDHeader), single(header, s.TimestampHeader)
	signatures := single(header, s.Header)
	if id == "" || timestamp == "" || signatures == "" {
		return fmt.Errorf("%w: a delivery has the headers %s, %s and %s, once each",
			ErrSignature, s.IDHeader, s.TimestampHeader, s.Header)
	}
	signed := strings.NewReplacer("{id}", id, "{timestamp}", timestamp, "{body}", string(body)).Replace(s.Signed)
	sent := slices.Collect(strings.FieldsSeq(signatures))
	matched := false
	for _, key := range keys {
		sum := hmac.New(sha256.New, key)
		sum.Write([]byte(signed))
		want := []byte(s.Prefix + base64.StdEncoding.EncodeToString(sum.Sum(nil)))
		for _, signature := range sent {
			matched = hmac.Equal([]byte(signature), want) || matched
		}
	}
	if !matched {
		return ErrSignature
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if away := time.Since(time.Unix(seconds, 0)).Abs(); err != nil || away > s.Tolerance {
		return fmt.Errorf("%w: %s differs from the time here by more than %s: check the clock",
			ErrSignature, s.TimestampHeader, s.Tolerance)
	}
	return nil
}
