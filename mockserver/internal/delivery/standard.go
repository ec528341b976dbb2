package delivery

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The headers of a notification that is signed by the Standard Webhooks scheme.
const (
	HeaderStandardID        = "Webhook-Id"
	HeaderStandardTimestamp = "Webhook-Timestamp"
	HeaderStandardSignature = "Webhook-Signature"
)

// StandardKey returns the key that a secret of the Standard Webhooks scheme contains: it is "whsec_" and base64.
func StandardKey(secret string) ([]byte, error) {
	encoded, found := strings.CutPrefix(secret, "whsec_")
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
	if !found || err != nil || len(key) < 14 {
		return nil, errors.New(`a secret of Standard Webhooks is "whsec_" and the base64 of at least 14 bytes`)
	}
	return key, nil
}

// SignStandard returns the timestamp and the signature of a payload by the Standard Webhooks scheme
// (https://www.standardwebhooks.com).
func SignStandard(key []byte, id string, at time.Time, payload []byte) (timestamp, signature string) {
	timestamp = strconv.FormatInt(at.Unix(), 10)
	sum := hmac.New(sha256.New, key)
	fmt.Fprintf(sum, "%s.%s.%s", id, timestamp, payload)
	return timestamp, "v1," + base64.StdEncoding.EncodeToString(sum.Sum(nil))
}
