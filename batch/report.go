package batch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/cost"
	"github.com/shipping-go/shipping/internal/spelling"
)

// Report is the outcome of a batch.
type Report struct {
	// Results are the items in the order given, then all others of the journal that are [Record.Overcharged].
	Results []Result
	// Committed is the part of the budget that was charged or may have been, over all runs of the period; 0
	// without a budget.
	Committed shipping.Amount
	// Beside is the sum of the Beside of all results, which a budget needs in addition to the prices.
	Beside shipping.Amount

	budget *shipping.Budget // of the run; nil without one

	unrepeatable bool // without a journal, or without its records, another run would repeat the purchases of this one
}

// Count returns how many items are in a state; 0 for a nil report.
func (r *Report) Count(state State) int {
	if r == nil {
		return 0
	}
	n := 0
	for i := range r.Results {
		if r.Results[i].State == state {
			n++
		}
	}
	return n
}

// Err returns an error about the items that are still open, or whose charge is above its cost:
//
//   - It has a line for each cause: the cause, what to do next, how many items, and some of their keys. Items share
//     a line if their errors differ only in ids and amounts.
//   - Of several lines with the same state and advice, the first has the advice; the others refer to it.
//   - An empty wallet comes first, then known and possible charges, then the most frequent advice. The last line
//     has the [Report.Shortage], if money is lacking.
//   - The text has at most 2,000 bytes. If it is longer, causes are shortened, then rare causes are only counted.
//     Causes are left out before any advice is. [Report.Causes] has all.
//
// The error wraps the errors of all these items. It is nil for a nil report, and if each item is [StateClosed],
// [StateDraft], or [StateCompleted] without such a charge.
func (r *Report) Err() error {
	if r == nil {
		return nil
	}
	open := r.openItems()
	if len(open) == 0 {
		return nil
	}
	err := &reportError{repeatable: r.repeatable(), shortage: r.Shortage().String()}
	for i, group := range open {
		if i == 0 || group.advice != open[i-1].advice {
			err.blocks = append(err.blocks, nil)
		}
		last := &err.blocks[len(err.blocks)-1]
		*last = append(*last, group)
	}
	return err
}

// openItems returns the open items by their cause, in the order of the text: those with the same advice stand together.
func (r *Report) openItems() (open []*openItems) {
	groups, advised := map[string]*openItems{}, map[string]int{} // how many items have an advice
	for _, result := range r.Results {
		if !result.open() {
			continue
		}
		advice := fmt.Sprint(result.State, result.remedy())
		advised[advice]++
		same := advice + result.cause()
		if groups[same] == nil {
			groups[same] = &openItems{first: result, advice: advice}
			open = append(open, groups[same])
		}
		group := groups[same]
		group.keys, group.errs = append(group.keys, result.Key), append(group.errs, result.Err)
		group.requests = append(group.requests, result.RequestID)
	}
	slices.SortStableFunc(open, func(a, b *openItems) int {
		return cmp.Or(cmp.Compare(a.first.urgency(), b.first.urgency()), cmp.Compare(advised[b.advice], advised[a.advice]),
			cmp.Compare(a.advice, b.advice), cmp.Compare(len(b.keys), len(a.keys)))
	})
	return open
}

// Cause is why some items of a report are open.
type Cause struct {
	State State
	// Err is the error of the first of these items. The others differ in ids and amounts.
	Err error
	// Need is what completes the items, and Next states it for a person. Causes with the same state and the same Next
	// stand together.
	Need Need
	Next string
	// Keys are the keys of the items, and RequestIDs their regulatory requests in the same order, "" without one.
	Keys, RequestIDs []string
}

// Causes returns all causes of the open items, in the order of [Report.Err], whose text has only those that fit. It
// returns nil for a nil report.
func (r *Report) Causes() (causes []Cause) {
	if r == nil {
		return nil
	}
	for _, group := range r.openItems() {
		remedy := group.first.remedy()
		err := &itemError{cause: group.first.Err}
		causes = append(causes, Cause{group.first.State, err, remedy.need, remedy.next, group.keys, group.requests})
	}
	return causes
}

// Shortage is the money that purchases of a batch lacked. The zero value means that no lack is known.
type Shortage struct {
	// Items counts the items whose purchase lacked money, in the budget or the wallet.
	Items int
	// Wallet is what the wallet must hold for them.
	Wallet shipping.Budget
	// Budget is a budget of the period that is enough for them, and Committed the part of it that was, or may have
	// been, spent; not given if [Options.Budget] is enough, or there was none.
	Budget    shipping.Budget
	Committed shipping.Amount
	// Others counts items that may need more money, because their cost or outcome is not known.
	Others int
}

// Shortage adds up the money that purchases of this run lacked. Items in another currency than the first one are
// counted in Others. It is the zero value for a nil report.
func (r *Report) Shortage() (s Shortage) {
	if r == nil {
		return s
	}
	limit := r.budget
	for _, result := range r.Results {
		if over, ok := errors.AsType[*shipping.BudgetError](result.Err); ok {
			limit = &over.Budget
		}
		needed, sum := result.needed(), shipping.Amount{}
		err := error(nil)
		if needed.Amount.Known() && (s.Items == 0 || cost.SameCurrency(needed.Currency, s.Wallet.Currency)) {
			sum, err = s.Wallet.Amount.Add(needed.Amount)
		}
		switch {
		case sum.Known() && err == nil:
			s.Items, s.Wallet = s.Items+1, money(sum, needed.Currency)
		case needed.Amount.Known(), result.State == StateUnknown, result.State == StateOverBudget,
			result.State == StateWaiting && !result.bought():
			s.Others++
		}
	}
	enough, err := r.Committed.Add(s.Wallet.Amount)
	if s.Items == 0 {
		return Shortage{}
	}
	if err == nil && limit != nil && cost.SameCurrency(limit.Currency, s.Wallet.Currency) && enough.Cmp(limit.Amount) > 0 {
		s.Budget, s.Committed = money(enough, limit.Currency), r.Committed
	}
	return s
}

// String returns what is needed for which purchases, or "".
func (s Shortage) String() string {
	if s.Items == 0 {
		return ""
	}
	text := fmt.Sprintf("the purchases that lacked money (%d) need %s in the wallet", s.Items, s.Wallet)
	if s.Budget.Amount.Known() {
		text += fmt.Sprintf(", and a budget of %s", s.Budget)
	}
	if s.Committed.Sign() > 0 {
		text += fmt.Sprintf(", of which %s are spent or reserved", money(s.Committed, s.Budget.Currency))
	}
	if s.Others > 0 {
		text += fmt.Sprintf("; others (%d), whose cost or outcome is not known, may need more", s.Others)
	}
	return text
}

// needed returns what the purchase of an item costs, if the budget or the wallet does not suffice for it.
func (r Result) needed() shipping.Budget {
	if over, ok := errors.AsType[*shipping.BudgetError](r.Err); ok {
		return money(over.Needed, over.Budget.Currency)
	}
	if failed, ok := r.Err.(*itemError); ok {
		return failed.unpaid
	}
	return shipping.Budget{}
}

// Retryable reports whether another run with the same items can complete an item without a person: its advice is to
// run the batch again, because it waits, its purchase is unknown, or its error may pass. Retryable is false:
//
//   - for a nil report
//   - if another run would repeat purchases, because this one had no journal, or the journal is [ErrDamaged] or
//     [ErrMoved]
//   - after [shipping.ErrOvercharged]: a person compares the charge first, because another run could pay as much
//     again
func (r *Report) Retryable() bool {
	return r != nil && r.repeatable() > 0
}

// repeatable returns how many items another run may complete.
func (r *Report) repeatable() (items int) {
	for _, result := range r.Results {
		if r.unrepeatable || errors.Is(result.Err, shipping.ErrOvercharged) {
			return 0
		}
		if need := result.Need(); need == NeedRun || need == NeedService {
			items++
		}
	}
	return items
}

// withoutRecords changes the report of a run whose journal lacks records. It may be nil.
func (r *Report) withoutRecords() {
	if r == nil {
		return
	}
	r.unrepeatable = true
	for _, result := range r.Results {
		if failed, ok := result.Err.(*itemError); ok && result.State != StateCompleted {
			failed.remedy = restore
		}
	}
}

// lacksRecords reports whether an error is that of a journal without some of its records: another run could buy twice.
func lacksRecords(err error) bool { return errors.Is(err, ErrDamaged) || errors.Is(err, ErrMoved) }

// cause returns the part of the error that other items can share: it has no words with a digit, such as ids and
// amounts, no key of the item, and no remarks in brackets, such as the number of attempts.
func (r Result) cause() string {
	if over, ok := errors.AsType[*shipping.BudgetError](r.Err); ok && over.Needed.Known() {
		return fmt.Sprint("over budget", len(over.Beside) > 0)
	}
	text := ofBatch(r.Err)
	ids := []string{r.Key, r.RequestID}
	if failed, ok := errors.AsType[*shipping.Error](r.Err); ok {
		for _, attempt := range failed.Attempts {
			ids = append(ids, attempt.ResponseID)
		}
	}
	for _, id := range ids {
		if id != "" {
			text = strings.ReplaceAll(text, id, "1")
		}
	}
	words := slices.DeleteFunc(strings.Fields(withoutRemarks(text)), func(word string) bool {
		return strings.ContainsFunc(word, unicode.IsDigit)
	})
	return strings.Join(words, " ")
}

// withoutRemarks returns a text without what is in brackets.
func withoutRemarks(text string) string {
	for {
		before, rest, opened := strings.Cut(text, " [")
		_, after, closed := strings.Cut(rest, "]")
		if !opened || !closed {
			return text
		}
		text = before + after
	}
}

func (r Result) open() bool {
	return r.Err != nil || r.State != StateCompleted && r.State != StateClosed && r.State != StateDraft
}

// bought reports whether something was purchased for a waiting or failed item.
func (r Result) bought() bool { return len(r.Documents) > 0 || r.Amount.Sign() > 0 }

// urgency orders open items: those that stop all purchases come first, then those that may have been charged.
func (r Result) urgency() int {
	switch {
	case r.remedy().need == NeedWallet:
		return 0
	case r.State == StateUnknown, r.State == StateCompleted:
		return 1
	case (r.State == StateWaiting || r.State == StateFailed) && r.bought():
		return 2
	}
	return 3
}

// openItems are the open items of a report that have the same cause and advice.
type openItems struct {
	first  Result
	advice string // the state and what to do
	errs   []error

	keys, requests []string
}

// line returns the cause, shortened to longest bytes, how many other causes it stands for, what to do, the number of
// items and some of their keys.
func (o *openItems) line(longest int, next string, others []*openItems) string {
	cause := ofBatch(o.first.Err)
	if len(cause) > longest {
		cause = withoutRemarks(cause)
		if _, after, found := strings.Cut(cause, o.first.RequestID+": "); found && o.first.RequestID != "" {
			cause = after // the key names the item
		}
	}
	cause = shortened(cause, longest)
	if len(others) == 1 {
		cause += ", and another cause"
	} else if len(others) > 1 {
		cause += fmt.Sprintf(", and %d other causes", len(others))
	}
	return fmt.Sprintf("%s: %s; %s (%s)\n", o.first.State, cause, next, o.items(longest, others))
}

// items returns the number of items, with those of other causes, and some of their keys.
func (o *openItems) items(longest int, others []*openItems) string {
	keys, some, remark := slices.Clone(o.keys), 3, ""
	for _, other := range others {
		keys = append(keys, other.keys...)
	}
	if len(keys) == 1 {
		return "item " + spelling.Quote(keys[0])
	}
	if longest <= shortest {
		some = 1
	} else if slices.ContainsFunc(o.errs, func(err error) bool { return fmt.Sprint(err) != fmt.Sprint(o.first.Err) }) {
		remark = ", the text is that of the first"
	}
	var listed []string
	for _, key := range keys[:min(len(keys), some)] {
		listed = append(listed, spelling.Quote(key))
	}
	if len(keys) > some {
		listed = append(listed, "…")
	}
	return fmt.Sprintf("%d items%s: %s", len(keys), remark, strings.Join(listed, ", "))
}

// shortened shortens a text to longest bytes: the beginning of its first clause, and as many last clauses as fit. A
// clause is kept whole, because a condition belongs to its advice.
func shortened(text string, longest int) string {
	const omitted = "…"
	if len(text) <= longest {
		return text
	}
	clauses := strings.Split(text, "; ")
	first, clauses := clauses[0], clauses[1:]
	fitting, room := len(clauses), longest-len(omitted+"; "+omitted)
	for fitting > 0 && len("; "+clauses[fitting-1]) <= room-min(len(first), max(longest/2, shortest)) {
		fitting--
		room -= len("; " + clauses[fitting])
	}
	shown := []string{first}
	if len(first) > room {
		words := strings.ToValidUTF8(first[:room], "")
		shown[0] = words[:max(strings.LastIndex(words, " "), room/2)] + omitted
	} else if fitting > 0 {
		shown = append(shown, omitted)
	}
	return strings.Join(append(shown, clauses[fitting:]...), "; ")
}

// shortest is the length of a cause, in bytes, at which causes are counted instead of shortened further.
const shortest = 110

// reportError is the error of a report. A block has the open items with one advice.
type reportError struct {
	blocks     [][]*openItems
	repeatable int    // the items that another run can complete
	shortage   string // the money that the items lack, if any is known
}

// Error has at most 2,000 bytes.
func (e *reportError) Error() string {
	const most, lines = 2000, 40 // no more lines fit
	shown, longest := e.ranked(), most
	if len(shown) > lines {
		shown, longest = shown[:lines], shortest
	}
	for {
		switch text := e.text(shown, longest); {
		case len(text) <= most, len(shown) == 1 && longest <= shortest:
			return text
		case longest > shortest:
			longest = max(longest*3/4, shortest)
		case len(shown) == len(e.blocks) && longest > shortest/2:
			longest -= 10 // rather than leave out an advice
		default:
			shown = shown[:len(shown)-1]
		}
	}
}

// ranked returns the lines in the order in which they are kept: the first of each block, then the others.
func (e *reportError) ranked() (lines []*openItems) {
	var others []*openItems
	for _, block := range e.blocks {
		lines, others = append(lines, block[0]), append(others, block[1:]...)
	}
	slices.SortStableFunc(others, func(a, b *openItems) int { return cmp.Compare(len(b.keys), len(a.keys)) })
	return append(lines, others...)
}

// text returns the lines that are shown and how many items need only another run. The last line of a block stands for
// the causes of the block that are not shown.
func (e *reportError) text(shown []*openItems, longest int) string {
	var text strings.Builder
	var hidden []string // blocks without a line
	items, unnamed := 0, false
	for _, block := range e.blocks {
		lines, others, count := split(block, shown)
		if items, unnamed = items+count, unnamed || len(others) > 0; len(lines) == 0 {
			hidden = append(hidden, fmt.Sprintf("%d %s", count, block[0].first.State))
		}
		next, last := block[0].first.remedy().next, len(lines)-1
		for i, group := range lines {
			if i < last {
				text.WriteString(group.line(longest, next, nil))
			} else {
				text.WriteString(group.line(longest, next, others))
			}
			next = "as above"
		}
	}
	text.WriteString(e.end(items, hidden, unnamed))
	return strings.TrimSuffix(text.String(), "\n")
}

// split divides a block into the lines that are shown and the others, and counts its items.
func split(block, shown []*openItems) (lines, others []*openItems, items int) {
	for _, group := range block {
		items += len(group.keys)
		if slices.Contains(shown, group) {
			lines = append(lines, group)
		} else {
			others = append(others, group)
		}
	}
	return lines, others, items
}

// end returns the last line, if there is one.
func (e *reportError) end(items int, hidden []string, unnamed bool) string {
	var parts []string
	if e.shortage != "" {
		parts = append(parts, e.shortage)
	}
	if len(hidden) > 0 {
		parts = append(parts, "open items with other causes: "+strings.Join(hidden, ", "))
	}
	if 0 < e.repeatable && e.repeatable < items {
		parts = append(parts, fmt.Sprintf("another run may complete %d of the %d open items; the others need what their "+
			"lines state", e.repeatable, items))
	}
	if unnamed {
		parts = append(parts, "see Report.Causes")
	}
	return strings.Join(parts, "; ")
}

// Unwrap returns the errors of all open items.
func (e *reportError) Unwrap() (errs []error) {
	for _, block := range e.blocks {
		for _, group := range block {
			errs = append(errs, group.errs...)
		}
	}
	return errs
}
