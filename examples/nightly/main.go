// Nightly is a job that runs every night. It buys the documents of a list of shipments within the budget of the night,
// and writes the cheapest rates and the transactions of a wallet to CSV files. Kill it at any moment and run it again
// with the same night: it continues, and buys nothing twice. If something is open, it prints the reason, and exits with
// 75 if running the same night again may complete it, with 3 if the budget of the night is spent, with 2 if an option
// or the list is wrong or the wallet and the journal differ, and with 1 if a person is needed.
//
//	nightly -night 2026-11-26 -in shipments.txt -wallet VA-0123456789 -budget "250000 NGN" -out /var/lib/nightly
//
// For what only a person can decide, there are two commands. The first calls [batch.Resolve], the second
// [shipping.RegulatoryService.Retry]:
//
//	nightly resolve -out /var/lib/nightly -note "ticket 4711" -outcome charged SH-0123456789
//	nightly retry RD-0123456789
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
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
	note                        string // of the purchases to record in the journal; empty: they are refused
	budget                      *shipping.Budget
	logged                      time.Time // when the progress was logged; zero before
	settles                     bool      // this was logged
	failed                      int       // the shipments that have ended with an error
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if command := commandOf(os.Args[1:]); command != nil {
		if err := command(ctx, os.Args[2:]); err != nil {
			log.Fatal((&job{}).forOperators(err))
		}
		return
	}
	j, err := parse(os.Args[1:])
	if err != nil {
		log.Print((&job{}).forOperators(err))
		os.Exit(2)
	}
	again, err := j.run(ctx)
	code, advice := j.exit(again, err)
	if err != nil {
		log.Print(j.forOperators(err), "\nnightly: ", advice)
	}
	os.Exit(code)
}

// parse returns the job that the options describe.
func parse(args []string) (*job, error) {
	var j job
	flags := flag.NewFlagSet("nightly", flag.ExitOnError)
	flags.StringVar(&j.night, "night", "",
		"the `date` on which the job was due; a restart with another date has a new budget")
	flags.StringVar(&j.list, "in", "shipments.txt", "a `file` with the ids of the shipments")
	flags.StringVar(&j.wallet, "wallet", "", "the `wallet` to export")
	flags.StringVar(&j.folder, "out", "",
		"the absolute path of the `folder` of the journal and the CSV files, the same for each night")
	flags.StringVar(&j.note, "record", "", "add to the journal purchases that only the wallet shows, with this `note`, "+
		"such as a ticket, after 5 minutes: they count against the budget of the night, which waits for their documents")
	flags.Usage = func() {
		flags.PrintDefaults()
		fmt.Fprintln(flags.Output(), "for what only a person can decide: nightly resolve -help, and nightly retry REQUEST")
	}
	budget := flags.String("budget", "", "the most `money` to spend in the night")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("nightly: %q belongs to no option: quote a text with spaces", flags.Arg(0))
	}
	for _, option := range [][3]string{
		{"-night", j.night, "the date on which the job was due, such as -night 2026-11-26"},
		{"-wallet", j.wallet, "the id of the wallet to export"},
		{"-budget", *budget, `the most to spend in the night, such as -budget "250000 NGN"`},
		{"-out", j.folder, "the folder of the journal, such as -out /var/lib/nightly"},
	} {
		if option[1] == "" {
			return nil, fmt.Errorf("nightly: %s is missing: pass %s", option[0], option[2])
		}
	}
	if _, err := time.Parse(time.DateOnly, j.night); err != nil { // a misspelt night has a budget of its own
		return nil, fmt.Errorf("nightly: -night must be a date such as 2026-11-26, not %q", j.night)
	}
	if !filepath.IsAbs(j.folder) {
		return nil, fmt.Errorf("nightly: -out must be an absolute path, not %q: another folder has another journal", j.folder)
	}
	if _, err := os.Stat(j.folder); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("nightly: the folder %s of -out does not exist: correct -out, or create the folder if this "+
			"is the first night", j.folder)
	}
	var clientErr, budgetErr error
	j.client, clientErr = shipping.NewClientFromEnv()
	if j.budget, budgetErr = shipping.ParseBudget(*budget); budgetErr != nil {
		budgetErr = fmt.Errorf("nightly: -budget: %w", budgetErr)
	}
	return &j, errors.Join(clientErr, budgetErr)
}

// run does the three parts of the job, and reports whether another run may do the rest. A part that fails does not
// stop the others.
func (j *job) run(ctx context.Context) (again bool, err error) {
	if err := j.lost(); err != nil {
		return false, errors.Join(err, j.transactions(ctx)) // for the person who looks for purchases
	}
	if err := j.record(ctx); err != nil {
		return mayPass(err), err
	}
	rates := j.rates(ctx)
	report, err := j.documents(ctx)
	export, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Minute) // even after SIGTERM
	defer stop()
	unread := j.transactions(export)
	if unread != nil {
		unread = fmt.Errorf("wallet.csv was not written; the next run writes it: %w", unread)
	}
	lists := errors.Join(rates, unread)
	open := err
	if report.Err() != nil {
		open = errors.Join(err, openError{report, j})
	}
	// Failed lists cause another run only if nothing else is open, because that run also purchases.
	again = report.Retryable() || report == nil && mayPass(err) || open == nil && mayPass(lists)
	return again, errors.Join(lists, open)
}

// mayPass reports whether another run may read lists that could not be read, or open the journal.
func mayPass(lists error) bool {
	failed, ok := errors.AsType[*shipping.Error](lists)
	if ok && (failed.StatusCode == http.StatusConflict || failed.StatusCode == http.StatusLocked ||
		failed.StatusCode == http.StatusOK) { // a body that was damaged on its way
		return true
	}
	return ok && failed.Retryable() || errors.Is(lists, shipping.ErrIncomplete) || errors.Is(lists, context.Canceled) ||
		errors.Is(lists, batch.ErrInUse)
}

func (j *job) documents(ctx context.Context) (report *batch.Report, err error) {
	// Without the list, what an earlier night has begun is still completed.
	list, unread := os.ReadFile(j.list)
	journal, err := batch.OpenFile(filepath.Join(j.folder, "batch.journal")) // one for all nights
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	records, err := journal.Records()
	if err := errors.Join(err, j.begin(records)); err != nil {
		return nil, err
	}
	items, wrong := shipments(j.list, string(list), unread)
	items = append(items, batch.Unfinished(records, items)...) // what an earlier night has begun to purchase
	report, err = batch.Run(ctx, j.client, items, &batch.Options{
		Select: shipping.SelectAutomated, Journal: journal, Budget: j.budget, Period: j.night, Wallet: j.wallet,
		Progress: j.progress,
	})
	if stopped := j.stopped(report, err); stopped != nil {
		return nil, errors.Join(stopped, wrong) // the report has nothing else
	}
	hasBegun := err == nil || begun(report)
	if err = errors.Join(err, wrong); report == nil {
		return nil, err
	}
	if all := len(report.Results); all > 0 && hasBegun { // with earlier shipments whose charge a person must compare
		completed, nothing := report.Count(batch.StateCompleted), report.Count(batch.StateDraft)
		closed := report.Count(batch.StateClosed)
		fmt.Printf("night %s: %d shipments: %d completed, %d with nothing to buy, %d closed by a person, %d open; %s of %s "+
			"spent or reserved\n", j.night, all, completed, nothing, closed, all-completed-nothing-closed,
			report.Committed.StringFixed(2), j.budget)
		err = errors.Join(err, j.results(report), j.causes(report))
	}
	return report, err
}

// shipments returns the items of a list, each shipment once. An id that cannot be sent does not stop the others.
func shipments(name, list string, unread error) (items []batch.Item, err error) {
	seen := map[string]bool{}
	for i, line := range strings.Split(strings.TrimPrefix(list, "\ufeff"), "\n") {
		for _, id := range strings.Fields(line) {
			item := batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: id}}
			if invalid := item.Validate(); invalid != nil {
				// Only the first one, because a file of another kind can have thousands.
				err = cmp.Or(err, error(inputError{fmt.Errorf("nightly: -in: correct line %d of %s: %.40q is left out: %w", i+1,
					name, id, invalid)}))
			} else if !seen[id] {
				items = append(items, item)
			}
			seen[id] = true
		}
	}
	if len(seen) == 0 {
		unread = cmp.Or(unread, fmt.Errorf("%s is empty", name))
		err = inputError{fmt.Errorf("nightly: -in: no shipments were read: correct the list: %w", unread)}
	}
	return items, err
}
