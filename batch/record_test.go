package batch

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/logfile"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// unknownAmount is an amount that was given and cannot be read.
func unknownAmount(t *testing.T) (a shipping.Amount) {
	t.Helper()
	if err := a.UnmarshalJSON([]byte(`"much"`)); err != nil {
		t.Fatal(err)
	}
	return a
}

// A journal stores each text up to its limit, and refuses one byte more, and texts that it could not return.
func TestRecord_Validate(t *testing.T) {
	t.Parallel()
	good := Record{Key: "SH-1", Step: StepPurchasing, RequestID: "RD-1", Documents: []shipping.DocumentType{"FDA"}, Currency: "NGN"}
	for name, test := range map[string]struct {
		change func(r *Record)
		want   string // in the error; empty for none
	}{
		"good":                {func(*Record) {}, ""},
		"longest key":         {func(r *Record) { r.Key = strings.Repeat("k", 2000) }, ""},
		"key too long":        {func(r *Record) { r.Key = strings.Repeat("k", 2001) }, "has 2001 bytes, more than 2000"},
		"no key":              {func(r *Record) { r.Key = "" }, `the key "", which is empty`},
		"longest text":        {func(r *Record) { r.Note = strings.Repeat("n", 4000) }, ""},
		"note too long":       {func(r *Record) { r.Note = strings.Repeat("n", 4001) }, "has the note"},
		"request id":          {func(r *Record) { r.RequestID = "\xff" }, `the request id "\xff", which is not UTF-8`},
		"currency":            {func(r *Record) { r.Currency = "\x00" }, `the currency "\x00", which contains a NUL character`},
		"charged currency":    {func(r *Record) { r.ChargedCurrency = "\x00" }, "the charged currency"},
		"period":              {func(r *Record) { r.Period = "\xff" }, `the period "\xff", which is not UTF-8`},
		"document":            {func(r *Record) { r.Documents = append(r.Documents, "\x00") }, `the document "\x00"`},
		"left out":            {func(r *Record) { r.NotSelected = append(r.NotSelected, "\x00") }, `the document "\x00"`},
		"unknown step":        {func(r *Record) { r.Step = "paid" }, `the unknown step "paid"`},
		"no step":             {func(r *Record) { r.Step = "" }, `the unknown step ""`},
		"amount unreadable":   {func(r *Record) { r.Amount = unknownAmount(t) }, "amount"},
		"charge unreadable":   {func(r *Record) { r.Charged = unknownAmount(t) }, "amount"},
		"a text of 40 bytes":  {func(r *Record) { r.Key, r.Note = strings.Repeat("k", 40), "\x00" }, `item "` + strings.Repeat("k", 40) + `" has`},
		"a text of 41 bytes":  {func(r *Record) { r.Key, r.Note = strings.Repeat("k", 41), "\x00" }, `item "` + strings.Repeat("k", 40) + `…" has`},
		"every step of a run": {func(r *Record) { r.Step = StepFailed }, ""},
	} {
		record := good
		record.Documents = append([]shipping.DocumentType(nil), good.Documents...)
		test.change(&record)
		if err := record.validate(); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// A record that is decoded into the variable of another one replaces it. It once kept the charge and the purchase of that one
// if it had none.
func TestRecord_ReplacesWhatAVariableHeld(t *testing.T) {
	t.Parallel()
	ten := shippingtest.Amount(t, "10")
	record := Record{Key: "k", Step: StepPurchasing, RequestID: "RD-1", Documents: []shipping.DocumentType{"FDA"}, Amount: ten, Currency: "NGN",
		NotSelected: []shipping.DocumentType{"CITES"}, Period: "Monday",
		Charged: ten, ChargedCurrency: "NGN", Purchase: &shipping.PurchaseRequest{RequestID: "RD-1"}, Note: "n"}
	if err := json.Unmarshal([]byte(`{"key":"other","step":"analyzed"}`), &record); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Record{Key: "other", Step: StepAnalyzed}, record); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// An item of a failed record is not analyzed again if anything shows that something may have been purchased for it.
func TestRecord_Bought(t *testing.T) {
	t.Parallel()
	for name, record := range map[string]Record{
		"documents": {Documents: []shipping.DocumentType{"FDA"}}, "a purchase": {Purchase: &shipping.PurchaseRequest{}},
		"an amount": {Amount: nothing}, "a charge": {Charged: nothing},
	} {
		if !record.bought() {
			t.Errorf("%s: nothing was bought", name)
		}
	}
	if (Record{RequestID: "RD-1", NotSelected: []shipping.DocumentType{"FDA"}, Currency: "NGN"}).bought() {
		t.Error("a record of an analysis: something was bought")
	}
}

// line returns the line of a record that was written when synced bytes were on the disk.
func line(key string, synced int) string {
	return string(logfile.AppendLine(nil, fmt.Appendf(nil, `{"record":{"key":%q,"step":"analyzed","at":"2026-01-05T00:00:00Z"}}`, key), int64(synced)))
}

// withSum returns a line of a record with any text after its checksum.
func withSum(rest string) string {
	return fmt.Sprintf(`{"crc":"%08x",%s`+"\n", crc32.Checksum([]byte(rest), crc32.MakeTable(crc32.Castagnoli)), rest)
}

// parseJournal returns the keys of the records of a file, and the size of its intact part.
func parseJournal(data []byte) (keys []string, size int64, err error) {
	content, err := journalFormat().Parse(data, func(object []byte) error {
		record, err := parseRecord(object)
		keys = append(keys, record.Key)
		return err
	})
	return keys, content.Size, err
}

// The remains of a journal after a power loss are read without an incomplete last line; the error of any other damage
// has its line.
func TestParseJournal(t *testing.T) {
	t.Parallel()
	const torn = "\x00\x00\x00\n" // a line of which a sector is missing
	header := string(journalFormat().Header())
	first := header + line("a", len(header))
	zeroed := func(text string, at int) string { return text[:at] + "\x00" + text[at+1:] }
	later := strings.Replace(header, ":1}", ":2}", 1)
	for name, test := range map[string]struct {
		content string
		keys    string // of the records
		intact  string // the part that is kept; the beginning of content
		err     string // or the error
	}{
		"nothing":     {"", "", "", ""},
		"a header":    {header, "", header, ""},
		"a record":    {first, "a", first, ""},
		"two records": {first + line("b", len(first)), "a b", first + line("b", len(first)), ""},
		"of one write, as earlier versions wrote them": {first + line("b", len(header)), "a b", first + line("b", len(header)), ""},

		"cut in the beginning":      {first + `{"cr`, "a", first, ""},
		"cut after the beginning":   {first + `{"crc":"0123`, "a", first, ""},
		"cut before its line break": {first + strings.TrimSuffix(line("b", len(first)), "\n"), "a", first, ""},
		"zeros to the end":          {first + "\x00\x00\x00", "a", first, ""},
		"zeros in a line":           {first + zeroed(line("b", len(first)), 20), "a", first, ""},
		"zeros, then a line":        {first + torn + line("b", len(first)), "", "", "line 3: damaged"},

		"another text":                {first + "rest", "", "", "line 3: damaged"},
		"another line":                {first + "rest\n", "", "", "line 3: damaged"},
		"an empty line":               {first + "\n", "", "", "line 3: damaged"},
		"a bit":                       {first + strings.Replace(line("b", len(first)), "analyzed", "bnalyzed", 1), "", "", "line 3: damaged"},
		"lines missing":               {header + line("b", len(header)+1), "", "", "line 2: damaged"},
		"only a checksum":             {header + `{"crc":"00000000",` + "\n", "", "", "line 2: damaged"},
		"half a checksum":             {header + `{"crc":"0000"` + "\n", "", "", "line 2: damaged"},
		"most of a checksum":          {header + `{"crc":"000000` + "\n", "", "", "line 2: damaged"},
		"a checksum of another form":  {header + strings.Replace(line("b", 0), `",`, `" `, 1), "", "", "line 2: damaged"},
		"another beginning":           {header + strings.Replace(line("b", 0), `"crc"`, `"CRC"`, 1), "", "", "line 2: damaged"},
		"a field of another version":  {header + withSum(`"synced":0,"record":{"key":"b","step":"analyzed"},"more":1}`), "", "", "line 2: a batch record of another version"},
		"a field of another purchase": {header + withSum(`"synced":0,"record":{"key":"b","step":"purchasing","purchase":{"request_id":"RD-1","document_types":["FDA"],"more":1}}}`), "", "", "line 2: a batch record of another version"},
		"a field of another record":   {header + withSum(`"synced":0,"record":{"key":"b","step":"analyzed","more":1}}`), "", "", "line 2: a batch record of another version"},
		"no JSON":                     {header + withSum(`"synced":0,"record":`), "", "", "line 2: damaged"},
		"no key":                      {header + withSum(`"synced":0,"record":{"step":"analyzed"}}`), "", "", "line 2: damaged"},
		"no step":                     {header + withSum(`"synced":0,"record":{"key":"b"}}`), "", "", "line 2: damaged"},
		"an unknown step":             {header + withSum(`"synced":0,"record":{"key":"b","step":"paid"}}`), "", "", `unknown step "paid"`},
		"not UTF-8":                   {header + withSum("\"synced\":0,\"record\":{\"key\":\"\xff\",\"step\":\"analyzed\"}}"), "", "", "line 2: damaged"},
		"a second header":             {header + header, "", "", "line 2: damaged"},
		"a line without a checksum":   {header + `{"key":"b","step":"analyzed"}` + "\n", "", "", "line 2: damaged"},

		"the header cut off":                     {header[:20], "", "", ""},
		"the header without its line break":      {header[:len(header)-1], "", "", ""},
		"the header with zeros":                  {zeroed(header, 20), "", "", ""},
		"the header with zeros, cut off":         {zeroed(header, 20)[:30], "", "", ""},
		"the header with zeros, also at its end": {zeroed(zeroed(header, 20), len(header)-1), "", "", ""},
		"zeros only":                             {strings.Repeat("\x00", len(header)), "", "", ""},
		"more zeros than a header":               {strings.Repeat("\x00", len(header)+1), "", "", "line 1: damaged"},
		"zeros, then a header":                   {strings.Repeat("\x00", 512) + header, "", "", "line 1: damaged"},
		"a header with zeros, then a record":     {zeroed(header, 20) + line("a", len(header)), "", "", "line 1: damaged"},
		"records without a header":               {line("a", 0), "", "", "line 1: damaged"},
		"a short header with a line break":       {header[:20] + "\n", "", "", "line 1: damaged"},
		"another format":                         {`{"format":"x","version":1}` + "\n", "", "", "line 1: the file is not a batch journal"},
		"a newer version":                        {later, "", "", "line 1: the file has format version 2"},
		"the header in other words":              {strings.Replace(header, ":1}", ": 1}", 1), "", "", "line 1: damaged"},
		"another file":                           {"hello\n", "", "", "line 1: the file is not a batch journal"},
		"another file without a line break":      {"hello", "", "", "line 1: the file is not a batch journal"},
		"a line break":                           {"\n", "", "", "line 1: damaged"},
	} {
		keys, size, err := parseJournal(slices.Clip([]byte(test.content)))
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v, want %s", name, err, test.err)
			}
			continue
		}
		if err != nil || strings.Join(keys, " ") != test.keys || size != int64(len(test.intact)) {
			t.Errorf("%s: the records %q, %d of %d bytes, %v", name, keys, size, len(test.content), err)
		}
	}
}

// A run of another night was given another list, and forgot the purchases that a killed run had begun.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	documents := []shipping.DocumentType{"FDA"}
	records := []Record{
		{Key: "purchasing", Step: StepAnalyzed}, {Key: "analyzed", Step: StepAnalyzed},
		{Key: "purchased", Step: StepPurchased}, {Key: "purchasing", Step: StepPurchasing},
		{Key: "completed", Step: StepPurchased}, {Key: "completed", Step: StepCompleted},
		{Key: "generation failed", Step: StepFailed, Documents: documents}, {Key: "analysis failed", Step: StepFailed},
		{Key: "closed", Step: StepFailed, Documents: documents}, {Key: "closed", Step: StepClosed},
	}
	want := []string{"purchasing", "purchased", "generation failed"}
	if diff := cmp.Diff(want, Unfinished(records)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}
