package batch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/itemkey"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/internal/wait"
	"github.com/shipping-go/shipping/internal/workgroup"
)

// run is one run of a batch. Each item that was begun has a goroutine. Ten thousand items can wait, because a waiting
// item is small. An item that is worked on holds a slot.
type run struct {
	client  *shipping.Client
	options Options
	call    []shipping.CallOption
	journal Journal
	// unrecorded: the caller has no journal, so that another run would purchase again.
	unrecorded bool
	unread     string         // the key of a purchase whose shipment or invoice is not known; or ""
	intervals  wait.Intervals // of Options.Poll
	entries    []*entry
	slots      chan struct{}
	settling   chan struct{} // a slot for each item that is being settled

	// going ends when nothing more may be begun or purchased: the journal failed, or a callback panicked.
	going context.Context
	stop  context.CancelFunc

	ended, waiting atomic.Int64 // items

	mu         sync.Mutex
	journalErr error           // the journal failed
	crashed    bool            // a callback panicked: none is called any more
	refused    error           // the service refused the secret key: nothing more is sent
	committed  shipping.Amount // of the budget, as last read from the journal

	// writing is the context of journal calls that continue after the batch was interrupted, such as the record of a
	// purchase. It ends closingTime after the context of the batch.
	writing context.Context

	callbacks sync.Mutex // held while a function of the user is called
}

func newRun(client *shipping.Client, options Options, call []shipping.CallOption) *run {
	r := &run{client: client, options: options, call: call, journal: options.Journal,
		slots: make(chan struct{}, options.Concurrency), settling: make(chan struct{}, maxSettling)}
	if r.journal == nil {
		r.journal, r.unrecorded = Memory(), true
	}
	r.going, r.stop = context.WithCancel(context.Background())
	r.intervals, _ = wait.Intervals{
		MinInterval: options.Poll.MinInterval, MaxInterval: options.Poll.MaxInterval,
		MaxFailures: options.Poll.MaxFailures, DraftFor: options.Poll.DraftFor,
	}.WithDefaults() // complete has checked them
	return r
}

// load makes an entry of each item. If only this process has the journal, the items are claimed at once, so that even
// the report of an interrupted run contains their states. The report also has each item that is overcharged.
func (r *run) load(ctx context.Context, items []Item) error {
	if err := r.count(ctx); err != nil {
		return err
	}
	overcharged, err := r.journal.Related(ctx, Record{})
	if err != nil {
		return err
	}
	var own []*entry // without items whose key belongs to another shipment or other Documents
	for _, item := range items {
		e := &entry{run: r, item: item, record: Record{Key: item.key()}, decided: make(chan struct{})}
		r.entries = append(r.entries, e)
		var err error
		if r.journal.Lease() == 0 {
			err = e.take(ctx)
		}
		switch {
		case errors.Is(err, errLacks):
			e.err, e.done = err, true
			r.ended.Add(1)
			continue
		case errors.Is(err, errOtherShipment):
			continue
		case err != nil && !errors.Is(err, ErrItemTaken):
			r.giveBack()
			return err
		}
		own = append(own, e)
		if e.record.final() {
			r.ended.Add(1)
			close(e.decided)
		}
	}
	chooseTwins(own)
	for _, record := range overcharged {
		if !slices.ContainsFunc(items, func(item Item) bool { return item.key() == record.Key }) {
			r.entries = append(r.entries, &entry{run: r, record: record, other: true, done: true})
			r.ended.Add(1)
		}
	}
	return nil
}

// count reads the committed part of the budget from the journal.
func (r *run) count(ctx context.Context) error {
	if r.options.Budget == nil {
		return nil
	}
	committed, err := r.journal.Committed(ctx, r.options.Period, *r.options.Budget)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.committed = committed
	return nil
}

// beginWriting begins the context of writing, and returns the function that ends it.
func (r *run) beginWriting(ctx context.Context) (end func() bool) {
	writing, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	r.writing = writing
	return context.AfterFunc(ctx, func() {
		time.AfterFunc(closingTime, func() { cancel(errNoJournal) })
	})
}

func (r *run) work(ctx context.Context) (*Report, error) {
	items := workgroup.Group{Crashed: r.crash}
	r.readAdopted(ctx)
	for _, e := range r.entries {
		switch {
		case e.record.final() || e.other:
		case len(e.after) > 0:
			items.Go(func() {
				if r.awaits(ctx, e.after) && r.begin(ctx) {
					r.carry(ctx, e)
				}
			})
		case r.begin(ctx):
			items.Go(func() { r.carry(ctx, e) })
		}
	}
	items.Wait()
	r.giveBack()
	items.Repanic()
	closing, stop := context.WithTimeout(r.writing, 30*time.Second)
	defer stop()
	uncounted := r.count(closing)
	return r.report(ctx, closing, uncounted)
}

// readAdopted reads the purchases for unknown shipments or invoices that Adopt has added, before an item for the same
// one is purchased.
func (r *run) readAdopted(ctx context.Context) {
	for _, e := range r.entries {
		if !e.other && e.staysUnknown(ctx) {
			r.unread = e.record.Key
		}
	}
}

// staysUnknown reads the purchase for an unknown shipment or invoice, and reports whether the service does not show it.
// If the key is the id of the request, the purchase was for none of the items.
func (e *entry) staysUnknown(ctx context.Context) bool {
	if e.run.journal.Lease() > 0 { // the record is not known yet
		if e.item.source() != "" || e.take(ctx) != nil {
			return false
		}
		defer func() {
			_ = e.release() // if another process has taken it over, there is nothing to release
			e.record = Record{Key: e.record.Key}
		}()
	}
	if e.record.Step != StepPurchased || e.record.Source() != "" {
		return false
	}
	if request, err := e.get(ctx); err == nil {
		_ = e.adopted(request) // wait repeats it
	}
	return e.record.Source() == "" && e.record.Key != e.record.RequestID
}

// awaits waits until each item is purchased or has ended. It returns false if the batch was stopped.
func (r *run) awaits(ctx context.Context, items []*entry) bool {
	for _, e := range items {
		select {
		case <-e.decided:
		case <-ctx.Done():
			return false
		case <-r.going.Done():
			return false
		}
	}
	return true
}

// begin waits for a slot. It returns false if the batch was stopped.
func (r *run) begin(ctx context.Context) bool {
	select {
	case r.slots <- struct{}{}:
		if ctx.Err() == nil && r.mayContinue() == nil {
			return true
		}
		<-r.slots // an item that is being settled needs the slot again
	case <-ctx.Done():
	case <-r.going.Done():
	}
	return false
}

// carry takes an item, which has a slot, from step to step. While the item waits, other items can use the slot.
func (r *run) carry(ctx context.Context, e *entry) {
	ctx = itemkey.With(ctx, e.record.Key)
	decided := sync.OnceFunc(func() { close(e.decided) })
	defer decided()
	for {
		next := r.step(ctx, e)
		if next == 0 {
			return
		}
		if e.record.bought() {
			decided()
		}
		select {
		case <-time.After(next):
		case <-ctx.Done():
		case <-r.going.Done():
		}
		if !r.begin(ctx) {
			return
		}
		r.waiting.Add(-1)
	}
}

// step does the next step of an item, and releases its slot.
func (r *run) step(ctx context.Context, e *entry) (next time.Duration) {
	defer func() { <-r.slots }()
	r.guarded(func() { next = e.step(ctx) })
	if next > 0 {
		r.waiting.Add(1)
	}
	return next
}

// maxSettling is how many purchases are settled at the same time. Each is read about eight times in five minutes.
const maxSettling = 256

// aside does a step of an item that takes minutes but little work. Meanwhile other items can use its slot.
func (r *run) aside(do func()) {
	<-r.slots
	defer func() { r.slots <- struct{}{} }()
	r.settling <- struct{}{}
	defer func() { <-r.settling }()
	r.guarded(do)
}

// guarded calls a function. If it panics, guarded stops the batch before an item that waits for a slot, or a waiting
// callback, can continue.
func (r *run) guarded(call func()) {
	returned := false
	defer func() {
		if !returned {
			r.crash()
		}
	}()
	call()
	returned = true
}

// closingTime limits calls to the journal after the context of a batch has ended.
const closingTime = 5 * time.Second

var errNoJournal = fmt.Errorf("shipping: the batch's context has ended, and its journal did not respond for another %s",
	closingTime)

// report returns the report of a run whose context has perhaps ended; closing is the context of journal calls.
func (r *run) report(ctx, closing context.Context, uncounted error) (*Report, error) {
	report := &Report{Committed: r.committed, budget: r.options.Budget}
	interrupted := false
	for _, e := range r.entries {
		result := e.result()
		result.NotSelected = r.notBought(closing, e.record)
		if result.State == StateWaiting && e.record.Step == StepPurchasing {
			result.State, result.Err = StateUnknown, errors.Join(errUnsettled, result.Err)
		}
		if result.State == StateWaiting && result.Err == nil {
			result.Err = e.unfinished()
		}
		if over := e.overcharged(); over != nil {
			result.Err = errors.Join(result.Err, over)
		}
		report.unrepeatable = report.unrepeatable || r.unrecorded && e.record.Begun()
		report.Results = append(report.Results, result)
		if beside, err := report.Beside.Add(result.Beside); err == nil {
			report.Beside = beside
		}
		ended := e.record.final() || e.other || result.State == StateFailed && e.done
		interrupted = interrupted || ctx.Err() != nil && !ended
	}
	for i := range report.Results {
		result := &report.Results[i]
		if result.Err != nil {
			result.Err = &itemError{result.Err, r.remedy(*result, report.unrepeatable), r.entries[i].unpaid}
		}
	}
	if lacksRecords(r.journalErr) {
		report.withoutRecords()
	}
	switch {
	case r.journalErr != nil:
		return report, r.journalErr
	case interrupted:
		return report, wait.WithReason(ctx, context.Cause(ctx))
	}
	return report, uncounted
}

// notBought returns the documents that were not selected, and that no other purchase of the shipment or file has.
func (r *run) notBought(ctx context.Context, record Record) (left []shipping.DocumentType) {
	if left = record.NotSelected; len(left) == 0 {
		return nil
	}
	related, _ := r.journal.Related(ctx, record) // after an error, the report lists them all
	for _, other := range related {
		if other.Committed() && other.Source() != "" && other.Source() == record.Source() {
			left = without(left, other.Documents)
		}
	}
	return left
}

// errWaiting is the error of a purchased item that was not completed when the batch ended.
var errWaiting = errors.New("shipping: the batch ended before the item was completed")

// errEvidence is the error of a purchased item whose documents cannot be generated without a person.
var errEvidence = errors.New("waits for evidence that a person supplies")

// unfinished returns the error of an item that was not completed when the batch ended.
func (e *entry) unfinished() error {
	if e.again > 0 {
		return errors.New("shipping: the batch ended while another process worked on the item")
	}
	if e.outcome() != shipping.OutcomeCharged {
		return errors.New("shipping: the batch ended before anything was purchased for the item")
	}
	problem := errors.New("its documents are not generated")
	if e.evidence != "" {
		problem = fmt.Errorf("%s %w", spelling.Quote(e.evidence), errEvidence)
	} else if e.record.Step == StepFailed {
		problem = errors.New("the generation had failed at the last reading")
	}
	err := fmt.Errorf("%w: request %s is purchased, and %w", errWaiting, spelling.Quote(e.record.RequestID), problem)
	if e.unlisted != nil {
		return e.failed(wait.StepPolled, e.unlisted, fmt.Errorf("%w: %w", err, wait.ErrUnlisted))
	}
	return err
}

// errUnsettled is the error of an item whose purchase an earlier run left open, and this run could not settle.
var errUnsettled = errors.New("the purchase of an earlier run is not settled")

// giveBack releases the items of a run that was interrupted, so that other processes continue with them
// at once.
func (r *run) giveBack() {
	for _, e := range r.entries {
		if err := e.release(); err != nil && !errors.Is(err, ErrItemTaken) {
			return // the journal is unreachable: the claims will expire
		}
	}
}

// cost returns the most that documents of a draft can cost. Without a budget, an unknown cost is not an error.
func (r *run) cost(draft *shipping.RegulatoryRequest,
	documents []shipping.DocumentType) (shipping.Amount, string, error) {
	if r.options.Budget == nil {
		cost, currency, err := draft.Cost(documents...)
		if err != nil {
			return shipping.Amount{}, "", nil
		}
		return cost, currency, nil
	}
	cost, err := r.options.Budget.Check(draft, documents...)
	if over, ok := err.(*shipping.BudgetError); ok && over.Needed.Known() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if left, failed := over.Budget.Amount.Sub(r.committed); failed == nil && r.committed.Sign() > 0 {
			over.Left = left
		}
	}
	return cost, r.options.Budget.Currency, err
}

// note writes a record. If alone refuses the record, or no journal can keep it, only its item fails.
func (r *run) note(claim Claim, record Record, alone func(same []Record) error) error {
	record.At = time.Now().UTC()
	if err := record.validate(); err != nil {
		return err
	}
	budget := r.options.Budget
	if record.Period != r.options.Period {
		budget = nil // the budget bounds another period
	}
	var refused error
	look := alone
	if alone != nil {
		look = func(same []Record) error {
			refused = alone(same)
			return refused
		}
	}
	committed, err := claim.Append(r.writing, record, budget, look)
	switch {
	case err != nil && refused != nil:
		return refused
	case err != nil:
		return r.journalFailed(record.Key, err)
	}
	if budget == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.committed = committed
	return nil
}

// journalFailed ends the batch, because a purchase without a record could be repeated. If the journal only refused the
// record, the batch continues.
func (r *run) journalFailed(key string, err error) error {
	if errors.Is(err, ErrItemTaken) || errors.Is(err, shipping.ErrOverBudget) {
		return err
	}
	if ended := context.Cause(r.writing); ended != nil {
		err = fmt.Errorf("%w: %w", ended, err)
	}
	err = &JournalError{Key: key, Err: err}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.journalErr == nil || lacksRecords(err) && !lacksRecords(r.journalErr) { // not the same error for each item
		r.journalErr = errors.Join(r.journalErr, err)
	}
	r.stop()
	return err
}

// crash ends the batch after a panic: purchases under way are finished, and none is begun.
func (r *run) crash() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.crashed = true
	r.stop()
}

// errStopped is the error of an item that was not purchased yet when the batch was stopped.
var errStopped = errors.New("shipping: the batch was stopped before the item was purchased")

// mayContinue returns an error if an item that is not purchased yet must not continue.
func (r *run) mayContinue() error {
	if r.going.Err() != nil {
		return errStopped
	}
	return nil
}

// itemEnded counts an item that has ended in this run. If the service refused the secret key (401), it ends the others,
// too; a 403 may concern only this item.
func (r *run) itemEnded(err error) {
	r.ended.Add(1)
	if failed, ok := errors.AsType[*shipping.Error](err); ok && failed.StatusCode == http.StatusUnauthorized {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.refused = failed
	}
}

// maySend returns the reason why nothing more is sent.
func (r *run) maySend() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused
}

// heldError is the error of an item that is not purchased, because the journal has a charge above its cost.
type heldError struct{ key, charge string }

func (e *heldError) Error() string {
	return fmt.Sprintf("shipping: nothing was purchased, because item %s has an unexpected charge: %s",
		spelling.Quote(e.key), e.charge)
}

func (e *heldError) Unwrap() error { return shipping.ErrOverBudget }

// mayPurchase returns the reason why nothing more may be purchased within a budget: after a charge above its cost, the
// amounts on drafts do not bound the charges. related is what the journal returns before a purchase.
func (r *run) mayPurchase(related []Record) error {
	for _, record := range related {
		if record.Overcharged() && r.options.Budget != nil {
			return &heldError{record.Key, record.Overcharge}
		}
	}
	return nil
}

// callback calls functions of the user one at a time, and none after a panic.
func (r *run) callback(call func()) {
	r.callbacks.Lock()
	defer r.callbacks.Unlock()
	r.mu.Lock()
	crashed := r.crashed
	r.mu.Unlock()
	if !crashed {
		r.guarded(call)
	}
}

func (r *run) progress(e *entry, event shipping.PollEvent) {
	if r.options.Progress == nil {
		return
	}
	r.callback(func() {
		r.mu.Lock()
		committed := r.committed
		r.mu.Unlock()
		r.options.Progress(Event{
			PollEvent: event, Item: e.result(), Ended: int(r.ended.Load()), Waiting: int(r.waiting.Load()),
			Total:     len(r.entries),
			Committed: committed,
		})
	})
}
