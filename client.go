package shipping

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/redact"
	"github.com/shipping-go/shipping/internal/transport"
)

// The environment variables that NewClientFromEnv reads.
const (
	envSecretKey = "SHIPPING_SECRET_KEY"
	envBaseURL   = "SHIPPING_BASE_URL"
	envDialect   = "SHIPPING_DIALECT"
)

// Client calls the service for one account. It is safe for concurrent use. Create it once and share it: the retry
// budget, the pause after a 429 and the connections belong to it.
//
// Make one with [NewClient]. The zero Client sends nothing; its methods return a [*ValidationError].
type Client struct {
	Rates        RatesService
	Countries    CountriesService
	Webhooks     WebhooksService
	Transactions TransactionsService
	Regulatory   RegulatoryService

	core *core
}

// core is shared by the services of one client.
type core struct {
	settings   // with their defaults
	baseURL    baseURL
	key        redact.Key
	transport  *transport.Client
	header     http.Header // of every request; a call adds to a copy
	operations []operations.Operation
	shown      *dialect.Dialect // of records; nil without WithDialect
}

// NewClient returns a client that authenticates with secretKey ("Bearer <SECRET_KEY>"). The base
// address has no default: set it with [WithBaseURL]. An invalid key or option is a [*ValidationError].
//
// Specification: "Authentication".
func NewClient(secretKey string, opts ...Option) (*Client, error) {
	s := newSettings(opts)
	if err := checkKey(secretKey); err != nil {
		return nil, err
	}
	base, err := parseBaseURL(s.address, cmp.Or(s.addressSource, "WithBaseURL"), s.plainHTTP)
	if err != nil {
		return nil, err
	}
	if s.dialectProblem != nil {
		return nil, invalidOption("WithDialect", s.dialectProblem.Error())
	}
	shown := s.dialect
	s.dialect, s.reader = cmp.Or(s.dialect, new(dialect.Dialect)), cmp.Or(s.reader, responses())
	if s.policy, err = s.policy.withDefaults(); err != nil {
		return nil, err
	}
	if s.maxBody < 0 {
		return nil, invalidOption("WithMaxResponseBytes",
			"is negative: pass a number of bytes, or 0 for the default of 64 MiB")
	}
	if s.maxBody == 0 {
		s.maxBody = defaultMaxResponseBytes
	}
	table, _ := operations.WithRoutes(s.dialect.Routes) // no error: the check of the dialect includes them
	c := &core{
		settings: s, baseURL: base, key: redact.New(secretKey), operations: table, shown: shown,
		header: http.Header{"Accept": {"application/json"}, "User-Agent": {userAgent}},
	}
	c.transport = transport.New(transport.Config{
		HTTP: s.httpClient, Key: c.key, Policy: transport.Policy(s.policy), Limiter: s.limiter, MaxBody: s.maxBody,
	})
	return &Client{
		Rates: RatesService{c}, Countries: CountriesService{c}, Webhooks: WebhooksService{c},
		Transactions: TransactionsService{c}, Regulatory: RegulatoryService{c}, core: c,
	}, nil
}

func newSettings(opts []Option) settings {
	s := settings{refusals: usualRefusals}
	for _, opt := range opts {
		if opt != nil {
			opt(&s)
		}
	}
	return s
}

// NewClientFromEnv returns a client with the key in SHIPPING_SECRET_KEY, the base address in SHIPPING_BASE_URL and, if
// set, the dialect file in SHIPPING_DIALECT. Options are applied last: [WithBaseURL] overrides SHIPPING_BASE_URL. If a
// variable is missing or invalid, the error is a [*ValidationError] that names it.
func NewClientFromEnv(opts ...Option) (*Client, error) {
	key, base := os.Getenv(envSecretKey), os.Getenv(envBaseURL)
	fromEnv := func(s *settings) { s.address, s.addressSource = base, envBaseURL }
	opts = append([]Option{fromEnv}, opts...)
	if file := os.Getenv(envDialect); file != "" {
		d, err := dialect.Read(file)
		if err != nil {
			return nil, invalidOption(envDialect, "cannot be read: "+err.Error())
		}
		opts = slices.Insert(opts, 1, WithDialect(d))
	}
	switch {
	case key == "" && newSettings(opts).address == "":
		return nil, invalidOption(envSecretKey+" and "+envBaseURL,
			"are not set: export the account's secret key and the base address")
	case key == "":
		return nil, invalidOption(envSecretKey, "is not set: export it with the account's secret key")
	}
	return NewClient(key, opts...)
}

// BaseURL returns the base address in use, without the version prefix.
func (c *Client) BaseURL() string {
	if c == nil || c.core == nil {
		return ""
	}
	return c.core.baseURL.String()
}

// RetryPolicy returns the retry policy in use, with its defaults filled in.
func (c *Client) RetryPolicy() RetryPolicy {
	if c == nil || c.core == nil {
		return RetryPolicy{}
	}
	return c.core.policy
}

// Format prints the base address for every verb, and never the key.
func (c *Client) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, c.label()) }

// LogValue returns the base address for slog.
func (c *Client) LogValue() slog.Value { return slog.StringValue(c.label()) }

// MarshalText returns the base address. It is also the JSON of the client.
func (c *Client) MarshalText() ([]byte, error) { return []byte(c.label()), nil }

func (c *Client) label() string {
	label := "shipping.Client(" + c.BaseURL() + ")"
	if c == nil || c.core == nil {
		return label
	}
	return c.core.key.Text(label)
}

// quotes are what docker --env-file leaves around a value.
const quotes = `"'`

func checkKey(key string) error {
	const option = "secretKey"
	switch {
	case strings.TrimSpace(key) == "":
		return invalidOption(option, "is empty: pass the account's secret key, or use NewClientFromEnv with "+envSecretKey)
	case strings.TrimSpace(key) != key:
		return invalidOption(option, "has spaces or line breaks around it: trim it, for example after reading it from a file")
	case strings.Trim(key, quotes) != key:
		return invalidOption(option, "has quotes around it: remove the quotes")
	case strings.HasPrefix(strings.ToLower(key), "bearer "):
		return invalidOption(option, `starts with "Bearer": pass the bare key, the client adds the scheme`)
	}
	for _, r := range key {
		if r <= ' ' || r > '~' {
			return invalidOption(option,
				"has a character that no HTTP header can carry: check for pasted quotes, spaces or line breaks")
		}
	}
	return nil
}

// baseURL is the checked base address: scheme, host and an optional path prefix, without /v1. option is the option or
// the variable that holds it.
type baseURL struct {
	scheme, host, prefix string
	option               string
}

func (b baseURL) String() string { return b.scheme + "://" + b.host + b.prefix }

// parseBaseURL checks an address. option names the option or the variable that holds it.
func parseBaseURL(address, option string, plainHTTP bool) (baseURL, error) {
	address = strings.TrimSpace(address)
	if address == "" {
		return baseURL{}, invalidOption(option,
			"is missing: there is no built-in host; pass WithBaseURL(\"https://…\") or set "+envBaseURL+
				" (for a local server: go run ./mockserver/cmd/mockserver serve)")
	}
	u, err := url.Parse(address)
	switch {
	case strings.Trim(address, quotes) != address:
		return baseURL{}, invalidOption(option, "has quotes around it: remove the quotes")
	case err != nil && strings.Contains(address, "://"):
		reason := ""
		if failed, ok := errors.AsType[*url.Error](err); ok && !strings.Contains(address, "@") { // it may show a password
			reason = " (" + failed.Err.Error() + ")"
		}
		return baseURL{}, invalidOption(option, "is not a URL"+reason+": write it like https://api.example.com")
	case err != nil || u.Scheme != "http" && u.Scheme != "https":
		return baseURL{}, invalidOption(option,
			"has no http or https scheme: write it like https://api.example.com, or http://localhost:4010 for a local server")
	case u.Hostname() == "":
		return baseURL{}, invalidOption(option, "has no host: write it like https://api.example.com")
	case u.User != nil:
		return baseURL{}, invalidOption(option, "holds a user name or password: pass the key to NewClient instead")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return baseURL{}, invalidOption(option, "holds a query or fragment: leave only scheme, host and path")
	case u.Scheme == "http" && !plainHTTP && mayBePublic(u.Hostname()):
		return baseURL{}, invalidOption(option,
			"is http:// on a public host, where the key could be read on the way: use https://, or WithPlainHTTP()")
	}
	prefix := strings.TrimRight(u.EscapedPath(), "/")
	if last := strings.TrimSuffix(prefix, "/v1"); last != prefix {
		prefix = strings.TrimRight(last, "/")
	}
	if last := prefix[strings.LastIndex(prefix, "/")+1:]; isVersion(last) {
		return baseURL{}, invalidOption(option,
			"ends in /"+last+": this client is for version 1 and adds /v1; leave /"+last+" out")
	}
	return baseURL{scheme: u.Scheme, host: strings.ToLower(u.Host), prefix: prefix, option: option}, nil
}

// isVersion reports whether a segment of a path is the version of an interface, such as v2.
func isVersion(segment string) bool {
	number, found := strings.CutPrefix(segment, "v")
	return found && number != "" && strings.Trim(number, "0123456789") == ""
}

// mayBePublic reports whether a host name could belong to a machine on the public internet.
func mayBePublic(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return !address.IsLoopback() && !address.IsPrivate() && !address.IsLinkLocalUnicast() && !address.IsUnspecified()
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) { // IDNA maps "。" to a dot
		return true
	}
	if !strings.Contains(name, ".") { // resolvers read 134744072, 0x8080808 and 01002004010 as 8.8.8.8
		hex, isHex := strings.CutPrefix(name, "0x")
		return strings.Trim(name, "0123456789") == "" || isHex && strings.Trim(hex, "0123456789abcdef") == ""
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
