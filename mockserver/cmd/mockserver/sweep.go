package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/freeport"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/internal/shell"
	"github.com/shipping-go/shipping/mockserver/journal"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

func sweepCommand(env environment) *cli.Command {
	return &cli.Command{
		Name: "sweep", Usage: "run a program under every fault, and report if it pays twice", ArgsUsage: "-- PROGRAM " +
			"[ARGUMENT…]",
		Description: `Runs the program once without faults, and then once for every fault at every
request. With -restart, also kills the program after each request and starts it
again. With -notify, also sends it notifications that are lost, late, or out of
order. Each run has its own reference server. docs/sweep.md explains how to fix
each finding, and what sweep cannot find. The waits of the program take real
time: pass flags that shorten them.

The program reads these variables; {shipment} and so on in its arguments are
replaced by the same values:

  ` + baseURLVariable + `, ` + secretKeyVariable + `   the service, as in production
  SHIPPING_SHIPMENT, SHIPPING_WALLET,      {shipment}, {wallet}: records of the
  SHIPPING_INVOICE, SHIPPING_WEBHOOK       account; {invoice}, {webhook}
  SWEEP_DIR                                {dir}: an empty folder of the run
  SWEEP_PORT                               {port}: with -notify, to listen on

The faults are` + faultNames() + `.

The exit code is 0 if no run fails. It is 1 if one does, or if the program fails
without faults; 2 if the command line is invalid.`,
		Metadata: examples(
			"sweep -- ./buy",
			"sweep -restart -- python3 buy.py {shipment} {dir}",
			"sweep -notify http://127.0.0.1:{port}/hooks -- ./receive {port}",
			"sweep -setup shipments.json -- ./buy    # own shipments in each run",
			"sweep -only regulatory.purchase#1:lost-after -- ./buy   # one run",
		),
		Flags: []cli.Flag{
			env.toggle("restart", "start the program again if it fails; also kill it"),
			env.toggle("pairs", "then try two faults in each run; see -max-runs"),
			env.text("only", "", "one run: regulatory.purchase#1:lost-after"),
			env.text("faults", "", "try only these faults, separated by commas"),
			env.text("notify", "", "send notifications to this URL, which has {port}"),
			env.time("quiet", 10*time.Second, "idle time until a notified program is ended"),
			env.text("setup", "", "a JSON file of /_mock/ requests that prepare each server"),
			env.text("goal", "", "a JSON file, or JSON, with the expected purchases"),
			env.number("parallel", 8, "the number of runs at the same time"),
			env.number("max-runs", 1000, "the most runs with faults; 0 for no limit"),
			env.time("timeout", 8*time.Minute, "the longest run"),
			env.time("patience", 30*time.Second, "how long the program waits for a response"),
			env.text("allow", "", "rules of lint to ignore, separated by commas"),
			env.number("seed", 1, "the random seed of the servers"),
			env.text("scenario", "default", "the scenario of the servers, such as lowfunds"),
			env.text("dialect", "time.generation=0.02", "the servers' dialect, as in serve"),
			env.toggle("json", "print the report as JSON"),
		},
		Action: runSweep,
	}
}

// faultNames lists the faults, six in a line.
func faultNames() string {
	var list strings.Builder
	for i, f := range sweep.Faults() {
		separator := ", "
		if i%6 == 0 {
			separator = "\n  "
		}
		list.WriteString(separator + f.Name)
	}
	return list.String()
}

func runSweep(ctx context.Context, cmd *cli.Command) error {
	args, stderr := cmd.Args().Slice(), cmd.Root().ErrWriter
	if len(args) == 0 {
		return exit{exitUsage, errors.New("name the program: mockserver sweep -- ./program arguments")}
	}
	config, err := sweepConfig(cmd)
	if err = cmp.Or(err, checkPlaceholders(args)); err != nil {
		return exit{exitUsage, err}
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return fmt.Errorf("cannot start the program: %w; name an executable file, or a command in PATH", err)
	}
	folder, err := os.MkdirTemp("", "mockserver-sweep-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	tested := &program{args: args, notify: cmd.String("notify"), folder: folder, files: config.Goal.Files,
		free: freeport.New()}
	if tested.notify != "" {
		prepare := config.Setup
		config.Notify = history
		config.Setup = func(w *mockserver.World) error {
			if err := prepare(w); err != nil {
				return err
			}
			return tested.setUp(w)
		}
	}
	show := &progress{out: stderr}
	config.Progress = show.update
	report, err := sweep.Sweep(ctx, config, tested.execute)
	interrupted := ctx.Err() != nil
	switch {
	case report == nil: // no run was made
		return exit{exitUsage, err}
	case err != nil && !interrupted:
		if output := report.WithoutFaults.Output; output != "" {
			fmt.Fprintf(stderr, "the output of the program:\n%s\n", strings.TrimSuffix(printableLines(output), "\n"))
		}
		return err
	}
	for i := range report.Results {
		report.Results[i].Replay = replay(cmd, report.Results[i].Schedule)
	}
	if interrupted && show.total == 0 {
		return errors.New("interrupted before a run with faults had ended; no process is left")
	}
	err = printReport(cmd, len(report.Failing()) == 0, report, report.WriteText)
	if interrupted {
		return fmt.Errorf("interrupted after %d of %s; no process is left", show.ended,
			spelling.Counted(show.total, "run", "runs"))
	}
	return err
}

// sweepConfig returns the settings of the sweep from the flags.
func sweepConfig(cmd *cli.Command) (sweep.Config, error) {
	notify := cmd.String("notify")
	d, err := readDialect(cmd.String("dialect"))
	if err != nil {
		return sweep.Config{}, err
	}
	c := sweep.Config{
		Options: []mockserver.Option{mockserver.WithDialect(d), mockserver.WithSeed(cmd.Uint64("seed")),
			mockserver.WithScenario(cmd.String("scenario"))},
		Faults: words(cmd.String("faults")), Pairs: cmd.Bool("pairs"), MaxRuns: int(cmd.Uint64("max-runs")),
		Patience: cmd.Duration("patience"), Restart: cmd.Bool("restart"), Quiet: cmd.Duration("quiet"),
		Parallel: int(cmd.Uint64("parallel")), Timeout: cmd.Duration("timeout"),
		Setup: func(*mockserver.World) error { return nil },
	}
	if file := cmd.String("setup"); file != "" {
		if c.Setup, err = readSetup(file); err != nil {
			return c, err
		}
	}
	if notify != "" && c.Parallel > 1 && !strings.Contains(notify, "{port}") {
		return c, errors.New("-notify needs {port} in the URL, because programs that run at the same time need different " +
			"ports; or set -parallel 1")
	}
	if c.Patience == 0 {
		c.Patience = -1
	}
	for _, rule := range words(cmd.String("allow")) {
		if !slices.Contains(journal.LintRules(), journal.LintRule(rule)) {
			return c, fmt.Errorf("-allow: unknown rule %q%s", rule, spelling.Suggestion(rule, texts(journal.LintRules())))
		}
		c.Allow = append(c.Allow, journal.LintRule(rule))
	}
	if only := cmd.String("only"); only != "" {
		for _, name := range []string{"pairs", "faults"} {
			if cmd.IsSet(name) {
				return c, fmt.Errorf("-%s does nothing with -only: leave one out", name)
			}
		}
		c.Only, err = sweep.ParseSchedule(only)
	}
	if goal := cmd.String("goal"); err == nil && goal != "" {
		c.Goal, err = readGoal(goal, c)
	}
	return c, err
}

// readGoal reads a goal from a file or, if it begins with a brace, from the text itself. The placeholders in it stand
// for records of the worlds of the sweep.
func readGoal(goal string, c sweep.Config) (g sweep.Goal, err error) {
	text := []byte(goal)
	if !strings.HasPrefix(goal, "{") {
		if text, err = os.ReadFile(goal); err != nil {
			return g, fmt.Errorf("-goal: %w", err)
		}
	}
	srv := mockserver.New(slices.Concat(c.Options, []mockserver.Option{mockserver.WithoutListener()})...)
	defer srv.Close()
	if err := srv.Err(); err != nil {
		return g, err
	}
	if err := c.Setup(srv.World); err != nil {
		return g, err
	}
	read := json.NewDecoder(strings.NewReader(placeholders(describe(srv.World).settings()).Replace(string(text))))
	read.DisallowUnknownFields()
	if err := read.Decode(&g); err != nil {
		return g, fmt.Errorf(`-goal: %w; write it as {"documents": {"{shipment}": ["FDA"]}}; the fields `+
			"notifications and files are lists", err)
	}
	for of, types := range g.Documents {
		if strings.HasPrefix(of, "SH-") && !strings.HasPrefix(of, "SH-MAGIC") && !slices.Contains(srv.Shipments(), of) {
			return g, fmt.Errorf("-goal: no shipment %q on the server: use {shipment}", of)
		}
		for _, one := range types {
			if known := shipping.DocumentTypes(); !slices.Contains(known, shipping.DocumentType(one)) {
				return g, fmt.Errorf("-goal: unknown document type %q%s", one, spelling.Suggestion(one, texts(known)))
			}
		}
	}
	for _, name := range g.Files {
		if !filepath.IsLocal(name) {
			return g, fmt.Errorf("-goal: %q is not the name of a file in {dir}", name)
		}
	}
	return g, nil
}

// texts returns names as texts.
func texts[T ~string](names []T) (list []string) {
	for _, name := range names {
		list = append(list, string(name))
	}
	return list
}

// words splits a list at commas.
func words(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ","), func(word string) bool { return word == "" })
}

// notReplayed are the flags that select runs or the form of the report.
var notReplayed = []string{"only", "pairs", "faults", "max-runs", "parallel", "json"}

// replay returns the command that makes a run again.
func replay(cmd *cli.Command, schedule string) string {
	line := []string{"mockserver", "sweep"}
	for _, f := range cmd.Flags {
		name := f.Names()[0]
		if !cmd.IsSet(name) || slices.Contains(notReplayed, name) {
			continue
		}
		if value := cmd.Value(name); value == true {
			line = append(line, "-"+name)
		} else if value != false {
			line = append(line, "-"+name, shell.Quote(fmt.Sprint(value)))
		}
	}
	line = append(line, "-only", shell.Quote(schedule), "--")
	for _, arg := range cmd.Args().Slice() {
		line = append(line, shell.Quote(arg))
	}
	return strings.Join(line, " ")
}

// progress prints how far a sweep is: a line for every tenth.
type progress struct {
	out                   io.Writer
	ended, total, failing int
}

func (p *progress) update(ended, total int, r sweep.RunResult) {
	p.ended, p.total = ended, total
	if len(r.Findings) > 0 {
		p.failing++
	}
	if ended == total || ended*10/total != (ended-1)*10/total {
		fmt.Fprintf(p.out, "%d of %s, %d failing\n", ended, spelling.Counted(total, "run", "runs"), p.failing)
	}
}
