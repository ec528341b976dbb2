// Nightly is a job that runs every night. It buys the documents of a list of shipments within the budget of the night,
// and writes the cheapest rates and the transactions of a wallet to CSV files. Kill it at any moment and run it again
// with the same night: it continues, and buys nothing twice. If something is open, it prints the reason, and exits with
// 75 if running the same night again may complete it, and with 1 if a person is needed.
//
//	nightly -night 2026-11-26 -in shipments.txt -wallet VA-0123456789 -budget "250000 NGN" -out /var/lib/nightly
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

type job struct {
	client                      *shipping.Client
	night, list, wallet, folder string
	budget                      *shipping.Budget
}

func main() {
	var j job
	flag.StringVar(&j.night, "night", "",
		"the `date` on which the job was due, from the scheduler: the same for each restart")
	flag.StringVar(&j.list, "in", "shipments.txt", "a `file` with the ids of the shipments")
	flag.StringVar(&j.wallet, "wallet", "", "the `wallet` to export")
	flag.StringVar(&j.folder, "out", "", "the `folder` of the journal and the CSV files, the same for each night")
	budget := flag.String("budget", "", "the most `money` to spend in the night")
	flag.Parse()
	if j.night == "" || j.wallet == "" || *budget == "" || !filepath.IsAbs(j.folder) {
		log.Fatal("nightly: -night, -wallet and -budget are required, and -out must be an absolute path")
	}
	var clientErr, budgetErr error
	j.client, clientErr = shipping.NewClientFromEnv()
	j.budget, budgetErr = shipping.ParseBudget(*budget)
	if err := errors.Join(clientErr, budgetErr); err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	switch again, err := j.run(ctx); {
	case err == nil:
	case again:
		log.Print(err, "\nnightly: run the same night again: it continues, and purchases nothing twice")
		os.Exit(75) // EX_TEMPFAIL
	default:
		log.Fatal(err, "\nnightly: a person must remove these causes; a run of the same night then continues")
	}
}

// run does the three parts of the job, and reports whether another run may do the rest. A part that fails does not
// stop the others.
func (j *job) run(ctx context.Context) (again bool, err error) {
	rates := j.rates(ctx)
	report, err := j.documents(ctx)
	export, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Minute) // what was bought, also after SIGTERM
	defer stop()
	lists := errors.Join(rates, j.transactions(export))
	failed, ok := errors.AsType[*shipping.Error](lists)
	again = report.Retryable() || ok && failed.Retryable() || errors.Is(lists, shipping.ErrIncomplete) ||
		errors.Is(err, batch.ErrInUse) || ctx.Err() != nil
	return again, errors.Join(lists, err, report.Err())
}

func (j *job) documents(ctx context.Context) (report *batch.Report, err error) {
	list, err := os.ReadFile(j.list)
	if err != nil {
		return nil, err
	}
	journal, err := batch.OpenFile(filepath.Join(j.folder, "batch.journal")) // one for all nights
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	records, err := journal.Records()
	if err != nil {
		return nil, err
	}
	var items []batch.Item
	seen := map[string]bool{}
	for _, id := range strings.Fields(string(list)) {
		if !seen[id] {
			items = append(items, batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: id}})
		}
		seen[id] = true
	}
	items = append(items, batch.Unfinished(records, items)...) // what an earlier night has begun is completed, too
	report, err = batch.Run(ctx, j.client, items, &batch.Options{
		Select: shipping.SelectAutomated, Journal: journal, Budget: j.budget, Period: j.night,
	})
	if report == nil {
		return nil, err
	}
	completed, nothing := report.Count(batch.StateCompleted), report.Count(batch.StateDraft)
	fmt.Printf("of %d shipments, %d are completed, %d have nothing to buy, and %d are open; %s of %s spent or reserved tonight\n",
		len(items), completed, nothing, len(items)-completed-nothing, report.Committed.StringFixed(2), j.budget)
	return report, errors.Join(err, j.results(report))
}
