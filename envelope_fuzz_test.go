package shipping

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/randomtest"
)

// The fuzz tests compare the decoder with the exact reader: what the one reads, the other reads too, with the
// same values. Byte by byte a fuzzer seldom gets past the grammar, so a number selects the change of the text
// token by token first; 0 leaves it as it is.
//
//	go test -run - -fuzz FuzzDecodeRates -fuzztime 60s -fuzzminimizetime 1s .

func FuzzDecodeRates(f *testing.F)        { fuzzDecode(f, "rates") }
func FuzzDecodeTransactions(f *testing.F) { fuzzDecode(f, "transactions") }
func FuzzDecodeWebhooks(f *testing.F)     { fuzzDecode(f, "webhooks") }
func FuzzDecodeCountries(f *testing.F)    { fuzzDecode(f, "countries") }
func FuzzDecodeRequest(f *testing.F)      { fuzzDecode(f, "request") }

func fuzzDecode(f *testing.F, name string) {
	body, same := readAnswer(f, name), lists()[name]
	f.Add(body, uint64(0))
	f.Add(body, uint64(1))
	f.Fuzz(func(t *testing.T, body []byte, changes uint64) {
		if len(body) > 1<<16 {
			return // nothing new comes of length, and the pass over it takes long
		}
		if changes != 0 {
			body = changed(tokensOf(body), rand.New(rand.NewPCG(changes, 0)))
		}
		same(t, body)
	})
}

// TestFastDecodingAgreesOnChangedAnswers is a short fuzz test of the same kind, run every time.
func TestFastDecodingAgreesOnChangedAnswers(t *testing.T) {
	t.Parallel()
	first := randomtest.New(t).Seed()
	for name, same := range lists() {
		tokens, taken := tokensOf(readAnswer(t, name)), 0
		const rounds = 1000
		for n := range uint64(rounds) {
			if same(t, changed(slices.Clone(tokens), rand.New(rand.NewPCG(first+n, 1)))) {
				taken++
			}
		}
		if taken < rounds/20 {
			t.Errorf("%s: only %d of %d changed responses were read: the test shows little", name, taken, rounds)
		}
	}
}

func tokensOf(text []byte) []string {
	return regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[-+.0-9eE]+|[a-z]+|\s+|.`).FindAllString(string(text), -1)
}

// changed returns a text with one to three of its tokens replaced, moved, repeated or removed.
func changed(tokens []string, random *rand.Rand) []byte {
	strange := strangeTokens()
	for range 1 + random.IntN(3) {
		if len(tokens) == 0 {
			break
		}
		at, other := random.IntN(len(tokens)), random.IntN(len(tokens))
		switch random.IntN(12) {
		case 0:
			tokens[at] = ""
		case 1:
			tokens[at] += tokens[at]
		case 2:
			tokens[at] = " \t\r\n"[:random.IntN(5)] + tokens[at]
		case 3:
			tokens[at] = strings.ToUpper(tokens[at])
		case 4:
			tokens[at], tokens[other] = tokens[other], tokens[at]
		case 5, 6:
			if len(tokens[at]) == len(tokens[other]) || random.IntN(2) == 0 {
				tokens[at] = tokens[other] // perhaps a name given twice
			}
		default:
			for range 4 { // punctuation seldom, most of the text is that
				if len(tokens[at]) != 1 {
					break
				}
				at = random.IntN(len(tokens))
			}
			tokens[at] = strange[random.IntN(len(strange))]
		}
	}
	return []byte(strings.Join(tokens, ""))
}

// strangeTokens are values on which decoders are known to differ.
func strangeTokens() []string {
	return []string{
		`null`, `true`, `false`, `nul`, `True`, `{}`, `[]`, `[null]`, `{"a":1,"a":2}`, `{"":[{}]}`, `[[[]]]`, `[1,]`, `{"a"}`,
		strings.Repeat("[", 190) + strings.Repeat("]", 190), strings.Repeat(`{"a":`, 250) + "1" + strings.Repeat("}", 250),
		`0`, `-0`, `1`, `-1`, `01`, `-`, `+1`, `1.`, `.5`, `1.0`, `1.50`, `0.00`, `1e2`, `1E-2`, `1e`, `1e+`, `1e999`, `-1e-999`, `0x1`, `NaN`,
		`123456789012345`, `1234567890123456`, `999999999999999999`, `1234567890123456789`, `9223372036854775807`, `9223372036854775808`,
		`-9223372036854775808`, `0.30000000000000004`, `2.2250738585072011e-308`, `9007199254740993`, `12345678901234567.8`, `0.1234567890123456789`,
		`""`, `"x"`, `"3500"`, `"1,234.50"`, `" 1 "`, `"null"`, `"\u0031"`, `"\u0000"`, `"\ud800"`, `"\udc00\ud800"`, `"\ud83d\ude80"`, `"\uD83D\u0041"`,
		`"\u00zz"`, `"\u12"`, `"\x41"`, `"\/\b\f\n\r\t\"\\"`, `"\"`, `"`, "\"\xff\"", "\"\xc3\"", "\"\xed\xa0\x80\"", "\"é🚲\"", "\"\ufffd\"", "\"\n\"", "\"\x7f\"", "\"\x00\"", "\"\u2028\"",
		`"2026-01-05T09:30:00Z"`, `"2026-01-05T09:30:00.1Z"`, `"2026-01-05T09:30:00.123456789Z"`, `"2026-01-05T09:30:00.1234567891Z"`,
		`"2026-01-05T09:30:00.Z"`, `"2026-01-05T09:30:00,5Z"`, `"2026-01-05T24:00:00Z"`, `"2026-01-05T09:60:00Z"`, `"2026-01-05T09:30:60Z"`,
		`"2026-02-29T00:00:00Z"`, `"2024-02-29T00:00:00Z"`, `"2026-01-31T00:00:00Z"`, `"2026-04-31T00:00:00Z"`, `"2026-00-01T00:00:00Z"`,
		`"2026-01-00T00:00:00Z"`, `"0000-01-01T00:00:00Z"`, `"9999-12-30T23:59:59.999Z"`, `"2026-01-05T9:30:00Z"`, `"2026-01-05T09:30:00z"`,
		`"2026-01-05t09:30:00Z"`, `"2026-01-05 09:30:00Z"`, `"2026-01-05T09:30:00+01:00"`, `"2026-01-05T09:30:00-00:00"`, `"2026-01-05T09:30:00+24:00"`,
		`"2026-01-05T09:30:00\u005a"`, `"+026-01-05T09:30:00Z"`, `"2026-01-05T09:30Z"`, `"2026-01-05"`, `1767605400`,
		`"Event"`, `"EVENTS"`, `"event_s"`, `"ſtatus"`, `"\u0064ata"`, `"data\u0000"`, `"rate-id"`, `"Data"`, "\ufeff", "\x00", "\x0b", "//", "'a'",
	}
}
