package jsonread

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/internal/randomtest"
)

func TestTextIsWhatEncodingJSONReads(t *testing.T) {
	t.Parallel()
	for _, literal := range []string{
		// Half a surrogate pair and bytes that are not UTF-8.
		`"\ud83d"`, `"\ud83d\n"`, `"\ud83d\u0041"`, `"\ude80\ud83d"`, `"\ud83d\ud83d\ude80"`, "\"\xff\"", "\"1234567\xc3\"", "\"\xc3\\n\xc3\"", "\"\xed\xa0\x80\"",
		`""`, `"a"`, `"1234567"`, `"12345678"`, `"123456789"`, `"NGN 18450.50 — café 🚲"`, `"1234567é"`, `"12345678é"`,
		`"\""`, `"\\"`, `"a\\"`, `"\/\b\f\n\r\t"`, `"\u0041\u00e9\u20AC"`, `"x\ud83d\ude80y"`, `"1234567\n"`, `"\u0000"`, "\"\x7f\u2028\"",
	} {
		var want string
		if err := json.Unmarshal([]byte(literal), &want); err != nil {
			t.Fatal(err)
		}
		s := newScanner([]byte(" " + literal + " "))
		if got := s.Text(); got != want || !s.Done() {
			t.Errorf("%s is read as %q", literal, got)
		}
	}
}

func TestStringsShareBlocksOfMemory(t *testing.T) {
	short := []byte("[" + strings.Repeat(`"RT-0938174625",`, 999) + `"café"]`)
	long := []byte("[" + strings.Repeat(`"`+strings.Repeat("x", blockSize)+`",`, 9) + `"y"]`)
	for name, test := range map[string]struct {
		text []byte
		most float64
	}{
		"a thousand short ones":      {short, 1000*13/blockSize + 2},
		"long ones, each its own":    {long, 10},
		"one in a text of 4 bytes":   {[]byte(`"ab"`), 1},
		"empty ones take no memory":  {[]byte(`["","",""]`), 0},
		"values that are not wanted": {[]byte(`{"a":"b","c":["d"]}`), 0},
	} {
		allocations := testing.AllocsPerRun(10, func() {
			s := newScanner(test.text)
			switch s.Peek() {
			case '"':
				s.Text()
			case '{':
				s.Raw()
			default:
				for first := true; s.Element(first); first = false {
					s.Text()
				}
			}
			if !s.Done() {
				t.Error("refused")
			}
		})
		if allocations > test.most {
			t.Errorf("%s: %v allocations, not %v", name, allocations, test.most)
		}
	}
}

func TestStringsOutliveTheText(t *testing.T) {
	t.Parallel()
	text := []byte(`["RT-1","RT-2",{"a":1},"` + strings.Repeat("x", blockSize) + `","\u0052T-3"]`)
	s := newScanner(text)
	var read []string
	for first := true; s.Element(first); first = false {
		if s.Peek() == '{' {
			read = append(read, s.RawText())
		} else {
			read = append(read, s.Text())
		}
	}
	clear(text)
	if want := []string{"RT-1", "RT-2", `{"a":1}`, strings.Repeat("x", blockSize), "RT-3"}; !s.Done() || !cmp.Equal(read, want) {
		t.Errorf("read %q", read)
	}
}

func TestTextRefusesWhatIsNoString(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `"`, `"a`, `"\"`, `"\`, `"\u`, `"\u12"`, `"\u12g4"`, `"\x41"`,
		"\"\n\"", "\"\x00\"", "\"1234567\x1f\"", `a`, `1`, `null`, `'a'`,
	} {
		s := newScanner([]byte(text))
		if got := s.Text(); s.Done() || got != "" {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}

func TestNumbersFollowTheGrammar(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`0`, `-0`, `7`, `123456789012345678901`, `1.5`, `-1.50`, `1e3`, `1E+3`, `1.25e-3`} {
		if s := newScanner([]byte(text)); string(s.Number()) != text || !s.Done() {
			t.Errorf("%s is refused", text)
		}
	}
	for _, text := range []string{``, `-`, `+1`, `01`, `-01`, `1.`, `.5`, `1.e3`, `1e`, `1e+`, `1x`, `1 2`, `Infinity`, `0x10`} {
		if s := newScanner([]byte(text)); s.Number() != nil && s.Done() {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestIntegersAndFloatsAreExactOrRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		`0`: 0, `-0`: 0, `999999999999999`: 999999999999999, `1234567890123456`: 1234567890123456,
		`9223372036854775807`: 9223372036854775807, `-9223372036854775808`: -9223372036854775808,
	} {
		s := newScanner([]byte(text))
		if n, ok := s.Int(); !ok || n != want || !s.Done() {
			t.Errorf("%s is not read as an integer", text)
		}
	}
	for _, text := range []string{`9223372036854775808`, `1.0`, `1e2`, `"1"`, `null`, ``} {
		s := newScanner([]byte(text))
		if _, ok := s.Int(); ok && s.Done() {
			t.Errorf("%s is read as an integer", text)
		}
	}
	for text, want := range map[string]float64{`0`: 0, `4237`: 4237, `12.5`: 12.5, `0.1`: 0.1, `1e-999`: 0, `9007199254740993`: 9007199254740992} {
		s := newScanner([]byte(text))
		if n, ok := s.Float(); !ok || n != want || !s.Done() {
			t.Errorf("%s is not read as %v", text, want)
		}
	}
	s := newScanner([]byte(`1e999`))
	if _, ok := s.Float(); ok || !s.Done() {
		t.Error("a number beyond float64 is taken")
	}
}

func TestRawKeepsTheTextOfAnyValue(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`null`, `true`, `false`, `1.5e3`, `"a\n"`, `[]`, `{}`, `[ ]`, `{ }`, `[1, [2], {"a" : null}]`, `{"a":1,"a":2,"":{"b":"}"}}`,
	} {
		if s := newScanner([]byte("\n\t " + text + "\r\n")); string(s.Raw()) != text || !s.Done() {
			t.Errorf("%s is refused", text)
		}
	}
	for _, text := range []string{
		``, `nul`, `nulll`, `tru`, `[`, `[1`, `[1,`, `[1,]`, `[,1]`, `[1 2]`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{a:1}`, `{"a" 1}`,
		`{,}`, `[}`, `{]`, `]`, `}`, `,`, `:`, "\x00", "1\x00", "\xff", "\u00a01", `1,`,
	} {
		if s := newScanner([]byte(text)); s.Raw() != nil && s.Done() {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestNestingIsBounded(t *testing.T) {
	t.Parallel()
	for depth, want := range map[int]bool{maxDepth: true, maxDepth + 1: false, 1_000_000: false} {
		if s := newScanner([]byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))); (s.Raw() != nil) != want {
			t.Errorf("depth %d: taken %t", depth, !want)
		}
	}
}

// members reads an object of strings as "place=value" in the order of the text. A "+" is a name given again,
// a "?" an unknown one.
func members(text string, order *memberOrder) (read []string, ok bool) {
	names := []string{"amount", "currency", "carrier"}
	s := newScanner([]byte(text))
	object := openObject{Names: newNames(names...), Order: order}
	for {
		place, found := s.Member(&object)
		switch found {
		case noMember:
			return read, s.Done()
		case newMember:
			read = append(read, names[place]+"="+s.Text())
		case repeatedMember:
			read = append(read, names[place]+"+"+s.Text())
		case unknownMember:
			read = append(read, string(object.Name)+"?")
			s.Skip()
		}
	}
}

func TestMembersAreKnownInAnyOrder(t *testing.T) {
	t.Parallel()
	var learnt memberOrder // shared, as by the records of a list
	for text, want := range map[string][]string{
		`{}`:  nil,
		`{ }`: nil,
		`{"amount":"1","currency":"NGN","carrier":"kite"}`:                                {"amount=1", "currency=NGN", "carrier=kite"},
		`{"carrier":"kite","currency":"NGN","amount":"1"}`:                                {"carrier=kite", "currency=NGN", "amount=1"},
		`{ "carrier" : "kite" , "amount" : "1" }`:                                         {"carrier=kite", "amount=1"},
		"{\n          \"amount\": \"1\",\r\n\t         \"carrier\":\n\"kite\"\n        }": {"amount=1", "carrier=kite"},
		`{"x":[{}],"amount":"1","y":null,"amoun":"z","amounts":1,"carrier":"kite","":1}`:  {"x?", "amount=1", "y?", "amoun?", "amounts?", "carrier=kite", "?"},
		`{"amount":"1","currency":"NGN","amount":"2","amount":"3"}`:                       {"amount=1", "currency=NGN", "amount+2", "amount+3"},
		`{"\u0061mount":"1","amoun\u0074":"2","\u0062":3}`:                                {"amount=1", "amount+2", "b?"},
		// Names match byte for byte.
		`{"Amount":"2","amount":"1","caſh":1,"é":1,"CARRIER":"x"}`: {"Amount?", "amount=1", "caſh?", "é?", "CARRIER?"},
	} {
		for range 2 {
			if got, ok := members(text, &learnt); !ok || !cmp.Equal(got, want) {
				t.Errorf("%s is read as %q", text, got)
			}
		}
	}
}

func TestMembersRefuseWhatIsNoObject(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"amount":"1",}`, `{,"amount":"1"}`, `{"amount":"1""currency":"NGN"}`, `{"amount","1"}`, `{"x","1"}`, `{"amount":"1"`, `{"x"`, `["amount"]`, `{"amount":"1"]`, ``,
	} {
		if got, ok := members(text, &memberOrder{}); ok {
			t.Errorf("%s is read as %q", text, got)
		}
	}
}

func TestLimitBoundsTheElementsOfAllLists(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{`[1,2,3]`: true, `[1,2,3,4]`: false, `[[1,2],[3]]`: true, `{"a":[1,2],"b":[3,4]}`: true, `{"a":[[1,2],[3,4]]}`: false} {
		s := newScanner([]byte(text))
		s.Limit(2)
		s.Skip()
		if s.Done() != want || s.Crowded() == want {
			t.Errorf("%s: done %t, crowded %t", text, s.Done(), s.Crowded())
		}
	}
}

// FuzzScanner holds the grammar to encoding/json's.
func FuzzScanner(f *testing.F) {
	randomtest.AddInputs(f, "testdata/FuzzScanner.txt", "")
	for _, text := range []string{`{"a":[1,-2.5e3,"\u00e9",true,null],"b":{"c":"é🚲"}}`, `"\ud83d\ude80 /\"\\"`, `12345678901234567890`, `-0.10`, ` [ ] `, "\"\xff\"", `nul`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s := newScanner([]byte(text)); s.Raw() != nil && s.Done() && !json.Valid([]byte(text)) {
			t.Errorf("taken, but not JSON: %q", text)
		}
		agree(t, text, func(s *scanner) (string, bool) { return s.Text(), true })
		agree(t, text, (*scanner).Int)
		agree(t, text, (*scanner).Float)
		agree(t, text, func(s *scanner) (bool, bool) { return s.Bool(), true })
	})
}

func agree[T comparable](t *testing.T, text string, read func(*scanner) (T, bool)) {
	s := newScanner([]byte(text))
	got, ok := read(&s)
	if !s.Done() || !ok {
		return
	}
	var want T
	if err := json.Unmarshal([]byte(text), &want); err != nil || got != want {
		t.Errorf("%q is read as %v, by encoding/json as %v, %v", text, got, want, err)
	}
}

func TestCrowded_CountsElementsAndNothingElse(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(",0", 10)
	for text, want := range map[string]bool{
		"[0" + many + "]":                               false,
		"[0" + many + ",0]":                             true,
		`{"a":[0` + many + `],"b":[0,0]}`:               true,
		`{"a":[[0` + many + `],[]]}`:                    true,
		`{"a":0` + strings.Repeat(`,"a":0`, 20) + "}":   false,
		`["` + many + many + `"]`:                       false,
		`["\"` + many + many + `"]`:                     false,
		`[{"a":0` + strings.Repeat(`,"a":0`, 20) + "}]": false,
		"]]}}" + many + many:                            false,
		`["` + many + many:                              false,
		"":                                              false,
	} {
		if got := Crowded([]byte(text), 10); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
