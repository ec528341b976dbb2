package redact_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/internal/redact"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

const key = "sk_test_8mK3vQ9rT2xW7yZ4bN6c"

// odd is a key of characters that encoders escape.
const odd = `k&8"m\K3/v<Q9>r%2F+T=2'x`

func each(text string, format func(c byte) string) string {
	var out strings.Builder
	for i := range len(text) {
		out.WriteString(format(text[i]))
	}
	return out.String()
}

func quoted(text string) string {
	data, _ := json.Marshal(text)
	return strings.Trim(string(data), `"`)
}

// spellings are the ways in which a peer may send a key back.
func spellings(key string) map[string]string {
	plainJSON := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key)
	return map[string]string{
		"as it is":            key,
		"in capitals":         strings.ToUpper(key),
		"as a header's name":  http.CanonicalHeaderKey(key),
		"JSON":                quoted(key),
		"JSON without HTML":   plainJSON,
		"JSON with slashes":   strings.ReplaceAll(plainJSON, "/", `\/`),
		"JSON in JSON":        quoted(quoted(key)),
		"JSON three times":    quoted(quoted(quoted(key))),
		"JSON code points":    each(key, func(c byte) string { return fmt.Sprintf(`\u%04x`, c) }),
		"JSON code points, X": each(key, func(c byte) string { return fmt.Sprintf(`\u%04X`, c) }),
		"code points in JSON": each(key, func(c byte) string { return fmt.Sprintf(`\\\\u%04x`, c) }),
		"its first character": fmt.Sprintf(`\u%04x`, key[0]) + quoted(key[1:]),
		"its last character":  quoted(key[:len(key)-1]) + fmt.Sprintf(`\u%04x`, key[len(key)-1]),
		"Go":                  strings.Trim(fmt.Sprintf("%q", key), `"`),
		"Go, twice":           strings.Trim(fmt.Sprintf("%q", fmt.Sprintf("%q", key)), `"\`),
		"C":                   each(key, func(c byte) string { return fmt.Sprintf(`\x%02x`, c) }),
		"C, octal":            each(key, func(c byte) string { return fmt.Sprintf(`\%03o`, c) }),
		"URL query":           url.QueryEscape(key),
		"URL path":            url.PathEscape(key),
		"URL, all":            each(key, func(c byte) string { return fmt.Sprintf("%%%02x", c) }),
		"URL, twice":          url.QueryEscape(url.QueryEscape(key)),
		"URL, all, twice":     url.QueryEscape(each(key, func(c byte) string { return fmt.Sprintf("%%%02X", c) })),
		"HTML":                html.EscapeString(key),
		"HTML, twice":         html.EscapeString(html.EscapeString(key)),
		"HTML, decimal":       each(key, func(c byte) string { return fmt.Sprintf("&#%d;", c) }),
		"HTML, hexadecimal":   each(key, func(c byte) string { return fmt.Sprintf("&#x%X;", c) }),
		"HTML, zeros":         each(key, func(c byte) string { return fmt.Sprintf("&#%06d;", c) }),
		"base64":              base64.StdEncoding.EncodeToString([]byte(key)),
		"base64 of user:key":  base64.StdEncoding.EncodeToString([]byte("user:" + key)),
		"base64 of me:key":    base64.StdEncoding.EncodeToString([]byte("me:" + key)),
		"base64 of abcd:key:": base64.URLEncoding.EncodeToString([]byte("abcd:" + key + ":")),
		"HTML in JSON":        quoted(html.EscapeString(key)),
		"code points in URL":  url.QueryEscape(each(key, func(c byte) string { return fmt.Sprintf(`\u%04x`, c) })),
		"HTML of a URL":       html.EscapeString(quoted(each(key, func(c byte) string { return fmt.Sprintf("&#x%x;", c) }))),
		"hexadecimal":         hex.EncodeToString([]byte(key)),
		"HEXADECIMAL":         fmt.Sprintf("%X", key),
		"bytes":               strings.Trim(fmt.Sprint([]byte(key)), "[]"),
		"a folded line":       key[:13] + "\r\n " + key[13:],
		"a quoted folding":    quoted(key[:13]) + `\r\n\t` + quoted(key[13:]),
	}
}

// A text in which the peer sends the key back is withheld, however the key is escaped and whatever is around it.
func TestIn_EverySpelling(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{key, odd} {
		k := redact.New(secret)
		for name, spelling := range spellings(secret) {
			for _, around := range [][2]string{
				{"", ""}, {"refused key: ", " is wrong"}, {`{"key":"`, `"}`}, {"aaa", "zzz"}, {"<b>Bearer ", "</b>"},
				{"https://x.test/?key=", "&page=1"},
				{"Basic ", ", Digest"}, {`a\\tb `, `\`}, {"100%", "%zz"}, {"&", "&#"},
				{strings.Repeat("-", 10_000), strings.Repeat("-", 10_000)},
			} {
				if text := around[0] + spelling + around[1]; !k.In(text) {
					t.Errorf("%s, %s: %.300s\nis shown", secret, name, text)
				}
			}
		}
	}
}

// The filter has each group of four characters of a key, even if two groups share a number of the filter.
func TestIn_ManyKeys(t *testing.T) {
	t.Parallel()
	for i := range 500 {
		secret := fmt.Sprintf("%011x", i*7919*7919*104729)[:11]
		k := redact.New(secret)
		for before := range 4 {
			text := strings.Repeat("-", before) + secret
			for _, spelling := range []string{text, fmt.Sprintf("%x", text), base64.StdEncoding.EncodeToString([]byte(text))} {
				if !k.In(spelling) {
					t.Errorf("%s behind %d is shown: %s", secret, before, spelling)
				}
			}
		}
	}
}

func TestText_WithheldOrNot(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	for key, texts := range map[string]struct{ withheld, shown []string }{
		key: {
			withheld: []string{
				"key sk_test_8mK…", "K3vQ9rT2xW7yZ4 in the middle", "…Q9rT2xW7yZ4bN6c", key + key, "truncated: sk_test_8mK",
				`truncated: sk_test_8\u006dK\u0`,
				"a line folded in an escape: sk_test_8\\u00\r\n\t 6dK",
				"sk_test_8m%4B%", "sk_test_8m&#x4b;&#x3", "sk_test_\r\n\t8 m K", `\\\\u0073k_\\\\u0074est_8mK`,
				"%25252573k_test_8mK", "&amp;amp;#115;k_test_8mK",
				`%5Cu0073k_test_8mK`, "SK_TEST_8MK", long + key, key + long, long + `\u0073` + key[1:] + long,
			},
			shown: []string{
				"", "no key", "keys start with sk_test_", "key sk_test_…", "key sk_test_8m…N6c", "the end: sk_test_8m",
				"…T2xW7yZ4bN6", "a latest, untested text", "sk_live_8mK3vQ9r",
				`{"delivery":"sk_test_","latest":"\u0073k_test_","url":"https:\/\/x.test\/?a=%20b&amp;c"}`,
				"Basic dXNlcjpwYXNzd29yZA==", "c2tfdGVzdF84bQ==", "736b5f746573745f386d",
				"[115 107 95 116 101 115 116 95 56 109]", "sk_test_0mK3vQ0rT2xW0yZ4bN0c", "3fa85f64-5717-4562-b3fc-2c963f66afa6",
				long, `\` + long, "s-k-_-t-e-s-t-_-8-m-K-3", strings.Join(strings.Split(key, ""), " "),
			},
		},
		// A short key, such as those of tests, was found inside longer words.
		"key": {
			withheld: []string{"key", "the Key.", `\u006bey`, `{"k":"key"}`, "?a=key&b=1", "%6bey", "monkey key", `a\nkey\n`,
				"-key-"},
			shown: []string{"latest keyword", "monkey", "key_1", "ke y", "a2V5", "6b6579", `\u0061key`},
		},
		"test_key_1":  {withheld: []string{"test_key_1", `test\u005fkey_1`}, shown: []string{"latest_key_1", "test_key_10"}},
		"a-b-c-d-e-f": {withheld: []string{"xa-b-c-d-e-fx"}}, // the least letters for which parts of a key count
		"a-b-c-d-e--": {withheld: []string{"a-b-c-d-e--"}, shown: []string{"xa-b-c-d-e--"}},
		"+k":          {withheld: []string{"a+k", "+k"}, shown: []string{"+kb"}},
		`\\`:          {withheld: []string{`a\\b`}, shown: []string{`a/b`}},
		"abcdefghijk": {withheld: []string{fmt.Sprintf("%x", "abcdefghijk"), "abcdefghijk"},
			shown: []string{fmt.Sprintf("%x", "abcdefghij"), "abcdefghij"}},
		"": {shown: []string{"", "text"}},
	} {
		k := redact.New(key)
		for _, text := range texts.withheld {
			if got := k.Text(text); got != redact.Mark {
				t.Errorf("%s: %.60q is shown", key, text)
			}
		}
		for _, text := range texts.shown {
			shippingtest.Diff(t, key, text, k.Text(text))
		}
	}
	if none := (redact.Key{}); none.Text(key) != key || none.Reveal() != "" ||
		string(none.Start([]byte(key), 5)) != key[:5] {
		t.Error("the zero Key is not empty")
	}
}

// The part of a text that is kept is withheld if the key begins in it.
func TestStart(t *testing.T) {
	t.Parallel()
	k := redact.New(key)
	escaped := each(key, func(c byte) string { return fmt.Sprintf(`\\\\u%04x`, c) })
	for before := range 64 {
		for _, spelling := range []string{key, escaped} {
			data := []byte(strings.Repeat("x", before) + spelling + strings.Repeat("y", 100))
			shippingtest.Diff(t, fmt.Sprintf("after %d", before), redact.Mark, string(k.Start(data, 40)))
		}
	}
	text := []byte(strings.Repeat("x", 100))
	if got := k.Start(text, 40); string(got) != string(text[:40]) || &got[0] == &text[0] {
		t.Errorf("%q", got)
	}
	shippingtest.Diff(t, "the start of a short limit", redact.Mark[:10], string(k.Start([]byte(key), 10)))
}

func TestHeader_NamesAndValues(t *testing.T) {
	t.Parallel()
	got := redact.New(key).Header(http.Header{"X-Key": {"Bearer " + key, "b"}, http.CanonicalHeaderKey(key): {"c"}})
	if want := (http.Header{"X-Key": {redact.Mark, "b"}, redact.Mark: {"c"}}); !cmp.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := redact.New(key).Header(http.Header{key: {"c"}}); !cmp.Equal(got, http.Header{redact.Mark: {"c"}}) {
		t.Errorf("%v", got)
	}
}

type stringError struct{ text string }

func (e stringError) Error() string { return e.text }

// verbError shows its text under one verb only.
type verbError struct{ verb, text string }

func (verbError) Error() string { return "an error" }

func (e verbError) Format(f fmt.State, verb rune) {
	if fmt.FormatString(f, verb) == e.verb {
		fmt.Fprint(f, e.text)
	}
}

// A redacted error keeps its type and its sentinel errors, and contains no text with the key under any verb.
func TestError_KeepsWhatProgramsDecideBy(t *testing.T) {
	t.Parallel()
	k := redact.New(key)
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for name, err := range map[string]error{
		"no key":       fmt.Errorf("a: %w", refused),
		"text":         fmt.Errorf("a "+key+": %w", refused),
		"in a wrapper": fmt.Errorf("a: %w", fmt.Errorf("b "+key+": %w", refused)),
		"beside it":    errors.Join(stringError{"malformed line " + key}, refused),
		"a URL":        &url.Error{Op: "Get", URL: "https://host/?key=" + key, Err: refused},
		"a dial": &net.OpError{Op: "dial", Net: "tcp",
			Err: errors.Join(stringError{key}, os.NewSyscallError("connect", syscall.ECONNREFUSED))},
		"%v": errors.Join(verbError{"%v", key}, refused), "%+v": errors.Join(verbError{"%+v", key}, refused),
		"%#v": errors.Join(verbError{"%#v", key}, refused), "%d": errors.Join(verbError{"%d", key}, refused),
		"wrapped many times": fmt.Errorf("a: %w",
			errors.Join(fmt.Errorf("b: %w", fmt.Errorf("c "+key+": %w", refused)), stringError{key})),
	} {
		got := k.Error(err)
		noneOf(t, name, got)
		if !errors.Is(got, syscall.ECONNREFUSED) || errors.Is(got, io.EOF) {
			t.Errorf("%s: %v has changed", name, got)
		}
		if (got == err) != (name == "no key") || redact.New("").Error(err) != err {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestError_KeepsTemporaryAndTimeout(t *testing.T) {
	t.Parallel()
	for _, err := range []*net.DNSError{{Err: key}, {Err: key, IsTemporary: true}, {Err: key, IsTimeout: true}} {
		got := redact.New(key).Error(err)
		noneOf(t, "DNS", got)
		kept, ok := got.(net.Error)
		temporary, also := got.(interface{ Temporary() bool })
		if !ok || !also || kept.Timeout() != err.Timeout() || temporary.Temporary() != err.Temporary() {
			t.Errorf("%#v: %v", err, got)
		}
	}
	late := redact.New(key).Error(fmt.Errorf("%s: %w", key, context.DeadlineExceeded))
	if noneOf(t, "deadline", late); !errors.Is(late, context.DeadlineExceeded) {
		t.Errorf("%v", late)
	}
	unknown := redact.New(key).Error(fmt.Errorf("%s: %w", key, &net.DNSError{Err: "no such host", IsNotFound: true}))
	if found, ok := errors.AsType[*net.DNSError](unknown); !ok || !found.IsNotFound {
		t.Errorf("%#v", unknown)
	}
}

// noneOf fails the test if an error, or one that it wraps, shows the key.
func noneOf(t *testing.T, name string, err error) {
	t.Helper()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if text := fmt.Sprintf(verb, err); strings.Contains(text, "8mK3") ||
			strings.Contains(text, fmt.Sprintf("%x", "8mK3")) || strings.Contains(text, "56 109 75 51") {
			t.Errorf("%s: %s shows the key: %s", name, verb, text)
		}
	}
	switch wrapper := err.(type) {
	case interface{ Unwrap() error }:
		if cause := wrapper.Unwrap(); cause != nil {
			noneOf(t, name, cause)
		}
	case interface{ Unwrap() []error }:
		for _, cause := range wrapper.Unwrap() {
			noneOf(t, name, cause)
		}
	}
}

// A text with the key is withheld, and a text without it stays unchanged.
func FuzzText(f *testing.F) {
	f.Add("a", `\u0073`, 3, "b")
	f.Add(`\`, "%25", 0, "&amp;")
	f.Fuzz(func(t *testing.T, before, between string, at int, after string) {
		k := redact.New(key)
		at = max(0, min(at, len(key)))
		for _, text := range []string{before + key + after, before + url.QueryEscape(quoted(key)) + after,
			before + key[:at] + between + key[at:] + after} {
			if got := k.Text(text); strings.Contains(got, key) || strings.Contains(got, key[:11]) || got != text &&
				got != redact.Mark {
				t.Errorf("%q becomes %q", text, got)
			}
		}
		if text := before + after; !strings.ContainsAny(text, `\%&`) && len(text) < 11 && k.Text(text) != text {
			t.Errorf("%q is withheld", text)
		}
	})
}

// A value stays JSON. Each part of it that contains the key is withheld, even if the key is a number or a part of one.
func TestJSON(t *testing.T) {
	t.Parallel()
	const hidden = `"` + redact.Mark + `"`
	for value, want := range map[string]string{
		`{"a":[1,"b",null]}`:                                         `{"a":[1,"b",null]}`,
		`{"a":"x 1234567890123456 y"}`:                               `{"a":` + hidden + `}`,
		`{"a":1234567890123456,"b":2}`:                               `{"a":` + hidden + `,"b":2}`,
		`[91234567890123456]`:                                        `[` + hidden + `]`,
		`{"1234567890123456":true}`:                                  `{` + hidden + `:true}`,
		`{"a":1234567890123456,"b":`:                                 hidden,
		`{"a": -1234567890123456.5e+1, "a" : true,"b\"\\":"\u00e9"}`: `{"a": ` + hidden + `, "a" : true,"b\"\\":"\u00e9"}`,
		`{"a":1234567890123456,"b":"\u0031234567890123456\\"}`:       `{"a":` + hidden + `,"b":` + hidden + `}`,
		`1234567890123456`:                                           hidden,
		`1234567890123456 x`:                                         hidden,
		`{"b":{"c":[49,50,51,52,53,54,55,56,57,48,49]}}`:             hidden,
		`-1`: `-1`,
		``:   ``,
	} {
		shippingtest.Diff(t, value, want, redact.New("1234567890123456").JSON(value))
	}
	shippingtest.Diff(t, "a key in several values", hidden, redact.New("1,2,3,4,5,6,7,8,9").JSON(`[1,2,3,4,5,6,7,8,9]`))
}
