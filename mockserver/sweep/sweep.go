package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Execution is one start of the program under test.
type Execution struct {
	// World is the world of the run.
	World *mockserver.World
	// Run is the number of the run; 0 is the one without faults.
	Run int
	// End is closed when the program should end, because every notification was delivered; nil without [Config.Notify].
	End <-chan struct{}
}

// Execute runs the program under test once and returns when it has ended. If the context ends, the program is killed.
type Execute func(ctx context.Context, a Execution) Outcome

// Sweep runs a program without faults, then once for every schedule, each on its own server. It fails if the
// program fails without faults, or if the context ends. The report then has the runs that were made.
func Sweep(ctx context.Context, config Config, execute Execute) (*Report, error) {
	c, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	s := newSweeper(c)
	s.run = func(ctx context.Context, schedule Schedule, number int) (*RunResult, error) {
		r, err := open(c, schedule)
		if err != nil {
			return nil, err
		}
		defer r.server.Close()
		if err := r.execute(ctx, execute, number); err != nil {
			return nil, err
		}
		return s.judged(ctx, r)
	}
	return s.report, s.sweep(ctx)
}

// sweeper is a sweep under way. It compares runs with the first one, which has no faults.
type sweeper struct {
	config *Config
	// run makes a run. It returns nil if the run was not made.
	run    func(ctx context.Context, schedule Schedule, number int) (*RunResult, error)
	normal *run // without faults
	report *Report

	mu           sync.Mutex
	ended, total int
}

func newSweeper(c *Config) *sweeper { return &sweeper{config: c, report: &Report{Faults: Faults()}} }

// sweep makes the run without faults, then those with.
func (s *sweeper) sweep(ctx context.Context) error {
	normal, err := s.run(ctx, nil, 0)
	if normal == nil {
		return err
	}
	s.report.Goal, s.report.WithoutFaults, s.report.Notes = s.goal(), *normal, s.notes()
	s.report.NotTried = s.config.notTried()
	if err := s.provesNothing(); err != nil {
		return err
	}
	if len(s.config.Only) > 0 {
		return s.all(ctx, []Schedule{s.config.Only})
	}
	if err := s.all(ctx, plan(s.config, thinned(normal.Requests))); err != nil || !s.config.Pairs {
		return err
	}
	var pairs []Schedule // learned from the passing runs with one fault
	for _, r := range s.report.Results {
		if r.Struck && len(r.Findings) == 0 {
			pairs = append(pairs, planPairs(s.config, r.schedule, r.Requests)...)
		}
	}
	return s.all(ctx, pairs)
}

// provesNothing returns an error if the run without faults cannot be compared with others.
func (s *sweeper) provesNothing() error {
	n, files := s.normal, s.config.Goal.Files
	switch {
	case !n.out.Success:
		return fmt.Errorf("sweep: the program fails without faults (%s): correct the error in its output. %s", n.How,
			n.requestsSent())
	case len(n.out.Files) < len(files):
		return fmt.Errorf("sweep: the goal names the files %v, and the program leaves only %v", files,
			slices.Sorted(maps.Keys(n.out.Files)))
	case len(n.notifier.emitted) > 0 && len(n.received) == 0:
		return fmt.Errorf("sweep: the program accepts no notification without faults: %s. Let it listen at the address of "+
			"-notify, and respond with a status of 2xx", listed(n.unaccepted))
	case len(n.Requests) == 0 && !s.config.inMemory && len(n.calls)+len(n.unknown) == 0:
		return errors.New("sweep: the program succeeds, but it sent no request to the reference server: let it read the " +
			"address of the service from SHIPPING_BASE_URL, and the key from SHIPPING_SECRET_KEY; if it continued from " +
			"files of an earlier run, let it write them to {dir}")
	case len(n.Requests) == 0:
		return fmt.Errorf("sweep: the program succeeds without a request that a fault can strike. %s", n.requestsSent())
	}
	return nil
}

// notes returns possible problems of the run without faults. Other runs, compared with it, do not show them.
func (s *sweeper) notes() (notes []string) {
	if len(s.normal.notifier.emitted) > 0 && len(s.goal().Documents) == 0 {
		notes = append(notes, "the program purchased nothing without faults: if it does so later, raise -quiet")
	}
	var twice []string
	for _, f := range s.normal.lint {
		if f.Rule == journal.LintBoughtTwice && !slices.Contains(s.config.Allow, f.Rule) {
			twice = append(twice, f.Detail)
		}
	}
	if len(twice) > 0 && s.config.Goal.Documents == nil {
		notes = append(notes, fmt.Sprintf("without faults, the program purchased more than once: %s: if that is wrong, "+
			"write -goal (in Go: Config.Goal)", strings.Join(twice, "; ")))
	}
	return notes
}

// all makes the runs of the schedules, several at once.
func (s *sweeper) all(ctx context.Context, schedules []Schedule) error {
	first := len(s.report.Results)
	s.report.planned = append(s.report.planned, schedules...)
	if room := s.config.MaxRuns - first; s.config.MaxRuns > 0 && len(schedules) > room {
		s.report.Left += len(schedules) - max(0, room)
		schedules = spread(schedules, max(0, room))
	}
	s.total += len(schedules)
	results, failures := make([]*RunResult, len(schedules)), make([]error, len(schedules))
	free := make(chan struct{}, s.config.Parallel)
	var group sync.WaitGroup
	for i, schedule := range schedules {
		free <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		group.Go(func() {
			results[i], failures[i] = s.run(ctx, schedule, first+i+1)
			s.progress(results[i])
			<-free
		})
	}
	group.Wait()
	for _, result := range results {
		if result != nil {
			s.report.Results = append(s.report.Results, *result)
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

// progress reports a run that was made.
func (s *sweeper) progress(r *RunResult) {
	if r == nil || s.config.Progress == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended++
	s.config.Progress(s.ended, s.total, *r)
}
