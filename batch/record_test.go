package batch

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// unknownAmount is an amount that was given and cannot be read.
func unknownAmount(t *testing.T) (a shipping.Amount) {
	t.Helper()
	shippingtest.NoError(t, a.UnmarshalJSON([]byte(`"much"`)))
	return a
}

// A journal stores each text up to its limit, and refuses one byte more, and texts that it could not return.
func TestRecord_Validate(t *testing.T) {
	t.Parallel()
	forty := strings.Repeat("k", 40)
	good := Record{Key: "SH-1", Step: StepPurchasing, RequestID: "RD-1", Documents: []shipping.DocumentType{"FDA"},
		Currency: "NGN"}
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
		"shipment id":         {func(r *Record) { r.ShipmentID = "\xff" }, `the shipment id "\xff"`},
		"request id":          {func(r *Record) { r.RequestID = "\xff" }, `the request id "\xff", which is not UTF-8`},
		"currency":            {func(r *Record) { r.Currency = "\x00" }, "which contains a NUL character"},
		"charged currency":    {func(r *Record) { r.ChargedCurrency = "\x00" }, "the charged currency"},
		"period":              {func(r *Record) { r.Period = "\xff" }, `the period "\xff", which is not UTF-8`},
		"document":            {func(r *Record) { r.Documents = append(r.Documents, "\x00") }, `the document "\x00"`},
		"left out":            {func(r *Record) { r.NotSelected = append(r.NotSelected, "\x00") }, `the document "\x00"`},
		"unknown step":        {func(r *Record) { r.Step = "paid" }, `the unknown step "paid"`},
		"no step":             {func(r *Record) { r.Step = "" }, `the unknown step ""`},
		"amount unreadable":   {func(r *Record) { r.Amount = unknownAmount(t) }, "amount"},
		"charge unreadable":   {func(r *Record) { r.Charged = unknownAmount(t) }, "amount"},
		"a text of 40 bytes":  {func(r *Record) { r.Key, r.Note = forty, "\x00" }, forty + `" has`},
		"a text of 41 bytes":  {func(r *Record) { r.Key, r.Note = forty+"k", "\x00" }, forty + `…" has`},
		"every step of a run": {func(r *Record) { r.Step = StepFailed }, ""},
	} {
		record := good
		record.Documents = append([]shipping.DocumentType(nil), good.Documents...)
		test.change(&record)
		if err := record.validate(); (err == nil) != (test.want == "") || err != nil &&
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
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
	analyzed := Record{RequestID: "RD-1", NotSelected: []shipping.DocumentType{"FDA"}, Currency: "NGN"}
	if analyzed.bought() || (Record{}).Committed() {
		t.Error("a record of an analysis: something was bought")
	}
}

// A line whose record this version does not understand as a whole is refused.
func TestParseRecord(t *testing.T) {
	t.Parallel()
	const other = "a batch record of another version"
	for name, test := range map[string]struct{ object, err string }{
		"a record":                   {`{"record":{"key":"b","step":"analyzed"}}`, ""},
		"a field of another version": {`{"record":{"key":"b","step":"analyzed"},"more":1}`, other},
		"a field of another purchase": {`{"record":{"key":"b","step":"purchasing",` +
			`"purchase":{"request_id":"RD-1","document_types":["FDA"],"more":1}}}`, other},
		"a field of another record": {`{"record":{"key":"b","step":"analyzed","more":1}}`, other},
		"no JSON":                   {`{"record":`, "damaged"},
		"no record":                 {`{}`, "damaged"},
		"no key":                    {`{"record":{"step":"analyzed"}}`, "damaged"},
		"no step":                   {`{"record":{"key":"b"}}`, "damaged"},
		"an unknown step":           {`{"record":{"key":"b","step":"paid"}}`, `unknown step "paid"`},
		"not UTF-8":                 {"{\"record\":{\"key\":\"\xff\",\"step\":\"analyzed\"}}", "damaged"},
	} {
		record, err := parseRecord([]byte(test.object))
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) || err == nil &&
			record.Key != "b" {
			t.Errorf("%s: %+v, %v, want %q", name, record, err, test.err)
		}
	}
	// A record that is decoded into the variable of another one kept the charge and the purchase of that one.
	used := Record{Charged: nothing, Purchase: &shipping.PurchaseRequest{}}
	if err := json.Unmarshal([]byte(`{"key":"b","step":"analyzed"}`), &used); err != nil || used.bought() {
		t.Errorf("the record holds more than it was given: %+v, %v", used, err)
	}
}

// A run of another night was given another list, and forgot the purchases that a killed run had begun.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	documents := []shipping.DocumentType{"FDA"}
	records := []Record{
		{Key: "purchasing", Step: StepAnalyzed}, {Key: "analyzed", Step: StepAnalyzed},
		{Key: "purchased", Step: StepPurchased, ShipmentID: "SH-1"}, {Key: "purchasing", Step: StepPurchasing,
			Documents: documents},
		{Key: "given", Step: StepPurchased}, {Key: "SH-given", Step: StepPurchased},
		{Key: "completed", Step: StepPurchased}, {Key: "completed", Step: StepCompleted},
		{Key: "generation failed", Step: StepFailed, Documents: documents}, {Key: "analysis failed", Step: StepFailed},
		{Key: "closed", Step: StepFailed, Documents: documents}, {Key: "closed", Step: StepClosed},
	}
	items := []Item{{Key: "given"}, {Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-given"}}}
	want := []Item{
		{Key: "purchased", Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-1"}}, {Key: "purchasing", Documents: documents},
		{Key: "generation failed", Documents: documents},
	}
	shippingtest.Diff(t, "items", want, Unfinished(records, items))
}
