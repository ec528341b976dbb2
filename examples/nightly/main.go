// Nightly is a job that runs every night. It buys the documents of a list of shipments within the budget of the night, and
// writes the cheapest rates and the transactions of a wallet to CSV files. Kill it at any moment and run it again with the
// same night: it continues, and buys nothing twice. If something is open, it prints the reason, and exits with 75 if
// running the same night again may complete it, and with 1 if a person is needed.
//
//	nightly -night 2026-11-26 -in shipments.txt -wallet VA-0123456789 -budget "250000 NGN"
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
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
	flag.StringVar(&j.night, "night", "", "the `date` on which the job was due, from the scheduler: the same for each restart")
	flag.StringVar(&j.list, "in", "shipments.txt", "a `file` with the ids of the shipments")
	flag.StringVar(&j.wallet, "wallet", "", "the `wallet` to export")
	flag.StringVar(&j.folder, "out", ".", "the `folder` of the journal and the CSV files")
	budget := flag.String("budget", "", "the most `money` to spend in the night")
	flag.Parse()
	if j.night == "" || j.wallet == "" || *budget == "" {
		log.Fatal("nightly: -night, -wallet and -budget are required")
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
		log.Print(err)
		os.Exit(75) // EX_TEMPFAIL
	default:
		log.Fatal(err)
	}
}

// run does the three parts of the job, and reports whether another run may do what is left. A part that fails does not
// stop the others.
func (j *job) run(ctx context.Context) (again bool, err error) {
	rates := j.rates(ctx)
	report, err := j.documents(ctx)
	export, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Minute) // what was bought, also after SIGTERM
	defer stop()
	err = errors.Join(rates, err, report.Err(), j.transactions(export))
	again = report.Retryable() || errors.Is(err, shipping.ErrConnection) || errors.Is(err, batch.ErrInUse)
	return again || ctx.Err() != nil, err
}

func (j *job) documents(ctx context.Context) (*batch.Report, error) {
	list, err := os.ReadFile(j.list)
	if err != nil {
		return nil, err
	}
	journal, err := batch.OpenFile(filepath.Join(j.folder, "batch.journal")) // one for all nights
	if err != nil {
		return nil, err
	}
	defer journal.Close()
	records, err := journal.Records()
	if err != nil {
		return nil, err
	}
	// What an earlier night has begun is completed, too.
	ids := slices.Concat(strings.Fields(string(list)), batch.Unfinished(records))
	var items []batch.Item
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		items = append(items, batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: id}})
	}
	report, err := batch.Run(ctx, j.client, items, &batch.Options{
		Select: shipping.SelectAutomated, Journal: journal, Budget: j.budget, Period: j.night,
	})
	if report == nil {
		return nil, err
	}
	fmt.Println(report.Count(batch.StateCompleted), "of", len(items), "shipments completed,", report.Committed, "spent of", j.budget)
	for _, result := range report.Results {
		if len(result.NotSelected) > 0 {
			fmt.Println(result.Key, "also needs", result.NotSelected, "with the evidence of a person")
		}
	}
	return report, err
}

func (j *job) rates(ctx context.Context) error {
	cheapest := map[string]*shipping.Rate{} // by parcel and currency: amounts in two currencies cannot be compared
	for rate, err := range j.client.Rates.All(ctx, nil) {
		if err != nil {
			return err
		}
		of := rate.Parcel + " " + rate.Currency
		if best := cheapest[of]; rate.Amount.Known() && !rate.Used && (best == nil || rate.Amount.Cmp(best.Amount) < 0) {
			cheapest[of] = rate
		}
	}
	rows := [][]string{{"parcel", "rate", "carrier", "amount", "currency"}}
	for _, of := range slices.Sorted(maps.Keys(cheapest)) {
		r := cheapest[of]
		rows = append(rows, []string{r.Parcel, r.RateID, r.CarrierName, r.Amount.String(), r.Currency})
	}
	return j.write("rates.csv", rows)
}

func (j *job) transactions(ctx context.Context) error {
	rows := [][]string{{"transaction", "time", "amount", "currency", "status", "doubt"}}
	for t, err := range j.client.Transactions.All(ctx, &shipping.TransactionListOptions{Wallet: j.wallet}) {
		if err != nil {
			return err
		}
		signed := "" // an amount that cannot be booked is not 0
		if amount, err := t.Signed(); err == nil {
			signed = amount.String() // negative for money that left
		}
		rows = append(rows, []string{t.TransactionID, t.CreatedAt.Format(time.RFC3339), signed, t.Currency, t.Status, t.Doubt()})
	}
	return j.write("wallet.csv", rows)
}

// write replaces a CSV file. If it is killed, the file of the last night stays.
func (j *job) write(name string, rows [][]string) error {
	var text strings.Builder
	if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
		return err
	}
	path := filepath.Join(j.folder, name)
	return errors.Join(os.WriteFile(path+".part", []byte(text.String()), 0o644), os.Rename(path+".part", path))
}
