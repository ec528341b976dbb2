package batch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/spelling"
)

// Report is the outcome of a batch, item by item in the order given.
type Report struct {
	Results []Result
	// Committed is the part of the budget that was charged or may have been, over all runs of the period; 0
	// without a budget.
	Committed shipping.Amount
	// Beside is the sum of the Beside of all results, which a budget needs in addition to the prices.
	Beside shipping.Amount

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

// Err returns an error about the items that are still open, or whose charge is above its cost. It has a line for each
// cause: the cause, what to do next, how many items, and some of their keys. Items share a line if their errors differ
// only in ids and amounts. The text has at most 2,000 bytes: known and possible charges come first, then the most
// frequent causes. The most frequent cause is never left out; [Report.Results] has all. The error wraps the errors of
// all these items. It is nil if each item is [StateCompleted] without such a charge, [StateClosed] or [StateDraft], and
// for a nil report.
func (r *Report) Err() error {
	if r == nil {
		return nil
	}
	var open []*openItems
	groups := map[string]*openItems{} // by state, cause and what to do
	for _, result := range r.Results {
		if !result.open() {
			continue
		}
		same := fmt.Sprint(result.State, result.cause(), result.next())
		if groups[same] == nil {
			groups[same] = &openItems{first: result}
			open = append(open, groups[same])
		}
		group := groups[same]
		group.keys, group.errs = append(group.keys, result.Key), append(group.errs, result.Err)
	}
	together := r.together()
	for _, group := range open {
		if over, ok := errors.AsType[*shipping.BudgetError](group.first.Err); ok && over.Needed.Known() {
			group.together = together
		}
	}
	if len(open) == 0 {
		return nil
	}
	slices.SortStableFunc(open, func(a, b *openItems) int {
		return cmp.Or(cmp.Compare(a.first.urgency(), b.first.urgency()), cmp.Compare(len(b.keys), len(a.keys)))
	})
	return reportError(open)
}

// together returns the amount that all items over budget need, and a sufficient budget; "" if these are not known.
func (r *Report) together() string {
	var needed shipping.Amount
	var budget shipping.Budget
	items := 0
	for _, result := range r.Results {
		over, ok := errors.AsType[*shipping.BudgetError](result.Err)
		if result.State != StateOverBudget || !ok || !over.Needed.Known() {
			continue
		}
		sum, err := needed.Add(over.Needed)
		if err != nil {
			return ""
		}
		needed, budget, items = sum, over.Budget, items+1
	}
	enough, err := r.Committed.Add(needed)
	left, failed := budget.Amount.Sub(r.Committed)
	if items == 0 || err != nil || failed != nil {
		return ""
	}
	if left.Sign() < 0 {
		left = nothing
	}
	subject, forAll := "it needs ", ""
	if items > 1 {
		subject, forAll = fmt.Sprintf("the %d items over budget need ", items), " for all"
	}
	return fmt.Sprintf("; %s%s in all, and %s is left now: a budget of %s is enough%s", subject,
		money(needed, budget.Currency), money(left, budget.Currency), money(enough, budget.Currency), forAll)
}

// Retryable reports whether another run with the same items can complete an item without a person: one that waits, one
// whose purchase is unknown, or one whose error may pass (see [shipping.Error.Retryable]). It is false if another run
// would repeat purchases: if this one had no journal, or the journal is [ErrDamaged] or [ErrMoved].
func (r *Report) Retryable() bool {
	return r != nil && !r.unrepeatable && slices.ContainsFunc(r.Results, Result.retryable)
}

// withoutRecords changes the report of a run whose journal lacks records. It may be nil.
func (r *Report) withoutRecords() {
	if r == nil {
		return
	}
	r.unrepeatable = true
	for _, result := range r.Results {
		if failed, ok := result.Err.(*itemError); ok && result.State != StateCompleted {
			failed.next = restoreJournal
		}
	}
}

func (r Result) retryable() bool {
	switch r.State {
	case StateError:
		failed, ok := errors.AsType[*shipping.Error](r.Err)
		return ok && failed.Retryable()
	case StateWaiting, StateUnknown:
		return !errors.Is(r.Err, shipping.ErrUnauthorized) && !errors.Is(r.Err, shipping.ErrOverBudget) &&
			!lacksRecords(r.Err)
	}
	return false
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
	for {
		before, rest, opened := strings.Cut(text, "[")
		_, after, closed := strings.Cut(rest, "]")
		if !opened || !closed {
			break
		}
		text = before + after
	}
	words := slices.DeleteFunc(strings.Fields(text), func(word string) bool {
		return strings.ContainsFunc(word, unicode.IsDigit)
	})
	return strings.Join(words, " ")
}

func (r Result) open() bool {
	return r.Err != nil || r.State != StateCompleted && r.State != StateClosed && r.State != StateDraft
}

// urgency orders open items: those that may have been charged come first.
func (r Result) urgency() int {
	switch {
	case r.State == StateUnknown, r.State == StateCompleted:
		return 0
	case (r.State == StateWaiting || r.State == StateFailed) && len(r.Documents) > 0:
		return 1
	}
	return 2
}

// openItems are the open items of a report that have the same cause and advice.
type openItems struct {
	first Result
	keys  []string
	errs  []error
	// together is what all items over budget need; "" if it is not known.
	together string
}

// line returns the cause, shortened to longest bytes, what to do, the number of items and some keys.
func (o *openItems) line(longest int) string {
	const some = 3
	cause, items := shortened(ofBatch(o.first.Err), longest), "item "
	if len(o.keys) > 1 {
		items = fmt.Sprint(len(o.keys), " items: ")
		if slices.ContainsFunc(o.errs, func(err error) bool { return fmt.Sprint(err) != fmt.Sprint(o.first.Err) }) {
			items = fmt.Sprint(len(o.keys), " items, the text is that of the first: ")
		}
	}
	var keys []string
	for _, key := range o.keys[:min(len(o.keys), some)] {
		keys = append(keys, spelling.Quote(key))
	}
	if len(o.keys) > some {
		keys = append(keys, "…")
	}
	return fmt.Sprintf("%s: %s; %s%s (%s%s)", o.first.State, cause, o.first.next(), o.together, items,
		strings.Join(keys, ", "))
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
	for fitting > 0 && len("; "+clauses[fitting-1]) <= room-min(len(first), longest/2) {
		fitting--
		room -= len("; " + clauses[fitting])
	}
	shown := []string{first}
	if len(first) > room {
		words := strings.ToValidUTF8(first[:room], "")
		shown[0] = words[:max(strings.LastIndex(words, " "), room/2)] + omitted
	}
	if fitting > 0 {
		shown = append(shown, omitted)
	}
	return strings.Join(append(shown, clauses[fitting:]...), "; ")
}

// reportError is the error of a report.
type reportError []*openItems

// Error has at most 2,000 bytes.
func (e reportError) Error() string {
	const most, ofRest, ofLine = 2000, 120, 330 // of a line: without its cause
	longest := max(240, (most-ofRest)/len(e)-ofLine)
	frequent := slices.MaxFunc(e, func(a, b *openItems) int { return cmp.Compare(len(a.keys), len(b.keys)) })
	room := most - ofRest - len(frequent.line(longest)+"\n")
	var text strings.Builder
	rest := 0
	for i, group := range e {
		line := group.line(longest) + "\n"
		if i > 0 && group != frequent && (rest > 0 || len(line) > room) {
			rest += len(group.keys)
			continue
		}
		if group != frequent {
			room -= len(line)
		}
		text.WriteString(line)
	}
	if rest > 0 {
		fmt.Fprintf(&text, "open items with other causes: %d; see the Err of each in Report.Results", rest)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// Unwrap returns the errors of all open items.
func (e reportError) Unwrap() (errs []error) {
	for _, group := range e {
		errs = append(errs, group.errs...)
	}
	return errs
}
