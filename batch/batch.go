// Package batch purchases the documents of many shipments and invoices within one budget, and replays many
// webhook notifications.
//
//	journal, err := batch.OpenFile("batch.journal")
//	report, err := batch.Run(ctx, client, items, &batch.Options{
//		Select:  shipping.SelectAutomated,
//		Budget:  budget,
//		Journal: journal,
//	})
//
// [Run] records each step in a [Journal], so that an interrupted batch continues at its last step and purchases
// nothing twice. [OpenFile] opens a journal for one process; the nested module stores has one in PostgreSQL for
// several. [Options.Wallet] compares the journal with the wallet. [Resolve] closes a purchase that no run can
// settle. [Replay] has no journal: to continue, skip the replays that an earlier run has queued; see [QueuedReplays].
//
// The package calls only public methods of the client.
package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/itemkey"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/internal/wait"
)

// Item is one shipment or invoice of a batch.
type Item struct {
	// Key identifies the item in the journal, in results and in progress: UTF-8 of at most 2,000 bytes, without a NUL
	// character. Empty means the shipment's id or the file's URL. A URL with a query needs a Key, because the query of
	// a signed URL is new each time. A key must be the same each time the batch runs, and belong to one shipment or
	// invoice in all batches of the journal. A key of another shipment is an error, as is a second key for a purchased
	// shipment or invoice, unless Documents differ. Two addresses that differ only after a "?" are one invoice.
	Key string
	// Analyze is the analysis. It can be empty if the journal has a request of the item, such as for items from
	// [Unfinished].
	Analyze shipping.AnalyzeRequest
	// Documents are the documents to purchase, as with [shipping.SelectOnly]. It is an error if the item is completed
	// without one of them, or if another item has, or may have, purchased one for the shipment. If empty,
	// [Options.Select] chooses, and a purchase of another item for the shipment is an error.
	//
	// If several items of a run are for one shipment or file, and share a document or have no Documents, one is purchased:
	// the one whose purchase has begun, or else the one with the least key. With a journal of several processes, it is
	// always the one with the least key. The others get an error. So does an item without Documents beside one with them.
	Documents []shipping.DocumentType
	// Again purchases even if documents of the shipment were or may have been purchased under another key, and even if
	// [Resolve] has closed that item as not charged. It can pay for the same documents a second time. An item with Again
	// begins once the run has purchased or ended the other items for its shipment.
	Again bool
}

// source returns the id of the shipment or the URL of the file.
func (i Item) source() string { return cmp.Or(i.Analyze.ShipmentID, i.Analyze.FileURL) }

// Validate checks the item as [Run] does: Run refuses all items if one is wrong. The error is a
// [*shipping.ValidationError].
func (i Item) Validate() error { return i.validate("Item") }

// validate returns an error that begins with the name of the item.
func (i Item) validate(name string) error {
	if i.Key == "" && i.source() == "" {
		return invalid(name, "has neither a ShipmentID nor a FileURL in Analyze: set exactly one of them")
	}
	if err := i.Analyze.Validate(); err != nil && (i.Key == "" || i.source() != "") {
		return fmt.Errorf("%s: %w", name, err)
	}
	if i.key() == i.Analyze.FileURL && i.holdsMore() {
		return invalid(name, "has no Key, and its FileURL has a query or a user; if that differs in the next run, the "+
			"item counts as new, and may be purchased again: set a Key, such as the number of the invoice")
	}
	if problem := textProblem(i.key(), maxKey); problem != "" {
		return invalid(name, fmt.Sprintf("has the key %s, which %s: set a Key that a journal can keep",
			spelling.Quote(i.key()), problem))
	}
	return nil
}

// holdsMore reports whether the address of the file has parts that change, or do not belong in a journal.
func (i Item) holdsMore() bool {
	address, err := url.Parse(i.Analyze.FileURL)
	return err != nil || address.RawQuery != "" || address.ForceQuery || address.User != nil
}

func (i Item) key() string { return cmp.Or(i.Key, i.source()) }

// Options configures [Run]. Nil and the zero value purchase nothing.
type Options struct {
	// Concurrency is how many items are worked on at the same time; items that wait for their documents, or for the
	// outcome of a purchase that an earlier run left open, do not count. Default 8.
	Concurrency int
	// Edit and Select are those of [shipping.AnalyzeAndPollOptions]. They are called concurrently, for up to
	// Concurrency items at the same time, so data that they share needs a lock. For an item with Documents, only Edit is
	// called.
	Edit   func(ctx context.Context, draft *shipping.RegulatoryRequest) error
	Select func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error)
	// Budget bounds the spending of the batch over all runs of its Period. The most that a purchase can cost (see
	// [shipping.RegulatoryRequest.Cost]) is reserved before it is sent, and released only when it is certain that nothing
	// was charged. A higher reported charge counts instead. If a charge in the journal is above its cost, is in another
	// currency or cannot be read, it stops all purchases, in any period, until a person closes it with a note ([Resolve]).
	// Nil means no bound. A budget needs a Select, or an item with Documents.
	Budget *shipping.Budget
	// Period names the part of the journal that the budget bounds, such as the day on which a nightly job was due. A
	// later run of the same period continues with what is left; another period begins with the whole budget. An item that
	// was purchased in any period is not purchased again. A purchase counts in the period in which it was sent, even
	// while its outcome is unknown. If it was not charged, a later purchase counts in the period of the later run. Take
	// the period from the scheduler, not from the clock: it must be the same after a restart and on each machine.
	Period string
	// Purchase holds the settings of the purchases. Its QuietFor also applies to purchases that an earlier run left
	// without a response: they count as not charged after this time.
	Purchase shipping.PurchaseOptions
	// Poll holds the settings of the waits. Its Progress is never called concurrently.
	Poll shipping.PollOptions
	// Journal records each step, so that an interrupted batch can be resumed and buys nothing twice. Use [OpenFile] for
	// one process, or a journal in a database for several. Several processes can run the same batch at the same time:
	// they divide the items, share the budget, and take over the items of a process that dies. Each run returns when all
	// items have ended, in whichever process. The journal's lease must be at least a quarter longer than
	// Purchase.QuietFor. Nil records nothing: a second run purchases everything again, and cannot settle outcomes. A
	// Period needs a Journal.
	Journal Journal
	// Wallet is the wallet that the purchases charge, such as VA-0123456789. Run first reads its transactions. Nothing is
	// purchased while they show a purchase of documents that the journal does not have ([*MissingError]), if they show
	// none of the journal's charges, or if a draft names another wallet ([ErrOtherWallet]). A Run without items only
	// compares. It needs a Journal that returns its records, such as those of [OpenFile] and package pgstore. Empty
	// compares nothing.
	//
	// Assumption: transactions show their requests ([shipping.Transaction.RequestID]). If those of your service do not,
	// leave Wallet empty.
	Wallet string
	// Progress is called after each step of each item, one call at a time. Besides the steps of [shipping.PollEvent]
	// it gets "settling", before a run settles the purchase of an earlier run (Next is the longest time for that), and
	// "taken", if another process works on the item (Next is the time until the next try).
	Progress func(Event)
}

// State is the state of an item.
type State string

const (
	// StateCompleted: purchased, all documents generated.
	StateCompleted State = "completed"
	// StateFailed: the analysis failed and nothing was charged, or the generation failed after the charge. After a
	// failed analysis, the next run analyzes the item again. After a failed generation, it reads the request, which a
	// retry may have completed, and purchases nothing. [Resolve] closes the item.
	StateFailed State = "failed"
	// StateClosed: closed with [Resolve]; no run works on it.
	StateClosed State = "closed"
	// StateDraft: analyzed, and nothing was selected.
	StateDraft State = "draft"
	// StateOverBudget: not purchased because of the budget.
	StateOverBudget State = "over budget"
	// StateUnknown: the outcome of the purchase is not known, and Err is the reason; the next run settles it. Close a
	// purchase that can never be settled with [Resolve].
	StateUnknown State = "unknown"
	// StateWaiting: not finished when the batch ended, here or in another process, or waiting only for evidence; the next
	// run continues.
	StateWaiting State = "waiting"
	// StateError: another failure; this run charged nothing. The next run tries again. If Err will not pass, such as
	// [shipping.ErrNotFound] for an unknown shipment, correct the item or leave it out.
	StateError State = "error"
)

// Result is the outcome of an item.
type Result struct {
	Key       string
	State     State
	RequestID string
	// Documents are the documents that were or will be purchased. With [StateWaiting], they are
	// the purchased ones only.
	Documents []shipping.DocumentType
	// NotSelected are the documents that the draft offers, that Select did not choose, and that no other purchase of the
	// journal has for the shipment. A completed item lacks them, too: check whether the shipment needs one.
	NotSelected []shipping.DocumentType
	// Amount is the amount that counts against the budget, in Currency: the most that the draft can cost, or Charged if
	// that is more. With [StateUnknown] it may have been charged.
	Amount   shipping.Amount
	Currency string
	// Period is the [Options.Period] in which Amount counts; empty if nothing counts.
	Period string
	// Charged is the charge that the service reports, in ChargedCurrency; not given if it reports none.
	// If it differs from Amount, check the wallet's transactions.
	Charged         shipping.Amount
	ChargedCurrency string
	// Beside is the part of Amount that this run reserved for numbers that the offers show beside their prices, such as a
	// tax; not given if it reserved nothing.
	Beside shipping.Amount
	// Note is the note that a person gave [Resolve] about the item. The wallet's transactions show what it cost.
	Note string
	// Err is the reason why the item is not completed; nil for [StateCompleted], [StateClosed] and [StateDraft]. Even with
	// StateCompleted, it is [shipping.ErrOvercharged] while the item is [Record.Overcharged]. Its text ends with what to
	// do about the item. The Request of a [*shipping.RegulatoryError] holds only the id and the status, because a batch
	// can have many thousand items.
	Err error
}

// Event is a step of an item, and the progress of the batch.
type Event struct {
	shipping.PollEvent
	// Item is the item after the step.
	Item Result
	// Ended counts the items that have ended, Waiting those that wait for documents or for another process, and
	// Total all items.
	Ended, Waiting, Total int
	// Committed is the budget spent or reserved; 0 without a budget.
	Committed shipping.Amount
}

// ItemKey returns the key of the item that a context belongs to, or "" outside a batch. Edit, the callbacks of
// [shipping.Observer] and a [log/slog.Handler] get such a context.
func ItemKey(ctx context.Context) string { return itemkey.Of(ctx) }

// Run analyzes, purchases and waits for many shipments or invoices, a bounded number at a time, within one shared
// budget. An item that fails does not stop the others, except with the status 401 (a wrong secret key), because all
// others would fail too. [Report.Err] returns the errors of open items, even if the error of Run is nil. The report
// is complete even if the batch was interrupted, by ctx or, with a [*JournalError], by a journal that cannot be
// written. Run it again with the same items and journal to continue.
//
// Invalid items and options are a [*shipping.ValidationError] without a report. If the journal is in use by another
// batch ([ErrInUse]), is closed, cannot be read, has another currency than the budget, or lacks purchases
// ([Options.Wallet]), nothing is purchased, and each item of the report is [StateWaiting] with that error.
//
// A request that was analyzed in an earlier run is purchased only if it still reads as a draft. The call options
// apply to every call of the batch; options that calls cannot share, such as [shipping.WithResponse], are refused.
//
// If Edit, Select, Progress or the client's transport panics, the batch begins nothing more, finishes and records the
// purchases in progress, and panics with the same value on the caller's goroutine.
func Run(ctx context.Context, client *shipping.Client, items []Item, opts *Options,
	call ...shipping.CallOption) (report *Report, err error) {
	if err := validateCaller(ctx, client); err != nil {
		return nil, err
	}
	var options Options
	if opts != nil {
		options = *opts
	}
	if err := cmp.Or(options.complete(items), validateCall(call)); err != nil {
		return nil, err
	}
	if err := validateItems(items); err != nil {
		return nil, err
	}
	if file, ok := options.Journal.(*File); ok {
		if err := file.begin(); err != nil {
			return notBegun(items, err), err
		}
		defer func() {
			ended := file.end()
			if lacksRecords(ended) && !lacksRecords(err) {
				report.withoutRecords()
				err = errors.Join(err, ended)
			}
			err = cmp.Or(err, ended)
		}()
	}
	run := newRun(client, options, call)
	defer run.beginWriting(ctx)()
	if err := run.compare(ctx, items); err != nil {
		return notBegun(items, err), err
	}
	if err := run.load(ctx, items); err != nil {
		return notBegun(items, err), err
	}
	return run.work(ctx)
}

// validateCaller checks what each run needs.
func validateCaller(ctx context.Context, client *shipping.Client) error {
	switch {
	case ctx == nil:
		return errNilContext
	case client.BaseURL() == "":
		return invalid("client", "must be made with shipping.NewClient or shipping.NewClientFromEnv")
	}
	return nil
}

var errNilContext = invalid("context", "is nil: pass context.Background()")

// validateItems checks each item, and that their keys differ.
func validateItems(items []Item) error {
	const most = 10 // in one error
	seen := make(map[string]bool, len(items))
	var repeated []string
	for i, item := range items {
		if err := item.validate(fmt.Sprintf("Item %d of %d", i+1, len(items))); err != nil {
			return err
		}
		if key := item.key(); seen[key] && len(repeated) < most {
			repeated = append(repeated, fmt.Sprintf("%d has the key %s of an earlier item", i+1, spelling.Quote(key)))
		}
		seen[item.key()] = true
	}
	if len(repeated) > 0 {
		return invalid("Item", strings.Join(repeated, ", ")+": list each key once")
	}
	return nil
}

// notBegun returns the report of a batch whose journal could not be used.
func notBegun(items []Item, err error) *Report {
	report := &Report{}
	for _, item := range items {
		report.Results = append(report.Results, Result{Key: item.key(), State: StateWaiting, Err: err})
	}
	return report
}

// validateCall checks options that many calls share.
func validateCall(options []shipping.CallOption) error {
	for _, option := range options {
		if err := option.ValidateShared(); err != nil {
			return err
		}
	}
	return nil
}

// complete checks the options and fills in the defaults.
func (o *Options) complete(items []Item) error {
	o.Concurrency = cmp.Or(o.Concurrency, 8)
	quietFor := cmp.Or(o.Purchase.QuietFor, wait.QuietFor)
	lease := time.Duration(0)
	if o.Journal != nil {
		lease = o.Journal.Lease()
	}
	problem := textProblem(o.Period, maxRecordText)
	if problem != "" {
		problem = "has a Period that " + problem
	}
	switch {
	case o.Journal == (*File)(nil):
		problem = "has a Journal that is " + nilFile
	case o.Journal == nil && o.Period != "":
		problem = "has a Period without a Journal, which records its spending and its purchases: set Journal to that of " +
			"OpenFile, or leave Period empty"
	case o.Wallet != "" && recordsOf(o.Journal) == nil:
		problem = "has a Wallet, and no Journal with records to compare it with: set Journal to that of OpenFile or of " +
			"package pgstore, or leave Wallet empty"
	case o.Concurrency < 0:
		problem = "has a negative Concurrency: leave it 0 for 8"
	case lease > 0 && lease < quietFor/4*5:
		problem = fmt.Sprintf("has a Journal whose claims hold for %s, too short to settle a purchase with a QuietFor of "+
			"%s: make the lease at least %s", lease, quietFor, quietFor/4*5)
	}
	if problem != "" {
		return invalid("Options", problem)
	}
	choose := o.Select
	if choose == nil && slices.ContainsFunc(items, func(item Item) bool { return len(item.Documents) > 0 }) {
		choose = shipping.SelectAutomated // any: with Documents, a budget needs no Select
	}
	return (&shipping.AnalyzeAndPollOptions{
		Select: choose, Budget: o.Budget, Purchase: o.Purchase, Poll: o.Poll,
	}).Validate()
}

// invalid returns the error of a field that was refused before anything was sent.
func invalid(field, problem string) error {
	return &shipping.ValidationError{Field: "batch: " + field, Problem: problem}
}
