package shipping_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/shipping-go/shipping"
)

func openJournal(t *testing.T, path string) *shipping.BatchFile {
	t.Helper()
	journal, err := shipping.OpenBatchFile(path)
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
				record := shipping.BatchRecord{Key: fmt.Sprintf("%d/%d", writer, n), Step: shipping.BatchAnalyzed, Amount: mustAmount(t, "1.50")}
				if err := journal.Append(t.Context(), record); err != nil {
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
	records, err := again.Load(t.Context())
	if err != nil || len(records) != 200 || records[0].Amount != mustAmount(t, "1.5") {
		t.Errorf("%d records, %v", len(records), err)
	}
}

func TestBatchFile_IsLockedWhileItIsOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	first := openJournal(t, path)
	if _, err := shipping.OpenBatchFile(path); !errors.Is(err, shipping.ErrBatchFileInUse) {
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
		if records, _ := journal.Load(t.Context()); len(records) != 1 {
			t.Fatalf("cut at %d: %d records", cut, len(records))
		}
		if err := journal.Append(t.Context(), shipping.BatchRecord{Key: "b", Step: shipping.BatchPurchased}); err != nil {
			t.Fatal(err)
		}
		if err := journal.Close(); err != nil {
			t.Fatal(err)
		}
		again := openJournal(t, path)
		if records, _ := again.Load(t.Context()); len(records) != 2 || records[1].Key != "b" {
			t.Fatalf("cut at %d: %+v after an append", cut, records)
		}
		again.Close()
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
		if _, err := shipping.OpenBatchFile(path); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := shipping.OpenBatchFile(filepath.Join(t.TempDir(), "no", "such", "folder")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
