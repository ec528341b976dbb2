package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/internal/shell"
	"github.com/shipping-go/shipping/mockserver/journal"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

func sweepCommand() command {
	return command{
		word: "sweep", summary: "run a program under every fault and report whether it pays twice", argument: "[flags] -- PROGRAM [ARGUMENT…]", many: true,
		about: `Runs the program once without faults and learns its requests, then once for every fault at every request: a
lost, late, broken or empty response, 500, 503, 429, a reset connection, records that appear in a list. Each run has
its own world. The program reads:

  ` + baseURLVariable + `, ` + secretKeyVariable + `          the service, as in production
  SHIPPING_WALLET, SHIPPING_SHIPMENT, SHIPPING_INVOICE,
  SHIPPING_WEBHOOK                                some of its records; the same in every run
  SWEEP_DIR                                       an empty folder of this run, which a second start finds again

In arguments {dir}, {wallet}, {shipment}, {invoice} and {webhook} are replaced by these values. Give the program short
waits: its time is real. A run fails if a document was bought more often than without faults, if the program exits
with 0 and something is missing, if it fails after a lost purchase without reading the request again, if it sends
again what must not be sent again, if lint finds something, or if it does not end. See docs/sweep.md.

The exit code is 0 if no run fails, 1 if one does or the program fails without faults.`,
		examples: []string{
			"sweep -- ./buy",
			"sweep -restart -pairs -- ./buy",
			"sweep -only regulatory.purchase#1:lost-after -- ./buy     # one run again",
		},
		define: func(f *flags) action {
			s := sweeping{
				flags:    f,
				restart:  f.Bool("restart", false, "start the program again if it fails, and also kill it after each request that took effect"),
				pairs:    f.Bool("pairs", false, "try two faults in a run too, after all single ones"),
				only:     f.text("only", text{}, "run this `SCHEDULE` and no other, such as regulatory.purchase#1:lost-after"),
				faults:   f.text("faults", text{}, "try only the faults of these `NAMES`, with commas between them: "+faultNames()),
				notify:   f.text("notify", text{}, "notify the program of a shipment at this `URL`, such as http://127.0.0.1:{port}/hooks, and ask it to end (SIGTERM) afterwards"),
				goal:     f.text("goal", text{}, "what the program is meant to do, as JSON or a `FILE` of it, in place of what it does without faults; -json prints it as goal"),
				every:    f.Bool("every-request", false, "strike each of several equal requests, such as polls; without, the first two and the last"),
				parallel: f.Int("parallel", 8, "the `NUMBER` of runs at the same time"),
				maxRuns:  f.Int("max-runs", 1000, "the `NUMBER` of runs with faults at most; 0 for no limit"),
				timeout:  f.Duration("timeout", 2*time.Minute, "the `TIME` that a run may take"),
				patience: f.Duration("patience", 30*time.Second, "the longest `TIME` that the program waits for a response; late responses take a fifth longer; 0 tries none"),
				allow:    f.text("allow", text{}, "`RULES` of lint that are not findings, with commas between them"),
				seed:     f.Uint64("seed", 1, "the random `SEED` of the worlds"),
				scenario: f.text("scenario", text{value: "default"}, "the `SCENARIO` of the worlds, such as lowfunds"),
				assume:   f.text("assume", text{value: "GenerationScale=0.02"}, "`ASSUMPTIONS` of the worlds, such as PerPageCap=10; by default documents take a fiftieth of their time"),
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
		return p.fail("name the program: mockserver sweep -- ./program arguments")
	}
	config, err := s.config()
	if err != nil {
		return p.fail("%v", err)
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
	if ctx.Err() != nil {
		return p.fail("interrupted after %d runs; no process is left", show.ended)
	}
	if err != nil {
		if report != nil && report.WithoutFaults.Output != "" {
			fmt.Fprint(p.stderr, printableLines(report.WithoutFaults.Output))
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
	return p.deliver(len(report.Failing()) == 0, *s.json, report, report.WriteText)
}

// config returns the settings of the sweep from the flags.
func (s *sweeping) config() (sweep.Config, error) {
	c := sweep.Config{
		Options: []mockserver.Option{mockserver.WithSeed(*s.seed), mockserver.WithScenario(*s.scenario)},
		Faults:  words(*s.faults), EveryRequest: *s.every, Pairs: *s.pairs, MaxRuns: *s.maxRuns, Patience: *s.patience,
		Restart: *s.restart, Parallel: *s.parallel, Timeout: *s.timeout,
	}
	if *s.notify != "" && *s.parallel > 1 && !strings.Contains(*s.notify, "{port}") {
		return c, errors.New("-notify needs {port} in the URL, because every run has a port of its own; or -parallel 1")
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
	for _, name := range g.Files {
		if !filepath.IsLocal(name) {
			return g, fmt.Errorf("-goal: %q is not the name of a file in {dir}", name)
		}
	}
	return g, nil
}

// words splits a list with commas.
func words(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ","), func(word string) bool { return word == "" })
}

// notReplayed are the flags that select runs or name the files of reports.
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
