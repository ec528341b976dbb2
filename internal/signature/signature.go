// Package signature signs and verifies notifications by the scheme of a dialect.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/dialect"
)

// The usual names of headers.
//
// Assumption: all; the specification does not show the headers of a notification. A dialect has others.
const (
	Header     = "X-Webhook-Signature"
	Timestamp  = "X-Webhook-Timestamp"
	DeliveryID = "X-Webhook-Delivery-Id"
	EventID    = "X-Webhook-Event-Id"
	WebhookID  = "X-Webhook-Id" // which the reference server sends
)

// Scheme is how notifications are signed and identified.
type Scheme struct {
	dialect.Signature
	DeliveryID, EventID string // names of headers; "" is one that is not sent
}

// Of returns the scheme of a dialect, which may be nil.
func Of(d *dialect.Dialect) Scheme {
	n := d.Resolved().Notification
	return Scheme{n.Signature, strings.TrimPrefix(n.DeliveryID, "-"), strings.TrimPrefix(n.EventID, "-")}
}

// Decode returns the key that a secret contains.
func (s Scheme) Decode(secret string) ([]byte, error) {
	if s.Key != "base64" {
		return []byte(secret), nil
	}
	if version, _, found := strings.Cut(secret, ","); found && strings.HasPrefix(version, "v") {
		return nil, fmt.Errorf("a secret begins with the version %q: remove it, because it is not a part of the secret",
			version+",")
	}
	encoded := strings.TrimRight(strings.TrimPrefix(secret, "whsec_"), "=")
	key, err := base64.RawStdEncoding.DecodeString(encoded)
	if err != nil || len(key) < 112/8 { // FIPS 140 forbids shorter ones
		return nil, errors.New(`this dialect needs the secret of the webhook, at least 14 bytes in base64, with or without ` +
			`"whsec_" before it, and not the secret key of the account`)
	}
	return key, nil
}

// Timed reports whether the signature covers the time.
func (s Scheme) Timed() bool { return strings.Contains(s.Signed, "{timestamp}") }

// Sign returns the signature of a body, and the timestamp that it covers; "" if it covers none.
func (s Scheme) Sign(key []byte, id string, at time.Time, body []byte) (signature, timestamp string) {
	if s.Timed() {
		timestamp = strconv.FormatInt(at.Unix(), 10)
	}
	sum := s.sum(key, id, timestamp, body)
	if s.Encoding == "base64" {
		return s.Prefix + base64.StdEncoding.EncodeToString(sum), timestamp
	}
	return s.Prefix + hex.EncodeToString(sum), timestamp
}

// sum returns the HMAC of the signed text.
func (s Scheme) sum(key []byte, id, timestamp string, body []byte) []byte {
	algorithm := sha512.New
	if s.Hash == "sha256" {
		algorithm = sha256.New
	}
	mac := hmac.New(algorithm, key)
	before, after, _ := strings.Cut(s.Signed, "{body}")
	covers := strings.NewReplacer("{id}", id, "{timestamp}", timestamp)
	mac.Write(slices.Concat([]byte(covers.Replace(before)), body, []byte(covers.Replace(after))))
	return mac.Sum(nil)
}

// Verify returns "" or the problem of a delivery: no key has signed it, or its time is far from now. It takes a time
// that does not depend on where a signature differs or which key made it.
func (s Scheme) Verify(header http.Header, body []byte, keys [][]byte, now time.Time) (problem string) {
	needed := []string{s.Header}
	if strings.Contains(s.Signed, "{id}") {
		needed = append(needed, s.DeliveryID)
	}
	if s.Timed() {
		needed = append(needed, s.TimestampHeader)
	}
	for _, name := range needed {
		switch {
		case len(header.Values(name)) == 0:
			return fmt.Sprintf("the header %s is missing: the request is not from the service, or a proxy removed the header, "+
				"or the service has another one, which WithDialect sets", name)
		case Single(header, name) == "":
			return fmt.Sprintf("the header %s has several values, or none: the service sends one", name)
		}
	}
	timestamp, matched := Single(header, s.TimestampHeader), false
	for _, key := range keys {
		want := s.sum(key, Single(header, s.DeliveryID), timestamp, body)
		for sent := range strings.FieldsSeq(Single(header, s.Header)) {
			matched = hmac.Equal(s.decoded(sent), want) || matched
		}
	}
	if !matched {
		return fmt.Sprintf("the signature in %s is wrong: check that the receiver has the service's key (WithKeys), and "+
			"that nothing before it changes the body", s.Header)
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	away := now.Sub(time.Unix(seconds, 0)).Abs()
	if s.Timed() && (err != nil || away > time.Duration(s.Tolerance)) {
		return fmt.Sprintf("%s differs from the time here by more than %s: check the clock", s.TimestampHeader, s.Tolerance)
	}
	return ""
}

// decoded returns the bytes of a signature; nil if the scheme has no such signature.
func (s Scheme) decoded(sent string) []byte {
	text, found := strings.CutPrefix(sent, s.Prefix)
	decode := hex.DecodeString // in small or capital letters
	if s.Encoding == "base64" {
		decode = base64.StdEncoding.DecodeString
	}
	sum, err := decode(text)
	if !found || err != nil {
		return nil
	}
	return sum
}

// Single returns the value of a header, or "" if there are two different ones.
func Single(header http.Header, name string) string {
	values := slices.Compact(slices.Clone(header.Values(name)))
	if len(values) != 1 {
		return ""
	}
	return strings.TrimSpace(values[0])
}
