package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/spelling"
)

// ErrOtherWallet is returned if [Options.Wallet] shows none of the journal's charges, and for a draft that charges
// another wallet.
var ErrOtherWallet = errors.New("shipping: batch: another wallet pays")

// errNotCompared is the error of a batch whose wallet cannot be read.
var errNotCompared = errors.New("cannot be compared with the journal, so nothing was purchased")

// MissingError is the error of [Run] if [Options.Wallet] shows purchases that the journal does not have: the journal is
// an older copy or a new one, or somebody else has purchased. Nothing was purchased. Put the newest journal back, or
// call [Adopt] with the payments.
type MissingError struct {
	// Payments are these purchases, with amounts and, if their requests can be read, with Documents. The Key of a payment
	// is that of the journal's last record of its request, or of the run's item that it can be for: of its shipment or
	// invoice, not purchased yet, with these Documents or else without Documents. Of items that exclude each other (see
	// [Item.Documents]), it is the least key.
	//
	// If the payment can be for several other items, such as those with Again, or the service no longer shows what it was
	// for, Key is empty: set it to the key of the payment's item, or to the id of the request if none of your items is for
	// it. If the payment can be for no item, Key is the id of the shipment, with "+" and that of the request for a further
	// purchase, or the id of an invoice's request.
	Payments []Record
}

// Error returns how many purchases are missing, one of them, and what to do.
func (e *MissingError) Error() string {
	first := append(e.Payments, Record{})[0]
	return fmt.Sprintf("shipping: batch: the wallet shows purchases that the journal does not have (%d, such as %s for "+
		"%s), so nothing was purchased: put the newest journal back; if this is the newest one, add them with batch.Adopt",
		len(e.Payments), spelling.Quote(first.RequestID), paidFor(first))
}

// paidFor returns what a payment was for, as messages name it.
func paidFor(payment Record) string {
	switch {
	case payment.Source() == "":
		return "an unknown shipment or invoice"
	case payment.Key == "" && payment.ShipmentID == "":
		return "an invoice"
	}
	return spelling.Quote(cmp.Or(payment.Key, payment.ShipmentID))
}

// recordsOf returns the function that returns the records of a journal; nil if the journal has none.
func recordsOf(journal Journal) func(ctx context.Context) ([]Record, error) {
	switch journal := journal.(type) {
	case *File:
		return func(context.Context) ([]Record, error) { return journal.Records() }
	case interface {
		Records(ctx context.Context) ([]Record, error)
	}:
		return journal.Records
	}
	return nil
}

// compare returns an error if the wallet shows purchases that the journal does not have, or none that it has.
func (r *run) compare(ctx context.Context, items []Item) error {
	if r.options.Wallet == "" {
		return nil
	}
	payments, err := r.payments(ctx) // first: a purchase that another process makes meanwhile is then in both
	if err != nil {
		return err
	}
	records, err := recordsOf(r.journal)(ctx)
	if err != nil {
		return err
	}
	lacking, err := missing(records, payments)
	if err != nil || len(lacking) == 0 {
		return err
	}
	return cmp.Or(r.name(ctx, lacking, records, items), error(&MissingError{lacking}))
}

// payments returns the purchases that the transactions of the wallet pay for.
func (r *run) payments(ctx context.Context) (payments []Record, err error) {
	of := &shipping.TransactionListOptions{Wallet: r.options.Wallet}
	for transaction, err := range r.client.Transactions.All(ctx, of, r.call...) {
		if err != nil {
			return nil, r.notCompared(err)
		}
		if payment, isPaid := paymentOf(transaction); isPaid {
			payments = append(payments, payment)
		}
	}
	return payments, nil
}

// notCompared returns the error of a batch that cannot read what it compares.
func (r *run) notCompared(err error) error {
	return fmt.Errorf("shipping: batch: the wallet %s %w: %w", spelling.Quote(r.options.Wallet), errNotCompared, err)
}

// paymentOf returns the purchase of documents that a transaction pays for, as a record. A failed transaction and money
// that came back are none.
func paymentOf(t *shipping.Transaction) (payment Record, isPaid bool) {
	signed, err := t.Signed()
	return Record{
		Key: t.ShipmentID(), ShipmentID: t.ShipmentID(), RequestID: t.RequestID(), Step: StepPurchased, Amount: t.Amount,
		Currency: t.Currency, Charged: t.Amount, ChargedCurrency: t.Currency, At: t.CreatedAt,
	}, (err != nil || signed.Sign() < 0) && t.RequestID() != ""
}

// missing returns the payments that a journal with these records lacks, or an error if they have none of its charges.
func missing(records, payments []Record) (lacking []Record, err error) {
	recorded := map[string]bool{}
	for _, record := range records {
		recorded[record.RequestID] = record.Committed() // not if it was settled as not charged
	}
	charged := slices.ContainsFunc(Latest(records), func(record Record) bool {
		return record.Step == StepPurchased || record.Step == StepCompleted
	})
	for _, payment := range payments {
		if !recorded[payment.RequestID] {
			lacking = append(lacking, payment)
		}
	}
	if charged && len(lacking) == len(payments) {
		return nil, fmt.Errorf("%w: Options.Wallet shows none of the journal's charges, so nothing was purchased: correct "+
			"it or the secret key; if your service shows no request ids (RD-...) in transactions, leave Options.Wallet empty",
			ErrOtherWallet)
	}
	return lacking, nil
}

// name completes payments that the journal lacks with what their requests show, and the keys of their items.
func (r *run) name(ctx context.Context, payments, records []Record, items []Item) error {
	drafts, begun := map[string]Record{}, map[string]bool{} // by request, and by key
	for _, record := range records {
		drafts[record.RequestID], begun[record.Key] = record, record.begun()
	}
	bySource := itemsBySource(items)
	for i := range payments {
		payment, draft := &payments[i], drafts[payments[i].RequestID]
		payment.ShipmentID, payment.FileHash = cmp.Or(payment.ShipmentID, draft.ShipmentID), draft.FileHash
		request, err := r.client.Regulatory.Get(ctx, payment.RequestID, r.call...)
		switch failed, isCall := errors.AsType[*shipping.Error](err); {
		case err == nil:
			payment.keepPurchase(request)
		case !isCall || passes(failed):
			return r.notCompared(err)
		} // otherwise, the transaction shows the rest
		same := withAddress(bySource[payment.Source()], request)
		if payment.Key = draft.Key; draft.Key == "" || begun[draft.Key] {
			payment.Key = keyOf(payment, same, begun)
		}
		begun[payment.Key] = true // the next payment is for another item
	}
	return nil
}

// itemsBySource returns the items of each shipment and file.
func itemsBySource(items []Item) map[string][]Item {
	bySource := map[string][]Item{}
	for _, item := range items {
		source := cmp.Or(item.Analyze.ShipmentID, fileHash(item.Analyze.FileURL))
		bySource[source] = append(bySource[source], item)
	}
	return bySource
}

// withAddress returns the items whose file has the address of a request, with its query, or all if there are none.
func withAddress(items []Item, request *shipping.RegulatoryRequest) (same []Item) {
	for _, item := range items {
		if request != nil && item.Analyze.FileURL == request.FileURL {
			same = append(same, item)
		}
	}
	if len(same) == 0 {
		return items
	}
	return same
}

// keyOf returns the key of the item that a payment is for. It is empty if several items could be purchased for the
// payment's shipment or invoice, or if that is not known: one of them would pay again.
func keyOf(payment *Record, items []Item, begun map[string]bool) (key string) {
	keys, exclusive := keysOf(payment, items, begun)
	switch {
	case payment.Source() == "", len(keys) > 1 && !exclusive:
		return ""
	case len(keys) > 0:
		return keys[0]
	case payment.ShipmentID != "" && begun[payment.ShipmentID]:
		return payment.ShipmentID + "+" + payment.RequestID
	}
	return cmp.Or(payment.ShipmentID, payment.RequestID)
}

// keysOf returns the keys of the items that a payment can be for, those of items with its documents first, and whether
// a run purchases at most one of the items.
func keysOf(payment *Record, items []Item, begun map[string]bool) (keys []string, exclusive bool) {
	var same, open []string
	exclusive = len(payment.Documents) > 0
	for _, item := range items {
		differ := len(without(payment.Documents, item.Documents)) + len(without(item.Documents, payment.Documents))
		switch {
		case begun[item.key()]:
			continue
		case differ == 0:
			same = append(same, item.key())
		case len(item.Documents) == 0 || len(payment.Documents) == 0:
			open = append(open, item.key())
		default:
			continue
		}
		exclusive = exclusive && !item.Again
	}
	return append(slices.Sorted(slices.Values(same)), slices.Sorted(slices.Values(open))...), exclusive
}

// pays returns an error if the purchase of a draft charges another wallet than that of the batch.
func (r *run) pays(draft *shipping.RegulatoryRequest) error {
	if r.options.Wallet == "" || draft.Wallet == "" || draft.Wallet == r.options.Wallet {
		return nil
	}
	return fmt.Errorf("%w: the draft charges the wallet %s, not %s: correct Options.Wallet, or leave the item out",
		ErrOtherWallet, spelling.Quote(draft.Wallet), spelling.Quote(r.options.Wallet))
}

// Adopt adds the payments of a [MissingError] to the journal, so that the next run waits for their documents, if its
// items include those of [Unfinished]. They count against the budget of the period. Each is stored under its Key. Adopt
// returns the records that it has added, with the note in each. A payment without a Key is a
// [*shipping.ValidationError], and nothing is added. So is one with a Key that has a purchase; earlier ones are added.
//
// The run that returns the MissingError must have the items of all runs: one with Again that it lacks would pay again.
// If the journal was lost, begin this run five minutes after the last one has ended, because a purchase can take effect
// late. The errors are those of [Resolve].
func Adopt(ctx context.Context, journal Journal, payments []Record, period, note string) (added []Record, err error) {
	if err := cmp.Or(validateFinding(ctx, "Adopt", journal, note), validateKeys(payments)); err != nil {
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

// validateKeys returns an error for a payment without a key.
func validateKeys(payments []Record) error {
	for _, payment := range payments {
		if payment.Key == "" {
			return invalid("Adopt", fmt.Sprintf("has a payment for %s (request %s), and its item is not known; nothing was "+
				"added: set its Key to that of the item that it was for, as earlier reports show it, or to the request's id if it "+
				"was for none of your items; the service may show an unknown shipment or invoice to a later Run",
				paidFor(payment), spelling.Quote(payment.RequestID)))
		}
	}
	return nil
}

func adopt(ctx context.Context, journal Journal, payment *Record) error {
	claim, err := journal.Claim(ctx, payment.Key)
	if err != nil {
		return err
	}
	if last := claim.Record(); last.begun() { // what this payment has bought could be bought again
		err = invalid("Adopt", fmt.Sprintf("has the payment %s with the Key %s, which has another purchase (%s): set the "+
			"Key of another item, or the id of the payment's request if it was for none of your items",
			spelling.Quote(payment.RequestID), spelling.Quote(payment.Key), spelling.Quote(last.RequestID)))
	} else {
		if payment.Source() == "" { // the key belongs to one shipment or invoice
			payment.ShipmentID, payment.FileHash = last.ShipmentID, last.FileHash
		}
		_, err = claim.Append(ctx, *payment, nil, nil)
	}
	return errors.Join(err, claim.Release(context.WithoutCancel(ctx)))
}
