// Compliance buys the customs and compliance documents for a list of shipments and invoices: it analyzes each, buys
// the documents within one budget, waits until they are generated, and writes a report and the PDFs. Interrupt it at
// any time and run the same command again: it continues, and buys nothing twice.
//
//	go run ./examples/compliance                       # a demonstration on the reference server
//	go run ./examples/compliance -in shipments.txt     # prints the cost, buys nothing
//	go run ./examples/compliance -in shipments.txt -budget "500000 NGN"
//
// SHIPPING_BASE_URL and SHIPPING_SECRET_KEY select the service. The PDFs need a provisional route; they are skipped if
// the service does not have it.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/mockserver"
)

const usage = `Compliance buys the customs and compliance documents for a list of shipments and invoices.

  compliance                                            a demonstration on the reference server
  compliance -in shipments.txt                          prints the cost, buys nothing
  compliance -in shipments.txt -budget "500000 NGN"     buys, waits, and fetches the PDFs

shipments.txt has a shipment, such as SH-7Q2M…, or the URL of an invoice on each line.
SHIPPING_BASE_URL and SHIPPING_SECRET_KEY select the service. To continue an interrupted run, run the same
command again; nothing is bought twice. It exits with 1 if an item failed or did not complete, or if the
budget has no room for any.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "compliance:", err)
		os.Exit(1)
	}
}

// job is a batch to buy.
type job struct {
	client  *shipping.Client
	items   []batch.Item
	budget  *shipping.Budget // nil: buy nothing
	settle  time.Duration
	folder  string
	out     io.Writer
	costs   map[string]shipping.Amount // of the documents, by currency, if nothing is bought
	costErr error
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	j := &job{out: out, costs: map[string]shipping.Amount{}}
	flags := flag.NewFlagSet("compliance", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { fmt.Fprint(out, usage); flags.PrintDefaults() }
	in := flags.String("in", "", "`file` with a shipment or the URL of an invoice on each line")
	flags.StringVar(&j.folder, "out", "compliance-out", "`folder` for the journal, the report and the PDFs")
	flags.Func("budget", "the most `money` that may be spent over all runs, in the wallet's currency; without it nothing is bought",
		func(text string) error { j.budget, err = shipping.ParseBudget(text); return err })
	flags.DurationVar(&j.settle, "settle", time.Minute, "how long a purchase without a response must read as a draft to count as not charged")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *in == "" {
		if os.Getenv("SHIPPING_BASE_URL") == "" && os.Getenv("SHIPPING_SECRET_KEY") == "" {
			return j.demonstrate(ctx)
		}
		return errors.New("-in shipments.txt is required; unset SHIPPING_BASE_URL and SHIPPING_SECRET_KEY for a demonstration")
	}
	if j.items, err = readItems(*in); err != nil {
		return err
	}
	if j.client, err = shipping.NewClientFromEnv(shipping.WithProvisionalRoutes()); err != nil {
		return err
	}
	return j.work(ctx)
}

// demonstrate buys for some shipments and invoices of a server that it starts.
func (j *job) demonstrate(ctx context.Context) (err error) {
	server := mockserver.New()
	defer server.Close()
	if err := server.Err(); err != nil {
		return err
	}
	if j.folder, err = os.MkdirTemp("", "compliance-"); err != nil {
		return err
	}
	for _, id := range server.Shipments()[:10] {
		j.items = append(j.items, batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: id}})
	}
	for _, url := range server.Invoices() {
		j.items = append(j.items, batch.Item{Analyze: shipping.AnalyzeRequest{FileURL: url}})
	}
	if j.budget == nil {
		if j.budget, err = shipping.ParseBudget("400000 NGN"); err != nil {
			return err
		}
	}
	fmt.Fprintf(j.out, "A demonstration against the reference server: %d items, a budget of %s, pretend money.\n\n", len(j.items), j.budget)
	if j.client, err = shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL), shipping.WithProvisionalRoutes()); err != nil {
		return err
	}
	return j.work(ctx)
}

// readItems reads the list. Its error names every invalid line, with the correction.
func readItems(path string) (items []batch.Item, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var problems []error
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff")) // some editors begin with a mark
		switch {
		case text == "":
		case strings.HasPrefix(text, "SH-"):
			items = append(items, batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: text}})
		case strings.HasPrefix(text, "https://"), strings.HasPrefix(text, "http://"):
			items = append(items, batch.Item{Analyze: shipping.AnalyzeRequest{FileURL: text}})
		default:
			problems = append(problems, fmt.Errorf("%s, line %d: write one shipment (SH-…) or the URL of one invoice (https://…); it is %q", path, n, text))
		}
	}
	if len(items) == 0 && problems == nil {
		problems = append(problems, fmt.Errorf("%s has no lines: write a shipment (SH-…) or the URL of an invoice (https://…) on each", path))
	}
	return items, errors.Join(append(problems, lines.Err())...)
}

// work analyzes and, within the budget, purchases.
func (j *job) work(ctx context.Context) error {
	if err := os.MkdirAll(j.folder, 0o755); err != nil {
		return err
	}
	journal, err := batch.OpenFile(filepath.Join(j.folder, "batch.journal"))
	if err != nil {
		return err
	}
	defer journal.Close()
	options := &batch.Options{
		Select:   j.choose,
		Budget:   j.budget,
		Poll:     shipping.PollOptions{MinInterval: 500 * time.Millisecond},
		Purchase: shipping.PurchaseOptions{QuietFor: j.settle},
		Journal:  journal,
		Progress: j.progress,
	}
	report, err := batch.Run(ctx, j.client, j.items, options)
	if report == nil {
		return err
	}
	pdfs, pdfErr := j.download(ctx, report)
	if writeErr := writeReport(filepath.Join(j.folder, "report.csv"), report); writeErr != nil {
		return writeErr
	}
	j.summarize(report, pdfs)
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted; nothing is lost: run the same command again to continue")
	case err != nil:
		return err
	case pdfErr != nil:
		return fmt.Errorf("the PDFs are not complete: %w; run the same command again to fetch the rest", pdfErr)
	}
	return errors.Join(j.costErr, verdict(report))
}

// choose selects the documents that need no third party's evidence.
func (j *job) choose(draft *shipping.RegulatoryRequest) (chosen []shipping.DocumentType, err error) {
	if j.budget == nil {
		return nil, nil
	}
	return automated(draft), nil
}

func automated(draft *shipping.RegulatoryRequest) (documents []shipping.DocumentType) {
	for _, document := range draft.AvailableDocuments {
		if document.Mode != "manual" {
			documents = append(documents, document.DocumentType)
		}
	}
	return documents
}

// progress prints purchases and the states in which items end; without a budget, prices. It is called one call at a time.
func (j *job) progress(event batch.Event) {
	item := event.Item
	text := ""
	switch {
	case event.Step == "selected" && j.budget == nil:
		text = j.estimate(event.Request)
	case event.Step == "purchased":
		text = fmt.Sprintf("purchased %s for %s %s", list(item.Documents), item.Amount.StringFixed(2), item.Currency)
	case event.Step == "ended" && item.Err != nil:
		text = fmt.Sprintf("%s: %s", item.State, strings.TrimPrefix(item.Err.Error(), "shipping: "))
	case event.Step == "ended" && j.budget != nil:
		text = string(item.State)
	default:
		return
	}
	fmt.Fprintf(j.out, "%*d of %d ended  %-38s %s\n", len(fmt.Sprint(event.Total)), event.Ended, event.Total, item.Key, text)
}

// estimate adds up what the documents of a draft cost.
func (j *job) estimate(draft *shipping.RegulatoryRequest) string {
	documents := automated(draft)
	price, currency, err := draft.Price(documents...)
	if err == nil {
		j.costs[currency], err = j.costs[currency].Add(price)
	}
	if err != nil {
		j.costErr = errors.Join(j.costErr, err)
		return "cost unknown: " + err.Error()
	}
	return fmt.Sprintf("%s would cost %s %s", list(documents), price.StringFixed(2), currency)
}

func list(documents []shipping.DocumentType) string { return strings.Trim(fmt.Sprint(documents), "[]") }
