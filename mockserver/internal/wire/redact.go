package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// KeyPrefix is the prefix of secret keys.
const KeyPrefix = "sk_"

// Redact removes everything that looks like a secret key from a text.
func Redact(text string) string {
	at := strings.Index(text, KeyPrefix)
	if at < 0 {
		return text
	}
	var out strings.Builder
	for ; at >= 0; at = strings.Index(text, KeyPrefix) {
		out.WriteString(text[:at] + KeyPrefix + "…")
		text = strings.TrimLeft(text[at+len(KeyPrefix):], keyCharacters)
	}
	return out.String() + text
}

const keyCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// Fingerprint identifies a key without revealing it: its prefix and eight digits of a hash.
func Fingerprint(key string) string {
	if key == "" {
		return ""
	}
	kind := ""
	for _, prefix := range []string{"sk_test_", "sk_live_"} {
		if strings.HasPrefix(key, prefix) {
			kind = prefix
		}
	}
	hash := sha256.Sum256([]byte(key))
	return kind + "…" + hex.EncodeToString(hash[:4])
}
