package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// KeyPrefix begins a secret key, as far as is known.
const KeyPrefix = "sk_"

// Redact takes out whatever looks like a secret key, wherever a caller put it by mistake.
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

// Fingerprint tells keys apart without showing them: the kind and eight digits of a hash.
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
