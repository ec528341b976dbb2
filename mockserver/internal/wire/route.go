package wire

import (
	"net/url"
	"strings"
)

// Route is a path in which names in braces stand for whole segments, such as /v1/request/{request_id}/items. It is a pattern
// of [http.ServeMux] in its simplest form.
type Route struct {
	named []namedSegment
	end   string // the literal after them
}

// namedSegment is a segment that matches any text except the empty one, and the literal before it.
type namedSegment struct{ literal, name string }

// ParseRoute parses a pattern that [http.ServeMux] accepts. It reports false for a pattern that is not a Route: one that
// matches a subtree, the rest of a path or a trailing slash.
func ParseRoute(pattern string) (*Route, bool) {
	r := &Route{}
	for segment := range strings.SplitSeq(strings.TrimPrefix(pattern, "/"), "/") {
		r.end += "/"
		if name, named := strings.CutPrefix(segment, "{"); named {
			name = strings.TrimSuffix(name, "}")
			if name == "$" || strings.HasSuffix(name, "...") {
				return nil, false
			}
			r.named = append(r.named, namedSegment{literal: r.end, name: name})
			r.end = ""
			continue
		}
		if plain, err := url.PathUnescape(segment); err == nil {
			segment = plain
		}
		if segment == "" || strings.Contains(segment, "/") {
			return nil, false
		}
		r.end += segment
	}
	return r, true
}

// Names returns the number of names in the route.
func (r *Route) Names() int { return len(r.named) }

// Matches reports whether a decoded path matches the route.
func (r *Route) Matches(path string) bool {
	for i := range r.named {
		after, found := strings.CutPrefix(path, r.named[i].literal)
		value, rest := firstSegment(after)
		if !found || value == "" {
			return false
		}
		path = rest
	}
	return path == r.end
}

// Value returns the segment of a path at a name of the route, or "" if the route has no such name. The path must match.
func (r *Route) Value(path, name string) string {
	for i := range r.named {
		value, rest := firstSegment(path[len(r.named[i].literal):])
		if r.named[i].name == name {
			return value
		}
		path = rest
	}
	return ""
}

// firstSegment splits a path before its first slash.
func firstSegment(path string) (segment, rest string) {
	if i := strings.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i:]
	}
	return path, ""
}
