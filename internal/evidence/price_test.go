package evidence

import (
	_ "embed"
	"strings"
	"testing"
)

//go:embed testdata/offers.tsv
var offersTable string

// The cost of each offer of the table is the most that its amounts, added up by hand, allow.
func TestOffers_Cost(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(offersTable) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.Split(strings.TrimSpace(line), "\t")
		draft := `{"currency":"NGN","available_documents":[{"slug":"FDA",` + row[3] + `}]}`
		got, err := Read(draft, nil).Offers().Cost("FDA", "")
		price, most := text(got.Price), text(got.Most)
		if err != nil {
			price, most = "-", "-"
		}
		if price != row[0] || most != row[1] || (most != price) != (len(got.Beside) > 0) && err == nil {
			t.Errorf("%s: price %s, most %s, %q, %v; want %s, %s", row[3], price, most, got.Beside, err, row[0], row[1])
		}
	}
}

// The price of a document is that of its only offer, and a currency is assumed only if none is shown.
func TestOffers_CostOfTheOnlyOffer(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]string{
		`"available_documents":[{"document_type":"FDA","amount":5}]`:                                                                         "5",
		`"available_documents":[{"document_type":"FDA","amount":5,"currency":"USD"}]`:                                                        "",
		`"available_documents":[{"document_type":"FDA","amount":5,"price_currency":"USD"}]`:                                                  "",
		`"available_documents":[{"document_type":"FDA","amount":5}],"currency":{"code":"USD"}`:                                               "",
		`"available_documents":[{"document_type":"FDA","amount":5}],"currency":"USD","currency":"NGN"`:                                       "",
		`"available_documents":[{"document_type":"FDA","amount":500}],"available_documents":[{"document_type":"FDA","amount":5}]`:            "",
		`"available_documents":[{"document_type":"FDA","DOCUMENT_TYPE":"MSDS","amount":10.50}]`:                                              "10.5",
		`"available_documents":[{"document_type":"MSDS","ſlug":"FDA","amount":1}]`:                                                           "",
		`"available_documents":[{"document_type":"MSDS","amount":1}]`:                                                                        "",
		`"available_documents":[{"document_type":"MSDS","document_type":"FDA","amount":5}]`:                                                  "",
		`"available_documents":[{"document_type":"FDA","slug":"FDA","amount":5}]`:                                                            "5",
		`"available_documents":[{"document_type":"FDA","amount":1},{"document_type":"FDA","amount":1}]`:                                      "",
		`"available_documents":[{"document_type":"FDA","amount":1},"FDA"]`:                                                                   "",
		`"available_documents":[{"document_type":"FDA","amount":100},{"slug":"FDA","price":1}]`:                                              "",
		`"available_documents":[{"document_type":"FDA","amount":1},{"document_type":"MSDS","slug":"FDA","amount":100}]`:                      "",
		`"available_documents":[{"document_type":"FDA","amount":10.50},{"document_type":"MSDS"},{"document_type":"fda","amount":2,"tax":4}]`: "10.5",
	} {
		got, err := Read(`{"status":"draft",`+members+`}`, nil).Offers().Cost("FDA", "NGN")
		most := text(got.Most)
		if err != nil || got.Currency != "NGN" {
			most = ""
		}
		if most != want {
			t.Errorf("%s: %s %s, %v; want %q", members, text(got.Most), got.Currency, err, want)
		}
	}
}
