package main

// This file is for a night without its journal, or with an older copy. batch.Run compares the journal with the wallet.
// If the wallet does not show a purchase, documents.csv does: it exists once a night has begun, and its columns request
// and charged are compared with the journal. Take the file into your own job with commands.go.

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

// lost returns an error if a night has begun, which documents.csv shows, and the journal is missing: a new one would
// buy again what the wallet does not show.
func (j *job) lost() error {
	_, err := os.Stat(filepath.Join(j.folder, "batch.journal"))
	_, begun := os.Stat(filepath.Join(j.folder, "documents.csv"))
	if !errors.Is(err, os.ErrNotExist) || errors.Is(begun, os.ErrNotExist) || j.note != "" {
		return nil
	}
	return inputError{fmt.Errorf("nightly: nothing was purchased: batch.journal is missing, although documents.csv in "+
		"%s shows that a night has begun: put the journal back; if it is lost:%s", j.folder, j.begins())}
}

// begins returns what a person does after the journal was lost.
func (j *job) begins() string {
	anew := "move documents.csv to another folder, and " + j.again()
	return "\n  if wallet.csv has requests (RD-…): " + j.again() + " with -record TICKET" +
		"\n  if it has none, and another wallet pays: correct -wallet, and " + j.again() + ", which writes it anew" +
		"\n  if no night has purchased anything: " + anew +
		"\n  if the service never shows requests: take the shipments of earlier runs out of all lists, then " + anew
}

// begin marks that a night has begun, before it purchases anything. A kill before it leaves a journal without records.
// It returns an error if documents.csv shows a charge that the journal does not have.
func (j *job) begin(records []batch.Record) error {
	path := filepath.Join(j.folder, "documents.csv")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return unwritten(path, err)
	}
	defer file.Close()
	table := csv.NewReader(file)
	table.FieldsPerRecord, table.LazyQuotes = -1, true // a person may have edited it
	rows, err := table.ReadAll()
	recorded := map[string]bool{}
	for _, r := range records {
		recorded[r.RequestID] = true
	}
	for i, row := range rows {
		switch {
		case i == 0 && (len(row) < 5 || row[2] != "request" || row[4] != "charged"):
			return inputError{errors.New("nightly: nothing was purchased: documents.csv has other columns: put the " +
				"documents.csv of the last night back")}
		case i > 0 && len(row) >= 5 && row[4] != "" && !recorded[row[2]]:
			return inputError{fmt.Errorf("nightly: nothing was purchased: documents.csv shows purchases that batch.journal "+
				"lacks (such as %s for %s): put the newest journal back; if that is lost, %s with -record TICKET; if the wallet "+
				"does not show them, leave their shipments out of later lists, and move documents.csv to another folder", row[2],
				row[0], j.again())}
		}
	}
	return err
}

// stopped returns the error of a run that stopped before it began, with what an operator does about it; nil for any
// other error.
func (j *job) stopped(report *batch.Report, err error) error {
	_, isUnread := errors.AsType[*shipping.ListError](err)
	missing, lacks := errors.AsType[*batch.MissingError](err)
	switch {
	case lacks:
		return inputError{fmt.Errorf("nightly: nothing was purchased: the wallet shows purchases that batch.journal lacks "+
			"(%d, such as %s for %s): correct a wrong -out; if the journal is old, put the newest one back; if that is lost, "+
			"if somebody purchased, if \"not charged\" was wrong, or in the first night, %s with -record TICKET; to count them "+
			"in an earlier night's budget, run that night first, with -record", len(missing.Payments),
			missing.Payments[0].RequestID, cmp.Or(missing.Payments[0].Key, "an unknown shipment"), j.again())}
	case errors.Is(err, batch.ErrOtherWallet):
		return inputError{err}
	case isUnread && errors.Is(err, shipping.ErrUnauthorized):
		return inputError{fmt.Errorf("%w: correct SHIPPING_SECRET_KEY", err)}
	case isUnread && errors.Is(err, shipping.ErrNotFound):
		return inputError{fmt.Errorf("%w: correct -wallet or SHIPPING_BASE_URL", err)}
	case !begun(report) && errors.Is(err, shipping.ErrOverBudget):
		return inputError{fmt.Errorf("%w: correct the currency of -budget", err)}
	case isUnread:
		return err
	}
	return nil
}

// begun reports whether a run has begun: a report without requests must not replace an earlier one.
func begun(report *batch.Report) bool {
	return report != nil && slices.ContainsFunc(report.Results, func(r batch.Result) bool { return r.RequestID != "" })
}

// transactions writes the movements of the wallet.
func (j *job) transactions(ctx context.Context) error {
	rows := [][]string{{"transaction", "time", "amount", "currency", "status", "doubt", "reference",
		"shipment"}}
	for t, err := range j.client.Transactions.All(ctx, &shipping.TransactionListOptions{Wallet: j.wallet}) {
		if err != nil {
			return err
		}
		signed := "" // an amount that cannot be booked is not 0
		if amount, err := t.Signed(); err == nil {
			signed = amount.String() // negative for money that left
		}
		rows = append(rows, []string{t.TransactionID, t.CreatedAt.Format(time.RFC3339), signed, t.Currency, t.Status,
			t.Doubt(), cmp.Or(t.RequestID(), t.TxRef), t.ShipmentID()})
	}
	return j.write("wallet.csv", rows)
}

// record adds to the journal purchases that only the wallet shows, so that the run waits for their documents.
func (j *job) record(ctx context.Context) error {
	if j.note == "" {
		return nil
	}
	log.Print("nightly: -record: the wallet is read in 5 minutes, once purchases of the last run have ended")
	select {
	case <-ctx.Done():
		return fmt.Errorf("nothing was recorded: pass -record again: %w", context.Cause(ctx))
	case <-time.After(5 * time.Minute):
	}
	path := filepath.Join(j.folder, "batch.journal")
	_, isNew := os.Stat(path)
	added, err := j.adopt(ctx, path)
	if isNew == nil || added {
		return err
	}
	nothing := inputError{fmt.Errorf("nightly: nothing was purchased: -record: wallet %s shows no requests: correct "+
		"-wallet, or leave -record out if no night has purchased anything", j.wallet)}
	return errors.Join(cmp.Or(err, error(nothing)), os.Remove(path)) // lost does not refuse a new journal
}

// adopt adds purchases to the journal, and reports whether there are any.
func (j *job) adopt(ctx context.Context, path string) (added bool, err error) {
	journal, err := batch.OpenFile(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	// Without items, Run only compares.
	report, err := batch.Run(ctx, j.client, nil, &batch.Options{Journal: journal, Wallet: j.wallet})
	missing, lacks := errors.AsType[*batch.MissingError](err)
	if !lacks {
		return false, cmp.Or(j.stopped(report, err), err)
	}
	records, err := journal.Records()
	if err != nil {
		return false, err
	}
	unknown := setKeys(missing.Payments, records)
	payments, err := batch.Adopt(ctx, journal, missing.Payments, j.night, j.note)
	fmt.Printf("recorded: %d of %d purchases that batch.journal did not have\n", len(payments), len(missing.Payments))
	for _, paid := range payments {
		fmt.Printf("recorded: the wallet paid %s %s for %s of %s\n", paid.Amount.StringFixed(2), paid.Currency,
			paid.RequestID, paid.Key)
	}
	if err == nil && len(unknown) > 0 {
		err = inputError{fmt.Errorf("nightly: nothing was purchased: the service no longer shows what %s paid for: take its "+
			"shipment out of all lists, and %s", strings.Join(unknown, ", "), j.again())}
	}
	return len(payments) > 0, err
}

// setKeys gives each payment without a key the id of its shipment or, if that is not known or has another purchase, the
// id of its request. It returns the requests whose shipment is not known.
func setKeys(payments, records []batch.Record) (unknown []string) {
	taken := map[string]bool{}
	for _, record := range batch.Latest(records) {
		taken[record.Key] = record.Begun()
	}
	for i := range payments {
		payment := &payments[i]
		if payment.Source() == "" {
			unknown = append(unknown, payment.RequestID)
		}
		if payment.Key == "" && !taken[payment.ShipmentID] {
			payment.Key = payment.ShipmentID
		}
		payment.Key = cmp.Or(payment.Key, payment.RequestID)
		taken[payment.Key] = true
	}
	return unknown
}

// write replaces a CSV file. If it fails or is killed, the file of the last night stays.
func (j *job) write(name string, rows [][]string) error {
	var text strings.Builder
	if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
		return err
	}
	path := filepath.Join(j.folder, name)
	err := os.WriteFile(path+".part", []byte(text.String()), 0o644)
	if err == nil {
		err = os.Rename(path+".part", path)
	}
	if err != nil {
		return unwritten(path, err)
	}
	return nil
}

func unwritten(path string, err error) error {
	return fmt.Errorf("nightly: %s cannot be written: make room on the disk, or let the user of this job write to the "+
		"folder: %w", path, err)
}
