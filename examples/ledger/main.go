// Ledger writes a wallet's transactions as a CSV for a bookkeeper, and as an HTML report with the running total over
// time, and the spending by purpose.
//
//	go run ./examples/ledger                                  # a demonstration on the reference server
//	go run ./examples/ledger -wallet VA-0123456789 -out books
//
// Amounts are exact decimals, negative for money that left. Rows that arrive while it reads are neither
// lost nor counted twice. Interrupt it at any time and run the same command again: it
// continues.
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
	"github.com/shipping-go/shipping/mockserver"
)

const usage = `Ledger writes a wallet's transactions as a CSV, and a report with charts.

  ledger                                     a demonstration on the reference server
  ledger -wallet VA-0123456789 -out books    writes books/ledger.csv and books/ledger.html
  ledger -wallet … -carriers carriers.csv    spending by carrier too; columns shipment_id and carrier

SHIPPING_BASE_URL and SHIPPING_SECRET_KEY select the service. To continue an interrupted run, run the same
command again.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "ledger:", err)
		os.Exit(1)
	}
}

// job holds the flags.
type job struct {
	client      *shipping.Client
	wallet, out string
	perPage     int
	carriers    map[string]string // of shipments
}

func run(ctx context.Context, args []string, out io.Writer) error {
	j := &job{}
	flags := flag.NewFlagSet("ledger", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { fmt.Fprint(out, usage); flags.PrintDefaults() }
	flags.StringVar(&j.wallet, "wallet", "", "the `wallet` to read, such as VA-0123456789")
	flags.StringVar(&j.out, "out", "", "`folder` for ledger.csv and ledger.html (default ledger-out; for the demonstration a temporary one)")
	flags.IntVar(&j.perPage, "per-page", 0, "`rows` a page (default the service's)")
	list := flags.String("carriers", "", "CSV `file` with the carrier of each shipment, which transactions do not contain")
	if err := flags.Parse(args); err != nil {
		return err
	}
	leave, err := j.connect(ctx, out)
	defer leave()
	if err == nil && *list != "" {
		j.carriers, err = readCarriers(*list)
	}
	if err == nil {
		err = os.MkdirAll(j.out, 0o755)
	}
	if err != nil {
		return err
	}
	return j.work(ctx, out)
}

// connect makes the client or, for the demonstration, starts a server with something to show.
func (j *job) connect(ctx context.Context, out io.Writer) (leave func(), err error) {
	leave = func() {}
	if os.Getenv(shipping.EnvBaseURL) != "" {
		if j.wallet == "" {
			return leave, errors.New("-wallet VA-… is required")
		}
		if j.out == "" {
			j.out = "ledger-out"
		}
		j.client, err = shipping.NewClientFromEnv()
		return leave, err
	}
	server := mockserver.New(mockserver.WithVirtualClock(time.Time{})) // now is where its history ends
	leave = server.Close
	if err := server.Err(); err != nil {
		return leave, err
	}
	if j.client, err = shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL)); err != nil {
		return leave, err
	}
	if j.out == "" {
		if j.out, err = os.MkdirTemp("", "ledger-"); err != nil {
			return leave, err
		}
	}
	if j.wallet == "" {
		j.wallet = server.Wallets()[0]
	}
	fmt.Fprintf(out, "A demonstration against the reference server: wallet %s, pretend money.\n\n", j.wallet)
	return leave, j.enrich(ctx, server)
}

func (j *job) work(ctx context.Context, out io.Writer) error {
	show := newProgress(out)
	unbooked, err := j.export(ctx, show.update)
	show.close()
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted; nothing is lost: run the same command again to continue")
	case err != nil && show.items > 0:
		return fmt.Errorf("%w; the rows read so far are kept: run the same command again to continue", err)
	case err != nil:
		return err
	}
	books, err := readBooks(filepath.Join(j.out, csvName), j.carriers)
	if err != nil {
		return err
	}
	page, err := render(j.wallet, books)
	if err != nil {
		return err
	}
	if err := writeWhole(filepath.Join(j.out, "ledger.html"), page); err != nil {
		return err
	}
	for _, b := range books {
		fmt.Fprintf(out, "%s  %d rows from %s to %s\n", b.Currency, b.Rows, b.First, b.Last)
		for _, figure := range b.Figures() {
			fmt.Fprintf(out, "     %-14s %20s\n", figure.Name, figure.Value)
		}
	}
	fmt.Fprintf(out, "\nledger.csv and ledger.html are in %s\n", j.out)
	if unbooked > 0 {
		return fmt.Errorf("%d rows could not be booked and are left out of the totals: see the column doubt", unbooked)
	}
	return nil
}
