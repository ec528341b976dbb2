package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/internal/shell"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/journal"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

func sweepCommand() command {
	return command{
		word: "sweep", summary: "run a program under every fault and report whether it pays twice", argument: "[flags] -- PROGRAM [ARGUMENT…]", many: true,
		about: `Runs the program once without faults and records its requests. Then runs it once for every fault at every
request: a lost, late, truncated or empty response, a request that takes effect late, an HTML page, 500, 503, 429, a
reset connection, rows that appear in a list or vanish. With -restart, also kills the program after each request and starts it again. With -notify, also
sends it notifications that are lost, late, or out of order. Each run has its own reference server.

The program reads these variables; {shipment} and so on in its arguments are replaced by the same values:

  ` + baseURLVariable + `, ` + secretKeyVariable + `       the service, as in production
  SHIPPING_SHIPMENT, SHIPPING_WALLET,          {shipment}, {wallet}: records of the account, the same in every run
  SHIPPING_INVOICE, SHIPPING_WEBHOOK           {invoice}, {webhook}
  SWEEP_DIR                                    {dir}: an empty folder of the run, for files of the program
  SWEEP_PORT                                   {port}: with -notify, the port to listen on

A run fails if

  paid-twice   a document was purchased more often than without faults
  unfinished   money was spent for a request that did not complete
  missing      the program succeeded without a purchase, replay or notification of the run without faults
  different    a purchase or a replay is not in the goal, or a file of -goal is not as without faults
  unsettled    the program failed after a purchase, and did not read whether it was charged
  sent-again   the program sent a purchase or a replay a second time
  timed-out    the program did not end
  lint         the program ignored Retry-After, or broke another rule of lint
  not-struck   the program did not make the request of -only

The waits of the program take real time: pass flags that shorten them. Use -restart only if the program keeps a record
of its purchases. docs/sweep.md explains how to fix each finding, and what sweep cannot find.

The exit code is 0 if no run fails. It is 1 if one does, or if the program fails without faults;
2 if the command line is invalid.`,
		examples: []string{
			"sweep -- ./buy",
			"sweep -restart -- python3 buy.py {shipment} {dir}",
			"sweep -notify http://127.0.0.1:{port}/hooks -- ./receive -port {port}",
			"sweep -only regulatory.purchase#1:lost-after -- ./buy     # one run again",
		},
		define: func(f *flags) action {
			s := sweeping{
				flags:    f,
				restart:  f.Bool("restart", false, "start the program again if it fails, and also kill it after each request"),
				pairs:    f.Bool("pairs", false, "then try two faults in each run; see -max-runs"),
				only:     f.text("only", text{}, "run only this `SCHEDULE`, such as regulatory.purchase#1:lost-after"),
				faults:   f.text("faults", text{}, "try only the faults with these `NAMES`, separated by commas: "+faultNames()),
				notify:   f.text("notify", text{}, "send notifications about {shipment} to this `URL`, such as http://127.0.0.1:{port}/hooks, then end the program with SIGTERM"),
				goal:     f.text("goal", text{}, "a JSON `FILE`, or JSON, with the purchases that are expected, and files to compare; see docs/sweep.md"),
				every:    f.Bool("every-request", false, "try every one of several equal requests, such as polls, not only the first two and the last"),
				parallel: f.Int("parallel", 8, "the `NUMBER` of runs at the same time"),
				maxRuns:  f.Int("max-runs", 1000, "the maximum `NUMBER` of runs with faults; 0 for no limit"),
				timeout:  f.Duration("timeout", 2*time.Minute, "the maximum `TIME` of a run"),
				patience: f.Duration("patience", 30*time.Second, "the `TIME` after which the program stops waiting for a response; 0 if late responses are not tried"),
				allow:    f.text("allow", text{}, "`RULES` of lint to ignore, separated by commas"),
				seed:     f.Uint64("seed", 1, "the random `SEED` of the servers"),
				scenario: f.text("scenario", text{value: "default"}, "the `SCENARIO` of the servers, such as lowfunds"),
				assume:   f.text("assume", text{value: "GenerationScale=0.02"}, "`ASSUMPTIONS` of the servers, separated by commas; by default documents take a fiftieth of their time"),
				json:     f.Bool("json", false, "print the report as JSON"),
				junit:    f.text("junit", text{file: true}, "write the report as JUnit XML to this `FILE`"),
			}
			return s.run
		},
	}
}

// sweeping is the flags of sweep.
type sweeping struct {
	flags                       *flags
	restart, pairs, every, json *bool
	only, faults, allow, junit  *string
	notify, goal                *string
	scenario, assume            *string
	parallel, maxRuns           *int
	timeout, patience           *time.Duration
	seed                        *uint64
}

func faultNames() string {
	var names []string
	for _, f := range sweep.Faults() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

func (s *sweeping) run(ctx context.Context, p program) int {
	if len(p.args) == 0 {
		return sweepCommand().usageError(p, errors.New("name the program: mockserver sweep -- ./program arguments"))
	}
	config, err := s.config()
	if err = cmp.Or(err, unknownPlaceholder(p.args...)); err != nil {
		return sweepCommand().usageError(p, err)
	}
	folder, err := os.MkdirTemp("", "mockserver-sweep-")
	if err != nil {
		return p.fail("%v", err)
	}
	defer os.RemoveAll(folder)
	program := &subject{args: p.args, notify: *s.notify, folder: folder, files: config.Goal.Files, ports: map[*mockserver.World]string{}}
	if program.notify != "" {
		config.Setup, config.Notify = program.setUp, history
	}
	show := progressTo(p.stderr)
	config.Progress = show.update
	report, err := sweep.Sweep(ctx, config, program.execute)
	show.end()
	interrupted := ctx.Err() != nil
	if report == nil { // no run was made
		return sweepCommand().usageError(p, err)
	}
	if err != nil && !interrupted {
		if report.WithoutFaults.Output != "" {
			fmt.Fprint(p.stderr, printableLines(report.WithoutFaults.Output))
		}
		if program.unstarted != nil {
			return p.fail("cannot start %s: %v", p.args[0], program.unstarted)
		}
		return p.fail("%v", err)
	}
	for i := range report.Results {
		report.Results[i].Replay = s.replay(report.Results[i].Schedule, p.args)
	}
	if *s.junit != "" {
		if err := writeJUnit(*s.junit, report); err != nil {
			return p.fail("%v", err)
		}
	}
	if interrupted && show.total == 0 {
		return p.fail("interrupted in the run without faults; no process is left")
	}
	code := p.deliver(len(report.Failing()) == 0, *s.json, report, report.WriteText)
	if interrupted {
		return p.fail("interrupted after %d of %s; no process is left", show.ended, spelling.Counted(show.total, "run", "runs"))
	}
	return code
}

// config returns the settings of the sweep from the flags.
func (s *sweeping) config() (sweep.Config, error) {
	c := sweep.Config{
		Options: []mockserver.Option{mockserver.WithSeed(*s.seed), mockserver.WithScenario(*s.scenario)},
		Faults:  words(*s.faults), EveryRequest: *s.every, Pairs: *s.pairs, MaxRuns: *s.maxRuns, Patience: *s.patience,
		Restart: *s.restart, Parallel: *s.parallel, Timeout: *s.timeout,
	}
	if *s.notify != "" && *s.parallel > 1 && !strings.Contains(*s.notify, "{port}") {
		return c, errors.New("-notify needs {port} in the URL, because programs that run at the same time need different ports; or set -parallel 1")
	}
	if c.Patience == 0 {
		c.Patience = -1
	}
	for _, rule := range words(*s.allow) {
		c.Allow = append(c.Allow, journal.LintRule(rule))
	}
	for _, word := range words(*s.assume) {
		name, value, found := strings.Cut(word, "=")
		if !found {
			return c, fmt.Errorf("-assume %q is not NAME=VALUE", word)
		}
		c.Options = append(c.Options, mockserver.WithAssumption(name, value))
	}
	var err error
	if *s.only != "" {
		c.Only, err = sweep.ParseSchedule(*s.only)
	}
	if err == nil && *s.goal != "" {
		c.Goal, err = readGoal(*s.goal, c.Options)
	}
	return c, err
}

// readGoal reads a goal from a file or, if it begins with a brace, from the text itself. The placeholders in it stand for
// records of the worlds that the options make.
func readGoal(goal string, options []mockserver.Option) (g sweep.Goal, err error) {
	text := []byte(goal)
	if !strings.HasPrefix(goal, "{") {
		if text, err = os.ReadFile(goal); err != nil {
			return g, fmt.Errorf("-goal: %w", err)
		}
	}
	if err := unknownPlaceholder(string(text)); err != nil {
		return g, fmt.Errorf("-goal: %w", err)
	}
	srv := mockserver.New(slices.Concat(options, []mockserver.Option{mockserver.WithoutListener()})...)
	defer srv.Close()
	if err := srv.Err(); err != nil {
		return g, err
	}
	read := json.NewDecoder(strings.NewReader(placeholders(srv.World).Replace(string(text))))
	read.DisallowUnknownFields()
	if err := read.Decode(&g); err != nil {
		return g, fmt.Errorf("-goal: %w; the fields are documents, notifications and files", err)
	}
	for _, subject := range subjects(g) {
		if known := slices.Concat(srv.Shipments(), srv.Invoices()); !slices.Contains(known, subject) {
			return g, fmt.Errorf("-goal: unknown shipment or invoice %q%s", subject, didYouMean(subject, known))
		}
	}
	for _, name := range g.Files {
		if !filepath.IsLocal(name) {
			return g, fmt.Errorf("-goal: %q is not the name of a file in {dir}", name)
		}
	}
	return g, nil
}

// subjects returns the shipments and invoices that a goal names, in order.
func subjects(g sweep.Goal) []string {
	named := slices.Collect(maps.Keys(g.Documents))
	for _, what := range g.Notifications {
		_, rest, _ := strings.Cut(what, " of ")
		shipment, _, _ := strings.Cut(rest, " to ")
		named = append(named, shipment)
	}
	return slices.Sorted(slices.Values(named))
}

// words splits a list with commas.
func words(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ","), func(word string) bool { return word == "" })
}

// notReplayed are the flags that select runs or the form of the report.
var notReplayed = []string{"only", "pairs", "faults", "every-request", "max-runs", "parallel", "json", "junit"}

// replay returns the command that makes a run again.
func (s *sweeping) replay(schedule string, args []string) string {
	line := []string{"mockserver", "sweep"}
	s.flags.Visit(func(f *flag.Flag) {
		switch {
		case slices.Contains(notReplayed, f.Name):
		case takesValue(f):
			line = append(line, "-"+f.Name, shell.Quote(f.Value.String()))
		case f.Value.String() == "true":
			line = append(line, "-"+f.Name)
		}
	})
	line = append(line, "-only", shell.Quote(schedule), "--")
	for _, arg := range args {
		line = append(line, shell.Quote(arg))
	}
	return strings.Join(line, " ")
}

func writeJUnit(path string, report *sweep.Report) error {
	file, err := os.Create(filepath.Clean(path))
	if err != nil {
		return err
	}
	if err := report.WriteJUnit(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
