package evidence

import (
	"testing"

	"github.com/shipping-go/shipping/dialect"
)

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
