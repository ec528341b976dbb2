package batch_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/randomtest"
)

// FuzzBatchFile: a file is opened as a journal whose records can be read again and to which others can be
// added, or it is refused and left as it is. Only the end of a file is ever discarded.
func FuzzBatchFile(f *testing.F) {
	added := batch.Record{Key: "added", Step: batch.StepPurchasing, RequestID: "RD-1", Documents: []shipping.DocumentType{"FDA"}, At: time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC)}
	randomtest.AddInputs(f, "testdata/FuzzBatchFile.txt", []byte(nil))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		whole := text[:bytes.LastIndexByte(text, '\n')+1]
		journal, err := batch.OpenFile(path)
		if err != nil {
			if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, text) {
				t.Errorf("%q is refused, and left as %q (%v)", text, left, err)
			}
			return
		}
		records, err := journal.Records()
		if err != nil || slices.ContainsFunc(records, func(r batch.Record) bool { return r.Key == "" || r.Step == "" }) {
			t.Errorf("%q is read as %+v, %v", text, records, err)
		}
		// A line that is cut off, or has sectors of zeros, ends the valid part.
		if zero := bytes.IndexByte(whole, 0); zero >= 0 {
			whole = whole[:bytes.LastIndexByte(whole[:zero], '\n')+1]
		}
		if rest := bytes.TrimRight(text[len(whole):], "\x00"); !bytes.Contains(text, []byte{0}) && len(rest) > 0 && !beginsALine(rest) {
			t.Errorf("%q, which is not the beginning of a line, is discarded", rest)
		}
		if err := appendTo(t.Context(), journal, added); err != nil {
			t.Fatal(err)
		}
		if err := journal.Close(); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(left, whole) {
			t.Errorf("%q became %q (%v)", text, left, err)
		}
		again, err := batch.OpenFile(path)
		if err != nil {
			t.Fatalf("%q with a record more is refused: %v", text, err)
		}
		defer again.Close()
		got, _ := again.Records()
		if diff := cmp.Diff(append(slices.Clone(records), added), got, cmp.Comparer(shipping.Amount.Equal)); diff != "" {
			t.Errorf("%q, read again (-want +got):\n%s", text, diff)
		}
	})
}

func beginsALine(text []byte) bool {
	for _, begin := range []string{`{"format":"`, `{"crc":"`} {
		if n := min(len(text), len(begin)); string(text[:n]) == begin[:n] {
			return true
		}
	}
	return false
}
