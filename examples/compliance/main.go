// Compliance buys the customs and compliance documents for a list of shipments and invoices: it analyzes each, buys
// the documents within one budget, waits until they are generated, and writes a report and the PDFs. Interrupt it at
// any time and run the same command again: it continues, and buys nothing twice.
//
//	go run ./examples/compliance                       # a demonstration on the reference server
//	go run ./examples/compliance -in shipments.csv     # prints the cost, buys nothing
//	go run ./examples/compliance -in shipments.csv -budget 500000 -currency NGN
//
// The CSV has a header with a column shipment_id, file_url or both. SHIPPING_BASE_URL and
// SHIPPING_SECRET_KEY select the service. The PDFs need a provisional route; they are skipped if the service does not
// have it. -profiles names a JSON file with the fields of the documents.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/mockserver"
)

const usage = `Compliance buys the customs and compliance documents for a list of shipments and invoices.

  compliance                                     a demonstration on the reference server
  compliance -in shipments.csv                   prints the cost, buys nothing
  compliance -in shipments.csv -budget 500000    buys, waits, and fetches the PDFs

shipments.csv has a header line with a column shipment_id, file_url or both.
SHIPPING_BASE_URL and SHIPPING_SECRET_KEY select the service. To continue an interrupted run, run the same
command again; nothing is bought twice. It exits with 1 if an item failed or did not complete, or if the
budget has no room for any.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "compliance:", err)
		os.Exit(1)
	}
}

// job holds the flags.
type job struct {
	in, out     string
	budget      shipping.Amount
	currency    string
	concurrency int
	manual      bool
	profiles    profiles
	settle      time.Duration
	client      *shipping.Client
	items       []batch.Item
}

func run(ctx context.Context, args []string, out io.Writer) error {
	j := &job{}
	flags := flag.NewFlagSet("compliance", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { fmt.Fprint(out, usage); flags.PrintDefaults() }
	flags.StringVar(&j.in, "in", "", "CSV `file` with a column shipment_id or file_url; empty: a demonstration")
	flags.StringVar(&j.out, "out", "compliance-out", "`folder` for the journal, the report and the PDFs")
	flags.Func("budget", "the most `money` that may be spent over all runs; without it nothing is bought",
		func(text string) error { return j.budget.UnmarshalText([]byte(text)) })
	flags.StringVar(&j.currency, "currency", "NGN", "the budget's `currency`: the wallet's")
	flags.IntVar(&j.concurrency, "concurrency", 8, "`number` of shipments worked on at the same time")
	flags.BoolVar(&j.manual, "manual", false, "also buy documents that wait for a third party's evidence")
	profiles := flags.String("profiles", "", "JSON `file` with the fields to fill in, by document (a provisional operation of the service)")
	flags.DurationVar(&j.settle, "settle", time.Minute, "how long a purchase without a response must read as a draft to count as not charged")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	if j.profiles, err = readProfiles(*profiles); err != nil {
		return err
	}
	leave, err := j.prepare(out)
	defer leave()
	if err != nil {
		return err
	}
	return j.work(ctx, out)
}

// prepare connects and reads the list or, for the demonstration, makes both.
func (j *job) prepare(out io.Writer) (leave func(), err error) {
	leave = func() {}
	if j.in != "" {
		if j.items, err = readItems(j.in); err != nil {
			return leave, err
		}
		j.client, err = shipping.NewClientFromEnv(shipping.WithProvisionalRoutes())
		return leave, err
	}
	if os.Getenv(shipping.EnvBaseURL) != "" {
		return leave, errors.New("-in shipments.csv is required; unset " + shipping.EnvBaseURL + " for a demonstration")
	}
	server := mockserver.New(mockserver.WithAssumptions(func(a *mockserver.Assumptions) { a.GenerationScale = 0.05 }))
	leave = server.Close
	if err := server.Err(); err != nil {
		return leave, err
	}
	if j.out, err = os.MkdirTemp("", "compliance-"); err != nil {
		return leave, err
	}
	if j.profiles == nil {
		if j.profiles, err = parseProfiles("demo_profiles.json", demoProfiles); err != nil {
			return leave, err
		}
	}
	for _, id := range server.Shipments()[:10] {
		j.items = append(j.items, batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: id}})
	}
	for _, url := range server.Invoices() {
		j.items = append(j.items, batch.Item{Analyze: shipping.AnalyzeRequest{FileURL: url}})
	}
	if !j.budget.Known() {
		if j.budget, err = shipping.ParseAmount("400000"); err != nil {
			return leave, err
		}
	}
	fmt.Fprintf(out, "A demonstration against the reference server: %d items, a budget of %s %s, pretend money.\n\n",
		len(j.items), j.budget.StringFixed(2), j.currency)
	j.client, err = shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL), shipping.WithProvisionalRoutes())
	return leave, err
}

func (j *job) work(ctx context.Context, out io.Writer) error {
	if err := os.MkdirAll(j.out, 0o755); err != nil {
		return err
	}
	if !j.budget.Known() {
		return j.estimate(ctx, out)
	}
	journal, err := batch.OpenFile(filepath.Join(j.out, "batch.journal"))
	if err != nil {
		return err
	}
	defer journal.Close()
	board := newBoard(out, j.items)
	report, err := batch.Run(ctx, j.client, j.items, &batch.Options{
		Concurrency: j.concurrency,
		Edit:        j.fill,
		Select:      j.choose,
		Budget:      &shipping.Budget{Amount: j.budget, Currency: j.currency},
		Poll:        shipping.PollOptions{MinInterval: 500 * time.Millisecond},
		QuietFor:    j.settle,
		Journal:     journal,
		Progress:    board.update,
	})
	if report == nil {
		return err
	}
	board.close()
	pdfs, pdfErr := j.download(ctx, report)
	if writeErr := writeReport(filepath.Join(j.out, "report.csv"), report); writeErr != nil {
		return writeErr
	}
	summarize(out, j, report, pdfs)
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted; nothing is lost: run the same command again to continue")
	case err != nil:
		return err
	case pdfErr != nil:
		return fmt.Errorf("the PDFs are not complete: %w; run the same command again to fetch the rest", pdfErr)
	}
	return verdict(report)
}

// choose selects the automated documents and, with -manual, the others.
func (j *job) choose(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
	var chosen []shipping.DocumentType
	for _, document := range draft.AvailableDocuments {
		if document.Mode != "manual" || j.manual {
			chosen = append(chosen, document.DocumentType)
		}
	}
	return chosen, nil
}

// estimate analyzes and adds up, and buys nothing.
func (j *job) estimate(ctx context.Context, out io.Writer) error {
	var total shipping.Amount
	currency := ""
	for _, item := range j.items {
		draft, err := j.client.Regulatory.Analyze(ctx, &item.Analyze)
		if errors.Is(err, context.Canceled) {
			return errors.New("interrupted; nothing was bought")
		} else if errors.Is(err, shipping.ErrRequestFailed) || errors.Is(err, shipping.ErrNotFound) {
			fmt.Fprintf(out, "%-42s %v\n", name(item), err)
			continue
		} else if err != nil {
			return err
		}
		chosen, _ := j.choose(draft) // it cannot fail
		price, in, err := draft.Price(chosen...)
		if err == nil {
			total, err = total.Add(price)
		}
		if err != nil {
			return err
		}
		currency = max(currency, in)
		fmt.Fprintf(out, "%-42s %12s %-3s  %v\n", name(item), price.StringFixed(2), in, chosen)
	}
	fmt.Fprintf(out, "\nTotal: %s %s. Nothing was bought: add -budget and -currency to buy.\n", total.StringFixed(2), currency)
	return nil
}
