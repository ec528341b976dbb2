package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	// Payments are these purchases, with amounts and, if their requests can be read, with Documents. Take them from a run
	// with the items of all nights: the Key of a payment is that of the journal's last record of its request, or else of
	// the item for its shipment or invoice with these Documents, or of one without. It is empty if there is no such item,
	// if the item has a purchase, if another purchase may have these documents, if an item of the shipment or invoice has
	// Again or a query in its address, or if the documents are not known and one of these items names some. Set an empty
	// Key to that of the payment's item, as reports show it; to the request's id only if it was for none of your items.
	// If Documents are not known, a later Run may show them.
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
	var amount shipping.Amount // a person sets an unknown one
	if t.Amount.Known() {
		amount = size(t.Amount)
	}
	return Record{
		ShipmentID: t.ShipmentID(), RequestID: t.RequestID(), Step: StepPurchased, Amount: amount, Currency: t.Currency,
		Charged: amount, ChargedCurrency: t.Currency, At: t.CreatedAt,
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

// name completes payments that the journal lacks with what their requests show, and with the keys of their items.
func (r *run) name(ctx context.Context, payments, records []Record, items []Item) error {
	drafts := map[string]Record{} // by request
	for _, record := range records {
		drafts[record.RequestID] = record
	}
	for i := range payments {
		payment, draft := &payments[i], drafts[payments[i].RequestID]
		payment.Key, payment.FileHash = draft.Key, draft.FileHash
		payment.ShipmentID = cmp.Or(payment.ShipmentID, draft.ShipmentID)
		request, err := r.client.Regulatory.Get(ctx, payment.RequestID, r.call...)
		switch failed, isCall := errors.AsType[*shipping.Error](err); {
		case err == nil:
			payment.keepPurchase(request)
		case !isCall || passes(failed):
			return r.notCompared(err)
		} // otherwise, the transaction shows the rest
	}
	newKeys(payments, records, items).set(payments)
	return nil
}

// keys finds the keys of payments that the journal lacks.
type keys struct {
	items     map[string][]Item   // by shipment or file
	purchases map[string][]Record // of the journal and the wallet, by shipment or file
	begun     map[string]bool     // the keys with a purchase
}

func newKeys(payments, records []Record, items []Item) keys {
	k := keys{map[string][]Item{}, map[string][]Record{}, map[string]bool{}}
	for _, item := range items {
		source := cmp.Or(item.Analyze.ShipmentID, fileHash(item.Analyze.FileURL))
		k.items[source] = append(k.items[source], item)
	}
	for _, record := range Latest(records) {
		if record.Begun() {
			k.begun[record.Key] = true
			k.purchases[record.Source()] = append(k.purchases[record.Source()], record)
		}
	}
	for _, payment := range payments {
		k.purchases[payment.Source()] = append(k.purchases[payment.Source()], payment)
	}
	return k
}

// set sets the keys of payments. A payment whose request is in the journal has the key of that record.
func (k keys) set(payments []Record) {
	for i := range payments {
		payment := &payments[i]
		if k.begun[payment.Key] {
			payment.Key = ""
		}
		payment.Key = cmp.Or(payment.Key, k.of(*payment))
		k.begun[payment.Key] = true // also "", which is no key
	}
}

// of returns the key of the item that a payment is for, or "" if another item, perhaps of another run, could be it.
func (k keys) of(payment Record) (key string) {
	isSame := false
	for _, item := range k.items[payment.Source()] {
		isUnclear := len(payment.Documents) == 0 && len(item.Documents) > 0
		if item.Again || isUnclear || strings.ContainsAny(item.Analyze.FileURL, "?#") {
			return ""
		}
		same := sameDocuments(item.Documents, payment.Documents)
		better := same && !isSame || same == isSame && (key == "" || item.key() < key)
		if (same || len(item.Documents) == 0) && better {
			key, isSame = item.key(), same
		}
	}
	if payment.Source() == "" || k.begun[key] || k.repeats(payment) {
		return ""
	}
	return key
}

// repeats reports whether another purchase of the shipment or file may have a document of a payment.
func (k keys) repeats(payment Record) bool {
	return slices.ContainsFunc(k.purchases[payment.Source()], func(other Record) bool {
		unread := len(payment.Documents) == 0 || len(other.Documents) == 0
		return other.RequestID != payment.RequestID &&
			(unread || len(without(payment.Documents, other.Documents)) < len(payment.Documents))
	})
}

func sameDocuments(documents, others []shipping.DocumentType) bool {
	return len(without(documents, others))+len(without(others, documents)) == 0
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
// returns the records that it has added, with the note in each, without payments that the journal has under this Key. A
// payment without a Key or an Amount is a [*shipping.ValidationError], and nothing is added. So is one with a Key that
// has another purchase; earlier payments are added.
//
// If the journal was lost, begin the run that returns the MissingError five minutes after the last one has ended,
// because a purchase can take effect late. The errors are those of [Resolve].
func Adopt(ctx context.Context, journal Journal, payments []Record, period, note string) (added []Record, err error) {
	if err := cmp.Or(validateFinding(ctx, "Adopt", journal, note), validatePayments(payments)); err != nil {
		return nil, err
	}
	err = exclusive(journal, func() error {
		for _, payment := range payments {
			payment.Period, payment.Note = period, note
			isNew, err := adopt(ctx, journal, &payment)
			if err != nil {
				return err
			}
			if isNew {
				added = append(added, payment)
			}
		}
		return nil
	})
	return added, err
}

// validatePayments returns an error for a payment without an amount, or one that lists the payments without a key.
func validatePayments(payments []Record) error {
	var lacking []string
	for _, payment := range payments {
		if !payment.Amount.Known() {
			return invalid("Adopt", fmt.Sprintf("has the payment %s, and its amount is not known; nothing was added: set its "+
				"Amount to what the wallet has paid", spelling.Quote(payment.RequestID)))
		}
		if payment.Key == "" {
			lacking = append(lacking, fmt.Sprintf("%s for %s (request %s)", money(payment.Amount, payment.Currency),
				paidFor(payment), spelling.Quote(payment.RequestID)))
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	return invalid("Adopt", fmt.Sprintf("has a payment of %s, and its item is not known; nothing was added: set its Key "+
		"to that of the item that it was for, as earlier reports show it, or to the request's id if it was for none of "+
		"your items; the service may show an unknown shipment or invoice to a later Run", strings.Join(lacking, "; of ")))
}

// adopt adds a payment, unless the journal has it.
func adopt(ctx context.Context, journal Journal, payment *Record) (isNew bool, err error) {
	claim, err := journal.Claim(ctx, payment.Key)
	if err != nil {
		return false, err
	}
	last := claim.Record()
	switch isNew = last.RequestID != payment.RequestID || !last.Begun(); {
	case isNew && last.Begun(): // what this payment has bought could be bought again
		err = invalid("Adopt", fmt.Sprintf("has the payment %s with the Key %s, which has another purchase (%s): set the "+
			"Key of another item, or the id of the payment's request if it was for none of your items; if the other "+
			"purchase was not charged, record that with batch.Resolve first", spelling.Quote(payment.RequestID),
			spelling.Quote(payment.Key), spelling.Quote(last.RequestID)))
	case isNew:
		if payment.Source() == "" { // the key belongs to one shipment or invoice
			payment.ShipmentID, payment.FileHash = last.ShipmentID, last.FileHash
		}
		_, err = claim.Append(ctx, *payment, nil, nil)
	}
	return isNew, errors.Join(err, claim.Release(context.WithoutCancel(ctx)))
}
