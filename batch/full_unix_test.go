//go:build linux || darwin

package batch_test

import (
	"errors"
	"fmt"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/shipping-go/shipping/batch"
)

// fill appends to a file that cannot grow beyond a limit, prints the acknowledged records, and checks that
// nothing is appended after a failure, even if there is room for it.
func fill(t *testing.T, path string) {
	signal.Ignore(syscall.SIGXFSZ) // the write fails instead, after a part of it
	journal, err := batch.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	setLimit := func(bytes uint64) {
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		limit.Cur = min(bytes, uint64(limit.Max))
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	setLimit(5000)
	var writers sync.WaitGroup
	var mu sync.Mutex
	failed := 0
	for n := range 60 {
		writers.Go(func() {
			key := fmt.Sprint(n)
			err := appendTo(t.Context(), journal, batch.Record{Key: key, Step: batch.StepPurchasing, RequestID: "RD-1"})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				fmt.Println("kept", key)
			case !errors.Is(err, syscall.EFBIG):
				t.Error(err)
			default:
				failed++
			}
		})
	}
	writers.Wait()
	setLimit(1 << 40)
	if err := appendTo(t.Context(), journal, batch.Record{Key: "late", Step: batch.StepAnalyzed}); failed == 0 || !errors.Is(err, syscall.EFBIG) {
		t.Errorf("%d appends failed, and then one: %v", failed, err)
	}
	if err := journal.Close(); err != nil {
		t.Error(err)
	}
}

// A journal on a full disk keeps the acknowledged records, and continues once there is room.
func TestBatchFile_AFullDiskLosesNoAcknowledgedRecord(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	process, lines := journalProcess(t, "fill", path)
	var reported []string
	for lines.Scan() {
		if key, kept := strings.CutPrefix(lines.Text(), "kept "); kept {
			reported = append(reported, key)
		}
	}
	if err := process.Wait(); err != nil {
		t.Fatal(err)
	}
	journal := openJournal(t, path)
	defer journal.Close()
	if err := appendTo(t.Context(), journal, batch.Record{Key: "more", Step: batch.StepAnalyzed}); err != nil {
		t.Fatal(err)
	}
	kept := keysOf(t, journal)
	for _, key := range append(reported, "more") {
		if !kept[key] {
			t.Errorf("%s was acknowledged and is lost", key)
		}
	}
	if len(reported) == 0 || len(kept) != len(reported)+1 {
		t.Errorf("%d records were acknowledged, and %d are kept", len(reported), len(kept))
	}
}
