// Ledger writes a wallet's transactions as a CSV for a bookkeeper, and prints their totals.
//
//	go run ./examples/ledger                                       # a demonstration on the reference server
//	go run ./examples/ledger -wallet VA-0123456789 -out books.csv
//
// Amounts are exact decimals, negative for money that left. Rows that arrive while it reads are neither lost nor
// counted twice, and rows that a bookkeeper should look at have the reason in the column doubt.
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
)

const usage = `Ledger writes a wallet's transactions as a CSV, and prints their totals.

  ledger                                         a demonstration on the reference server
  ledger -wallet VA-0123456789 -out books.csv

SHIPPING_BASE_URL and SHIPPING_SECRET_KEY select the service.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "ledger:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("ledger", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { fmt.Fprint(out, usage); flags.PrintDefaults() }
	wallet := flags.String("wallet", "", "the `wallet` to read, such as VA-0123456789")
	path := flags.String("out", "", "CSV `file` to write (default ledger.csv; for the demonstration a temporary one)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if os.Getenv("SHIPPING_BASE_URL") == "" && os.Getenv("SHIPPING_SECRET_KEY") == "" {
		return demonstrate(ctx, *wallet, *path, out)
	}
	client, err := shipping.NewClientFromEnv()
	if err == nil && *wallet == "" {
		err = errors.New("-wallet VA-… is required; unset SHIPPING_BASE_URL and SHIPPING_SECRET_KEY for a demonstration")
	}
	if err != nil {
		return err
	}
	if *path == "" {
		*path = "ledger.csv"
	}
	return export(ctx, client, *wallet, *path, out)
}

// demonstrate exports a wallet of a server that it starts.
func demonstrate(ctx context.Context, wallet, path string, out io.Writer) error {
	server := mockserver.New(mockserver.WithVirtualClock(time.Time{})) // now is where its history ends
	defer server.Close()
	if err := server.Err(); err != nil {
		return err
	}
	client, err := shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL))
	if err != nil {
		return err
	}
	if wallet == "" {
		wallet = server.Wallets()[0]
	}
	if path == "" {
		folder, err := os.MkdirTemp("", "ledger-")
		if err != nil {
			return err
		}
		path = filepath.Join(folder, "ledger.csv")
	}
	fmt.Fprintf(out, "A demonstration against the reference server: wallet %s, pretend money.\n\n", wallet)
	return export(ctx, client, wallet, path, out)
}

// export writes the CSV and prints the totals. The file gets its name only when it is complete.
func export(ctx context.Context, client *shipping.Client, wallet, path string, out io.Writer) error {
	part := path + ".part"
	file, err := os.Create(part)
	if err != nil {
		return err
	}
	defer os.Remove(part) // unless it has been renamed
	defer file.Close()
	rows := csv.NewWriter(file)
	if err := rows.Write(columns()); err != nil {
		return err
	}
	var order []string            // the currencies, as they come
	totals := map[string]*total{} // by currency: a wallet has one, but nothing is added up across two
	options := &shipping.TransactionListOptions{Wallet: wallet,
		Walk: shipping.Walk{Progress: func(p shipping.ListProgress) {
			if p.Page%50 == 0 {
				fmt.Fprintf(out, "%d of %d rows read\n", p.Items, p.Total)
			}
		}}}
	for transaction, err := range client.Transactions.All(ctx, options) {
		if errors.Is(err, context.Canceled) {
			return fmt.Errorf("interrupted, and %s was not written: run the same command again", path)
		}
		if err != nil {
			return fmt.Errorf("%w; %s was not written", err, path)
		}
		if totals[transaction.Currency] == nil {
			totals[transaction.Currency] = &total{}
			order = append(order, transaction.Currency)
		}
		if err := totals[transaction.Currency].add(transaction); err != nil {
			return err
		}
		if err := rows.Write(row(transaction)); err != nil {
			return err
		}
	}
	rows.Flush()
	if err := errors.Join(rows.Error(), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	unbooked := 0
	for _, currency := range order {
		t := totals[currency]
		unbooked += t.unbooked
		if err := t.print(out, currency); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\nThe rows are in %s\n", path)
	if unbooked > 0 {
		return fmt.Errorf("%d rows could not be booked and are left out of the totals: see the column doubt", unbooked)
	}
	return nil
}

// columns of the CSV. "listed" is the amount as the service lists it, "amount" what counts: negative for money that
// left, 0 for failed transactions, empty if it cannot be booked.
func columns() []string {
	return []string{
		"created_at", "transaction_id", "description", "shipment_id", "flow", "status",
		"listed", "amount", "currency", "reversed", "doubt",
	}
}

func row(t *shipping.Transaction) []string {
	signed, err := t.Signed()
	amount, doubt := signed.String(), t.Doubt()
	if err != nil {
		amount, doubt = "", strings.TrimPrefix(err.Error(), "shipping: ")
	}
	listed := ""
	if t.Amount != (shipping.Amount{}) { // String would write a missing one as 0
		listed = t.Amount.String()
	}
	created := ""
	if !t.CreatedAt.IsZero() {
		created = t.CreatedAt.UTC().Format(time.RFC3339Nano)
	}
	return []string{
		created, text(t.TransactionID), text(t.Description), text(t.ShipmentID()), text(string(t.Flow)),
		text(string(t.Status)), listed, amount, text(t.Currency), strconv.FormatBool(t.Reversed), doubt,
	}
}

// text prevents a spreadsheet from reading a description as a formula.
func text(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// total adds up the rows of one currency.
type total struct {
	rows, doubts, unbooked int
	in, out, pending       shipping.Amount
}

func (t *total) add(transaction *shipping.Transaction) error {
	t.rows++
	if transaction.Doubt() != "" {
		t.doubts++
	}
	signed, err := transaction.Signed()
	if err != nil { // its row has the reason
		t.unbooked++
		return nil
	}
	sum := &t.in
	if signed.Sign() < 0 {
		sum = &t.out
	}
	if *sum, err = sum.Add(signed); err == nil && transaction.Status == "pending" {
		t.pending, err = t.pending.Add(signed)
	}
	return err
}

// print prints the totals, rounded to two decimals. The total of all rows is the wallet's balance if the list is
// complete.
func (t *total) print(out io.Writer, currency string) error {
	all, err := t.in.Add(t.out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s  %d rows, %d in doubt\n", currency, t.rows, t.doubts)
	for _, line := range []struct {
		name   string
		amount shipping.Amount
	}{{"money in", t.in}, {"money out", t.out}, {"total", all}, {"of it pending", t.pending}} {
		fmt.Fprintf(out, "     %-14s %18s\n", line.name, line.amount.StringFixed(2))
	}
	return nil
}
