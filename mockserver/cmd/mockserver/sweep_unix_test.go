//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/wait"
)

// An interrupt ends the programs that run, and those that they have started; the table shows the runs so far. An
// interrupted sweep printed nothing.
func TestSweep_Interrupt(t *testing.T) {
	t.Parallel()
	careless, ids := filepath.Join(built(t, "careless"), "careless"), filepath.Join(t.TempDir(), "ids")
	script := `case $SWEEP_DIR in
		*/3) sleep 1000 & echo $! $$ >"` + ids + `.new"; mv "` + ids + `.new" "` + ids + `"; wait;;
		*) exec "` + careless + `" -shipment $SHIPPING_SHIPMENT;;
	esac`
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended := make(chan int, 1)
	var stdout, stderr bytes.Buffer
	go func() {
		args := []string{"sweep", "-parallel", "1", "-faults", "lost-before,lost-after", "--", "sh", "-c", script}
		ended <- run(ctx, args, environment{get: os.Getenv}, strings.NewReader(""), &stdout, &stderr)
	}()
	var text []byte
	eventually(t, func() (err error) { text, err = os.ReadFile(ids); return err })
	interrupt()
	if code := <-ended; code != exitFailure || !strings.Contains(stderr.String(), "interrupted after 2 of 4 runs") {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	for _, want := range []string{"regulatory.analyze#1   · ·\nregulatory.purchase#1  - -\n",
		"· as it should be, - not run", "2 runs with faults, 0 failing"} {
		shippingtest.Contains(t, "standard output", &stdout, want)
	}
	for _, word := range strings.Fields(string(text)) {
		id := shippingtest.Must(strconv.Atoi(word))(t)
		eventually(t, func() error {
			if gone(id) {
				return nil
			}
			return os.ErrExist
		})
	}
}

// A sweep under timeout was killed by the second of two signals, and reported nothing.
func TestSweep_InterruptedTwiceAtOnce(t *testing.T) {
	ctx := untilSignal()
	for range 1000 { // the next one would end this program
		shippingtest.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
		<-ctx.Done()
	}
}

// gone reports whether a process has ended, or has been killed and nobody has collected it yet.
func gone(id int) bool {
	if syscall.Kill(id, 0) != nil {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(id) + "/stat")
	_, state, found := strings.Cut(string(stat), ") ")
	return err == nil && found && strings.HasPrefix(state, "Z")
}

func eventually(t *testing.T, condition func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		err := condition()
		if err == nil {
			return
		}
		if wait.Sleep(ctx, 5*time.Millisecond) != nil {
			t.Fatal(err)
		}
	}
}
