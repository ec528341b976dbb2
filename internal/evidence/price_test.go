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
