package shipping

import (
	"net/netip"
	"net/url"
	"strings"
)

// baseURL is the checked base address: scheme, host and an optional path prefix, without /v1.
type baseURL struct {
	scheme, host, prefix string
}

func (b baseURL) String() string { return b.scheme + "://" + b.host + b.prefix }

func parseBaseURL(address string, plainHTTP bool) (baseURL, error) {
	const option = "WithBaseURL"
	if strings.TrimSpace(address) == "" {
		return baseURL{}, invalidOption(option,
			"is missing: there is no built-in host; pass WithBaseURL(\"https://…\") or set "+EnvBaseURL+
				" (for a local server: go run ./mockserver/cmd/mockserver serve)")
	}
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil:
		return baseURL{}, invalidOption(option, "is not a URL: write it like https://api.example.com")
	case u.Scheme != "http" && u.Scheme != "https":
		return baseURL{}, invalidOption(option, "has no http or https scheme: write it like https://api.example.com")
	case u.Hostname() == "":
		return baseURL{}, invalidOption(option, "has no host: write it like https://api.example.com")
	case u.User != nil:
		return baseURL{}, invalidOption(option, "holds a user name or password: pass the key to NewClient instead")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return baseURL{}, invalidOption(option, "holds a query or fragment: leave only scheme, host and path")
	case u.Scheme == "http" && !plainHTTP && mayBePublic(u.Hostname()):
		return baseURL{}, invalidOption(option,
			"is http:// on a public host, where the key could be read on the way: use https://, or say WithPlainHTTP()")
	}
	prefix := strings.TrimRight(u.EscapedPath(), "/")
	if last := strings.TrimSuffix(prefix, "/v1"); last != prefix {
		prefix = strings.TrimRight(last, "/")
	}
	if last := prefix[strings.LastIndex(prefix, "/")+1:]; isVersion(last) {
		return baseURL{}, invalidOption(option,
			"ends in /"+last+": this client speaks version 1 and adds /v1 by itself; leave /"+last+" out")
	}
	return baseURL{scheme: u.Scheme, host: strings.ToLower(u.Host), prefix: prefix}, nil
}

// isVersion reports whether a segment of a path is the version of an interface, such as v2.
func isVersion(segment string) bool {
	number, found := strings.CutPrefix(segment, "v")
	return found && number != "" && strings.Trim(number, "0123456789") == ""
}

// mayBePublic reports whether a host name could belong to a machine outside one's own network.
func mayBePublic(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return !address.IsLoopback() && !address.IsPrivate() && !address.IsLinkLocalUnicast() && !address.IsUnspecified()
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if !strings.Contains(name, ".") {
		return false
	}
	for _, suffix := range []string{".localhost", ".local", ".internal", ".test", ".example", ".invalid"} {
		if strings.HasSuffix(name, suffix) {
			return false
		}
	}
	return true
}

// join returns the URL of an escaped path below the base address.
func (b baseURL) join(escapedPath string, query url.Values) (*url.URL, error) {
	u := &url.URL{Scheme: b.scheme, Host: b.host, RawQuery: query.Encode()}
	path, err := url.PathUnescape(b.prefix + escapedPath)
	if err != nil {
		return nil, err
	}
	u.Path, u.RawPath = path, b.prefix+escapedPath
	return u, nil
}

// expandRoute fills the placeholders of a route with escaped values. A value that is empty, "." or
// ".." is refused: it would name another resource.
func expandRoute(operation, route string, values map[string]string) (string, error) {
	var path strings.Builder
	for {
		before, rest, found := strings.Cut(route, "{")
		path.WriteString(before)
		if !found {
			return path.String(), nil
		}
		name, after, _ := strings.Cut(rest, "}")
		value := values[name]
		switch value {
		case "":
			return "", invalidRequest(operation, name, "is empty")
		case ".", "..":
			return "", invalidRequest(operation, name, "is "+value+", which would name another resource")
		}
		path.WriteString(url.PathEscape(value))
		route = after
	}
}
