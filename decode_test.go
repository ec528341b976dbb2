package shipping

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/internal/jsonexact"
)

// scanned reads body with the fast decoder. Where that takes the answer, the exact reader must take it
// too, with the same values.
func scanned[T any](t *testing.T, body []byte) (fast envelope[T], taken bool) {
	t.Helper()
	fast, taken = scanEnvelope[T](body)
	if !taken {
		return fast, false
	}
	var plain envelope[T]
	if err := jsonexact.Unmarshal(body, &plain); err != nil {
		t.Fatalf("the fast decoder takes what the exact reader refuses: %v\n%s", err, body)
	}
	if !reflect.DeepEqual(fast, plain) {
		exact := cmp.Exporter(func(reflect.Type) bool { return true })
		t.Fatalf("the fast decoder (-) and the exact reader (+) disagree:\n%s\n%s", cmp.Diff(fast, plain, exact), body)
	}
	return fast, true
}

func readAnswer(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile("testdata/decode/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// lists are the answers that the fast decoder reads.
func lists() map[string]func(*testing.T, []byte) (taken bool) {
	return map[string]func(*testing.T, []byte) bool{
		"rates":        func(t *testing.T, body []byte) bool { _, ok := scanned[rateList](t, body); return ok },
		"transactions": func(t *testing.T, body []byte) bool { _, ok := scanned[transactionList](t, body); return ok },
		"webhooks":     func(t *testing.T, body []byte) bool { _, ok := scanned[webhookList](t, body); return ok },
		"countries":    func(t *testing.T, body []byte) bool { _, ok := scanned[[]Country](t, body); return ok },
		"request":      func(t *testing.T, body []byte) bool { _, ok := scanned[requestData](t, body); return ok },
	}
}

func TestFastDecodingReadsEveryFieldAsEncodingJSONDoes(t *testing.T) {
	t.Parallel()
	for name, same := range lists() {
		body := readAnswer(t, name)
		var compact, indented, reordered bytes.Buffer
		if json.Compact(&compact, body) != nil || json.Indent(&indented, body, "", "\t") != nil {
			t.Fatal(name + " is not JSON")
		}
		var members any // a map is written in the order of its names
		if json.Unmarshal(body, &members) != nil || json.NewEncoder(&reordered).Encode(members) != nil {
			t.Fatal(name + " is not JSON")
		}
		for form, body := range map[string][]byte{"as is": body, "compact": compact.Bytes(), "indented": indented.Bytes(), "reordered": reordered.Bytes()} {
			if !same(t, body) {
				t.Errorf("%s, %s: the fast decoder leaves an everyday answer to encoding/json", name, form)
			}
		}
	}
}

func TestFastDecodingKnowsEveryFieldOfEveryRecord(t *testing.T) {
	t.Parallel()
	for _, r := range []any{
		&rateList{}, &transactionList{}, &webhookList{}, &Pagination{}, &Rate{}, &Transaction{}, &Receiver{}, &Sender{},
		&Country{}, &Timezone{}, &Webhook{}, &RegulatoryRequest{}, &AvailableDocument{}, &MatchReason{}, &ProfileField{},
		&LineItem{}, &Document{}, &Addresses{}, &Address{}, &Shipping{},
	} {
		kind, fields, _ := recordFields(r, nil)
		value := reflect.ValueOf(r).Elem()
		if len(recordNames()[kind]) != len(fields) || len(fields) > 64 {
			t.Errorf("%T: %d names for %d fields", r, len(recordNames()[kind]), len(fields))
		}
		for i := range value.NumField() {
			if value.Type().Field(i).Tag.Get("json") == "-" {
				continue // the last one, which is no member
			}
			if fields[i] != value.Field(i).Addr().Interface() {
				t.Errorf("%T: field %d is not %s, as in the struct", r, i, value.Type().Field(i).Name)
			}
		}
	}
}

func TestFastDecodingLeavesWhatItIsNotSureOf(t *testing.T) {
	t.Parallel()
	const one = `{"status":true,"message":"m","data":{"rates":[{"rate_id":"RT-1","delivery_eta":1,"used":true,"delivery_date":"2026-01-05T09:30:00.000Z"}]}}`
	for name, change := range map[string][2]string{
		"a name given twice":                      {`"used":true`, `"rate_id":"RT-2"`},
		"a name with an escape":                   {`"used"`, `"us\u0065d"`},
		"a string where a number belongs":         {`"delivery_eta":1`, `"delivery_eta":"1"`},
		"a number where a string belongs":         {`"RT-1"`, `1`},
		"a number where a boolean belongs":        {`"used":true`, `"used":1`},
		"an object where a list belongs":          {`[`, `{"a":[`},
		"a number beyond float64":                 {`"delivery_eta":1`, `"delivery_eta":1e999`},
		"a date that no calendar has":             {`2026-01-05`, `2026-02-30`},
		"a date in another layout":                {`2026-01-05T09:30:00.000Z`, `2026-01-05 09:30`},
		"bad UTF-8":                               {`RT-1`, "RT-\xff"},
		"half a surrogate pair":                   {`RT-1`, `\ud83d`},
		"an unknown escape":                       {`RT-1`, `\x41`},
		"a line break within a string":            {`RT-1`, "RT\n1"},
		"a leading zero":                          {`"delivery_eta":1`, `"delivery_eta":01`},
		"a comma too many":                        {`"used":true,`, `"used":true,,`},
		"a comma before the brace":                {`.000Z"}`, `.000Z",}`},
		"a comma before the bracket":              {`}]`, `},]`},
		"a value too many":                        {`"message":"m"`, `"message":"m""m"`},
		"an answer that ends early":               {`]}}`, `]}`},
		"text behind the answer":                  {`]}}`, `]}} x`},
		"a NUL behind the answer":                 {`]}}`, "]}}\x00"},
		"a byte order mark":                       {`{"status"`, "\ufeff" + `{"status"`},
		"a value nested deeper than is skipped":   {`"used":true`, `"deep":` + strings.Repeat("[", 300) + strings.Repeat("]", 300)},
		"a status that is a string":               {`"status":true`, `"status":"true"`},
		"a list where the envelope's data belong": {`"data":{`, `"data":[{`},
	} {
		body := strings.Replace(one, change[0], change[1], 1)
		if _, taken := scanned[rateList](t, []byte(body)); taken {
			t.Errorf("%s: taken: %s", name, body)
		}
	}
	for _, body := range []string{"", " ", "null x", "[]", "<html>", `"`, `{`, `{"`, `{"status"`, `{"status":`, "\x00"} {
		if _, taken := scanned[rateList](t, []byte(body)); taken {
			t.Errorf("taken: %q", body)
		}
	}
	both := `{"status":true,"data":{"webhooks":[{"events":["address.created"],"event":[]}]}}`
	if _, taken := scanned[webhookList](t, []byte(both)); taken {
		t.Error("a webhook with event kinds under both names is taken")
	}
	if _, taken := scanEnvelope[RegulatoryRequest]([]byte(one)); taken {
		t.Error("an answer that is no list is taken")
	}
}

func clientOf(t testing.TB, body []byte, options ...Option) *Client {
	t.Helper()
	client, err := NewClient("sk_test_123", append(options, WithBaseURL("https://api.example.com"), WithHTTPClient(&http.Client{Transport: inProcess(body)}))...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestPlainDecodingGivesTheSameRecords(t *testing.T) {
	t.Parallel()
	body := readAnswer(t, "transactions")
	fast, err := clientOf(t, body).Transactions.List(t.Context(), &TransactionListOptions{Wallet: "VA-1"})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := clientOf(t, body, WithPlainDecoding()).Transactions.List(t.Context(), &TransactionListOptions{Wallet: "VA-1"})
	if err != nil {
		t.Fatal(err)
	}
	if len(fast.Items) != 2 || !reflect.DeepEqual(fast.Items, plain.Items) || fast.Pagination != plain.Pagination {
		t.Errorf("fast %+v\nplain %+v", fast, plain)
	}
}

// pathBodies answers each path with a body of its own.
type pathBodies map[string]inProcess

func (b pathBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	return b[r.URL.Path].RoundTrip(r)
}

func TestRecordsOutliveTheBufferTheyWereReadFrom(t *testing.T) {
	t.Parallel()
	web := &http.Client{Transport: pathBodies{"/v1/rates": ratesAnswer(100), "/v1/transactions": transactionsAnswer(100)}}
	client, err := NewClient("sk_test_123", WithBaseURL("https://api.example.com"), WithHTTPClient(web))
	if err != nil {
		t.Fatal(err)
	}
	first, err := client.Rates.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%+v", first.Items)
	if _, err := client.Transactions.List(t.Context(), &TransactionListOptions{Wallet: "VA-1"}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%+v", first.Items); got != want {
		t.Error("reading another page changed the records of the first")
	}
}

func TestOneClientDecodesPagesAtTheSameTime(t *testing.T) {
	t.Parallel()
	client, want := clientOf(t, webhooksAnswer(100)), ""
	var running sync.WaitGroup
	results := make([]string, 8)
	for i := range results {
		running.Go(func() {
			page, err := client.Webhooks.List(t.Context(), nil)
			results[i] = fmt.Sprintf("%+v %v", page.Items, err)
		})
	}
	running.Wait()
	for _, got := range results {
		if want == "" {
			want = got
		}
		if got != want || len(got) < 1000 {
			t.Fatal("pages decoded at the same time differ")
		}
	}
}

func TestHugeAnswersAreReadOrRefusedWhole(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000)
	tooDeep := strings.Repeat("[", 10_100) + strings.Repeat("]", 10_100)
	name := strings.Repeat("n\\u00e9", 1_000_000)
	many := strings.TrimSuffix(strings.Repeat(`{"rate_id":"RT-1"},`, 100_000), ",")
	for _, test := range []struct {
		what, rates string
		count       int
	}{
		{"a record of 5 MB", `{"rate_id":"RT-1","carrier_name":"` + name + `"}`, 1},
		{"metadata of 5 MB", `{"rate_id":"RT-1","metadata":{"note":"` + name + `"}}`, 1},
		{"100,000 records", many, 100_000},
		{"100,000 records behind a long one", `{"carrier_name":"` + name + `"},` + many, 100_001},
		{"metadata 9,000 deep", `{"rate_id":"RT-1","metadata":` + deep + `}`, 1},
		{"an unknown value 9,000 deep", `{"rate_id":"RT-1","unknown":` + deep + `}`, 1},
		{"an unknown value deeper than encoding/json reads", `{"unknown":` + tooDeep + `}`, -1},
	} {
		page, err := clientOf(t, []byte(`{"status":true,"message":"","data":{"rates":[`+test.rates+`]}}`)).Rates.List(t.Context(), nil)
		if test.count < 0 {
			if err == nil {
				t.Errorf("%s: read without an error", test.what)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.what, err)
		} else if len(page.Items) != test.count || cap(page.Items) > 2*test.count {
			t.Errorf("%s: %d records in memory for %d", test.what, len(page.Items), cap(page.Items))
		}
	}
}

func TestShortRecordsAtTheHeadTakeNoMemoryOnTheirWord(t *testing.T) {
	t.Parallel()
	body := `{"status":true,"data":{"rates":[{},{}],"note":"` + strings.Repeat("x", 1_000_000) + `"}}`
	answer, taken := scanned[rateList](t, []byte(body))
	if size := cap(answer.Data.Rates) * int(reflect.TypeFor[Rate]().Size()); !taken || size > 2*len(body) {
		t.Errorf("two records took %d bytes", size)
	}
}

func TestPagesTakeAFewBlocksOfMemory(t *testing.T) {
	for name, test := range map[string]struct {
		body []byte
		scan func([]byte)
	}{
		"rates":        {ratesAnswer(100), func(body []byte) { scanEnvelope[rateList](body) }},
		"transactions": {transactionsAnswer(100), func(body []byte) { scanEnvelope[transactionList](body) }},
	} {
		if blocks := testing.AllocsPerRun(10, func() { test.scan(test.body) }); blocks > 20 {
			t.Errorf("a page of 100 %s takes %v allocations", name, blocks)
		}
		const runs = 10
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			test.scan(test.body)
		}
		runtime.ReadMemStats(&after)
		if taken := int(after.TotalAlloc-before.TotalAlloc) / runs; taken > len(test.body)*6/5 {
			t.Errorf("a page of 100 %s in %d bytes takes %d bytes of memory", name, len(test.body), taken)
		}
	}
}
