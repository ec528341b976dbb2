package csvlist_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/examples/internal/csvlist"
)

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "list.csv")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead_TakesWhatSpreadsheetsSave(t *testing.T) {
	t.Parallel()
	rows, err := csvlist.Read(write(t, "\ufeffShipment_ID, Carrier \r\n SH-1 ,dhl\r\n\r\n\"SH,2\"\r\n"), []string{"carrier"})
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, want := range []struct {
		line              int
		shipment, carrier string
	}{{2, "SH-1", "dhl"}, {4, "SH,2", ""}} {
		row := rows[i]
		if row.Line != want.line || row.Cell("shipment_id") != want.shipment || row.Cell("carrier") != want.carrier || row.Cell("none") != "" {
			t.Errorf("row %d: %+v", i, row)
		}
	}
}

func TestRead_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for content, says := range map[string]string{
		"":                  `must name the columns a and b, or c; it is ""`,
		"a;b\n1;2\n":        `it is "a;b"`,
		"a\n1\n":            "must name the columns a and b, or c",
		"a,b\n\"1\n":        "extraneous or missing",
		"a,b,\"c\n1,2,3\n4": "extraneous or missing",
	} {
		path := write(t, content)
		if _, err := csvlist.Read(path, []string{"a", "b"}, []string{"c"}); err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", content, err)
		}
	}
	if _, err := csvlist.Read(filepath.Join(t.TempDir(), "none.csv"), []string{"a"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
