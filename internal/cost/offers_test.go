package cost

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/decimal"
	"github.com/shipping-go/shipping/internal/jsonread"
)

//go:embed testdata/offers.tsv
var offersTable string

// printed returns what errors print of a cost: the numbers beside the price, and the lines of the cost or of its error.
func printed(cost Cost, err error) string {
	lines, parts := cost.Lines, cost.Beside
	if unclear, ok := errors.AsType[*Unclear](err); ok {
		lines, parts = unclear.Lines, nil
	}
	for _, line := range lines {
		parts = append(slices.Clip(parts), line.String())
	}
	return strings.Join(parts, "; ")
}

// The cost of each offer of the table is the most that its amounts, added up by hand, allow, and covers what the
// service charges.
func TestOffers_Cost(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(offersTable) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.Split(strings.TrimSpace(line), "\t")
		draft := `{"currency":"NGN","available_documents":[{"slug":"FDA",` + row[3] + `}]}`
		got, err := Read(jsonread.Parse(draft), nil, "").Cost("FDA")
		price, most := text(got.Price), text(got.Most)
		if err != nil {
			price, most = "-", "-"
		}
		rounds := len(got.Beside) == 0 && got.Most.Cmp(got.Price) > 0 && got.Price.Scale > 2
		if price != row[0] || most != row[1] || err == nil && !rounds && (most != price) != (len(got.Beside) > 0) {
			t.Errorf("%s: price %s, most %s, %v, %v; want %s, %s", row[3], price, most, got.Beside, err, row[0], row[1])
		}
		if len(row) > 4 && printed(got, err) != strings.TrimPrefix(row[4], "none") {
			t.Errorf("%s: prints %q", row[3], printed(got, err))
		}
		charge, failure := decimal.Parse(row[2])
		if err == nil && (failure != nil || got.Most.Cmp(charge) < 0) {
			t.Errorf("%s: %s is charged, %v; at most %s", row[3], row[2], failure, most)
		}
	}
}

// The price of a document is that of its only offer, and a currency is assumed only if none is shown.
func TestOffers_CostOfTheOnlyOffer(t *testing.T) {
	t.Parallel()
	of := func(offers string) string { return `"available_documents":[` + offers + `]` }
	inNaira := &dialect.Dialect{Offer: dialect.Offer{DefaultCurrency: "NGN"}}
	fda := func(members string) string { return `{"document_type":"FDA",` + members + `}` }
	for members, want := range map[string]string{
		of(fda(`"amount":5`)):                                                            "5",
		of(fda(`"amount":5,"currency":"USD"`)):                                           "",
		of(fda(`"amount":5,"price_currency":"USD"`)):                                     "",
		of(fda(`"amount":5`)) + `,"currency":{"code":"USD"}`:                             "",
		of(fda(`"amount":5`)) + `,"currency":"USD","currency":"NGN"`:                     "",
		of(fda(`"amount":500`)) + `,` + of(fda(`"amount":5`)):                            "",
		of(fda(`"DOCUMENT_TYPE":"MSDS","amount":10.50`)):                                 "10.5",
		of(`{"document_type":"MSDS","ſlug":"FDA","amount":1}`):                           "",
		of(`{"document_type":"MSDS","amount":1}`):                                        "",
		of(`{"document_type":7,"slug":" ","amount":1}`):                                  "none",
		of(`{"document_type":"MSDS","document_type":"FDA","amount":5}`):                  "",
		of(fda(`"slug":"FDA","amount":5`)):                                               "5",
		of(fda(`"amount":1`) + `,` + fda(`"amount":1`)):                                  "",
		of(fda(`"amount":1`) + `,"FDA"`):                                                 "",
		of(fda(`"amount":100`) + `,{"slug":"FDA","price":1}`):                            "",
		of(fda(`"amount":1`) + `,{"document_type":"MSDS","slug":"FDA","amount":100}`):    "",
		of(fda(`"due\u001b[31m":9`)):                                                     "",
		of(fda(`"amount":1,"fee\u001b[31m":2`)):                                          "3",
		of(fda(`"amount":10.50`) + `,{"slug":"MSDS"},{"slug":"fda","amount":2,"tax":4}`): "10.5",
	} {
		offers := Read(jsonread.Parse(`{"status":"draft",`+members+`}`), inNaira, "")
		got, err := offers.Cost("FDA")
		most := text(got.Most)
		switch {
		case offers.None():
			most = "none"
		case err != nil, got.Currency != "NGN":
			most = ""
		}
		if printed := fmt.Sprint(got, err); most != want || strings.ContainsFunc(printed, unicode.IsControl) {
			t.Errorf("%s: %s %s, %v, %q; want %q", members, text(got.Most), got.Currency, err, printed, want)
		}
	}
}
