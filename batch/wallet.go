package batch

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/shipping-go/shipping"
)

// ErrOtherWallet is returned if a wallet shows none of the charges of a journal.
var ErrOtherWallet = errors.New("shipping: batch: the wallet shows none of the journal's charges: it is the wallet " +
	"of another journal, the service shows no request ids in its transactions, or a person recorded a wrong charge")

// Payments returns the purchases of documents among transactions of a wallet, as records for [Missing], with amounts
// and without Documents. It leaves out failed transactions and money that came back.
//
// Assumption: a payment shows its request as TxRef or, in the metadata, as request_id: an id that begins with "RD-".
func Payments(transactions []*shipping.Transaction) (payments []Record) {
	for _, t := range transactions {
		request := cmp.Or(t.Metadata.Get("request_id").Text(), t.TxRef)
		signed, err := t.Signed()
		if isPaid := err != nil || signed.Sign() < 0; isPaid && strings.HasPrefix(request, "RD-") {
			payments = append(payments, Record{
				Key: t.ShipmentID(), ShipmentID: t.ShipmentID(), RequestID: request, Step: StepPurchased, Amount: t.Amount,
				Currency: t.Currency, Charged: t.Amount, ChargedCurrency: t.Currency, At: t.CreatedAt,
			})
		}
	}
	return payments
}

// Missing returns the payments that a journal with these records does not have: the journal is an older copy or a new
// one, or somebody else has purchased. Purchase nothing until the journal has them: put its newest copy back, or call
// [Adopt]. The records are those that [Unfinished] takes.
//
// The Key of a payment is that of its shipment's item without Documents, or else the id of the shipment: a payment does
// not show what it paid for. For an invoice, it is the id of the request. If an item is for that invoice, set its key
// here before Adopt, or the item is purchased again.
//
// The error is [ErrOtherWallet] if the payments have none of the journal's charges. Read the transactions before the
// records: a purchase that another process makes in between is then in both.
func Missing(records, payments []Record, items []Item) (missing []Record, err error) {
	recorded, last := map[string]bool{}, map[string]Record{} // by request, and by key
	for _, record := range records {
		recorded[record.RequestID] = record.Committed() // not if it was settled as not charged
	}
	charged, shown := false, false
	for _, record := range Latest(records) {
		last[record.Key] = record
		charged = charged || record.Step == StepPurchased || record.Step == StepCompleted
	}
	keys := map[string]string{} // of items without Documents, by shipment: preferably of one without a purchase
	for _, item := range items {
		shipment := item.Analyze.ShipmentID
		if key, found := keys[shipment]; len(item.Documents) == 0 && (!found || last[key].begun()) {
			keys[shipment] = item.key()
		}
	}
	for _, payment := range payments {
		if shown = shown || recorded[payment.RequestID]; !recorded[payment.RequestID] {
			payment.Key = payment.RequestID
			if payment.ShipmentID != "" {
				payment.Key = cmp.Or(keys[payment.ShipmentID], payment.ShipmentID)
			}
			missing = append(missing, payment)
		}
	}
	if charged && !shown {
		return nil, ErrOtherWallet
	}
	return missing, nil
}

// Adopt adds missing payments to the journal, so that the next run waits for their documents, if its items include
// those of [Unfinished]. They count against the budget of the period. Each has its Key, with "+" and the request if the
// journal has another purchase of that key. Adopt returns the records that it has added, with the note in each.
//
// A purchase can take effect late: read the transactions five minutes after the last run has ended. The errors are
// those of [Resolve].
func Adopt(ctx context.Context, journal Journal, payments []Record, period, note string) (added []Record, err error) {
	if err := validateFinding(ctx, "Adopt", journal, note); err != nil {
		return nil, err
	}
	err = exclusive(journal, func() error {
		for _, payment := range payments {
			payment.Period, payment.Note = period, note
			if err := adopt(ctx, journal, &payment); err != nil {
				return err
			}
			added = append(added, payment)
		}
		return nil
	})
	return added, err
}

func adopt(ctx context.Context, journal Journal, payment *Record) error {
	claim, err := journal.Claim(ctx, payment.Key)
	if err == nil && claim.Record().begun() {
		payment.Key += "+" + payment.RequestID
		if err = claim.Release(ctx); err == nil {
			claim, err = journal.Claim(ctx, payment.Key)
		}
	}
	if err != nil {
		return err
	}
	_, err = claim.Append(ctx, *payment, nil, nil)
	return errors.Join(err, claim.Release(context.WithoutCancel(ctx)))
}
