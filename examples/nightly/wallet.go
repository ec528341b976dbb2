package main

// This file compares the journal with the wallet: nothing is purchased if the journal is missing, or lacks a purchase
// that the wallet shows. Take it into your own job with commands.go. The file documents.csv shows that a night has
// begun; its columns request and charged are compared, too.

import (
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
func (j *job) begin() error {
	marked, err := os.OpenFile(filepath.Join(j.folder, "documents.csv"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return marked.Close()
}

// transactions writes the movements of the wallet, and returns the payments among them.
func (j *job) transactions(ctx context.Context) (payments []batch.Record, err error) {
	var all []*shipping.Transaction
	rows := [][]string{{"transaction", "time", "amount", "currency", "status", "doubt", "reference",
		"shipment"}}
	for t, err := range j.client.Transactions.All(ctx, &shipping.TransactionListOptions{Wallet: j.wallet}) {
		if err != nil {
			return nil, err
		}
		signed := "" // an amount that cannot be booked is not 0
		if amount, err := t.Signed(); err == nil {
			signed = amount.String() // negative for money that left
		}
		rows = append(rows, []string{t.TransactionID, t.CreatedAt.Format(time.RFC3339), signed, t.Currency, t.Status,
			t.Doubt(), t.TxRef, t.ShipmentID()})
		all = append(all, t)
	}
	return batch.Payments(all), j.write("wallet.csv", rows)
}

// mayRecord returns an error if -record has nothing to record. Then no new journal is created, which would end the
// refusal of lost.
func (j *job) mayRecord(paid []batch.Record) error {
	if j.note == "" || len(paid) > 0 {
		return nil
	}
	return inputError{fmt.Errorf("nightly: nothing was purchased: -record: wallet %s shows no requests: correct -wallet, "+
		"or leave -record out if no night has purchased anything", j.wallet)}
}

// unshown returns a row of documents.csv with a charge that none of the purchases is; nil if there is none.
func (j *job) unshown(purchases []batch.Record) ([]string, error) {
	file, err := os.Open(filepath.Join(j.folder, "documents.csv"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	table := csv.NewReader(file)
	table.FieldsPerRecord, table.LazyQuotes = -1, true // a person may have edited it
	rows, err := table.ReadAll()
	for i, row := range rows {
		shows := func(r batch.Record) bool { return r.RequestID == row[2] }
		switch {
		case i == 0 && (len(row) < 5 || row[2] != "request" || row[4] != "charged"):
			return nil, inputError{errors.New("nightly: nothing was purchased: documents.csv has other columns: put the " +
				"documents.csv of the last night back")}
		case i > 0 && len(row) >= 5 && row[4] != "" && !slices.ContainsFunc(purchases, shows):
			return row, nil
		}
	}
	return nil, err
}

// compare returns an error if the wallet is that of another journal, or the journal lacks payments. With -record, it
// adds these to the journal. It returns the records of the journal.
func (j *job) compare(ctx context.Context, journal *batch.File, paid []batch.Record, items []batch.Item,
	records []batch.Record) ([]batch.Record, error) {
	missing, err := batch.Missing(records, paid, items)
	if err != nil {
		return nil, inputError{fmt.Errorf("nightly: nothing was purchased: wallet %s: %w: correct -wallet or "+
			"SHIPPING_SECRET_KEY; if column reference of wallet.csv never has request ids, remove this check", j.wallet, err)}
	}
	unshown, err := j.unshown(slices.Concat(paid, records))
	switch {
	case err != nil:
		return nil, err
	case unshown != nil:
		return nil, inputError{fmt.Errorf("nightly: nothing was purchased: documents.csv shows a charge for %s of "+
			"shipment %s, which neither wallet %s nor batch.journal shows: put the newest journal back, or correct -wallet; if "+
			"the wallet no longer shows its older payments, leave their shipments out of later lists, and move documents.csv "+
			"to another folder", unshown[2], unshown[0], j.wallet)}
	case j.note != "":
		return j.record(ctx, journal, missing)
	case len(missing) == 0:
		return records, nil
	}
	return nil, inputError{fmt.Errorf("nightly: nothing was purchased: the wallet shows purchases that batch.journal "+
		"lacks (%d, such as %s for %s): if the journal is an older copy, put the newest one back; if that is lost, if "+
		"somebody else has purchased, if \"not charged\" was wrong, or in the first night, %s with -record TICKET; to "+
		"count them against the budget of an earlier night, run that night first, with -record", len(missing),
		missing[0].RequestID, missing[0].Key, j.again())}
}

// record adds purchases to the journal, so that the run waits for their documents.
func (j *job) record(ctx context.Context, journal *batch.File, missing []batch.Record) ([]batch.Record, error) {
	added, err := batch.Adopt(ctx, journal, missing, j.night, j.note)
	fmt.Printf("recorded: %d of %d purchases that batch.journal did not have\n", len(added), len(missing))
	for _, purchase := range added {
		fmt.Printf("recorded: the wallet paid %s %s for %s of %s\n", purchase.Amount.StringFixed(2), purchase.Currency,
			purchase.RequestID, purchase.Key)
	}
	records, unread := journal.Records()
	return records, errors.Join(err, unread)
}

// settle waits for purchases of the last run that may take effect late, if purchases will be recorded.
func (j *job) settle(ctx context.Context) error {
	if j.note == "" {
		return nil
	}
	log.Print("nightly: -record: the wallet is read in 5 minutes, once purchases of the last run have ended")
	select {
	case <-ctx.Done():
		return fmt.Errorf("nothing was recorded: pass -record again: %w", context.Cause(ctx))
	case <-time.After(5 * time.Minute):
		return nil
	}
}

// write replaces a CSV file. If it fails or is killed, the file of the last night stays.
func (j *job) write(name string, rows [][]string) error {
	var text strings.Builder
	if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
		return err
	}
	path := filepath.Join(j.folder, name)
	if err := os.WriteFile(path+".part", []byte(text.String()), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}
