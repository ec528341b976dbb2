package batch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

func openJournal(t *testing.T, path string) *batch.File {
	t.Helper()
	journal, err := batch.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return journal
}

func TestBatchFile_KeepsEveryRecordOfManyWriters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	journal := openJournal(t, path)
	var writers sync.WaitGroup
	for writer := range 20 {
		writers.Go(func() {
			for n := range 10 {
				record := batch.Record{Key: fmt.Sprintf("%d/%d", writer, n), Step: batch.StepAnalyzed, Amount: shippingtest.Amount(t, "1.50")}
				if err := appendTo(t.Context(), journal, record); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
	again := openJournal(t, path)
	defer again.Close()
	records, err := again.Records()
	if err != nil || len(records) != 200 || records[0].Amount != shippingtest.Amount(t, "1.5") {
		t.Errorf("%d records, %v", len(records), err)
	}
}

// contentOf returns the content of a file.
func contentOf(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// A second opener of a journal in use is refused and changes nothing, whatever the file contains at that moment. If it
// truncated the file, records would be lost, and the next run would send their purchases again.
func TestBatchFile_ASecondOpenerChangesNothing(t *testing.T) {
	t.Parallel()
	records := 200
	if n, err := strconv.Atoi(os.Getenv("SHIPPING_APPENDS")); err == nil {
		records = n
	}
	var refused atomic.Int64
	path := filepath.Join(t.TempDir(), "journal")
	journal := openJournal(t, path)
	ctx, stop := context.WithCancel(t.Context())
	var openers sync.WaitGroup
	for range 3 {
		openers.Go(func() {
			for ctx.Err() == nil {
				if second, err := batch.OpenFile(path); !errors.Is(err, batch.ErrInUse) {
					t.Errorf("opened twice: %v, %v", second, err)
					return
				}
				refused.Add(1)
			}
		})
	}
	for n := range records {
		if err := appendTo(t.Context(), journal, batch.Record{Key: fmt.Sprint(n), Step: batch.StepAnalyzed}); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	openers.Wait()
	t.Logf("%d records appended, %d openers refused", records, refused.Load())
	// A write that is under way, as a second opener can see it.
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(`{"crc":"0123`); err != nil {
		t.Fatal(err)
	}
	before := contentOf(t, path)
	if _, err := batch.OpenFile(path); !errors.Is(err, batch.ErrInUse) || !strings.Contains(err.Error(), path) {
		t.Errorf("opened twice: %v", err)
	}
	if !bytes.Equal(before, contentOf(t, path)) {
		t.Error("a refused opener changed the file")
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
	again := openJournal(t, path)
	defer again.Close()
	if kept, err := again.Records(); err != nil || len(kept) != records {
		t.Errorf("%d of %d records, %v", len(kept), records, err)
	}
}

// Records also returns the records that were appended since the journal was opened. Without them, a second run with the
// same open journal would purchase everything again.
func TestBatchFile_LoadsWhatWasAppended(t *testing.T) {
	t.Parallel()
	journal := openJournal(t, filepath.Join(t.TempDir(), "journal"))
	defer journal.Close()
	for n := range 3 {
		if err := appendTo(t.Context(), journal, batch.Record{Key: fmt.Sprint(n), Step: batch.StepAnalyzed}); err != nil {
			t.Fatal(err)
		}
		if records, err := journal.Records(); err != nil || len(records) != n+1 || records[n].Key != fmt.Sprint(n) {
			t.Errorf("%+v, %v", records, err)
		}
	}
}

// A record is read as it was appended, or it is refused and the journal stays usable. encoding/json replaces bytes that
// are not UTF-8: such a key would not be found again, and its item would be purchased twice.
func TestBatchFile_RefusesTextsThatItCouldNotReturn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	journal := openJournal(t, path)
	defer journal.Close()
	good := batch.Record{
		Key: "Müller \u2028 \ufffd <&> \"\\\n\t\x01\U0001F680", Step: batch.StepPurchasing, RequestID: "RD-1",
		Documents: []shipping.DocumentType{"FDA", "<x>"}, Amount: shippingtest.Amount(t, "19.90"), Currency: "USD",
		Charged: shippingtest.Amount(t, "-0.000000000000000001"), ChargedCurrency: "NGN", Purchase: drafted("RD-1"), Note: "ü",
	}
	long := strings.Repeat("x", 5000)
	for name, change := range map[string]func(*batch.Record){
		"key that is not UTF-8":        func(r *batch.Record) { r.Key = "M\xfcller" },
		"key with NUL":                 func(r *batch.Record) { r.Key = "a\x00b" },
		"empty key":                    func(r *batch.Record) { r.Key = "" },
		"long key":                     func(r *batch.Record) { r.Key = long },
		"request id that is not UTF-8": func(r *batch.Record) { r.RequestID = "\xff" },
		"request id with NUL":          func(r *batch.Record) { r.RequestID = "\x00" },
		"long request id":              func(r *batch.Record) { r.RequestID = long },
		"document that is not UTF-8":   func(r *batch.Record) { r.Documents = []shipping.DocumentType{"FDA", "\xff"} },
		"currency that is not UTF-8":   func(r *batch.Record) { r.Currency = "\xff" },
		"note that is not UTF-8":       func(r *batch.Record) { r.Note = "\xff" },
		"unknown step":                 func(r *batch.Record) { r.Step = "refunding" },
		"no step":                      func(r *batch.Record) { r.Step = "" },
	} {
		bad := good
		change(&bad)
		if err := appendTo(t.Context(), journal, bad); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if err := appendTo(t.Context(), journal, good); err != nil {
		t.Fatal(err)
	}
	records, err := journal.Records()
	if err != nil || len(records) != 1 {
		t.Fatalf("%+v, %v", records, err)
	}
	want, _ := json.Marshal(good)
	got, _ := json.Marshal(records[0])
	shippingtest.Diff(t, "the record", string(want), string(got))
}

// A journal that is no longer at its path accepts no records: another process could open a new one there and purchase the
// same items.
func TestBatchFile_NoticesThatItWasMoved(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(path string) error{
		"removed": os.Remove,
		"renamed": func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error {
			if err := os.Rename(path, path+".old"); err != nil {
				return err
			}
			content, err := os.ReadFile(path + ".old")
			if err != nil {
				return err
			}
			return os.WriteFile(path, content, 0o600)
		},
		"folder renamed": func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+".old") },
	} {
		path := filepath.Join(t.TempDir(), "folder", "journal")
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		journal := openJournal(t, path)
		record := batch.Record{Key: "a", Step: batch.StepAnalyzed}
		if err := appendTo(t.Context(), journal, record); err != nil {
			t.Fatal(err)
		}
		if err := move(path); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := appendTo(t.Context(), journal, record); !errors.Is(err, batch.ErrMoved) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := journal.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBatchFile_IsLockedWhileItIsOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	first := openJournal(t, path)
	if _, err := batch.OpenFile(path); !errors.Is(err, batch.ErrInUse) {
		t.Errorf("opened twice: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := openJournal(t, path).Close(); err != nil {
		t.Error(err)
	}
}

func TestBatchFile_AfterACrashInTheMiddleOfALine(t *testing.T) {
	t.Parallel()
	const whole = `{"key":"a","step":"analyzed","request_id":"RD-1","at":"2026-01-01T00:00:00Z"}` + "\n"
	for cut := range len(whole) - 1 {
		path := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(path, []byte(whole+whole[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		journal := openJournal(t, path)
		if records, _ := journal.Records(); len(records) != 1 {
			t.Fatalf("cut at %d: %d records", cut, len(records))
		}
		if err := appendTo(t.Context(), journal, batch.Record{Key: "b", Step: batch.StepPurchased}); err != nil {
			t.Fatal(err)
		}
		if err := journal.Close(); err != nil {
			t.Fatal(err)
		}
		again := openJournal(t, path)
		if records, _ := again.Records(); len(records) != 2 || records[1].Key != "b" {
			t.Fatalf("cut at %d: %+v after an append", cut, records)
		}
		again.Close()
	}
}

// A journal of version 0, which had no header, is read, and goes on as one of version 1.
func TestBatchFile_GoesOnWithAJournalOfVersion0(t *testing.T) {
	t.Parallel()
	old := batch.Record{Key: "a", Step: batch.StepPurchasing, RequestID: "RD-1", Documents: []shipping.DocumentType{"FDA"}, Amount: shippingtest.Amount(t, "1.5"), Currency: "NGN"}
	text, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	for run := range 3 {
		journal := openJournal(t, path)
		records, err := journal.Records()
		if err != nil || len(records) != 1+run || records[0].RequestID != "RD-1" || records[0].Amount != old.Amount {
			t.Errorf("run %d: %+v, %v", run, records, err)
		}
		if err := appendTo(t.Context(), journal, batch.Record{Key: fmt.Sprint(run), Step: batch.StepAnalyzed}); err != nil {
			t.Fatal(err)
		}
		if err := journal.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if content := contentOf(t, path); !bytes.HasPrefix(content, append(text, '\n')) || bytes.Count(content, []byte(`{"format":"shipping-batch-journal","version":1}`)) != 1 {
		t.Errorf("the file became %s", content)
	}
}

// A file that this version cannot read as a whole is refused with what to do, and left as it is.
func TestBatchFile_RefusesWhatItDoesNotUnderstand(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	journal := openJournal(t, path)
	for _, key := range []string{"a", "b"} {
		if err := appendTo(t.Context(), journal, batch.Record{Key: key, Step: batch.StepAnalyzed}); err != nil {
			t.Fatal(err)
		}
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
	whole := string(contentOf(t, path))
	lines := strings.SplitAfter(whole, "\n")
	for name, tc := range map[string]struct{ content, message string }{
		"newer version":                  {`{"format":"shipping-batch-journal","version":2,"more":1}` + "\n" + `{"x":1}`, "format version 2"},
		"newer version, cut off":         {`{"format":"shipping-batch-journal","version":2}` + "\n" + `{"crc":"`, "format version 2"},
		"another format":                 {`{"format":"another","version":1}` + "\n", "not a batch journal"},
		"another file":                   {"name,amount\nDHL,3\n", "not a batch journal"},
		"another file, of one line":      {"important", "not a batch journal"},
		"a field that is not known":      {`{"key":"a","step":"analyzed","refund":1}` + "\n", `unknown field "refund"`},
		"a step that is not known":       {`{"key":"a","step":"refunding"}` + "\n", `unknown step "refunding"`},
		"a changed letter":               {strings.Replace(whole, `"key":"b"`, `"key":"c"`, 1), "line 3"},
		"a changed letter before":        {strings.Replace(whole, `"key":"a"`, `"key":"c"`, 1), "line 2"},
		"a missing line":                 {lines[0] + lines[2], "line 2"},
		"zeros in the synced part":       {strings.Replace(whole, `"key":"a"`, "\x00\x00\x00\x00\x00\x00\x00\x00\x00", 1), "line 2"},
		"a header of another shape":      {strings.Replace(whole, `"version":1`, `"version": 1`, 1), "line 1"},
		"not UTF-8":                      {"{\"key\":\"\xff\",\"step\":\"analyzed\"}\n", "line 1"},
		"an amount that is not a number": {`{"key":"a","step":"purchasing","amount":"x"}` + "\n", "line 1"},
	} {
		path := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(path, []byte(tc.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := batch.OpenFile(path); err == nil || !strings.Contains(err.Error(), tc.message) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if left := string(contentOf(t, path)); left != tc.content {
			t.Errorf("%s: the file became %q", name, left)
		}
	}
}

func TestBatchFile_DamageIsNamed(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"not JSON":        "{\"key\":\"a\",\"step\":\"analyzed\"}\nrubbish\n",
		"another file":    "{\"key\":\"a\",\"step\":\"analyzed\"}\n1,2,3",
		"no key":          "{\"key\":\"a\",\"step\":\"analyzed\"}\n{\"step\":\"analyzed\"}\n",
		"cut in the past": "{\"key\":\"a\",\"step\":\"analyzed\"}\n{\"key\":\"b\",\n{\"key\":\"c\",\"step\":\"analyzed\"}\n",
	} {
		path := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := batch.OpenFile(path); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := batch.OpenFile(filepath.Join(t.TempDir(), "no", "such", "folder")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
