package shipping_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
)

// FuzzBatchFile: a file is opened as a journal with every whole record that it holds, to which others can be
// added, or it is refused and left as it is.
func FuzzBatchFile(f *testing.F) {
	added := shipping.BatchRecord{Key: "added", Step: shipping.BatchPurchasing, RequestID: "RD-1", Documents: []shipping.DocumentType{"FDA"}, At: time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC)}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		whole := text[:bytes.LastIndexByte(text, '\n')+1]
		journal, err := shipping.OpenBatchFile(path)
		if err != nil {
			if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, text) {
				t.Errorf("%q is refused, and left as %q (%v)", text, left, err)
			}
			return
		}
		records, _ := journal.Load(t.Context())
		lines := slices.DeleteFunc(bytes.Split(whole, []byte("\n")), func(line []byte) bool { return len(line) == 0 })
		if len(records) != len(lines) || slices.ContainsFunc(records, func(r shipping.BatchRecord) bool { return r.Key == "" || r.Step == "" }) {
			t.Errorf("%q is read as %+v", text, records)
		}
		if rest := bytes.TrimRight(text[len(whole):], "\x00"); len(rest) > 0 && !bytes.HasPrefix([]byte(`{"key":"`), rest[:min(len(rest), 8)]) {
			t.Errorf("%q, which is no record's beginning, is thrown away", rest)
		}
		if err := journal.Append(t.Context(), added); err != nil {
			t.Fatal(err)
		}
		if err := journal.Close(); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(left, whole) {
			t.Errorf("%q became %q (%v)", text, left, err)
		}
		again, err := shipping.OpenBatchFile(path)
		if err != nil {
			t.Fatalf("%q with a record more is refused: %v", text, err)
		}
		defer again.Close()
		got, _ := again.Load(t.Context())
		if diff := cmp.Diff(append(slices.Clone(records), added), got, cmp.Comparer(shipping.Amount.Equal)); diff != "" {
			t.Errorf("%q, read again (-want +got):\n%s", text, diff)
		}
	})
}
