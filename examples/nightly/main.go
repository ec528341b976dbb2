// Nightly is a job that runs every night. It buys the documents of a list of shipments within the budget of the night, and
// writes the cheapest rates and the transactions of a wallet to CSV files. Kill it at any moment and run it again with the
// same night: it continues, and buys nothing twice. It prints what needs a person, and then exits with 1.
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
	"path/filepath"
	"slices"
	"strings"

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
	var clientErr, budgetErr error
	j.client, clientErr = shipping.NewClientFromEnv()
	j.budget, budgetErr = shipping.ParseBudget(*budget)
	if err := errors.Join(clientErr, budgetErr); err != nil || j.night == "" || j.wallet == "" {
		log.Fatal("nightly: -night, -wallet and -budget are required\n", err)
	}
	if err := j.run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// run does the three parts of the job. One that fails does not stop the others.
func (j *job) run(ctx context.Context) error {
	return errors.Join(j.documents(ctx), j.rates(ctx), j.transactions(ctx))
}

func (j *job) documents(ctx context.Context) error {
	list, err := os.ReadFile(j.list)
	if err != nil {
		return err
	}
	var items []batch.Item
	for id := range strings.FieldsSeq(string(list)) {
		items = append(items, batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: id}})
	}
	journal, err := batch.OpenFile(filepath.Join(j.folder, "batch.journal")) // one for all nights
	if err != nil {
		return err
	}
	report, err := batch.Run(ctx, j.client, items, &batch.Options{
		Select: shipping.SelectAutomated, Journal: journal, Budget: j.budget, Period: j.night,
	})
	if report != nil {
		fmt.Println(report.Count(batch.StateCompleted), "of", len(items), "shipments completed,", report.Committed, "spent of", j.budget)
		for _, result := range report.Results {
			if len(result.NotSelected) > 0 {
				fmt.Println(result.Key, "also needs", result.NotSelected, "with the evidence of a person")
			}
		}
	}
	return errors.Join(err, report.Err(), journal.Close())
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

func (j *job) transactions(ctx context.Context) (doubts error) {
	rows := [][]string{{"transaction", "time", "amount", "currency", "status", "description"}}
	for t, err := range j.client.Transactions.All(ctx, &shipping.TransactionListOptions{Wallet: j.wallet}) {
		if err != nil {
			return err
		}
		amount, err := t.Signed() // negative for money that left
		doubts = errors.Join(doubts, err)
		rows = append(rows, []string{t.TransactionID, t.CreatedAt.String(), amount.String(), t.Currency, t.Status, t.Description})
	}
	return errors.Join(doubts, j.write("wallet.csv", rows))
}

func (j *job) write(name string, rows [][]string) error {
	file, err := os.Create(filepath.Join(j.folder, name))
	if err != nil {
		return err
	}
	return errors.Join(csv.NewWriter(file).WriteAll(rows), file.Close())
}
