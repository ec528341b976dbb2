package batch_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/randomtest"
)

// journalTask is the environment variable with the task of a process that a test started.
const journalTask = "SHIPPING_TEST_JOURNAL_TASK"

// journalProcess starts this test's binary with a task and a journal.
func journalProcess(t *testing.T, task, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBatchFile_InAProcess$")
	process.Env = append(os.Environ(), journalTask+"="+task+" "+path)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	return process, bufio.NewScanner(out)
}

// TestBatchFile_InAProcess is what the processes of the other tests run. By itself it does nothing.
func TestBatchFile_InAProcess(t *testing.T) {
	task, path, assigned := strings.Cut(os.Getenv(journalTask), " ")
	if !assigned {
		return
	}
	switch task {
	case "append":
		appendForEver(t, path)
	case "open":
		fmt.Println("opening")
		for {
			if journal, err := batch.OpenFile(path); err == nil {
				if err := journal.Close(); err != nil {
					t.Fatal(err)
				}
			} else if !errors.Is(err, batch.ErrInUse) {
				t.Fatal(err)
			}
		}
	}
}

// appendForEver appends records, and prints the key of each one that was acknowledged.
func appendForEver(t *testing.T, path string) {
	journal, err := batch.OpenFile(path)
	for errors.Is(err, batch.ErrInUse) {
		journal, err = batch.OpenFile(path) // the other process has it for a moment
	}
	if err != nil {
		t.Fatal(err)
	}
	var printing sync.Mutex
	for writer := range 4 {
		go func() {
			for n := 0; ; n++ {
				key := fmt.Sprintf("%d/%d/%d", os.Getpid(), writer, n)
				if err := appendTo(t.Context(), journal, batch.Record{Key: key, Step: batch.StepPurchasing, RequestID: "RD-1"}); err != nil {
					panic(err)
				}
				printing.Lock()
				fmt.Println(key)
				printing.Unlock()
			}
		}()
	}
	select {}
}

// A process that is killed at any moment, while other processes try to open its journal, loses no record that it reported
// as appended.
func TestBatchFile_AKilledProcessLosesNoAcknowledgedRecord(t *testing.T) {
	t.Parallel()
	const kills = 8
	path := filepath.Join(t.TempDir(), "journal")
	for range 2 {
		opener, lines := journalProcess(t, "open", path)
		lines.Scan()
		defer func() {
			_ = opener.Process.Kill()
			if _ = opener.Wait(); opener.ProcessState.Exited() {
				t.Errorf("the process that opens the journal has ended: %s", opener.ProcessState)
			}
		}()
	}
	var reported []string
	random := randomtest.Random(t)
	for range kills {
		writer, lines := journalProcess(t, "append", path)
		for range 1 + random.IntN(60) {
			if !lines.Scan() {
				t.Fatal("the process ended before it was killed")
			}
			reported = append(reported, lines.Text())
		}
		if err := writer.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			reported = append(reported, lines.Text())
		}
		_ = writer.Wait() // it was killed
	}
	var journal *batch.File
	err := batch.ErrInUse
	for errors.Is(err, batch.ErrInUse) {
		journal, err = batch.OpenFile(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	kept := keysOf(t, journal)
	for _, key := range reported {
		if !kept[key] {
			t.Errorf("%s was acknowledged and is lost", key)
		}
	}
	t.Logf("%d processes killed, %d records acknowledged, %d in the journal", kills, len(reported), len(kept))
}

func keysOf(t *testing.T, journal *batch.File) map[string]bool {
	t.Helper()
	records, err := journal.Records()
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, record := range records {
		keys[record.Key] = true
	}
	return keys
}
