package shipping

import (
	"context"
	"fmt"
	"time"
)

// BatchItem is one shipment or invoice of a batch.
type BatchItem struct {
	// Key names the item in the journal, in results and in progress. It must be unique in the batch
	// and the same each time the batch runs: UTF-8 of at most 2,000 bytes, without a NUL character.
	// Empty means the shipment's id or the file's URL.
	Key string
	// Analyze is the analysis.
	Analyze AnalyzeRequest
}

func (i BatchItem) validate() error {
	if err := i.Analyze.Validate(); err != nil {
		return err
	}
	if problem := textProblem(i.key(), maxKey); problem != "" {
		return invalidRequest(OpAnalyze, "BatchItem", fmt.Sprintf("has the key %s, which %s: set a Key that a journal can keep", quoteShort(i.key()), problem))
	}
	return nil
}

func (i BatchItem) key() string {
	switch {
	case i.Key != "":
		return i.Key
	case i.Analyze.ShipmentID != "":
		return i.Analyze.ShipmentID
	default:
		return i.Analyze.FileURL
	}
}

// BatchOptions configures [RegulatoryService.Batch]. Nil, and the zero value, buy nothing.
type BatchOptions struct {
	// Concurrency is how many items are worked on at the same time; items that wait for their
	// documents do not count. Default 8.
	Concurrency int
	// Edit and Select are those of [AnalyzeAndPollOptions]. They are called for several items at the same
	// time.
	Edit   func(ctx context.Context, draft *RegulatoryRequest) error
	Select func(draft *RegulatoryRequest) ([]DocumentType, error)
	// Budget bounds what the whole batch spends, over all its runs. It is reserved before a purchase
	// is sent, and given back only when it is certain that nothing was charged, so that it holds at
	// every moment. If the service reports a charge that is higher than the price on the draft, the higher
	// one counts, and nothing more is purchased in this run. Nil means no bound.
	Budget *Budget
	// Purchase holds the settings of the purchases.
	Purchase PurchaseOptions
	// Settle holds the settings for purchases that an earlier run left without a response.
	Settle SettleOptions
	// Poll holds the settings of the waits. Its Progress is called one call at a time too.
	Poll PollOptions
	// Journal records each step, so that an interrupted batch can be resumed and buys nothing twice; see
	// [OpenBatchFile]. Nil records nothing.
	Journal BatchJournal
	// Shared is a journal for several processes that run the same batch at the same time: the items are
	// divided among them, the budget holds for all together, and the items of a process that dies are
	// taken over by the others. Each returns when all items ended, wherever. It takes the place of
	// Journal. Its lease must be at least a quarter longer than Settle.QuietFor.
	Shared SharedBatchJournal
	// Progress is called after each step of each item, one call at a time.
	Progress func(BatchEvent)
}

// BatchState is where an item stands.
type BatchState string

const (
	// BatchCompleted: purchased, all documents generated.
	BatchCompleted BatchState = "completed"
	// BatchFailed: the analysis or the generation failed; after a generation the item was charged.
	BatchFailed BatchState = "failed"
	// BatchDraft: analyzed, and nothing was selected.
	BatchDraft BatchState = "draft"
	// BatchOverBudget: not purchased because of the budget.
	BatchOverBudget BatchState = "over budget"
	// BatchUnknown: the outcome of the purchase is not known, and Err is the reason; the next run settles it.
	// One that can never be settled is closed with [ResolveBatchItem].
	BatchUnknown BatchState = "unknown"
	// BatchWaiting: not ended when the batch was, here or in another process; the next run goes on.
	BatchWaiting BatchState = "waiting"
	// BatchError: something else failed, nothing was charged; the next run tries again.
	BatchError BatchState = "error"
)

// BatchResult is what became of an item.
type BatchResult struct {
	Key       string
	State     BatchState
	RequestID string
	// Documents are those purchased, or about to be.
	Documents []DocumentType
	// Amount is what counts against the budget, in Currency: the price on the draft, or Charged if that
	// is more. With [BatchUnknown] it may have been charged.
	Amount   Amount
	Currency string
	// Charged is what the service reports as charged, in ChargedCurrency; not given if it reports nothing.
	// One that differs from Amount deserves a look at the wallet's transactions.
	Charged         Amount
	ChargedCurrency string
	// Err is why the item is not completed; nil for [BatchCompleted] and [BatchDraft].
	Err error
}

// BatchEvent is a step of an item, and the progress of the batch.
type BatchEvent struct {
	PollEvent
	// Item is the item as it stands.
	Item BatchResult
	// Ended, Waiting and Total count items: ended ones, those waiting for documents or for another
	// process, all.
	Ended, Waiting, Total int
	// Committed is the sum spent or reserved of the budget; 0 without one.
	Committed Amount
}

// BatchReport is the outcome of a batch, item by item in the order given.
type BatchReport struct {
	Results []BatchResult
	// Committed is what was charged or may have been of the budget, over all runs of the journal; 0
	// without a budget.
	Committed Amount
}

// Count returns how many items are in a state.
func (r *BatchReport) Count(state BatchState) int {
	n := 0
	for i := range r.Results {
		if r.Results[i].State == state {
			n++
		}
	}
	return n
}

// Batch analyzes, purchases and waits for many shipments or invoices, a bounded number at a time,
// within one shared budget. An item that fails does not stop the others. The report is complete also
// when the error says that the batch was interrupted: by ctx, or by a journal that cannot be written.
// Run it again with the same items and journal to go on.
//
// A request that was analyzed in an earlier run is purchased only if it still reads as a draft.
//
// If Edit, Select, Progress or the client's transport panics, the batch begins nothing more, finishes and
// records the purchases that are under way, and panics with the same value on the caller's goroutine.
func (s RegulatoryService) Batch(ctx context.Context, items []BatchItem, opts *BatchOptions, call ...CallOption) (*BatchReport, error) {
	if s.core == nil {
		return nil, ErrNoClient
	}
	var options BatchOptions
	if opts != nil {
		options = *opts
	}
	if err := options.complete(); err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(items))
	for i, item := range items {
		if err := item.validate(); err != nil {
			return nil, fmt.Errorf("item %d: %w", i+1, err)
		}
		if key := item.key(); seen[key] {
			return nil, invalidRequest(OpAnalyze, "BatchItem", fmt.Sprintf("%d has the key %q of an earlier item: give each a Key of its own", i+1, key))
		}
		seen[item.key()] = true
	}
	if file, ok := options.Journal.(*BatchFile); ok {
		if err := file.begin(); err != nil {
			return nil, err
		}
		defer file.end()
	}
	run := newBatchRun(s, options, call)
	if err := run.load(ctx, items); err != nil {
		return nil, err
	}
	return run.work(ctx)
}

// complete checks the options and fills in the defaults.
func (o *BatchOptions) complete() error {
	setDefault(&o.Concurrency, 8)
	setDefault(&o.Settle.QuietFor, time.Minute)
	problem := ""
	switch b := o.Budget; {
	case o.Concurrency < 0:
		problem = "has a negative Concurrency: leave it 0 for 8"
	case o.Journal != nil && o.Shared != nil:
		problem = "has two journals: set Journal for one process, or Shared for several"
	case b != nil && (!b.Amount.Known() || b.Amount.Sign() < 0 || b.Currency == ""):
		problem = "has a Budget without an amount or a currency"
	case o.Settle.QuietFor < 0:
		problem = "has a negative Settle.QuietFor: leave it 0 for 1 minute"
	case o.Shared != nil && o.Shared.Lease() > 0 && o.Shared.Lease() < o.Settle.QuietFor/4*5:
		problem = fmt.Sprintf("has a Shared journal whose claims hold for %s, too short to settle a purchase with a QuietFor of %s: "+
			"make the lease at least %s", o.Shared.Lease(), o.Settle.QuietFor, o.Settle.QuietFor/4*5)
	}
	if problem != "" {
		return invalidRequest(OpAnalyze, "BatchOptions", problem)
	}
	if err := o.Purchase.Validate(); err != nil {
		return err
	}
	poll, err := o.Poll.withDefaults()
	o.Poll = poll
	return err
}
