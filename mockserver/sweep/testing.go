package sweep

import (
	"context"
	"flag"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/mockserver"
)

// Program is a program under test: it gets a world and returns nil if it reports success. A function without a result
// makes its own assertions, and [Missing] is not judged.
type Program interface {
	func(t *testing.T, w *mockserver.World) error | func(t *testing.T, w *mockserver.World)
}

// settleTime is how long documents may take to complete after a program has ended, in virtual time.
const settleTime = 24 * time.Hour

// Run runs a program without faults, and then in a subtest for every schedule, each in a testing/synctest bubble with
// its own server, without a socket: time is virtual. The subtests are named for their schedules, so that
//
//	go test -run 'TestBuy/regulatory.purchase#1:lost-after$'
//
// repeats exactly one of the runs. A finding fails its subtest; an error that the program returns under a fault does
// not. The program must have ended all of its goroutines when it returns.
func Run[P Program](t *testing.T, config Config, program P) {
	t.Helper()
	config.inMemory, config.Parallel, config.Timeout = true, 1, settleTime
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
	if len(c.Only) == 0 {
		c.Only = selected(t.Name())
	}
	s := newSweeper(c)
	s.run = func(_ context.Context, schedule Schedule, _ int) (result *RunResult, err error) {
		run := func(t *testing.T) {
			result, err = s.test(t, schedule, func(t *testing.T, w *mockserver.World) Outcome { return outcome(t, w, program) })
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

func outcome[P Program](t *testing.T, w *mockserver.World, program P) Outcome {
	var err error
	switch run := any(program).(type) {
	case func(*testing.T, *mockserver.World):
		run(t, w)
		return Outcome{Success: true, Unknown: true, How: "ended"}
	case func(*testing.T, *mockserver.World) error:
		err = run(t, w)
	}
	if err != nil {
		return Outcome{How: "error: " + err.Error()}
	}
	return Outcome{Success: true, How: "no error"}
}

// test makes a run in virtual time, and fails the test for each finding. It returns nil if the program has failed the
// test without faults.
func (s *sweeper) test(t *testing.T, schedule Schedule,
	program func(*testing.T, *mockserver.World) Outcome) (result *RunResult, err error) {
	synctest.Test(t, func(t *testing.T) {
		var r *run
		if r, err = open(s.config, schedule); err != nil {
			return
		}
		t.Cleanup(r.server.Close)
		r.out = program(t, r.server.World)
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

// selected returns the one schedule that -run names, as in the comment of [Run]. It may be a pair, although -run leaves
// out the runs that teach which pairs there are, or name a request that the program does not make, which is then a
// finding.
func selected(name string) Schedule {
	pattern := flag.Lookup("test.run")
	if pattern == nil {
		return nil
	}
	levels := strings.Split(pattern.Value.String(), "/")
	depth := strings.Count(name, "/") + 1
	if len(levels) != depth+1 {
		return nil
	}
	text, whole := strings.CutSuffix(strings.TrimPrefix(levels[depth], "^"), "$")
	schedule, err := ParseSchedule(text)
	if err != nil || len(schedule) == 1 && !whole { // 500 without $ also selects 500-after
		return nil
	}
	return schedule
}
