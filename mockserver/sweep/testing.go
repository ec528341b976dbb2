package sweep

import (
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

// Run runs a program without faults, and then in a subtest for every schedule, each in a testing/synctest bubble with
// its own server, without a socket: time is virtual. The subtests are named for their schedules, so that
//
//	go test -run 'TestBuy/regulatory.purchase#1:lost-after$'
//
// repeats exactly one of the runs. A finding fails its subtest; an error that the program returns under a fault does
// not. The program must have ended all of its goroutines when it returns.
func Run[P Program](t *testing.T, config Config, program P) {
	t.Helper()
	config.inMemory = true
	c, err := config.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if c.Restart {
		t.Fatal("sweep: Run cannot kill and restart a program: use Sweep, or the command mockserver sweep")
	}
	if len(c.Goal.Files) > 0 {
		t.Fatal("sweep: Run does not compare files: compare them in the program")
	}
	if c.Notify != nil {
		t.Fatal("sweep: Run does not notify a program: call World.Emit in it")
	}
	r := &runner{comparison{config: c}, outcomeOf(program)}
	normal := r.run(t, nil)
	if t.Failed() {
		return
	}
	ran := 0
	each := func(schedules []Schedule) (results []Result) {
		for _, schedule := range schedules {
			if c.MaxRuns > 0 && ran == c.MaxRuns {
				return results
			}
			ran++
			t.Run(schedule.String(), func(t *testing.T) {
				results = append(results, r.run(t, schedule))
			})
		}
		return results
	}
	if c.Only = chosen(c, t.Name()); c.Only != nil {
		each([]Schedule{c.Only})
		return
	}
	results := each(plan(c, thinned(c, normal.Requests)))
	if !c.Pairs {
		return
	}
	for _, first := range results {
		if first.Struck && len(first.Findings) == 0 {
			each(planPairs(c, first.schedule, first.Requests))
		}
	}
}

// chosen returns the one schedule to run: that of the settings, or the one that -run names, as in the comment of [Run].
// It may be a pair, although -run leaves out the runs that teach which pairs there are, or name a request that the
// program does not make, which is then a finding.
func chosen(c *Config, name string) Schedule {
	if len(c.Only) > 0 {
		return c.Only
	}
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

// runner makes the runs of a test.
type runner struct {
	comparison
	program func(*testing.T, *mockserver.World) Outcome
}

// outcomeOf returns a program as a function with an outcome.
func outcomeOf[P Program](program P) func(*testing.T, *mockserver.World) Outcome {
	return func(t *testing.T, w *mockserver.World) Outcome {
		if f, plain := any(program).(func(*testing.T, *mockserver.World)); plain {
			f(t, w)
			return Outcome{Success: true, Unknown: true, How: "ended"}
		}
		err := any(program).(func(*testing.T, *mockserver.World) error)(t, w)
		if err != nil {
			return Outcome{How: "error: " + err.Error()}
		}
		return Outcome{Success: true, How: "no error"}
	}
}

// settleTime is how long documents may take to complete after a program has ended, in virtual time.
const settleTime = 24 * time.Hour

// run makes a run on its own server, and fails the test for each finding.
func (r *runner) run(t *testing.T, schedule Schedule) (result Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv, at, err := r.config.open(schedule)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(srv.Close)
		out := r.program(t, srv.World)
		at.notifier.end()
		o, err := observe(t.Context(), srv, at, out, settleTime)
		if err != nil {
			t.Fatal(err)
		}
		if schedule == nil && t.Failed() {
			return
		}
		result = r.result(schedule, o, out, false)
		for _, f := range result.Findings {
			t.Errorf("sweep: %s", f)
		}
		if schedule == nil {
			if err := r.provesNothing(result); err != nil {
				t.Error(err)
			}
			return
		}
		if len(result.Findings) > 0 {
			var text strings.Builder
			result.describe(&text, true)
			t.Log(text.String())
		}
	})
	return result
}
