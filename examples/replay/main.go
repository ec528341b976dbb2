// Replay replays missed webhook notifications: those of a list of deliveries, or of shipments and events.
//
//	go run ./examples/replay                            # a demonstration on the reference server
//	go run ./examples/replay -in missed.csv -dry-run    # checks the list, sends nothing
//	go run ./examples/replay -in missed.csv
//
// The report is a line of JSON for each notification. Interrupt it at any time and run the same command again:
// notifications that are queued in the report are skipped.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

const usage = `Replay replays missed webhook notifications.

  replay                            a demonstration on the reference server
  replay -in missed.csv -dry-run    checks the list, sends nothing
  replay -in missed.csv             sends; run it again to continue, or to retry failures

missed.csv has a header line. Each line fills in delivery_id, or shipment_id and event, and may
name the one webhook to send to:

  delivery_id,shipment_id,event,webhook_id
  WD-0O6K30WTICYRSY40,,,
  ,SH-TLMHDHXQMDVVJ4U9,shipment.updated,WA-4754466781

SHIPPING_BASE_URL and SHIPPING_SECRET_KEY select the service.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

// job holds the flags.
type job struct {
	in, report  string
	dryRun      bool
	concurrency int
	client      *shipping.Client
	requests    []shipping.ReplayRequest
	arrived     func(context.Context, *batch.ReplayReport) (int, error) // of the demonstration; else nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	j := &job{}
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { fmt.Fprint(out, usage); flags.PrintDefaults() }
	flags.StringVar(&j.in, "in", "", "CSV `file` of the notifications; empty: a demonstration")
	flags.StringVar(&j.report, "report", "", "`file` with the outcomes, from which a later run continues (default that of -in and .report.jsonl)")
	flags.BoolVar(&j.dryRun, "dry-run", false, "check the list, send nothing")
	flags.IntVar(&j.concurrency, "concurrency", 4, "`number` of replays at the same time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	leave, err := j.prepare(out)
	defer leave()
	if err != nil {
		return err
	}
	return j.work(ctx, out)
}

func (j *job) prepare(out io.Writer) (leave func(), err error) {
	if j.in == "" && os.Getenv(shipping.EnvBaseURL) != "" {
		return func() {}, errors.New("-in missed.csv is required; unset " + shipping.EnvBaseURL + " for a demonstration")
	}
	if j.in == "" {
		return j.demonstrate(out)
	}
	leave = func() {}
	if j.report == "" {
		j.report = j.in + ".report.jsonl"
	}
	if j.requests, err = readList(j.in); err == nil {
		j.client, err = shipping.NewClientFromEnv()
	}
	return leave, err
}

func (j *job) work(ctx context.Context, out io.Writer) error {
	log, err := openLog(j.report, j.dryRun)
	if err != nil {
		return err
	}
	defer log.close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	show := newProgress(out)
	report, err := batch.Replay(ctx, j.client, j.requests, &batch.ReplayOptions{
		Concurrency: j.concurrency, DryRun: j.dryRun, Skip: log.skip,
		Progress: func(outcome batch.ReplayOutcome, ended, total int) {
			if err := log.add(outcome); err != nil {
				stop(fmt.Errorf("the report cannot be written, so nothing more was sent: %w", err))
			}
			show.update(outcome, ended, total)
		},
	})
	show.close()
	if report == nil {
		return err
	}
	for _, state := range []batch.ReplayState{
		batch.ReplayQueued, batch.ReplayChecked, batch.ReplaySkipped,
		batch.ReplayFailed, batch.ReplayUnknown, batch.ReplayNotSent,
	} {
		if n := report.Count(state); n > 0 {
			fmt.Fprintf(out, "%5d %s\n", n, state)
		}
	}
	if j.arrived != nil && err == nil && !j.dryRun {
		n, err := j.arrived(ctx, report)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%d arrived at the shop, signed. The outcomes are in %s\n", n, j.report)
		return nil
	}
	failed, unknown := report.Count(batch.ReplayFailed), report.Count(batch.ReplayUnknown)
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted; nothing is lost: run the same command again to continue")
	case err != nil:
		return err
	case j.dryRun && failed > 0:
		return fmt.Errorf("%d of the list are invalid: correct them", failed)
	case failed+unknown > 0:
		return fmt.Errorf("%d failed and %d got no response: see %s; run the same command again to try those", failed, unknown, j.report)
	}
	return nil
}
