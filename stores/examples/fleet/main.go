// Fleet buys the customs and compliance documents for a list of shipments, on any number of machines. Each runs the
// same command. They divide the shipments, share one budget, and take over the shipments of a machine that dies.
// Nothing is bought twice.
//
//	cd stores && go run ./examples/fleet -in shipments.txt -batch "customs 2026-01" -budget 500000
//
// The list has a shipment's id on each line. DATABASE_URL, or the variables of psql (PGHOST, PGUSER, …), select the
// PostgreSQL; SHIPPING_BASE_URL and SHIPPING_SECRET_KEY select the service.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/stores/pgstore"
)

const usage = `Fleet buys the customs and compliance documents for a list of shipments, on several machines.

  fleet -in shipments.txt -batch "customs 2026-01" -budget 500000

Run the same command on each machine, at any time: together they buy everything once. The list has a
shipment's id on each line. DATABASE_URL, or the variables of psql (PGHOST, PGUSER, …), select the
PostgreSQL; SHIPPING_BASE_URL and SHIPPING_SECRET_KEY select the service.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// job holds the flags.
type job struct {
	batch         string
	lease, settle time.Duration
	budget        shipping.Budget
	items         []batch.Item
}

func run(ctx context.Context, args []string, out io.Writer) error {
	j := &job{}
	flags := flag.NewFlagSet("fleet", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { fmt.Fprint(out, usage); flags.PrintDefaults() }
	in := flags.String("in", "", "`file` with a shipment's id on each line")
	flags.StringVar(&j.batch, "batch", "", "`name` of the batch, the same on each machine and new for a new list")
	flags.Func("budget", "the most `money` that all machines together may spend over all runs",
		func(text string) error { return j.budget.Amount.UnmarshalText([]byte(text)) })
	flags.StringVar(&j.budget.Currency, "currency", "NGN", "the budget's `currency`: the wallet's")
	flags.DurationVar(&j.lease, "lease", 2*time.Minute, "how long a shipment stays with a machine that is not heard of")
	flags.DurationVar(&j.settle, "settle", time.Minute, "how long a purchase without a response must read as a draft to count as not charged")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *in == "" || j.batch == "" || !j.budget.Amount.Known() {
		return errors.New("-in, -batch and -budget are required; see -h")
	}
	if err := j.read(*in); err != nil {
		return err
	}
	client, err := shipping.NewClientFromEnv()
	if err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return fmt.Errorf("DATABASE_URL: %w", err)
	}
	defer pool.Close()
	if err := pgstore.Migrate(ctx, pool); err != nil {
		return fmt.Errorf("no journal, so nothing was bought; set DATABASE_URL to its PostgreSQL: %w", err)
	}
	return j.work(ctx, client, pool, out)
}

// read reads the list.
func (j *job) read(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, id := range strings.Fields(string(text)) {
		j.items = append(j.items, batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: id}})
	}
	if len(j.items) == 0 {
		return fmt.Errorf("%s: the list is empty: write a shipment's id on each line", path)
	}
	return nil
}

func (j *job) work(ctx context.Context, client *shipping.Client, pool *pgxpool.Pool, out io.Writer) error {
	here := 0
	report, err := batch.Run(ctx, client, j.items, &batch.Options{
		Select:   shipping.SelectAutomated,
		Budget:   &j.budget,
		Purchase: shipping.PurchaseOptions{QuietFor: j.settle},
		Poll:     shipping.PollOptions{MinInterval: 500 * time.Millisecond},
		Journal:  pgstore.NewBatchJournal(pool, j.batch, j.lease),
		Progress: func(event batch.Event) {
			if event.Step == "purchased" {
				here++
				fmt.Fprintf(out, "%s: bought %v for %s %s\n", event.Item.Key, event.Item.Documents, event.Item.Amount.StringFixed(2), event.Item.Currency)
			}
		},
	})
	if report == nil {
		return err
	}
	for _, result := range report.Results {
		if result.Err != nil {
			fmt.Fprintf(out, "%s: %s: %v\n", result.Key, result.State, result.Err)
		}
	}
	fmt.Fprintf(out, "%d of %d completed, %d bought here; all machines spent %s of %s %s\n", report.Count(batch.StateCompleted),
		len(report.Results), here, report.Committed.StringFixed(2), j.budget.Amount.StringFixed(2), j.budget.Currency)
	if err != nil {
		return fmt.Errorf("%w; nothing is lost: run the same command again to continue", err)
	}
	return nil
}
