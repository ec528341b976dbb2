package shipping

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/randomtest"
)

// decoded reads body as a response with data of type T, and fails if body is read although it is not JSON.
func decoded[T any](t *testing.T, body []byte) (got envelope[T], err error) {
	t.Helper()
	sameMembers(t, RawJSON(body))
	err = readJSON(body, &got)
	if (err == jsonread.ErrSyntax) == json.Valid(body) {
		t.Fatalf("error %v, and JSON that is valid: %t: %s", err, json.Valid(body), body)
	}
	return got, err
}

// isRead reads body as a response with data of type T.
func isRead[T any](t *testing.T, body []byte) { _, _ = decoded[T](t, body) }

// isSame is like isRead. What encoding/json reads without an error, with exact names, must have the same values, except
// that the client reads a list that is null as an empty one. It reads more than encoding/json, see TestTolerance.
func isSame[T any](t *testing.T, body []byte) {
	got, err := decoded[T](t, body)
	var want struct {
		Status  *bool  `json:"status"`
		Message string `json:"message"`
		Data    T      `json:"data"`
	}
	if err != nil || got.Status.several || jsonread.Unmarshal(body, &want) != nil {
		return
	}
	exported := cmp.Exporter(func(reflect.Type) bool { return true })
	unreadable := cmp.FilterPath(func(path cmp.Path) bool { return path.Last().String() == ".Unreadable" }, cmp.Ignore())
	same := cmp.Options{exported, unreadable, cmp.Comparer(sameTime),
		cmp.Comparer(func(a, b Amount) bool { return a == b })}
	if bytes.Contains(body, []byte("null")) { // otherwise, a list that is absent and an empty one differ
		same = append(same, cmpopts.EquateEmpty())
	}
	wanted := envelope[T]{Status: envelopeStatus{value: want.Status}, Message: want.Message, Data: want.Data}
	if diff := cmp.Diff(wanted, got, same); diff != "" {
		t.Fatalf("-encoding/json +client:\n%s\n%s", diff, body)
	}
}

// sameTime reports whether two times are equal, with their offsets. encoding/json puts a time with the offset of the
// machine's zone into that zone, the client does not.
func sameTime(a, b time.Time) bool {
	return a.Equal(b) && a.Format(time.RFC3339) == b.Format(time.RFC3339)
}

// sameMembers compares the members of a value, and the texts among them, with those that encoding/json reads.
func sameMembers(t *testing.T, value RawJSON) {
	t.Helper()
	var want map[string]RawJSON
	if json.Unmarshal([]byte(value), &want) != nil {
		want = nil
	}
	got := value.members()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("members (-encoding/json +got):\n%s\n%s", cmp.Diff(want, got), value)
	}
	for name, member := range got {
		var text string
		if json.Unmarshal([]byte(member), &text) == nil && member.Text() != text {
			t.Fatalf("text of %q: %q, want %q", name, member.Text(), text)
		}
	}
}

// A page takes a few blocks of memory, together about as large as its text, also if each record has scalars of other
// types than the documented ones.
func TestPagesTakeAFewBlocksOfMemory(t *testing.T) {
	odd := strings.NewReplacer(`"delivery_eta":4237`, `"delivery_eta":"4237"`, `"used":false`, `"used":0`, `.845Z"`, `"`,
		`T09:`, ` 09:`, `"reversed":false`, `"reversed":"false"`, `"__v":0`, `"__v":"0"`)
	for list, read := range map[string]func([]byte) error{
		"rates":        func(body []byte) error { return readJSON(body, &envelope[rateList]{}) },
		"transactions": func(body []byte) error { return readJSON(body, &envelope[transactionList]{}) },
	} {
		golden, err := os.ReadFile("testdata/decode/" + list + ".json")
		var records []RawJSON
		if err = errors.Join(err, readJSON([]byte(RawJSON(golden).Get("data").Get(list)), &records)); err != nil {
			t.Fatal(err)
		}
		hundred := `{"status":true,"data":{"` + list + `":[` + strings.Repeat(","+string(records[0]), 100)[1:] + `]}}`
		for _, body := range [][]byte{[]byte(hundred), []byte(odd.Replace(hundred))} {
			n := testing.AllocsPerRun(10, func() { err = errors.Join(err, read(body)) })
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range 10 {
				err = errors.Join(err, read(body))
			}
			runtime.ReadMemStats(&after)
			size := int(after.TotalAlloc-before.TotalAlloc) / 10
			if err != nil || n > 30 || size > len(body)*6/5 {
				t.Errorf("a page of %s in %d bytes takes %v allocations and %d bytes, %v: %.500s", list, len(body), n, size,
					err, body)
			}
		}
	}
}

// The fuzz tests compare the decoder with the exact reader: what the one reads, the other reads too, with the
// same values. Byte by byte a fuzzer seldom gets past the grammar, so a number selects the change of the text
// token by token first; 0 leaves it as it is.
//
//	go test -run - -fuzz FuzzDecodeRates -fuzztime 60s -fuzzminimizetime 1s .

func FuzzDecodeRates(f *testing.F)        { fuzzDecode(f, "rates", isSame[rateList]) }
func FuzzDecodeTransactions(f *testing.F) { fuzzDecode(f, "transactions", isSame[transactionList]) }
func FuzzDecodeWebhooks(f *testing.F)     { fuzzDecode(f, "webhooks", isRead[webhookList]) }
func FuzzDecodeCountries(f *testing.F)    { fuzzDecode(f, "countries", isSame[[]Country]) }
func FuzzDecodeRequest(f *testing.F)      { fuzzDecode(f, "request", isRead[requestData]) }

func fuzzDecode(f *testing.F, name string, same func(*testing.T, []byte)) {
	body, err := os.ReadFile("testdata/decode/" + name + ".json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body, uint64(0))
	f.Add(body, uint64(1))
	randomtest.AddInputs(f, "testdata/FuzzDecode.txt", []byte(nil), uint64(0))
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
		`null`, `true`, `nul`, `True`, `{}`, `[]`, `[null]`, `{"a":1,"a":2}`, `{"":[{}]}`, `[1,]`, `{"a"}`,
		strings.Repeat("[", 190) + strings.Repeat("]", 190), strings.Repeat(`{"a":`, 250) + "1" + strings.Repeat("}", 250),
		`0`, `-0`, `-1`, `01`, `-`, `+1`, `1.`, `.5`, `1.50`, `1e2`, `1E-2`, `1e`, `1e999`, `-1e-999`, `0x1`, `NaN`,
		`999999999999999999`, `1234567890123456789`, `9223372036854775808`, `-9223372036854775808`, `0.30000000000000004`,
		`9007199254740993`, `12345678901234567.8`, `0.1234567890123456789`, `"3500"`, `"1,234.50"`, `" 1 "`, `"null"`,
		`""`, `"\u0031"`, `"\u0000"`, `"\ud800"`, `"\udc00\ud800"`, `"\ud83d\ude80"`, `"\uD83D\u0041"`, `"\u00zz"`, `"\u12"`,
		`"\x41"`, `"\/\b\f\n\r\t\"\\"`, `"\"`, `"`, "\"\xff\"", "\"\xc3\"", "\"\xed\xa0\x80\"", "\"é🚲\"", "\"\n\"",
		"\"\x00\"", `"2026-01-05T09:30:00.1Z"`, `"2026-02-29T00:00:00Z"`, `"2026-01-05T09:30:00+01:00"`, `"2026-01-05"`,
		`1767605400`, `"EVENTS"`, `"event_s"`, `"ſtatus"`, `"\u0064ata"`, `"data\u0000"`, `"Data"`, "\ufeff", "\x00", "//",
		"'a'",
	}
}
