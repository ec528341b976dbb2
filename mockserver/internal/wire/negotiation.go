package wire

import (
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Content negotiation by the headers of a request (RFC 9110).

// MatchesTag reports whether an If-None-Match names a tag. It compares weakly (13.1.2).
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

// Prefers reports whether a request accepts a media type with a greater weight than another one (12.5.1). The most
// specific range that matches a media type gives its weight.
func Prefers(requested http.Header, mediaType, other string) bool {
	return mediaWeight(requested, mediaType) > mediaWeight(requested, other)
}

func mediaWeight(requested http.Header, mediaType string) float64 {
	kind, _, _ := strings.Cut(mediaType, "/")
	ranges := []string{"*/*", kind + "/*", mediaType} // from the least specific one
	found, weight := -1, 0.0
	for name, given := range weighted(requested["Accept"]) {
		if specific := slices.Index(ranges, name); specific > found {
			found, weight = specific, given
		}
	}
	return weight
}

// weighted yields the members of a list in lower case, each with its weight: 1 if it has none, 0 if
// it is not a number (12.4.2).
func weighted(lines []string) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for _, line := range lines {
			for member := range strings.SplitSeq(strings.ToLower(line), ",") {
				name, parameters, _ := strings.Cut(member, ";")
				weight := 1.0
				for parameter := range strings.SplitSeq(parameters, ";") {
					if q, given := strings.CutPrefix(strings.TrimSpace(parameter), "q="); given {
						weight, _ = strconv.ParseFloat(strings.TrimSpace(q), 64)
					}
				}
				if !yield(strings.TrimSpace(name), weight) {
					return
				}
			}
		}
	}
}
