package redact

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const secret = "sk_test_8mK3vQ9rT2xW7yZ4bN6c"

// inBase64 returns exactly the characters that do not depend on the bytes around the text.
func TestInBase64_IsWhatFollowsFromTheTextAlone(t *testing.T) {
	t.Parallel()
	for before := range 3 {
		for length := 2; length <= 9; length++ {
			text := secret[:length]
			got := inBase64(base64.RawStdEncoding, before, text)
			common := ""
			for _, around := range []byte{0x00, 0xff} {
				fill := strings.Repeat(string([]byte{around}), 3)
				encoded := base64.RawStdEncoding.EncodeToString([]byte(fill[:before] + text + fill))
				at := strings.Index(encoded, got)
				if at < 0 {
					t.Fatalf("%d bytes before %q: %s is not in %s", before, text, got, encoded)
				}
				if common == "" {
					common = encoded
					continue
				}
				for i := range common { // the characters around it differ
					if inside := i >= at && i < at+len(got); inside != (common[i] == encoded[i]) {
						t.Errorf("%d bytes before %q: character %d of %s and %s, with %s", before, text, i, common, encoded, got)
					}
				}
			}
		}
	}
}

// The index finds what a comparison at every place finds: the longest runs of at least leastRun characters.
func TestIndex_FindsEveryRun(t *testing.T) {
	t.Parallel()
	forms := []string{"abcdefghijklmnop", "abcdefgxxxxxxx", "0123456"}
	var x index
	for _, form := range forms {
		x.add([]byte(form))
	}
	texts := []string{"", "abc", "abcdef", "abcdefg", "ABCDEFG", "xabcdefghy", "--abcdefghijklmnop--", "jklmnop", "klmnop", "0123456", "z0123456z", "012345", "1234567", "abcdefgabcdefgxxxxxxx0123456"}
	for i := range 9 {
		texts = append(texts, strings.Repeat("-", i)+"defghijkl"+strings.Repeat("-", i), strings.Repeat("-", i)+"abcdefg")
	}
	for _, text := range texts {
		var want []run
		for n, form := range forms {
			for at := range form {
				for from := range text {
					length := 0
					for from+length < len(text) && at+length < len(form) && text[from+length]|small == form[at+length] {
						length++
					}
					if longest := from == 0 || at == 0 || text[from-1]|small != form[at-1]; longest && length >= leastRun {
						want = append(want, run{form: n, at: at, from: from, to: from + length})
					}
				}
			}
		}
		got := slices.SortedFunc(x.runs([]byte(text)), func(a, b run) int {
			return slices.Compare([]int{a.form, a.at, a.from}, []int{b.form, b.at, b.from})
		})
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for range x.runs([]byte("abcdefghijklmnop")) {
		break // a caller that stops gets no more
	}
}

// A key is found wherever it stands in a text of several windows, as it is and with every character escaped, and once.
func TestFind_AcrossWindows(t *testing.T) {
	t.Parallel()
	k := New(secret)
	var escaped strings.Builder
	for i := range len(secret) {
		fmt.Fprintf(&escaped, `\u%04x`, secret[i])
	}
	for _, written := range []string{secret, escaped.String()} {
		text := make([]byte, 2*window+margin+1)
		for _, edge := range []int{window, window + margin, 2 * window, len(text)} {
			for shift := -len(written) - 1; shift <= 1; shift += 1 + len(written)/50 {
				at := edge + shift
				if at+len(written) > len(text) {
					continue
				}
				for i := range text {
					text[i] = '-'
				}
				copy(text[at:], written)
				if found := k.finder().find(text); !slices.Equal(found, []span{{at, at + len(written)}}) {
					t.Fatalf("%.10s… at %d is found at %v", written, at, found)
				}
			}
		}
	}
}

// Only what stands at the end of the whole text can be a truncated key.
func TestFind_ATruncatedKeyIsAtTheEndOnly(t *testing.T) {
	t.Parallel()
	f := New(secret).finder()
	const start = "sk_test"
	for _, test := range []struct {
		text string
		want []span
	}{
		{strings.Repeat("-", window) + start, []span{{window, window + len(start)}}},
		{strings.Repeat("-", window+margin-len(start)) + start, []span{{window + margin - len(start), window + margin}}},
		{strings.Repeat("-", window+margin-len(start)) + start + "-", nil},
		{strings.Repeat("-", window-len(start)) + start + strings.Repeat("-", window+margin), nil},
		{start + "\r\n", []span{{0, len(start)}}},
		{start + "\t", []span{{0, len(start)}}},
		{`\` + start, []span{{0, len(start) + 1}}},
		{start + `\u00`, []span{{0, len(start)}}},
		{start + `\u000`, []span{{0, len(start)}}},
		{start + `--\u`, nil},
		{start + `%6`, []span{{0, len(start)}}},
		{start + `&#x6`, []span{{0, len(start)}}},
		{start + `%20and more`, nil},
	} {
		if got := f.find([]byte(test.text)); !slices.Equal(got, test.want) {
			t.Errorf("%d characters that end with %q: %v, want %v", len(test.text), test.text[max(0, len(test.text)-12):], got, test.want)
		}
	}
}

func TestMerged(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ spans, want []span }{
		{[]span{{5, 9}, {1, 3}}, []span{{1, 3}, {5, 9}}},
		{[]span{{1, 3}, {3, 5}}, []span{{1, 3}, {3, 5}}},
		{[]span{{1, 4}, {3, 5}}, []span{{1, 5}}},
		{[]span{{1, 9}, {2, 3}, {8, 10}}, []span{{1, 10}}},
	} {
		if got := merged(slices.Clone(test.spans)); !slices.Equal(got, test.want) {
			t.Errorf("%v: %v, want %v", test.spans, got, test.want)
		}
	}
}

// Each escape with the characters on both sides of its limits.
func TestRead_Escapes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\x01b": "a\x01b", `&#1;`: "\x01",
		`a b` + "\t\r\nc": "abc", `\`: "", `a\`: "a", `\n\r\tb`: "b", `\/`: "/", `\\u0061`: "a",
		`\u0061`: "a", `\u006`: "u006", `\u007f`: "\x7f", `\u0080`: "u0080", `\u00g1`: "u00g1", `\u`: "u",
		`\x61`: "a", `\x6`: "x6", `\x7f`: "\x7f", `\x80`: "x80", `\141`: "a", `\14`: "14", `\177`: "\x7f", `\200`: "200", `\189`: "189",
		`%61`: "a", `%2561`: "a", `%252561`: "a", `%6`: "%6", `%`: "%", `%zz`: "%zz", `%25`: "%", `%25zz`: "%zz", `%80`: "%80", `%257`: "%7", `%6162`: "a62",
		`&lt;&gt;&quot;&apos;`: `<>"'`, `&amp;lt;`: "<", `&amp;amp;gt;`: ">", `&amp;`: "&", `&`: "&", `&l`: "&l", `&nbsp;`: "&nbsp;",
		`&#97;`: "a", `&#9;`: "\t", `&#x61;`: "a", `&#X61;`: "a", `&#00000097;`: "a", `&#000000097;`: "&#000000097;", `&#;`: "&#;", `&#97`: "&#97", `&#`: "&#", `&#x`: "&#x", `&#x;`: "&#x;",
		`&#127;`: "\x7f", `&#128;`: "&#128;", `&amp;#97;`: "a",
		`%26amp%3b%23x61%3b`: "a", `\u0025\u0036\u0031`: "a",
	} {
		folded := strings.Map(func(r rune) rune { return r | small }, want)
		if got := string(read([]byte(text)).text); got != folded {
			t.Errorf("%q is read as %q, want %q", text, got, folded)
		}
	}
}

// Digits that go beyond the text are no number, whatever follows it in memory.
func TestNumber_StaysWithinTheText(t *testing.T) {
	t.Parallel()
	memory := []byte("1234")
	for digits, want := range map[int]int{-1: none, 0: none, 1: 1, 2: 12, 3: none, 4: none} {
		if got := number(memory[:2], 0, digits, 10); got != want {
			t.Errorf("%d digits of 12 are %d, want %d", digits, got, want)
		}
	}
}
