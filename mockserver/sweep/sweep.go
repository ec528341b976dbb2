package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Attempt is one start of the program under test.
type Attempt struct {
	// World is the world of the run.
	World *mockserver.World
	// Run is the number of the run; 0 is the one without faults.
	Run int
	// Start is 1, or 2 if the program is started again in the same run.
	Start int
	// End is closed when the program should end, because every notification was delivered; nil without [Config.Notify].
	End <-chan struct{}
}

// Execute runs the program under test once and returns when it has ended. If the context ends, the program is killed.
type Execute func(ctx context.Context, a Attempt) Outcome

// errKilled is why the context of a program ends that a schedule kills.
var errKilled = errors.New("killed by the schedule")

// comparison compares runs with the first one, which has no faults.
type comparison struct {
	config *Config
	normal *observation // of the first run, completed by the goal
}

// result returns the result of a run. restarted is true if the program was started a second time.
func (c *comparison) result(schedule Schedule, o *observation, out Outcome, restarted bool) Result {
	if c.normal == nil {
		o.faultless = true
		c.normal = c.config.Goal.apply(o)
	}
	r := newResult(schedule, o, out)
	r.Restarted, r.Moved = restarted, schedule.moved(c.normal.requests, r.Requests)
	r.Findings = append(judge(c.config, c.normal, o, out, restarted), r.notStruck(c.config)...)
	return r
}

// provesNothing returns an error if the run without faults cannot be compared with others.
func (c *comparison) provesNothing(r Result) error {
	switch {
	case !r.outcome.Success:
		return fmt.Errorf("sweep: the program fails without faults (%s), so faults would prove nothing; it %s", r.How, c.config.requestsOf(c.normal, r.Output))
	case len(r.outcome.Files) < len(c.config.Goal.Files):
		return fmt.Errorf("sweep: the goal names the files %v, and the program leaves only %v", c.config.Goal.Files, slices.Sorted(maps.Keys(r.outcome.Files)))
	case len(r.Requests) == 0:
		return fmt.Errorf("sweep: the program succeeds without a request to which a fault applies; it %s", c.config.requestsOf(c.normal, ""))
	}
	return nil
}

// sweeper is a sweep under way.
type sweeper struct {
	comparison
	execute Execute

	mu     sync.Mutex
	report *Report
	ended  int
	total  int
}

// Sweep runs a program without faults, then once for every schedule, each on its own server. It fails if the
// program fails without faults, or if the context ends. The report then has the runs that were made.
func Sweep(ctx context.Context, config Config, execute Execute) (*Report, error) {
	c, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &sweeper{comparison: comparison{config: c}, execute: execute, report: &Report{Faults: Faults()}}
	if err := s.withoutFaults(ctx); err != nil {
		return s.report, err
	}
	if len(c.Only) > 0 {
		err = s.all(ctx, []Schedule{c.Only})
		return s.report, err
	}
	if err = s.all(ctx, plan(c, thinned(c, s.report.Requests))); err == nil && c.Pairs {
		err = s.all(ctx, s.pairs())
	}
	return s.report, err
}

// How much each world remembers of the requests.
const (
	journalCalls = 16 << 10
	journalBytes = 64 << 10
)

// withoutFaults makes the run that the others are compared with.
func (s *sweeper) withoutFaults(ctx context.Context) error {
	r, err := s.run(ctx, nil, 0)
	if err != nil {
		return err
	}
	s.report.Requests, s.report.Goal = r.Requests, s.normal.goal()
	s.report.Goal.Files = s.config.Goal.Files
	s.report.WithoutFaults = r
	return s.provesNothing(r)
}

// all makes the runs of the schedules, several at once.
func (s *sweeper) all(ctx context.Context, schedules []Schedule) error {
	if limit := s.config.MaxRuns; limit > 0 && len(s.report.Results)+len(schedules) > limit {
		room := max(0, limit-len(s.report.Results))
		s.report.Left += len(schedules) - room
		schedules = spread(schedules, room)
	}
	first := len(s.report.Results)
	s.total += len(schedules)
	results, made := make([]Result, len(schedules)), make([]bool, len(schedules))
	failures := make([]error, len(schedules))
	work := make(chan int)
	var group sync.WaitGroup
	for range min(s.config.Parallel, len(schedules)) {
		group.Go(func() {
			for i := range work {
				if ctx.Err() != nil {
					continue
				}
				results[i], failures[i] = s.run(ctx, schedules[i], first+i+1)
				if made[i] = failures[i] == nil; made[i] {
					s.progress(results[i])
				}
			}
		})
	}
	for i := range schedules {
		work <- i
	}
	close(work)
	group.Wait()
	for i, result := range results {
		if made[i] {
			s.report.Results = append(s.report.Results, result)
		}
	}
	return cmp.Or(context.Cause(ctx), errors.Join(failures...))
}

// spread returns n of the schedules, evenly spaced.
func spread(schedules []Schedule, n int) []Schedule {
	chosen := make([]Schedule, n)
	for i := range chosen {
		chosen[i] = schedules[i*len(schedules)/n]
	}
	return chosen
}

func (s *sweeper) progress(r Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended++
	if s.config.Progress != nil {
		s.config.Progress(s.ended, s.total, r)
	}
}

// pairs returns the schedules with two faults, learned from the runs with one that are as they should be.
func (s *sweeper) pairs() []Schedule {
	var schedules []Schedule
	for _, r := range s.report.Results {
		if r.Struck && len(r.Findings) == 0 {
			schedules = append(schedules, planPairs(s.config, r.schedule, r.Requests)...)
		}
	}
	return schedules
}

// run makes one run. Every run has its own server: documents are downloaded without a key, and worlds of one
// server, in which requests have the same ids, could not be distinguished.
func (s *sweeper) run(ctx context.Context, schedule Schedule, number int) (Result, error) {
	server, at, err := s.config.open(schedule)
	if err != nil {
		return Result{}, err
	}
	defer server.Close()
	began := time.Now()
	out, timedOut, restarted, err := s.start(ctx, server, Attempt{World: server.World, Run: number, Start: 1}, schedule, at)
	if err := cmp.Or(context.Cause(ctx), err); err != nil {
		return Result{}, err
	}
	o, err := observe(ctx, server, at, out, s.config.Timeout)
	if err != nil {
		return Result{}, err
	}
	r := s.result(schedule, o, out, restarted)
	r.Seconds = time.Since(began).Seconds()
	if timedOut {
		r.Findings = append(r.Findings, Finding{TimedOut, fmt.Sprintf("the program did not end within %s", s.config.Timeout)})
	}
	return r, nil
}

// open starts a server whose world is ready for a run.
func (c *Config) open(schedule Schedule) (*mockserver.Server, start, error) {
	rules, err := schedule.rules(c)
	if err != nil {
		return nil, start{}, err
	}
	notifier, err := newNotifier(c.Deliver, schedule)
	if err != nil {
		return nil, start{}, err
	}
	options := slices.Concat([]mockserver.Option{
		mockserver.WithJournal(journalCalls, journalBytes), mockserver.WithDeliveryTransport(notifier),
	}, c.Options)
	if c.inMemory {
		options = append(options, mockserver.WithoutListener())
	}
	server := mockserver.New(options...)
	notifier.begin(server.World)
	err = server.Err()
	if err == nil && c.Setup != nil {
		err = c.Setup(server.World)
	}
	at := start{}
	if err == nil {
		at, err = began(server.World), server.Inject(rules...)
	}
	if err != nil {
		server.Close()
		return nil, start{}, fmt.Errorf("sweep: the world cannot be set up: %w", err)
	}
	at.notifier = notifier
	return server, at, nil
}

// start runs the program in a world, a second time if it was killed or failed and is to be restarted.
func (s *sweeper) start(ctx context.Context, server *mockserver.Server, a Attempt, schedule Schedule, at start) (out Outcome, timedOut, restarted bool, err error) {
	limited, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	if s.config.Notify != nil {
		notifying, stop := context.WithCancel(limited)
		ended := make(chan struct{})
		var failure error
		go func() {
			defer close(ended)
			failure = at.notifier.emit(notifying, server, s.config.Notify(server.World))
		}()
		a.End = ended
		defer func() {
			stop()
			<-ended
			err = failure
		}()
	}
	defer at.notifier.end()
	running, kill := context.WithCancelCause(limited)
	if schedule.kills() {
		at.notifier.killWith(func() { kill(errKilled) })
		go s.killAfter(running, a.World, schedule, at, kill)
	}
	out = s.execute(running, a)
	at.notifier.killWith(nil)
	kill(nil)
	if limited.Err() != nil {
		return out, true, false, nil
	}
	if s.config.Restart && len(schedule) > 0 && !out.Success {
		schedule.await(limited)
		first := out.How
		a.Start = 2
		out = s.execute(limited, a)
		out.How = first + ", then " + out.How
		return out, limited.Err() != nil, true, nil
	}
	return out, false, false, nil
}

// killAfter ends a program as soon as the request that the schedule kills at was answered. The response itself is held
// back, so the program cannot be further than that.
func (s *sweeper) killAfter(ctx context.Context, w *mockserver.World, schedule Schedule, at start, kill context.CancelCauseFunc) {
	for _, strike := range schedule {
		if strike.Fault != Kill || strike.Operation == Notification {
			continue
		}
		after := at.last
		for range strike.Nth {
			call, err := w.Await(ctx, journal.Query{Operation: strike.Operation, After: after}, 0)
			if err != nil {
				return
			}
			after = call.ID
		}
		kill(errKilled)
	}
}
