package batch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/randomtest"
	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// A journal did not notice that another program had moved or changed its file. Now it accepts nothing more, and the
// next run does not begin with only a part of the records.
func TestBatchFile_NoticesWhatHappensToItsFile(t *testing.T) {
	t.Parallel()
	overwrite := func(change func(content []byte) []byte) func(path string) error {
		return func(path string) error { // in place, as copytruncate does
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, change(content), 0o600)
		}
	}
	add := func(text string) func(path string) error {
		return overwrite(func(content []byte) []byte { return append(content, text...) })
	}
	for name, tc := range map[string]struct {
		change func(path string) error
		want   error
		opens  bool // the file at the path can then be opened
	}{
		"removed": {os.Remove, batch.ErrMoved, true},
		"renamed": {func(path string) error { return os.Rename(path, path+".old") }, batch.ErrMoved, true},
		"folder renamed": {func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+".old") },
			batch.ErrMoved, false},
		"replaced": {func(path string) error {
			content := shippingtest.Must(os.ReadFile(path))(t)
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, content, 0o600))
		}, batch.ErrMoved, true},
		"link to another file": {func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.Symlink(path+".new", path),
				os.WriteFile(path+".new", shippingtest.Must(os.ReadFile(path+".old"))(t), 0o600))
		}, batch.ErrMoved, true},
		"emptied":   {func(path string) error { return os.Truncate(path, 0) }, batch.ErrDamaged, false},
		"truncated": {func(path string) error { return os.Truncate(path, 100) }, batch.ErrDamaged, false},
		"last record cut off": {overwrite(func(c []byte) []byte { return c[:bytes.LastIndexByte(c[:len(c)-1], '\n')+1] }),
			batch.ErrDamaged, false},
		"zeroed": {overwrite(func(c []byte) []byte { return make([]byte, len(c)) }), batch.ErrDamaged, false},
		"last record zeroed": {overwrite(func(c []byte) []byte { return append(c[:len(c)-60], make([]byte, 60)...) }),
			batch.ErrDamaged, false},
		"zeroed and grown": {overwrite(func(c []byte) []byte { return make([]byte, 2*len(c)) }), batch.ErrDamaged, false},
		"another text":     {overwrite(func([]byte) []byte { return []byte("another text") }), batch.ErrDamaged, false},
		"a line added":     {add("a line\n"), batch.ErrDamaged, false},
		"zeros added":      {add("\x00\x00\x00"), batch.ErrDamaged, true},
		"written over, same end": {overwrite(func(c []byte) []byte {
			return append(c[:0:0], append(c, c[len(c)-100:]...)...)
		}), batch.ErrDamaged, false},
	} {
		path := filepath.Join(t.TempDir(), "folder", "journal")
		shippingtest.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
		journal := openJournal(t, path)
		for _, key := range []string{"a", "b"} {
			shippingtest.NoError(t, appendTo(t.Context(), journal, batch.Record{Key: key, Step: batch.StepAnalyzed}))
		}
		shippingtest.NoError(t, tc.change(path))
		if records, err := journal.Records(); name == "emptied" && !errors.Is(err, batch.ErrDamaged) {
			t.Errorf("an emptied file is read as %+v, %v", records, err)
		}
		for range 2 {
			err := appendTo(t.Context(), journal, batch.Record{Key: "c", Step: batch.StepAnalyzed})
			shippingtest.WantErrorWith(t, name, err, tc.want, path, "before the next run")
		}
		shippingtest.NoError(t, journal.Close())
		again, err := batch.OpenFile(path)
		damaged := !tc.opens && tc.want == batch.ErrDamaged
		if (err == nil) != tc.opens || errors.Is(err, batch.ErrDamaged) != damaged {
			t.Errorf("%s, opened again: %v", name, err)
		}
		if err == nil {
			again.Close()
		}
	}
}

// After the journal was removed, Retryable was true, and the next run purchased everything again. If the context ended,
// too, the report hid the removal, and advised to run the batch again.
func TestFile_RemovedInARunIsNotRunAgain(t *testing.T) {
	t.Parallel()
	for _, interrupted := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		path, charges := filepath.Join(t.TempDir(), "journal"), 0
		service := &walletService{charged: func() {
			if charges++; charges == 3 {
				_ = os.Remove(path)
			}
		}}
		waits := roundTrip(func(r *http.Request) (*http.Response, error) { // SH-1 waits for its documents
			if !strings.HasSuffix(r.URL.Path, "/RD-SH-1") {
				return service.RoundTrip(r)
			}
			if interrupted {
				_ = os.Remove(path)
				cancel()
			}
			return shippingtest.OK(`{"request_id":"RD-SH-1","status":"processing"}`)(r)
		})
		report, err := batch.Run(ctx, walletClient(t, waits), walletItems(3),
			&batch.Options{Concurrency: 1, Select: shipping.SelectAll, Journal: openJournal(t, path)})
		text := fmt.Sprint(report.Err())
		if !errors.Is(err, batch.ErrMoved) || errors.Is(err, context.Canceled) != interrupted || report.Retryable() ||
			strings.Contains(text, "; run the batch again") ||
			!strings.Contains(text, "; once the journal is in its place, run the batch again") {
			t.Errorf("%v, retryable %t, %s", err, report.Retryable(), text)
		}
		cancel()
	}
}

// A path that cannot be opened, and a journal that is open, are errors that name the remedy, and change nothing.
func TestOpenFile_ErrorsNameTheRemedy(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "no", "such", "folder")
	shippingtest.WantErrorWith(t, "a folder that is missing",
		shippingtest.Err(batch.OpenFile(filepath.Join(folder, "journal"))), os.ErrNotExist, "; make its folder first")
	for path, want := range map[string]string{t.TempDir(): "is a folder: pass the path of a file in it, such as ",
		"": "the path is empty: pass the path of a file"} {
		shippingtest.Contains(t, fmt.Sprintf("the path %q", path), shippingtest.Err(batch.OpenFile(path)), want)
	}
	path := filepath.Join(t.TempDir(), "journal")
	// An empty file was a new journal, and the next run purchased everything again.
	for content, want := range map[string]string{
		"": " exists but is empty: its records may be lost; if nothing was purchased with it, remove the file; " +
			"otherwise put a complete copy",
		// The advice was only to choose another path, although the first part of the journal was gone.
		"5f0c2a11\"}\n": ": line 1: the file is not a batch journal, and was not changed; choose another path; if it was " +
			"the journal, put a complete copy",
		`{"format":"shipping-batch-journal","version":1}` + "\nby hand\n": ": line 2: damaged; if you added this line by " +
			"hand, remove it; otherwise put a complete copy",
	} {
		shippingtest.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		shippingtest.WantErrorWith(t, fmt.Sprintf("with the content %q", content), shippingtest.Err(batch.OpenFile(path)),
			batch.ErrDamaged, path+want, "; without a complete copy, move the file away 5 minutes after the last run: reco")
		shippingtest.NoError(t, os.Remove(path))
	}
	journal := openJournal(t, path)
	link := path + ".link"
	shippingtest.NoError(t, os.Link(path, link))
	// A record is being written, which a second opener must not discard.
	whole := shippingtest.Must(os.ReadFile(path))(t)
	shippingtest.NoError(t, os.WriteFile(path, append(whole, `{"crc":"0123`...), 0o600))
	for _, name := range []string{path, link} {
		const remedy = ": if this process opened it, use that File or close it; if not, wait until the other process " +
			"ends, or end it with SIGTERM: the next run continues"
		shippingtest.WantErrorWith(t, "opened twice", shippingtest.Err(batch.OpenFile(name)), batch.ErrInUse, name+remedy)
	}
	if len(shippingtest.Must(os.ReadFile(path))(t)) == len(whole) {
		t.Error("a refused opener changed the file")
	}
	shippingtest.NoError(t, os.WriteFile(path, whole, 0o600))
	// A key that is not UTF-8 would not be found again, and its item would be purchased twice.
	odd := batch.Record{Key: "M\xfcller", Step: batch.StepAnalyzed}
	shippingtest.WantError(t, "a key that is not UTF-8", appendTo(t.Context(), journal, odd), shipping.ErrInvalidRequest)
	shippingtest.NoError(t, journal.Close())
	shippingtest.WantErrorWith(t, "closed twice", journal.Close(), os.ErrClosed, "is closed already")
	_, read := journal.Records()
	for _, err := range []error{read, appendTo(t.Context(), journal, batch.Record{Key: "a", Step: batch.StepAnalyzed})} {
		shippingtest.WantErrorWith(t, "closed", err, os.ErrClosed, "is closed; open it again")
	}
}

// FuzzBatchFile: a file is opened as a journal whose records can be read again and to which others can be
// added, or it is refused and left as it is. Only the end of a file is ever discarded.
func FuzzBatchFile(f *testing.F) {
	added := batch.Record{
		Key: "Müller \u2028 \ufffd <&> \"\\\n\t\x01\U0001F680", Step: batch.StepPurchasing, RequestID: "RD-1",
		Documents: []shipping.DocumentType{"FDA", "<x>"}, At: time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC), Note: "ü",
		Charged: shippingtest.Amount(f, "-0.000000000000000001"), ChargedCurrency: "NGN",
	}
	randomtest.AddInputs(f, "testdata/FuzzBatchFile.txt", []byte(nil))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "journal")
		shippingtest.NoError(t, os.WriteFile(path, text, 0o600))
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
		if rest := bytes.TrimRight(text[len(whole):], "\x00"); !bytes.Contains(text, []byte{0}) && len(rest) > 0 &&
			!beginsALine(rest) {
			t.Errorf("%q, which is not the beginning of a line, is discarded", rest)
		}
		shippingtest.NoError(t, appendTo(t.Context(), journal, added))
		shippingtest.NoError(t, journal.Close())
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
