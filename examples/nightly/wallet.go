package main

// This file compares the journal with the wallet: nothing is purchased if the journal is missing, or lacks a purchase
// that the wallet shows. Take it into your own job with commands.go.

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

// journalError is the error of a journal that lacks purchases: this night does not run without them.
type journalError struct{ error }

// lost returns an error if a night has begun, which documents.csv shows, and the journal is missing: a new one would
// buy again what the wallet does not show.
func (j *job) lost() error {
	_, err := os.Stat(filepath.Join(j.folder, "batch.journal"))
	_, begun := os.Stat(filepath.Join(j.folder, "documents.csv"))
	if !errors.Is(err, os.ErrNotExist) || errors.Is(begun, os.ErrNotExist) || j.note != "" {
		return nil
	}
	return journalError{fmt.Errorf("nightly: nothing was purchased: batch.journal is missing, although documents.csv in "+
		"%s shows that a night has begun: put the journal back; if it is lost:%s", j.folder, j.begins())}
}

// begin marks that a night has begun, before it purchases anything. A kill before it leaves a journal without records.
func (j *job) begin() error {
	marked, err := os.OpenFile(filepath.Join(j.folder, "documents.csv"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return marked.Close()
}

// payments are the purchases that the wallet shows, by shipment.
type payments map[string][]batch.Record

// transactions writes the movements of the wallet, and returns the payments among them. A payment shows its request, an
// id that begins with "RD-"; if your service shows none, the journal alone prevents a second purchase.
func (j *job) transactions(ctx context.Context) (payments, error) {
	paid := payments{}
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
		isPaid := signed == "" || strings.HasPrefix(signed, "-") // and not a failed one, or money that came back
		if request := cmp.Or(t.Metadata.Get("request_id").Text(), t.TxRef); isPaid && strings.HasPrefix(request, "RD-") {
			paid[t.ShipmentID()] = append(paid[t.ShipmentID()], batch.Record{
				Key: t.ShipmentID(), ShipmentID: t.ShipmentID(), RequestID: request, Step: batch.StepPurchased, Amount: t.Amount,
				Currency: t.Currency, Charged: t.Amount, ChargedCurrency: t.Currency, At: t.CreatedAt,
			})
		}
	}
	return paid, j.write("wallet.csv", rows)
}

// missing returns the payments of open shipments that the journal does not have: it is an older copy, or somebody else
// has purchased.
func (p payments) missing(items []batch.Item, records []batch.Record) (missing []batch.Record) {
	recorded := map[string]bool{"": true} // requests, and shipments that no run purchases again
	for _, record := range records {
		recorded[record.RequestID] = record.Committed() // not if it was settled as not charged
		if record.Step == batch.StepCompleted || record.Step == batch.StepClosed {
			recorded[record.Key] = true
		}
	}
	for _, item := range items {
		for _, payment := range p[item.Analyze.ShipmentID] {
			if !recorded[payment.ShipmentID] && !recorded[payment.RequestID] {
				missing = append(missing, payment)
				recorded[payment.RequestID] = true // several items can have one shipment
			}
		}
	}
	return missing
}

// mayRecord returns an error if -record has nothing to record. Then no new journal is created, which would end the
// refusal of lost.
func (j *job) mayRecord(paid payments) error {
	if j.note == "" || len(paid) > 0 {
		return nil
	}
	return inputError{fmt.Errorf("nightly: nothing was purchased: -record: wallet %s shows no requests", j.wallet),
		"correct -wallet, or leave -record out if no night has purchased anything"}
}

// earlier returns items with the shipments of documents.csv. An older journal may lack their purchases.
func (j *job) earlier() (items []batch.Item, err error) {
	file, err := os.Open(filepath.Join(j.folder, "documents.csv"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	for _, row := range rows { // nothing is paid for the heading
		items = append(items, batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: row[0]}})
	}
	return items, err
}

// compare returns an error if the wallet is that of another journal, or the journal lacks payments for shipments of the
// list, of unfinished purchases, or of documents.csv. With -record, it writes these to the journal. It returns the
// records of the journal.
func (j *job) compare(ctx context.Context, journal *batch.File, paid payments, items []batch.Item,
	records []batch.Record) ([]batch.Record, error) {
	earlier, err := j.earlier()
	if err = errors.Join(err, j.checkWallet(paid, records)); err != nil {
		return nil, err
	}
	missing := paid.missing(slices.Concat(items, batch.Unfinished(records, items), earlier), records)
	switch {
	case j.note != "":
		fmt.Printf("recorded: %d purchases that batch.journal did not have\n", len(missing))
		if err := j.record(ctx, journal, missing); err != nil {
			return nil, err
		}
		return journal.Records()
	case len(missing) == 0:
		return records, nil
	}
	return nil, journalError{fmt.Errorf("nightly: nothing was purchased: the wallet shows purchases that batch.journal "+
		"does not have (%d, such as %s for %s): if it is an older copy, put the newest one back; if that is lost, or somebody "+
		"else has purchased, run %s with -record TICKET; to count them against the budget of an earlier night, run that "+
		"night first, with -record", len(missing), missing[0].RequestID, missing[0].ShipmentID, j.again())}
}

// record writes purchases to the journal, so that the run waits for their documents. They count against the budget of
// this night. One beside another purchase of its shipment is closed.
func (j *job) record(ctx context.Context, journal *batch.File, purchases []batch.Record) error {
	for _, purchase := range purchases {
		claim, err := journal.Claim(ctx, purchase.Key)
		if err == nil && claim.Record().Committed() {
			purchase.Key, purchase.Step = purchase.Key+" "+purchase.RequestID, batch.StepClosed
			err = claim.Release(ctx)
			if err == nil {
				claim, err = journal.Claim(ctx, purchase.Key)
			}
		}
		if err != nil {
			return err
		}
		purchase.Period, purchase.Note = j.night, j.note
		_, err = claim.Append(ctx, purchase, nil, nil)
		if err := errors.Join(err, claim.Release(ctx)); err != nil {
			return err
		}
		fmt.Printf("recorded: the wallet paid %s %s for %s of shipment %s: %s\n", purchase.Amount.StringFixed(2),
			purchase.Currency, purchase.RequestID, purchase.ShipmentID, purchase.Step)
	}
	return nil
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

// checkWallet returns an error if the wallet shows none of the charges of the journal.
func (j *job) checkWallet(paid payments, records []batch.Record) error {
	charges := 0
	for _, record := range records {
		for _, payment := range paid[record.ShipmentID] {
			if payment.RequestID == record.RequestID {
				return nil
			}
		}
		if record.Step == batch.StepPurchased || record.Step == batch.StepCompleted {
			charges++
		}
	}
	if charges == 0 {
		return nil
	}
	return inputError{fmt.Errorf("nightly: nothing was purchased: wallet %s shows none of the journal's charges: "+
		"it is the wallet of another journal; if your service shows no request ids (column reference of "+
		"wallet.csv), remove this check from the program", j.wallet), "correct -wallet or SHIPPING_SECRET_KEY"}
}
