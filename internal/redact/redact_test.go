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

	"github.com/shipping-go/shipping/internal/redact"
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

// A key that the peer sends back is redacted, however it is escaped.
func TestBytes_NoSpellingIsLeft(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{key, odd} {
		k := redact.New(secret)
		for name, spelling := range spellings(secret) {
			for _, around := range [][2]string{{"", ""}, {"refused key: ", " is wrong"}, {`{"key":"`, `"}`}, {"aaa", "zzz"}, {"<b>Bearer ", "</b>"}} {
				text := around[0] + spelling + around[1]
				got := k.Text(text)
				if want := around[0] + redact.Mark + around[1]; got != want && !strings.Contains(name, "base64") {
					t.Errorf("%s, %s: %s\nis redacted to %s", secret, name, text, got)
				}
				if len(got) > len(around[0])+len(around[1])+len(redact.Mark)+12 { // the user's name, in base64
					t.Errorf("%s, %s: %s\nis redacted to %s", secret, name, text, got)
				}
				if again := k.Text(got); again != got {
					t.Errorf("%s, %s: %s\nis redacted again, to %s", secret, name, got, again)
				}
			}
		}
	}
}

// A part of a key is a secret, too.
func TestText_PartsOfTheKey(t *testing.T) {
	t.Parallel()
	k := redact.New(key)
	for text, want := range map[string]string{
		"key sk_test_8…":               "key [redacted]…",
		"key sk_test…":                 "key sk_test…",
		"key sk_test_…":                "key [redacted]…",
		"cut at the end: sk_test":      "cut at the end: [redacted]",
		"cut at the end: sk_t":         "cut at the end: sk_t",
		"cut in it: sk_test_8mK":       "cut in it: [redacted]",
		`cut in an escape: sk_test\u0`: `cut in an escape: [redacted]\u0`,
		"…T2xW7yZ4bN6c":                "…T2xW7yZ4bN6c",
		"…Q9rT2xW7yZ4bN6c":             "…[redacted]",
		"K3vQ9rT2xW7yZ4 in the middle": "[redacted] in the middle",
		key + key + " " + key:          "[redacted][redacted] [redacted]",
		"no key":                       "no key",
		"a latest, untested text":      "a latest, untested text",
		"":                             "",
	} {
		if got := k.Text(text); got != want && !(text == key+key+" "+key && !strings.Contains(got, "8mK3")) {
			t.Errorf("%q is redacted to %q, want %q", text, got, want)
		}
	}
}

func TestText_ShortKeysAndNone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ key, text, want string }{
		{"abc", "xabcx \\u0061bc", "x[redacted]x [redacted]"},
		{"abc", "ab", "ab"},
		{"abc", "abcabc x", "[redacted][redacted] x"},
		{`\\`, `a\\b`, `a\\b`},
		{"", "text", "text"},
		{"abcdefgh", fmt.Sprintf("%x %x", "abcdefgh", "abcdefg"), "[redacted] 61626364656667"},
		{"abcdefg", fmt.Sprintf("%x", "abcdefg"), "61626364656667"},
	} {
		if got := redact.New(test.key).Text(test.text); got != test.want {
			t.Errorf("%q is redacted to %q, want %q", test.text, got, test.want)
		}
	}
	for _, none := range []redact.Key{{}, redact.New("")} {
		if text, data := none.Text(key), none.Bytes([]byte(key)); text != key || string(data) != key {
			t.Errorf("no key: %q, %q", text, data)
		}
	}
}

func TestBytes_WhatShowsNoKeyIsNotCopied(t *testing.T) {
	data := []byte(strings.Repeat(`{"status":true,"message":"Retrieved"}`, 100))
	header := http.Header{"Content-Type": {"application/json"}, "Date": {"Mon, 05 Jan 2026 09:30:00 GMT"}}
	k := redact.New(key)
	k.Bytes(data)
	if n := testing.AllocsPerRun(10, func() { k.Bytes(data); k.Header(header); k.Text("a text that shows none") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestStart_TruncatesLast(t *testing.T) {
	t.Parallel()
	k := redact.New(key)
	for before := range 64 {
		data := []byte(strings.Repeat("x", before) + key + strings.Repeat("y", 100))
		got := string(k.Start(data, 40))
		if len(got) > 40 || !strings.HasPrefix(strings.Repeat("x", before)+redact.Mark+strings.Repeat("y", 100), got) {
			t.Errorf("after %d: %q", before, got)
		}
	}
}

func TestHeader_NamesAndValues(t *testing.T) {
	t.Parallel()
	got := redact.New(key).Header(http.Header{"X-Key": {"Bearer " + key, "b"}, http.CanonicalHeaderKey(key): {"c"}})
	if got.Get("X-Key") != "Bearer [redacted]" || len(got.Values("X-Key")) != 2 || len(got) != 2 || strings.Contains(strings.ToLower(fmt.Sprint(got)), "8mk3") {
		t.Errorf("%v", got)
	}
}

type stringError struct{ text string }

func (e stringError) Error() string { return e.text }

// fieldError shows its field under %d and %#v only.
type fieldError struct{ header []byte }

func (*fieldError) Error() string { return "no header" }

// verbError shows its text under one verb only.
type verbError struct{ verb, text string }

func (verbError) Error() string { return "an error" }

func (e verbError) Format(f fmt.State, verb rune) {
	if fmt.FormatString(f, verb) == e.verb {
		fmt.Fprint(f, e.text)
	}
}

func TestError_FindsTheKeyUnderEachVerb(t *testing.T) {
	t.Parallel()
	k := redact.New(key)
	for _, verb := range []string{"%v", "%+v", "%#v", "%d"} {
		for _, err := range []error{verbError{verb, key}, fmt.Errorf("a: %w", verbError{verb, key})} {
			noneOf(t, verb, k.Error(err))
		}
		if err := (verbError{verb, "text"}); k.Error(err) != err || redact.New("").Error(err) != err {
			t.Errorf("%s: an error that shows no key is replaced", verb)
		}
	}
}

// temporaryError shows the key, and can be temporary or a timeout.
type temporaryError struct{ temporary, timeout bool }

func (temporaryError) Error() string     { return key }
func (e temporaryError) Temporary() bool { return e.temporary }
func (e temporaryError) Timeout() bool   { return e.timeout }

func TestError_KeepsTemporaryAndTimeout(t *testing.T) {
	t.Parallel()
	for _, err := range []temporaryError{{false, false}, {true, false}, {false, true}} {
		got := redact.New(key).Error(err)
		noneOf(t, fmt.Sprintf("%t %t", err.temporary, err.timeout), got)
		kept, ok := got.(interface{ Timeout() bool })
		temporary, also := got.(interface{ Temporary() bool })
		if !ok || !also || kept.Timeout() != err.timeout || temporary.Temporary() != err.temporary {
			t.Errorf("%t %t: %v", err.temporary, err.timeout, got)
		}
	}
}

// A redacted error keeps its type and its sentinel errors, and contains no text with the key.
func TestError_KeepsWhatProgramsDecideBy(t *testing.T) {
	t.Parallel()
	k := redact.New(key)
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for name, err := range map[string]error{
		"no key":             fmt.Errorf("a: %w", refused),
		"text":               fmt.Errorf("a "+key+": %w", refused),
		"in a wrapper":       fmt.Errorf("a: %w", fmt.Errorf("b "+key+": %w", refused)),
		"beside it":          errors.Join(stringError{"malformed line " + key}, refused),
		"a URL":              &url.Error{Op: "Get", URL: "https://host/?key=" + key, Err: refused},
		"a dial":             &net.OpError{Op: "dial", Net: "tcp", Err: errors.Join(stringError{key}, os.NewSyscallError("connect", syscall.ECONNREFUSED))},
		"a field":            errors.Join(&fieldError{[]byte(key)}, refused),
		"wrapped many times": fmt.Errorf("a: %w", errors.Join(fmt.Errorf("b: %w", fmt.Errorf("c "+key+": %w", refused)), stringError{key})),
	} {
		got := k.Error(err)
		noneOf(t, name, got)
		if !errors.Is(got, syscall.ECONNREFUSED) || errors.Is(got, io.EOF) {
			t.Errorf("%s: %v has changed", name, got)
		}
		if dial, ok := errors.AsType[*net.OpError](got); !ok || dial.Op != "dial" {
			t.Errorf("%s: the dial is not found in %v", name, got)
		}
		if (got == err) != (name == "no key") {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestError_ContextsAndTimeouts(t *testing.T) {
	t.Parallel()
	k := redact.New(key)
	for name, err := range map[string]error{
		"deadline": fmt.Errorf("%s: %w", key, context.DeadlineExceeded),
		"timeout":  &net.OpError{Op: "read", Err: fmt.Errorf("%s: %w", key, os.ErrDeadlineExceeded)},
	} {
		got := k.Error(err)
		noneOf(t, name, got)
		if (name == "deadline") != errors.Is(got, context.DeadlineExceeded) || (name == "timeout") != errors.Is(got, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if k.Error(nil) != nil {
		t.Error("no error is an error")
	}
	temporary := k.Error(&net.DNSError{Err: "no such host", Name: key + ".test", IsTimeout: true, IsNotFound: true})
	noneOf(t, "DNS", temporary)
	if found, ok := errors.AsType[*net.DNSError](temporary); !ok || !found.IsNotFound || !found.Timeout() {
		t.Errorf("%#v", temporary)
	}
}

// noneOf fails the test if an error, or one that it wraps, shows the key.
func noneOf(t *testing.T, name string, err error) {
	t.Helper()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if text := fmt.Sprintf(verb, err); strings.Contains(text, "8mK3") || strings.Contains(text, fmt.Sprintf("%x", "8mK3")) || strings.Contains(text, "56 109 75 51") {
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

// The key is in no redacted text, and a text without the key stays unchanged.
func FuzzText(f *testing.F) {
	f.Add("a", `\u0073`, 3, "b")
	f.Add(`\`, "%25", 0, "&amp;")
	f.Fuzz(func(t *testing.T, before, between string, at int, after string) {
		k := redact.New(key)
		at = max(0, min(at, len(key)))
		for _, text := range []string{before + key + after, before + key[:at] + between + key[at:] + after} {
			if got := k.Text(text); strings.Contains(got, key) || strings.Contains(got, key[:8]) && !strings.Contains(redact.Mark, key[:8]) {
				t.Errorf("%q is redacted to %q", text, got)
			}
		}
		if text := before + after; !strings.ContainsAny(text, `\%&`) && len(text) < 4 && k.Text(text) != text {
			t.Errorf("%q was changed", text)
		}
	})
}

func BenchmarkBytes(b *testing.B) {
	record := `{"rate_id":"RT-0938170000","amount":61350.00,"currency":"NGN","breakdown":[],"carrier_name":"DHL Express","carrier_logo":"https://logos.example/carriers/dhl-express/mark-512x512.svg","delivery_date":"2026-01-08T08:00:00.000Z","latest":"test_"},`
	for name, data := range map[string][]byte{
		"clean":   []byte(strings.Repeat(record, 240)),
		"escaped": []byte(strings.Repeat(record, 240) + `\/`),
		"6KB":     []byte(strings.Repeat(record, 24)),
	} {
		k := redact.New(key)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				k.Bytes(data)
			}
		})
	}
	header := http.Header{
		"Content-Type": {"application/json"}, "Date": {"Mon, 05 Jan 2026 09:30:00 GMT"}, "Content-Length": {"12345"},
		"X-Request-Id": {"req-17"}, "Cache-Control": {"no-store"}, "Vary": {"Accept-Encoding"},
	}
	k := redact.New(key)
	b.Run("header", func(b *testing.B) {
		for b.Loop() {
			k.Header(header)
		}
	})
}

// A value without the key is JSON still, also if the key is a number or a part of one.
func TestJSON(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`{"a":[1,"b",null]}`:                                       `{"a":[1,"b",null]}`,
		`{"a":"x 1234567890123456 y"}`:                             `{"a":"x [redacted] y"}`,
		`{"a":1234567890123456,"b":2}`:                             `{"a":"[redacted]","b":2}`,
		`[91234567890123456]`:                                      `["9[redacted]"]`,
		`{"1234567890123456":true}`:                                `{"[redacted]":true}`,
		`{"a":1234567890123456,"b":`:                               `"[redacted]"`,
		`{"a": -1234567890123456.5e+1, "a":true,"b\"\\":"\u00e9"}`: `{"a": "-[redacted].5e+1", "a":true,"b\"\\":"\u00e9"}`,
		`{"a":1234567890123456,"b":"\u0031234567890123456\\"}`:     `{"a":"[redacted]","b":"[redacted]\\"}`,
		`1234567890123456`:                                         `"[redacted]"`,
		`-1`:                                                       `-1`,
		``:                                                         ``,
	} {
		if got := redact.New("1234567890123456").JSON(value); got != want {
			t.Errorf("%s is %s, want %s", value, got, want)
		}
	}
	if got := redact.New("1,2,3,4,5,6,7,8,9").JSON(`[1,2,3,4,5,6,7,8,9]`); got != `"[redacted]"` {
		t.Errorf("a key in several values is %s", got)
	}
}
