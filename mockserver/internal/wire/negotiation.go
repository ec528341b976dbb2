package wire

import (
	"net/http"
	"strings"
)

// MatchesTag reports whether an If-None-Match names a tag. It compares weakly (RFC 9110, 13.1.2).
func MatchesTag(conditions []string, tag string) bool {
	for _, condition := range conditions {
		for candidate := range strings.SplitSeq(condition, ",") {
			if candidate = strings.TrimSpace(candidate); candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
				return true
			}
		}
	}
	return false
}

// Prefers reports whether a request accepts a media type by name, and not another one. Weights are ignored.
func Prefers(requested http.Header, mediaType, other string) bool {
	accept := strings.ToLower(strings.Join(requested["Accept"], ","))
	return strings.Contains(accept, mediaType) && !strings.Contains(accept, other)
}
