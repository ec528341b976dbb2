package webhook

import (
	"crypto/fips140"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Sign returns the signature of a body with a key, the lower-case hexadecimal HMAC-SHA512.
//
// Assumption: the service signs in this way, with the secret key of the account.
//
// A signature does not prevent the replay of a captured delivery, because it covers neither a time nor the
// delivery's id. A [Store] does not prevent it either: it finds duplicates by the id, which is in a header that is
// not signed, so a captured body with another id is new to it. Receive over TLS, make the handler idempotent, and
// read the current state from the API before anything that must not happen twice. Without an id header (see
// [WithDialect]), a delivery is identified by its body, which is signed; a notification that the service replays on
// request is then ignored too, for as long as the store remembers it.
//
// With GODEBUG=fips140=only, which forbids keys of less than 14 bytes, the signature with such a key is empty. [Verify]
// rejects it, and [NewReceiver] returns an error.
func Sign(key string, body []byte) string {
	if fips140.Enforced() && len(key) < 112/8 {
		return ""
	}
	sum := hmac.New(sha512.New, []byte(key))
	sum.Write(body) // it never fails
	return hex.EncodeToString(sum.Sum(nil))
}

// ErrSignature is returned for a body whose signature is missing or wrong.
var ErrSignature = errors.New("webhook: the signature is missing or wrong")

// signatureError is an [ErrSignature] with the problem of a delivery.
type signatureError string

func (e signatureError) Error() string { return "webhook: " + string(e) }

func (e signatureError) Unwrap() error { return ErrSignature }

// Verify returns nil if the signature of a body is valid under one of the keys, and [ErrSignature] otherwise, in a time
// that does not depend on where a signature differs or which key made it. An empty key, such as that of an unset
// variable, is never valid, because anybody could sign with it.
func Verify(signature string, body []byte, keys ...string) error {
	if len(keys) == 0 {
		return signatureError("Verify got no keys: pass the secret key, or the current one and the previous one")
	}
	matched := false
	signature = strings.ToLower(strings.TrimSpace(signature)) // the case of hexadecimal digits does not matter
	for _, key := range keys {
		matched = hmac.Equal([]byte(signature), []byte(Sign(key, body))) && key != "" || matched
	}
	if !matched || signature == "" {
		return ErrSignature
	}
	return nil
}

// verification returns the function that verifies deliveries.
func (s *settings) verification() (func(http.Header, []byte) error, error) {
	if s.verifier != nil {
		return s.verifier, nil
	}
	var keys [][]byte
	for _, held := range s.keys {
		key, err := s.scheme.Decode(held.Reveal())
		switch {
		case err != nil:
			return nil, fmt.Errorf("webhook: WithKeys: %w", err)
		case fips140.Enforced() && len(key) < 112/8:
			return nil, errors.New("webhook: GODEBUG=fips140=only forbids a key of less than 14 bytes: use a longer one, or " +
				"fips140=on")
		}
		keys = append(keys, key)
	}
	return func(header http.Header, body []byte) error {
		if problem := s.scheme.Verify(header, body, keys, time.Now()); problem != "" {
			return signatureError(problem)
		}
		return nil
	}, nil
}
