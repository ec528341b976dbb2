package evidence_test

import (
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/evidence"
)

func TestUnclear(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		``:                                    "",
		`null`:                                "",
		`{}`:                                  "",
		`{"request_id":"RD-1","status":null}`: "",
		`{"status":"ok","request":{"request_id":"RD-1","status":"draft"}}`:                   "", // the operation's status
		`{"request_id":"RD-1","status":"draft","request":{"status":"processing"}}`:           "two values for status",
		`{"request_id":"RD-1","request":{"request_id":"RD-2"}}`:                              "two values for request_id",
		`{"request_id":"RD-1","request_id":"RD-1"}`:                                          `"request_id" twice`,
		`{"request":{"status":"draft","status":"processing"}}`:                               `"status" twice`,
		`{"request_id":{"id":"RD-1"}}`:                                                       "request_id that cannot be read",
		`{"status":["draft"]}`:                                                               "status that cannot be read",
		`[{"request_id":"RD-1"}]`:                                                            "a list",
		` [ ]`:                                                                               "a list",
		`{"request":[]}`:                                                                     "a list",
		`{"request":{"request":{"status":"draft"}}}`:                                         "nests records",
		`{"` + strings.Repeat("x", 100) + `":1,"` + strings.Repeat("x", 100) + `":1}`:        "twice",
		`{"` + strings.Repeat("x", 40) + `":1,"` + strings.Repeat("x", 40) + `":1}`:          `gives "` + strings.Repeat("x", 40) + `" twice`,
		`{"Status":["draft"],"status":"draft"}`:                                              "",
		`{"request_id":"RD-1","request":{"request_id":"RD-1"},"documents":[{"status":"x"}]}`: "",
	} {
		got := evidence.Unclear(evidence.Value(data))
		if (got == "") != (want == "") || !strings.Contains(got, want) || len(got) > 100 {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
	}
}

func TestShowsStatus(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]bool{
		`{"status":"draft"}`: true, `{"status":" Draft "}`: true, `{"status":"ok","request":{"status":"draft"}}`: true,
		`{"status":"processing"}`: false, `{"request":"draft"}`: false, `{"STATUS":"draft"}`: false, `null`: false, ``: false,
	} {
		if got := evidence.ShowsStatus(evidence.Value(data), "draft"); got != want {
			t.Errorf("%s: %t", data, got)
		}
	}
}

func TestUnreadableCharge(t *testing.T) {
	t.Parallel()
	isCharge := func(text string) bool { return text == "5" || text == "0" }
	for data, want := range map[string]bool{
		`{}`: false, `{"charged_amount":5}`: false, `{"charged_amount":"5"}`: false, `{"charged_amount":null,"transaction_id":null}`: false,
		`{"charged_amount":"5 NGN"}`: true, `{"charged_amount":{}}`: true, `{"request":{"charged_amount":-5}}`: true,
		`{"transaction_id":["TX-1"]}`: true, `{"transaction_id":"TX-1"}`: false,
	} {
		if got := evidence.UnreadableCharge(evidence.Value(data), isCharge); got != want {
			t.Errorf("%s: %t", data, got)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]struct {
		documents   evidence.Documents
		contradicts bool
	}{
		`{}`:                                              {evidence.NoList, false},
		`{"documents":[]}`:                                {evidence.NoList, false},
		`{"documents":[null]}`:                            {evidence.NoList, false},
		`{"documents":["FDA","WATCH"]}`:                   {evidence.These, false},
		`{"documents":["FDA","WATCH",null]}`:              {evidence.These, false},
		`{"document_types":"fda, watch"}`:                 {evidence.Others, true},
		`{"documents":[{"slug":" fda "},"WATCH","MSDS"]}`: {evidence.These, true},
		`{"documents":["FDA"],"request":{"purchased_documents":[{"type":"WATCH"}]}}`: {evidence.These, false},
		`{"documents":["FDA"]}`:                  {evidence.Some, false},
		`{"documents":[{"name":"FDA"},"MSDS"]}`:  {evidence.Some, true},
		`{"documents":[7]}`:                      {evidence.Some, false},
		`{"documents":{"document_type":"MSDS"}}`: {evidence.Others, true},
		`{"Documents":["MSDS"]}`:                 {evidence.NoList, false},
	} {
		list := evidence.ListOf(evidence.Value(data))
		if got := evidence.Compare(list, []string{"FDA", "WATCH"}); got != want.documents {
			t.Errorf("%s: %d, want %d", data, got, want.documents)
		}
		if got := evidence.Contradicts(list, []string{"FDA", "WATCH"}); got != want.contradicts {
			t.Errorf("%s: contradicts: %t", data, got)
		}
	}
	if got := evidence.Compare(evidence.ListOf(`{"documents":["FDA"]}`), []string(nil)); got != evidence.These {
		t.Errorf("without documents to compare with: %d", got)
	}
}

func TestPrice_Ambiguity(t *testing.T) {
	t.Parallel()
	price := evidence.Price{Currency: "NGN", Own: true, Differs: func(text string) (string, bool) { return text, text == "7" }}
	all := func(evidence.Value) bool { return true }
	for draft, want := range map[string]string{
		`{}`:                            "",
		`{"available_documents":"FDA"}`: "",
		`{"available_documents":[{"amount":7,"Price":7,"currency":"USD"}]}`:      "", // read by their names elsewhere
		`{"available_documents":[{"total":5,"fees":[{"amount":5}],"tax":"no"}]}`: "",
		`{"available_documents":[{"total":7}]}`:                                  "total is 7",
		`{"available_documents":[{"price_currency":""}]}`:                        "",
		`{"available_documents":[{"price_currency":null}]}`:                      "",
		`{"available_documents":[{"a":{"b":{"c":{"total":7}}}}]}`:                "a.b.c.total is 7",
		`{"available_documents":[{"fees":[["vat",1,"vat",2]]}]}`:                 "",
		`{"available_documents":[{"fees":[{"vat":7}]}]}`:                         "fees.vat is 7",
		`{"available_documents":[{"price_currency":"USD"}]}`:                     `price_currency is "USD"`,
		`{"available_documents":[{"price_currency":"ngn"}]}`:                     "",
		`{"available_documents":[{"Currency":{"code":"USD"}}]}`:                  "Currency cannot be read",
		`{"available_documents":[{"amount":5,"amount":7}]}`:                      `"amount" is given twice`,
		`{"currency":"NGN","currency":"USD"}`:                                    `the draft gives "currency" twice`,
		`{"available_documents":[{"a":{"b":{"c":{"d":{"total":7}}}}}]}`:          "", // nested too deep
	} {
		if got := price.Ambiguity(evidence.Value(draft), all); got != want {
			t.Errorf("%s: %q, want %q", draft, got, want)
		}
	}
	price.Own = false
	if got := price.Ambiguity(`{"currency":["NGN","USD"]}`, all); got != "the currency of the draft cannot be read" {
		t.Errorf("a list of currencies: %q", got)
	}
	none := func(evidence.Value) bool { return false }
	if got := price.Ambiguity(`{"available_documents":[{"total":7}]}`, none); got != "" {
		t.Errorf("another document: %q", got)
	}
	second := func(entry evidence.Value) bool { return strings.Contains(string(entry), "WATCH") }
	if got := price.Ambiguity(`{"available_documents":[{"slug":"FDA","total":5},{"slug":"WATCH","total":7}]}`, second); got != "total is 7" {
		t.Errorf("the second document: %q", got)
	}
}
