package shipping

import (
	"context"
	"fmt"
	"time"
)

// BatchItem is one shipment or invoice of a batch.
type BatchItem struct {
	// Key names the item in the journal, in results and in progress. It must be unique in the batch
	// and the same each time the batch runs. Empty means the shipment's id or the file's URL.
	Key string
	// Analyze says what to analyze.
	Analyze AnalyzeRequest
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

// BatchOptions says how [RegulatoryService.Batch] works. Nil, and the zero value, buy nothing.
type BatchOptions struct {
	// Concurrency is how many items are worked on at the same time; items that wait for their
	// documents do not count. Default 8.
	Concurrency int
	// Edit and Select are those of [AnalyzeAndPollOptions].
	Edit   func(ctx context.Context, draft *RegulatoryRequest) error
	Select func(draft *RegulatoryRequest) ([]DocumentType, error)
	// Budget bounds what the whole batch spends, over all its runs. It is reserved before a purchase
	// is sent, and given back only when it is certain that nothing was charged, so that it holds at
	// every moment. Nil means no bound.
	Budget *Budget
	// Purchase holds the settings of the purchases; its RequestID and DocumentTypes are ignored.
	Purchase PurchaseRequest
	// Settle says when a purchase that an earlier run left without an answer counts as not charged.
	Settle SettleOptions
	// Poll says how to wait.
	Poll PollOptions
	// Journal keeps what was decided and done, so that an interrupted batch goes on where it was and
	// buys nothing twice; see [OpenBatchFile]. Nil keeps nothing.
	Journal BatchJournal
	// Shared is a journal for several processes that run the same batch at the same time: the items are
	// divided among them, the budget holds for all together, and what a process leaves behind when it
	// dies the others take up. Each returns when all items ended, wherever. It takes the place of
	// Journal.
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
	// BatchUnknown: the outcome of the purchase is not known; the next run settles it.
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
	// Amount is what was charged or, with [BatchUnknown], may have been, in Currency.
	Amount   Amount
	Currency string
	// Err is why the item is not completed; nil for [BatchCompleted] and [BatchDraft].
	Err error
}

// BatchEvent tells a step of an item and how far the batch is.
type BatchEvent struct {
	PollEvent
	// Item is the item as it stands.
	Item BatchResult
	// Ended, Waiting and Total count items: ended ones, those waiting for documents or for another
	// process, all.
	Ended, Waiting, Total int
	// Committed is what has been spent or reserved of the budget; 0 without one.
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
func (s RegulatoryService) Batch(ctx context.Context, items []BatchItem, opts *BatchOptions, call ...CallOption) (*BatchReport, error) {
	if s.core == nil {
		return nil, ErrNoClient
	}
	var options BatchOptions
	if opts != nil {
		options = *opts
	}
	const field = "BatchOptions"
	if options.Concurrency < 0 {
		return nil, invalidRequest(OpAnalyze, field, "has a negative Concurrency: leave it 0 for 8")
	}
	if options.Journal != nil && options.Shared != nil {
		return nil, invalidRequest(OpAnalyze, field, "has two journals: set Journal for one process, or Shared for several")
	}
	setDefault(&options.Concurrency, 8)
	setDefault(&options.Settle.QuietFor, time.Minute)
	if b := options.Budget; b != nil && (!b.Amount.Known() || b.Amount.Sign() < 0 || b.Currency == "") {
		return nil, invalidRequest(OpAnalyze, field, "has a Budget without an amount or a currency")
	}
	poll, err := options.Poll.withDefaults()
	if err != nil {
		return nil, err
	}
	options.Poll = poll
	run := newBatchRun(s, options, call)
	seen := make(map[string]bool, len(items))
	for i, item := range items {
		if err := item.Analyze.validate(); err != nil {
			return nil, fmt.Errorf("item %d: %w", i+1, err)
		}
		if key := item.key(); seen[key] {
			return nil, invalidRequest(OpAnalyze, "BatchItem", fmt.Sprintf("%d has the key %q of an earlier item: give each a Key of its own", i+1, key))
		}
		seen[item.key()] = true
	}
	if err := run.load(ctx, items); err != nil {
		return nil, err
	}
	return run.work(ctx)
}
