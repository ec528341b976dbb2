package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

// rates writes the cheapest rate of each parcel.
func (j *job) rates(ctx context.Context) error {
	cheapest := map[string]*shipping.Rate{} // by parcel and currency: amounts in two currencies cannot be compared
	for rate, err := range j.client.Rates.All(ctx, nil) {
		if err != nil {
			return fmt.Errorf("rates.csv was not written; the next run writes it: %w", err)
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
			}
		}
	}
	return missing
}

// compare returns an error if the wallet is that of another journal, or the journal lacks payments of the wallet. With
// -record, it writes these to the journal.
func (j *job) compare(ctx context.Context, journal *batch.File, paid payments, items []batch.Item,
	records []batch.Record) error {
	err, missing := j.checkWallet(paid, records), paid.missing(items, records)
	switch {
	case err != nil || len(missing) == 0:
		return err
	case j.note != "":
		return j.record(ctx, journal, missing)
	}
	return journalError{fmt.Errorf("nightly: nothing was purchased: the wallet shows purchases that batch.journal does "+
		"not have (%d, such as %s for %s): if it is an older copy, put the newest one back; if that is lost, or somebody "+
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
		return context.Cause(ctx)
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

// results writes the outcome and the charge of each shipment, and the whole text of all causes of open ones.
func (j *job) results(report *batch.Report) error {
	rows := [][]string{{"shipment", "state", "request", "night", "charged", "currency", "needs evidence", "note", "error"}}
	evident := map[batch.State]int{} // shipments with documents that need evidence
	for _, result := range report.Results {
		charged, evidence, failed := "", "", ""
		if result.Charged.Known() { // an unknown charge is not 0
			charged = result.Charged.String()
		}
		if len(result.NotSelected) > 0 {
			evident[result.State]++
			evidence = fmt.Sprint(result.NotSelected)
		}
		if result.Err != nil {
			failed = j.forOperators(result.Err)
		}
		rows = append(rows, []string{result.Key, string(result.State), result.RequestID, result.Period, charged,
			result.ChargedCurrency, evidence, result.Note, failed})
	}
	causes := [][]string{{"shipments", "state", "error of the first, and what to do", "ids"}}
	for _, cause := range report.Causes() {
		text := j.forOperators(fmt.Errorf("%w; %s", cause.Err, openError{report, j}.action(cause)))
		causes = append(causes, []string{fmt.Sprint(len(cause.Keys)), string(cause.State), text,
			strings.Join(cause.Keys[:min(len(cause.Keys), 1000)], " ")}) // documents.csv has more than a cell can hold
	}
	if completed, drafts := evident[batch.StateCompleted], evident[batch.StateDraft]; completed+drafts > 0 {
		remove := ""
		if drafts > 0 {
			remove = ", take the drafts out of the list,"
		}
		fmt.Printf("shipments with documents that this job does not buy, because a person must supply evidence: %d "+
			"completed, %d drafts; see \"needs evidence\" in documents.csv%s and buy the documents from a new analysis\n",
			completed, drafts, remove)
	}
	return errors.Join(j.write("documents.csv", rows), j.write("causes.csv", causes))
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
