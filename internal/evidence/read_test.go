package evidence

import (
	"strings"
	"testing"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/status"
)

func TestRead_Unclear(t *testing.T) {
	t.Parallel()
	x40 := strings.Repeat("x", 40)
	for data, want := range map[string]string{
		``:                                    "",
		`null`:                                "",
		`{}`:                                  "",
		`{"request_id":"RD-1","status":null}`: "",
		`{"request_id":"RD-1","request":{"request_id":"RD-1"},"documents":[{"status":"x"}]}`: "",

		`{"status":"ok","request":{"request_id":"RD-1","status":"draft"}}`:            "", // the operation's status
		`{"request_id":"RD-1","status":"draft","request":{"status":"processing"}}`:    "two values for status",
		`{"request_id":"RD-1","request":{"request_id":"RD-2"}}`:                       "two values for request_id",
		`{"request_id":"RD-1","request_id":"RD-1"}`:                                   `"request_id" twice`,
		`{"request":{"status":"draft","status":"processing"}}`:                        `"status" twice`,
		`{"request_id":{"id":1}}`:                                                     "request_id that cannot be read",
		`{"status":["draft"]}`:                                                        "status that cannot be read",
		`[{"request_id":"RD-1"}]`:                                                     "a list",
		` [ ]`:                                                                        "a list",
		`{"request":[]}`:                                                              "a list",
		`{"request":{"request":{"status":"draft"}}}`:                                  "nests records",
		`{"` + strings.Repeat("x", 100) + `":1,"` + strings.Repeat("x", 100) + `":1}`: "twice",
		`{"` + x40 + `":1,"` + x40 + `":1}`:                                           `gives "` + x40 + `" twice`,
		`{"request_id":"RD-1","status":"awaiting_payment","documents":["FDA"]}`:       "a payment is missing",
		`{"request":{"request_id":"RD-1","status":"UNPAID"}}`:                         "a payment is missing",
		`{"request_id":"RD-1","status":"insufficient_funds"}`:                         "a payment is missing",
		`{"request_id":"RD-1","status":"payment_received"}`:                           "",
		`{"Status":["draft"],"status":"draft"}`:                                       "",
	} {
		got := Read(data, nil).Unclear
		if (got == "") != (want == "") || !strings.Contains(got, want) || len(got) > 100 {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
	}
}

// A member that may show a charge counts, also if it cannot be read. Zero and null are not a charge.
func TestRead_ShowsCharge(t *testing.T) {
	t.Parallel()
	for want, texts := range map[bool][]string{
		true: {
			`{"charged_amount":5}`, `{"charged_amount":"5"}`, `{"charged_amount":"5 NGN"}`, `{"charged_amount":{}}`,
			`{"request":{"charged_amount":-5}}`, `{"transaction_id":["TX-1"]}`, `{"transaction_id":"TX-1"}`,
			`{"charged_amount":{"amount":0,"amount":5}}`, `{"charged_amount":{"amount":0,"status":"paid"}}`,
			`{"charged_amount":{"currency":"NGN"}}`, `{"charged_amount":{"amount":0,"tax":5}}`, `{"charged_amount":[0]}`,
			`{"charged_amount":0.01}`, `{"charged_amount":"0x1"}`,
		},
		false: {
			`{}`, `{"charged_amount":null,"transaction_id":null}`, `{"transaction_id":""}`, `{"charged_amount":"0.00 NGN"}`,
			`{"charged_amount":{"amount":0,"currency":"NGN"}}`, `{"charged_amount":0}`, `{"charged_amount":"0.00"}`,
			`{"charged_amount":0e9}`, `{"charged_amount":""}`, `{"Charged_Amount":5}`,
		},
	} {
		for _, data := range texts {
			if got := Read(data, nil).ShowsCharge(); got != want {
				t.Errorf("%s: %t", data, got)
			}
		}
	}
}

// The status and the charge are those of the record, which may be data.request. What the two levels show of a charge
// counts together, so that a charge beside the record is not taken for the one within. A charge that cannot be read is
// described, with the line that reads it.
func TestRead_Record(t *testing.T) {
	t.Parallel()
	const unreadable, isNone = "an amount that cannot be read", "charged_amount is not an amount"
	for data, want := range map[string]struct{ status, charge, described string }{
		`{"status":"draft","charged_amount":5}`:                                   {"draft", "5", ""},
		`{"request_id":"RD-1"}`:                                                   {"", "", ""},
		`{"status":true,"request":{"status":"completed"}}`:                        {"completed", "", ""},
		`{"request_id":"RD-1","status":"draft","request":{"charged_amount":"5"}}`: {"draft", "5", ""},
		`{"charged_amount":1,"request":{"status":"failed","charged_amount":2}}`:   {"failed", "12", ""},
		`{"status":"draft","charged_amount":"5 NGN"}`:                             {"draft", unreadable, ""},
		`{"status":"draft","charged_amount":["5"]}`:                               {"draft", unreadable, isNone},
		`{"status":"draft","charged_amount":"0x10p0"}`:                            {"draft", unreadable, `"0x10p0"`},
		`{"status":"draft","charged_amount":"NaN"}`:                               {"draft", unreadable, `"NaN"`},
		`{"charged_amount":{"net":5,"tax":1}}`:                                    {"", unreadable, isNone},
		`{"charged_amount":{"sum":5}}`: {"", unreadable, isNone + "; only if a transaction of the wallet confirms it, " +
			`write in the dialect "record.charged_amount = charged_amount.sum"`},
	} {
		record := Read(data, nil)
		if record.Status != want.status || record.Charge != want.charge {
			t.Errorf("%s: %q, charge %q", data, record.Status, record.Charge)
		}
		if got := record.UnreadCharge(); (got == "") != (want.described == "") || !strings.HasSuffix(got, want.described) {
			t.Errorf("%s: %q", data, got)
		}
		members := record.Members()
		if id, kept := members["request_id"]; kept != record.OnlyAnalyzed() || kept && id != "RD-1" {
			t.Errorf("%s is kept as %v", data, members)
		}
		if charge, kept := members["charged_amount"]; kept != (want.charge != "") || kept && charge != want.charge {
			t.Errorf("%s is kept as %v", data, members)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]struct {
		documents Documents
		others    bool
	}{
		`{}`:                                              {NoList, false},
		`{"documents":[]}`:                                {NoList, false},
		`{"documents":[null]}`:                            {NoList, false},
		`{"documents":["FDA","WATCH"]}`:                   {These, false},
		`{"documents":["FDA","WATCH",null]}`:              {These, false},
		`{"document_types":"fda, watch"}`:                 {Others, true},
		`{"documents":[{"slug":" fda "},"WATCH","MSDS"]}`: {Some, true},
		`{"documents":["FDA"],"request":{"purchased_documents":[{"type":"WATCH"}]}}`: {These, false},
		`{"documents":["FDA"]}`:                 {Some, false},
		`{"documents":[{"name":"FDA"},"MSDS"]}`: {Some, true},
		`{"documents":[{"slug":"FDA","status":"unpaid"},{"slug":"WATCH","status":"awaiting_payment"}]}`: {NoList, false},
		`{"documents":[{"slug":"FDA","status":"paid"},{"slug":"WATCH","status":"pending"}]}`:            {These, false},
		`{"documents":[7]}`:                      {Some, false},
		`{"documents":{"document_type":"MSDS"}}`: {Others, true},
		`{"Documents":["MSDS"]}`:                 {NoList, false},
	} {
		record := Read(data, nil)
		if got := record.Compare([]string{"FDA", "WATCH"}); got != want.documents {
			t.Errorf("%s: %d, want %d", data, got, want.documents)
		}
		if got := record.ListsOthers([]string{"FDA", "WATCH"}); got != want.others {
			t.Errorf("%s: lists others: %t", data, got)
		}
	}
}

// A member that listed documents before the purchase proves nothing after it, whatever it lists then, and neither does
// an equal charge.
func TestSince(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, after string
		documents     Documents
		charge        bool
	}{
		"nothing before": {`{}`, `{"documents":["FDA"],"charged_amount":5}`, These, true},
		"the same list":  {`{"documents":["FDA"]}`, `{"documents":["FDA"]}`, NoList, false},
		"a longer list":  {`{"documents":["MSDS"]}`, `{"documents":["MSDS","FDA"]}`, NoList, false},
		"another member": {`{"documents":["FDA"]}`, `{"documents":["FDA"],"purchased_documents":["FDA"]}`,
			These, false},
		"an empty list before":        {`{"documents":[]}`, `{"documents":["FDA"]}`, These, false},
		"one that could not be read":  {`{"documents":[7]}`, `{"documents":["FDA"]}`, NoList, false},
		"a quote":                     {`{"charged_amount":5}`, `{"charged_amount":5}`, NoList, false},
		"a quote that changed":        {`{"charged_amount":5}`, `{"charged_amount":6}`, NoList, true},
		"a quote, then a transaction": {`{"charged_amount":5}`, `{"charged_amount":5,"transaction_id":"TX-1"}`, NoList, true},
		"charges that cannot be read": {`{"charged_amount":{}}`, `{"charged_amount":{}}`, NoList, false},
	} {
		since := Read(test.after, nil).Since(Read(test.before, nil))
		if got := since.Compare([]string{"FDA"}); got != test.documents || since.ShowsCharge() != test.charge {
			t.Errorf("%s: %d, charge %t", name, got, since.ShowsCharge())
		}
	}
}

func TestOnlyThese(t *testing.T) {
	t.Parallel()
	rows := map[string][2]bool{ // FDA; any document
		`{"status":"processing"}`:                                                             {false, true},
		`{"status":"processing","documents":["FDA"]}`:                                         {false, true},
		`{"status":"processing","purchased_documents":["FDA"]}`:                               {true, true},
		`{"status":"processing","purchased_documents":["FDA","MSDS"]}`:                        {false, true},
		`{"status":"processing","available_documents":[{"slug":"FDA"}]}`:                      {false, true}, // what is left
		`{"status":"processing","available_documents":["FDA","MSDS"],"documents":["FDA"]}`:    {false, true},
		`{"request":{"status":"processing","purchased_documents":["FDA",{"name":"a form"}]}}`: {false, true},
	}
	for _, row := range status.All() {
		if row.Failed {
			record := `"status":"` + row.Name + `","purchased_documents":["FDA"]`
			rows[`{`+record+`}`] = [2]bool{false, false}
			rows[`{`+record+`,"transaction_id":"TX-1"}`] = [2]bool{true, true}
			rows[`{"request":{`+record+`},"transaction_id":"T"}`] = [2]bool{true, true}
		}
	}
	for data, want := range rows {
		record := Read(data, nil)
		if got := [2]bool{record.OnlyThese([]string{"FDA"}), record.OnlyThese(nil)}; got != want {
			t.Errorf("%s: %t", data, got)
		}
	}
}

// A refusal that shows another request, a state that only a purchase leads to, a transaction or a charge contradicts
// itself: something was purchased, perhaps by this very request, which a gateway had repeated.
func TestReadRefusal(t *testing.T) {
	t.Parallel()
	draft := Read(`{"status":"draft","charged_amount":5}`, nil)
	for body, want := range map[string]string{
		`{"status":false}`: "",
		`{"status":false,"message":"no","request_id":"trace-1"}`:                            "",
		`{"status":false,"data":null}`:                                                      "",
		`{"status":false,"data":["FDA is not offered"]}`:                                    "",
		`{"status":false,"data":{"request_id":"RD-1","status":"draft"}}`:                    "",
		`{"status":false,"data":{"status":"Draft"}}`:                                        "",
		`{"status":false,"data":{"error_code":"e","status":400}}`:                           "",
		`{"status":false,"data":{"error_code":"already_purchased"}}`:                        "is purchased already",
		`{"status":false,"data":{"request_id":"RD-2"}}`:                                     "another request",
		`{"status":false,"data":{"request":{"request_id":"RD-2","status":"draft"}}}`:        "another request",
		`{"status":false,"data":{"status":"completed"}}`:                                    "other than draft",
		`{"status":false,"data":{"status":"cancelled"}}`:                                    "other than draft",
		`{"status":false,"data":{"purchase":{"status":"Processing"}}}`:                      "other than draft",
		`{"status":false,"data":{"errors":[{"status":"422"}]}}`:                             "",
		`{"status":false,"request":{"status":"processing"}}`:                                "other than draft",
		`{"status":false,"data":{"transaction_id":"TX-1"}}`:                                 "a transaction",
		`{"status":false,"transaction_id":{"id":"TX-1"}}`:                                   "a transaction",
		`{"status":false,"data":{"transaction_id":null,"charged_amount":0}}`:                "",
		`{"status":false,"data":{"charged_amount":5}}`:                                      "", // the draft's quote
		`{"status":false,"data":{"charged_amount":6}}`:                                      "a charged amount",
		`{"status":false,"data":{"charged_amount":""}}`:                                     "",
		`{"status":false,"data":{"charged_amount":"5 NGN"}}`:                                "a charged amount",
		`{"status":false,"data":{"charged_amount":["5"]}}`:                                  "a charged amount",
		`{"status":false,"data":{"status":"draft","status":"draft"}}`:                       "twice",
		`{"message":"No","status":"error"}`:                                                 "",
		`{"message":"No","status":"fail","data":{"status":"completed"}}`:                    "other than draft",
		`{"message":"No","status":"error","request_id":"RD-1"}`:                             "other than draft",
		`{"title":"No","status":409,"request_id":"RD-1"}`:                                   "",
		`{"title":"No","status":409,"request_id":"RD-2"}`:                                   "another request",
		`{"detail":"No","request_id":"RD-2"}`:                                               "another request",
		`{"detail":"No","status":"paid"}`:                                                   "other than draft",
		`{"detail":"No","status":"draft"}`:                                                  "",
		`{"title":"No","status":409,"request":{"status":"completed"}}`:                      "other than draft",
		`{"title":"No","status":409,"documents":[{"type":"FDA"}],"transaction_id":"T"}`:     "a transaction",
		`{"status":false,"data":{"documents":["FDA",{"type":"FDA","status":"available"}]}}`: "",
		`{"status":false,"data":{"documents":[{"type":"FDA","status":"generating"}]}}`:      "a document",
		`{"title":"No","status":409,"documents":[{"type":"FDA","status":"Generated"}]}`:     "a document",
		`{"status":false,"data":{"purchased_documents":["FDA"]}}`:                           "purchased documents",
		`{"status":false,"data":{"request":{"purchased_documents":["FDA"]}}}`:               "purchased documents",
		`{"status":false,"data":{"purchased_documents":[]}}`:                                "",
		`{"status":false,"data":{"document_types":["FDA"]}}`:                                "", // those of the purchase
	} {
		got := ReadRefusal(body, "RD-1", nil).Contradiction(draft)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// A draft can list a document that was generated before, such as an upload, and the refusal can repeat it.
func TestReadRefusal_OfADraftWithAGeneratedDocument(t *testing.T) {
	t.Parallel()
	const generated = `"documents":[{"type":"MSDS","status":"generated"}],"purchased_documents":["MSDS"]}`
	draft := Read(`{"status":"draft",`+generated, nil)
	refusal := ReadRefusal(`{"status":false,"data":{`+generated+`}`, "RD-1", nil)
	if got := refusal.Contradiction(draft); got != "" {
		t.Error(got)
	}
}

// A refusal contradicts itself under the names of a dialect, too.
func TestReadRefusal_InADialect(t *testing.T) {
	t.Parallel()
	named := &dialect.Dialect{Record: dialect.RecordMembers{ChargedAmount: "paid.sum", TransactionID: "paid.by",
		Documents: "paid.for"}}
	draft := Read(`{"status":"draft","paid":{"sum":5}}`, named)
	for body, want := range map[string]string{
		`{"status":false,"data":{"paid":{"sum":5}}}`:              "",
		`{"status":false,"data":{"paid":{"sum":6}}}`:              "a charged amount",
		`{"status":false,"data":{"request":{"paid":{"sum":6}}}}`:  "a charged amount",
		`{"status":false,"data":{"charged_amount":6}}`:            "a charged amount",
		`{"status":false,"paid":{"by":"TR-1"}}`:                   "a transaction",
		`{"status":false,"data":{"paid":{"for":["FDA"]}}}`:        "purchased documents",
		`{"status":false,"data":[{"paid":{"by":{"id":"TR-1"}}}]}`: "a transaction",
	} {
		got := ReadRefusal(body, "RD-1", named).Contradiction(draft)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// A list confirms a purchase if it is empty, holds its record, or names exactly its documents, each once. An element
// with an id or a status is a record first, and one with a failure confirms nothing.
func TestReadList(t *testing.T) {
	t.Parallel()
	const others, another, failure = "lists documents that were not purchased", "about the request", "shows a failure"
	lists := map[string]string{
		`[]`:              "",
		`["FDA","WATCH"]`: "",
		`[{"document_type":"watch"},{"slug":" FDA "}]`:                                             "",
		`[{"document_type":"FDA","status":"generating"},{"document_type":"WATCH","failure":null}]`: "",
		`[{"request_id":"RD-1","status":"processing"}]`:                                            "",
		`[{"request_id":"RD-1","status":"processing","documents":["FDA","WATCH"]}]`:                "",
		`[{"status":"queued"}]`: "",
		`[{"request_id":"RD-1","document_type":"FDA"},{"request_id":"RD-1","document_type":"WATCH"}]`: "",
		`[{"request_id":"RD-1"},"MSDS"]`:                                          others,
		`["FDA","WATCH","MSDS"]`:                                                  others,
		`[{"document_type":"FDA","slug":"MSDS"},"WATCH"]`:                         others,
		`[{"request_id":"RD-1","status":"processing","documents":["MSDS"]}]`:      others,
		`[{"request_id":"RD-2","status":"processing"}]`:                           another,
		`[{"request":{"request_id":"RD-2","status":"processing"}}]`:               another,
		`[{"request_id":"RD-2","document_type":"FDA"},{"document_type":"WATCH"}]`: another,
		`[{"request_id":"RD-1","status":" Draft "}]`:                              "as a draft",
		`[{"document_type":"FDA","status":"draft"},"WATCH"]`:                      "as a draft",
		`[{"request_id":"RD-1","status":"processing","status":"draft"}]`:          "twice",
		`[{"request_id":["RD-1"],"status":"processing"}]`:                         "cannot be read",
		`[{"request":{"request_id":"RD-1","status":"rejected"}}]`:                 failure,
		`[{"request":{"request_id":"RD-1","unpurchased":["FDA"]}}]`:               "lists failures",
		`[{"document_type":"FDA","status":"rejected"},"WATCH"]`:                   failure,
		`[{"document_type":"FDA","status":false},"WATCH"]`:                        failure,
		`[{"document_type":"FDA","error":"no funds"},"WATCH"]`:                    failure,
		`[{"document_type":"FDA","errors":[{"message":"no"}]},"WATCH"]`:           failure,
		`[{"document_type":"FDA","failure":{"reason":"no"}},"WATCH"]`:             failure,
	}
	for _, data := range []string{
		`["FDA"]`, `["FDA","FDA"]`, `["FDA","WATCH","FDA"]`, `["FDA","WATCH",null]`, `["FDA","WATCH",{}]`,
		`["FDA","WATCH",7]`, `[7]`, `[{}]`, `[["FDA","WATCH"]]`, `["FDA","WATCH",{"request_id":"RD-1"}]`,
		`[{"request_id":"RD-1"},{"request_id":"RD-1"}]`,
	} {
		lists[data] = "not that of the documents"
	}
	for _, row := range status.All() {
		if row.Failed {
			lists[`[{"request":{"request_id":"RD-1","status":"`+row.Name+`"}}]`] = "" // it was purchased
			lists[`[{"request":{"request_id":"RD-1","status":"`+row.Name+`","success":false}}]`] = failure
			lists[`[{"request_id":"RD-1","status":"`+row.Name+`"}]`] = failure
		}
	}
	for data, want := range lists {
		got := ReadList(data, "RD-1", []string{"FDA", "WATCH"}, Read(`{"status":"draft"}`, nil))
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
	}
}

// A dialect adds names under which evidence is found, and takes none away.
func TestRead_InADialect(t *testing.T) {
	t.Parallel()
	named := &dialect.Dialect{
		Record:   dialect.RecordMembers{At: "form", Documents: "papers", ChargedAmount: "paid.sum", TransactionID: "debit"},
		Document: dialect.Document{DocumentType: "kind"},
	}
	dotted := &dialect.Dialect{Record: dialect.RecordMembers{Documents: "paid.papers"}}
	usual := &dialect.Dialect{Record: dialect.RecordMembers{
		Documents: "documents", ChargedAmount: "charged_amount", TransactionID: "-"}}
	for name, test := range map[string]struct {
		data        string
		dialect     *dialect.Dialect
		charge      string
		transaction bool
		documents   Documents
	}{
		"nothing":          {`{"form":{"status":"draft"}}`, named, "", false, NoList},
		"charge":           {`{"form":{"paid":{"sum":7.5}}}`, named, "7.5", false, NoList},
		"wrapped charge":   {`{"request":{"paid":{"sum":7.5}}}`, named, "7.5", false, NoList},
		"usual charge":     {`{"charged_amount":8}`, named, "8", false, NoList},
		"transaction":      {`{"form":{"debit":"TR-1"}}`, named, "", true, NoList},
		"usual one":        {`{"transaction_id":"TR-1"}`, named, "", true, NoList},
		"documents":        {`{"form":{"papers":[{"kind":"FDA"}]}}`, named, "", false, These},
		"usual documents":  {`{"documents":["FDA"]}`, named, "", false, These},
		"others":           {`{"form":{"papers":[{"kind":"AMS"}]}}`, named, "", false, Others},
		"names not known":  {`{"papers":["FDA"],"debit":"TR-1","paid":{"sum":7.5}}`, nil, "", false, NoList},
		"a name with dots": {`{"paid.papers":["FDA"]}`, dotted, "", false, These},
		"a path":           {`{"paid":{"papers":["FDA"]}}`, dotted, "", false, These},
		"not sent":         {`{"-":"TR-1","":"TR-2"}`, usual, "", false, NoList},
		"usual names once": {`{"documents":["FDA"],"charged_amount":8,"transaction_id":"TR-1"}`, usual, "8", true, These},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Read(test.data, test.dialect)
			if r.Charge != test.charge || r.Transaction != test.transaction || r.Compare([]string{"FDA"}) != test.documents {
				t.Errorf("charge %q, transaction %v, documents %v", r.Charge, r.Transaction, r.Compare([]string{"FDA"}))
			}
		})
	}
	var unread *Record
	if unread.in() == nil || new(Record).in() == nil {
		t.Error("no dialect")
	}
}
