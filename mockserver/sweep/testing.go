package sweep

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/mockserver"
)

// Run runs a program without faults, and then in a subtest for every schedule, each in a testing/synctest bubble with
// its own server, without a socket: time is virtual. The subtests are named for their schedules, so that
//
//	go test -run 'TestBuy/regulatory.purchase#1:lost-after$'
//
// repeats exactly one of the runs. [Config.Only] repeats one with two faults. A finding fails its subtest; an error
// that the program returns under a fault does not. The program must have ended all of its goroutines when it returns.
func Run(t *testing.T, config Config, program func(t *testing.T, w *mockserver.World) error) {
	t.Helper()
	config.inMemory, config.Parallel = true, 1
	config.Timeout = 24 * time.Hour // in virtual time, until the documents are completed
	c, err := config.withDefaults()
	switch {
	case err != nil:
		t.Fatal(err)
	case c.Restart:
		t.Fatal("sweep: Run cannot kill and restart a program: use Sweep, or the command mockserver sweep")
	case len(c.Goal.Files) > 0:
		t.Fatal("sweep: Run does not compare files: compare them in the program")
	case c.Notify != nil:
		t.Fatal("sweep: Run does not notify a program: call World.Emit in it")
	}
	s := newSweeper(c)
	s.run = func(_ context.Context, schedule Schedule, _ int) (result *RunResult, err error) {
		run := func(t *testing.T) {
			result, err = s.test(t, schedule, program)
		}
		if schedule == nil {
			run(t)
		} else {
			t.Run(schedule.String(), run)
		}
		return result, err
	}
	if err := s.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// test makes a run in virtual time, and fails the test for each finding. It returns nil if, without faults, the program
// itself failed the test.
func (s *sweeper) test(t *testing.T, schedule Schedule,
	program func(*testing.T, *mockserver.World) error) (result *RunResult, err error) {
	synctest.Test(t, func(t *testing.T) {
		var r *run
		if r, err = open(s.config, schedule); err != nil {
			return
		}
		t.Cleanup(r.server.Close)
		r.out = Outcome{Success: true, How: "no error"}
		if failure := program(t, r.server.World); failure != nil {
			r.out = Outcome{How: "error: " + failure.Error()}
		}
		r.notifier.end()
		if schedule == nil && t.Failed() {
			return
		}
		if result, err = s.judged(t.Context(), r); err != nil || len(result.Findings) == 0 {
			return
		}
		for _, f := range result.Findings {
			t.Errorf("sweep: %s", f)
		}
		if schedule != nil {
			var text strings.Builder
			result.describe(&text, true)
			t.Log(text.String())
		}
	})
	return result, err
}
