//lint:file-ignore ST1005 An error starts with the name of the method that broke the rule.

package journaltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

var rules = []rule{
	{"an item has one claim at a time", oneClaim},
	{"of many claims at once one succeeds", atOnce},
	{"the end of an earlier claim changes nothing", earlierClaim},
	{"a claim has the last record of its item", lastRecord},
	{"any text is a key", anyKey},
	{"the committed sum of a period follows from the last records", sums},
	{"a purchase that does not fit in the budget is not recorded", notFitting},
	{"purchases at the same time fit in the budget together", together},
	{"a currency is the same in any spelling", spelling},
	{"money in another currency stops purchases and not the record of past events", uncountable(purchased("5", "USD"))},
	{"an unknown price stops purchases and not the record of past events", uncountable(batch.Record{
		Step: batch.StepPurchased, Documents: documents,
	})},
	{"a negative price stops purchases and not the record of past events", uncountable(purchased("-1", "NGN"))},
	{"a sum that overflows stops purchases and not the record of past events",
		uncountable(purchased("900000000000000000", "NGN"))},
}

var leaseRules = []rule{
	{"an expired claim is taken over, and accepts nothing", expires},
	{"an append renews the claim", renews},
	{"an open purchase is taken over a quarter of the lease later", openPurchase},
	{"a purchase ends before its claim", within},
}

var documents = []shipping.DocumentType{"FDA"}

// amount returns an amount of the rules, all of which can be read.
func amount(text string) shipping.Amount {
	a, err := shipping.ParseAmount(text)
	if err != nil {
		panic(err)
	}
	return a
}

func naira(text string) *shipping.Budget {
	return &shipping.Budget{Amount: amount(text), Currency: "NGN"}
}

// purchased returns the record of a purchase.
func purchased(price, currency string) batch.Record {
	return batch.Record{
		Step: batch.StepPurchased, RequestID: "RD-1", Documents: documents, Amount: amount(price), Currency: currency,
	}
}

// of returns a record as one of an item at a step.
func of(key string, step shipping.Step, record batch.Record) batch.Record {
	record.Key, record.Step = key, step
	return record
}

// keep claims an item, appends records without a budget, and releases the item.
func keep(ctx context.Context, journal batch.Journal, records ...batch.Record) error {
	for _, record := range records {
		claim, err := claimed(ctx, journal, record.Key)
		if err != nil {
			return err
		}
		_, err = claim.Append(ctx, record, nil)
		if err := errors.Join(err, claim.Release(ctx)); err != nil {
			return fmt.Errorf("a record of %.20q with the step %q, without a budget: %w", record.Key, record.Step, err)
		}
	}
	return nil
}

// holds returns an error unless the last record of an item, which nobody has, is the one given.
func holds(ctx context.Context, journal batch.Journal, want batch.Record) error {
	claim, err := claimed(ctx, journal, want.Key)
	if err != nil {
		return err
	}
	return errors.Join(same(claim.Record(), want), claim.Release(ctx))
}

// same compares records as JSON, which has all of them.
func same(got, want batch.Record) error {
	one, err := json.Marshal(got)
	other, err2 := json.Marshal(want)
	if err := errors.Join(err, err2); err != nil || string(one) != string(other) {
		return fmt.Errorf("the record of %.20q is %s, want %s (%v)", want.Key, one, other, err)
	}
	return nil
}

func oneClaim(ctx context.Context, journal batch.Journal) error {
	claim, err := claimed(ctx, journal, "a")
	if err != nil {
		return err
	}
	_, other := claimed(ctx, journal, "b")
	if err := errors.Join(taken(ctx, journal, "a"), other, claim.Release(ctx)); err != nil {
		return err
	}
	_, again := claimed(ctx, journal, "a")
	return errors.Join(again, taken(ctx, journal, "a"), taken(ctx, journal, "b"))
}

func atOnce(ctx context.Context, journal batch.Journal) error {
	const claims = 16
	var succeeded atomic.Int32
	wrong := make([]error, claims)
	parallel(claims, func(n int) {
		switch _, err := journal.Claim(ctx, "a"); {
		case err == nil:
			succeeded.Add(1)
		case !errors.Is(err, batch.ErrItemTaken):
			wrong[n] = err
		}
	})
	if n := succeeded.Load(); n != 1 {
		wrong = append(wrong, fmt.Errorf("of %d claims at once %d succeeded, want 1", claims, n))
	}
	return errors.Join(wrong...)
}

// parallel calls a function for each number at the same time.
func parallel(times int, do func(n int)) {
	var all sync.WaitGroup
	begin := make(chan struct{})
	for n := range times {
		all.Go(func() {
			<-begin
			do(n)
		})
	}
	close(begin)
	all.Wait()
}

func earlierClaim(ctx context.Context, journal batch.Journal) error {
	first, err := claimed(ctx, journal, "a")
	if err != nil {
		return err
	}
	if err := first.Release(ctx); err != nil {
		return err
	}
	second, err := claimed(ctx, journal, "a")
	if err != nil {
		return err
	}
	return ended(ctx, journal, first, second)
}

// ended checks that a claim is over and a later one holds.
func ended(ctx context.Context, journal batch.Journal, earlier, later batch.Claim) error {
	key := later.Record().Key
	if _, err := earlier.Append(ctx, of(key, batch.StepPurchasing, purchased("1", "NGN")),
		nil); !errors.Is(err, batch.ErrItemTaken) {
		return fmt.Errorf("Append of a claim that is over: the error is %v, want ErrItemTaken", err)
	}
	if err := earlier.Release(ctx); !errors.Is(err, batch.ErrItemTaken) {
		return fmt.Errorf("Release of a claim that is over: the error is %v, want ErrItemTaken", err)
	}
	if err := taken(ctx, journal, key); err != nil {
		return err
	}
	want := of(key, batch.StepAnalyzed, batch.Record{RequestID: "RD-2"})
	if _, err := later.Append(ctx, want, nil); err != nil {
		return fmt.Errorf("Append of the claim that holds: %w", err)
	}
	return errors.Join(later.Release(ctx), holds(ctx, journal, want))
}

func lastRecord(ctx context.Context, journal batch.Journal) error {
	claim, err := claimed(ctx, journal, "a")
	if err != nil {
		return err
	}
	if err := same(claim.Record(), batch.Record{Key: "a"}); err != nil {
		return err
	}
	for _, want := range []batch.Record{
		{Key: "a", Step: batch.StepAnalyzed, RequestID: "RD-1", At: time.Date(2026, 1, 5, 9, 30, 0, 123456789, time.UTC)},
		{
			Key: "a", Step: batch.StepPurchasing, RequestID: "RD-ü\u2028\"\\<&>\U0001F680", Documents: []shipping.DocumentType{"FDA", "<x>"},
			NotSelected: []shipping.DocumentType{"CITES"}, Amount: amount("18450.55"), Currency: "NGN", Period: "Mönday 1",
			Charged: amount("-0.000000000000000001"), ChargedCurrency: "USD", Note: "a\nnote",
			Purchase: &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: documents, Sole: true, Refused: true},
		},
		{Key: "a", Step: batch.StepClosed, RequestID: "RD-1", Documents: documents, Amount: amount("0")},
	} {
		if _, err := claim.Append(ctx, want, nil); err != nil {
			return fmt.Errorf("Append: %w", err)
		}
		if err := errors.Join(same(claim.Record(), want), claim.Release(ctx)); err != nil {
			return err
		}
		if claim, err = claimed(ctx, journal, "a"); err != nil {
			return err
		}
		if err := same(claim.Record(), want); err != nil {
			return err
		}
	}
	return nil
}

func anyKey(ctx context.Context, journal batch.Journal) error {
	var records []batch.Record
	for n, key := range []string{
		" ", "a", "A", "a ", " a", "a:b", "a/b", "%s", "a'; --", `"\`, "ł", "l", "é", "e\u0301", "\u2028", "\t", "😀",
		strings.Repeat("x", 1999) + "y", strings.Repeat("x", 2000), strings.Repeat("ü", 1000),
	} {
		records = append(records, batch.Record{Key: key, Step: batch.StepAnalyzed, RequestID: fmt.Sprint("RD-", n)})
	}
	if err := keep(ctx, journal, records...); err != nil {
		return err
	}
	for _, record := range records {
		if err := holds(ctx, journal, record); err != nil {
			return err
		}
	}
	return nil
}

// sums changes a few items, and reads the sum after each change, or only where Append returns it.
func sums(ctx context.Context, journal batch.Journal) error {
	budget := naira("250")
	for n, step := range []struct {
		key    string
		step   shipping.Step
		period string
		price  string
		budget *shipping.Budget
		fits   bool
		want   string // the committed sum of the period
	}{
		{"a", batch.StepAnalyzed, "Monday", "100", budget, true, "0"},
		{"a", batch.StepPurchasing, "Monday", "100", budget, true, "100"},
		{"a", batch.StepPurchasing, "Monday", "100", budget, true, "100"}, // again
		{"b", batch.StepPurchasing, "Monday", "100", nil, true, "200"},
		{"c", batch.StepPurchasing, "Monday", "50.01", budget, false, "200"},
		{"c", batch.StepPurchasing, "Monday", "50", budget, true, "250"},
		{"d", batch.StepPurchasing, "Tuesday", "250", budget, true, "250"},
		{"d", batch.StepPurchasing, "Thursday", "251", budget, false, "0"},
		{"b", batch.StepAnalyzed, "Monday", "100", budget, true, "150"},
		{"a", batch.StepPurchased, "Monday", "300", budget, true, "350"}, // the service charged more
		{"b", batch.StepPurchasing, "Monday", "1", budget, false, "350"},
		{"b", batch.StepPurchasing, "Wednesday", "250", budget, true, "250"},
		{"a", batch.StepCompleted, "Monday", "300", nil, true, "350"},
		{"c", batch.StepAnalyzed, "Monday", "50", nil, true, "300"},
		{"d", batch.StepFailed, "Tuesday", "250", budget, true, "250"},
		{"d", batch.StepClosed, "Tuesday", "0", budget, true, "0"},
		{"b", batch.StepAnalyzed, "Wednesday", "250", nil, true, "0"},
		{"b", batch.StepPurchasing, "", "7", budget, true, "7"},
		{"e", batch.StepPurchasing, "Wednesday", "250", budget, true, "250"},
	} {
		claim, err := claimed(ctx, journal, step.key)
		if err != nil {
			return err
		}
		record := of(step.key, step.step, purchased(step.price, "NGN"))
		record.Period = step.period
		committed, err := claim.Append(ctx, record, step.budget)
		switch {
		case (err == nil) != step.fits, err != nil && !errors.Is(err, shipping.ErrOverBudget):
			return fmt.Errorf("change %d, %+v: Append returns the error %v", n+1, step, err)
		case err == nil && step.budget != nil && committed.Cmp(amount(step.want)) != 0:
			return fmt.Errorf("change %d, %+v: Append returns %s as committed", n+1, step, committed)
		}
		if err := claim.Release(ctx); err != nil {
			return err
		}
		if committed, err := journal.Committed(ctx, step.period, *budget); err != nil ||
			committed.Cmp(amount(step.want)) != 0 {
			return fmt.Errorf("change %d, %+v: Committed returns %s, %v", n+1, step, committed, err)
		}
	}
	dollars := &shipping.Budget{Amount: amount("1000"), Currency: "USD"}
	claim, err := claimed(ctx, journal, "f")
	if err != nil {
		return err
	}
	record := of("f", batch.StepPurchasing, purchased("1", "USD"))
	record.Period = "Monday"
	if _, err = claim.Append(ctx, record, dollars); !errors.Is(err, shipping.ErrOverBudget) {
		return fmt.Errorf("a purchase within a budget of dollars, beside naira: the error is %v, want ErrOverBudget", err)
	}
	if committed, err := journal.Committed(ctx, "Sunday", *budget); err != nil || committed.Sign() != 0 {
		return fmt.Errorf("a period without records: Committed returns %s, %v", committed, err)
	}
	return nil
}

func notFitting(ctx context.Context, journal batch.Journal) error {
	claim, err := claimed(ctx, journal, "a")
	if err != nil {
		return err
	}
	analyzed := of("a", batch.StepAnalyzed, batch.Record{RequestID: "RD-1"})
	if _, err := claim.Append(ctx, analyzed, naira("10")); err != nil {
		return err
	}
	_, err = claim.Append(ctx, of("a", batch.StepPurchasing, purchased("10.01", "NGN")), naira("10"))
	if !errors.Is(err, shipping.ErrOverBudget) {
		return fmt.Errorf("a purchase of 10.01 within 10: the error is %v, want ErrOverBudget", err)
	}
	return errors.Join(same(claim.Record(), analyzed), claim.Release(ctx), holds(ctx, journal, analyzed))
}

func together(ctx context.Context, journal batch.Journal) error {
	const purchases = 24
	var kept atomic.Int32
	wrong := make([]error, purchases)
	parallel(purchases, func(n int) {
		key := fmt.Sprint("item ", n)
		claim, err := claimed(ctx, journal, key)
		if err == nil {
			_, err = claim.Append(ctx, of(key, batch.StepPurchasing, purchased("9.1", "NGN")), naira("100"))
		}
		switch {
		case err == nil:
			kept.Add(1)
		case !errors.Is(err, shipping.ErrOverBudget):
			wrong[n] = err
		}
	})
	committed, err := journal.Committed(ctx, "", *naira("100"))
	if kept.Load() != 10 || committed.Cmp(amount("91")) != 0 {
		wrong = append(wrong, fmt.Errorf("of purchases of 9.1 at the same time %d fit in 100, and %s is committed; want "+
			"10, and 91",
			kept.Load(), committed))
	}
	return errors.Join(append(wrong, err)...)
}

func spelling(ctx context.Context, journal batch.Journal) error {
	var records []batch.Record
	for _, currency := range []string{"NGN", "ngn", " Ngn ", ""} {
		records = append(records, of("item "+currency, batch.StepPurchased, purchased("5", currency)))
	}
	// What was not purchased, and what has no documents, needs no price.
	records = append(records, batch.Record{Key: "x", Step: batch.StepAnalyzed, Documents: documents},
		batch.Record{Key: "y", Step: batch.StepFailed})
	if err := keep(ctx, journal, records...); err != nil {
		return err
	}
	for _, currency := range []string{"NGN", "ngn", " nGN"} {
		committed, err := journal.Committed(ctx, "", shipping.Budget{Amount: amount("100"), Currency: currency})
		if err != nil || committed.Cmp(amount("20")) != 0 {
			return fmt.Errorf("Committed with a budget in %q returns %s, %v; want 20", currency, committed, err)
		}
	}
	return nil
}

// uncountable checks a journal with a record that no budget of naira can count.
func uncountable(foreign batch.Record) func(ctx context.Context, journal batch.Journal) error {
	return func(ctx context.Context, journal batch.Journal) error {
		for period, own := range map[string]*shipping.Budget{"without a budget": nil,
			"with a budget": naira("900000000000000000")} {
			foreign.Period = period
			if err := stopsPurchases(ctx, journal, foreign, own); err != nil {
				return fmt.Errorf("%s: %w", period, err)
			}
		}
		return nil
	}
}

// stopsPurchases appends a record with a budget or without, and checks what follows in its period.
func stopsPurchases(ctx context.Context, journal batch.Journal, foreign batch.Record, own *shipping.Budget) error {
	budget, period := naira("900000000000000000"), foreign.Period
	if sum, err := journal.Committed(ctx, period, *budget); err != nil || sum.Sign() != 0 {
		return fmt.Errorf("Committed of a period without records returns %s, %v", sum, err)
	}
	first, err := claimed(ctx, journal, "foreign "+period)
	if err != nil {
		return err
	}
	foreign.Key = "foreign " + period
	_, _ = first.Append(ctx, foreign, own) // with a budget it may return why it cannot be counted
	if err := errors.Join(first.Release(ctx), holds(ctx, journal, foreign)); err != nil {
		return err
	}
	if _, err := journal.Committed(ctx, "another period", *budget); err != nil {
		return fmt.Errorf("Committed of another period: %w", err)
	}
	past, err := claimed(ctx, journal, "past "+period)
	if err != nil {
		return err
	}
	record := of("past "+period, batch.StepPurchased, purchased("300000000000000000", "NGN"))
	record.Period = period
	if _, err := past.Append(ctx, record, budget); err == nil {
		return errors.New("Append returns a sum that cannot be counted")
	}
	if err := errors.Join(same(past.Record(), record), past.Release(ctx), holds(ctx, journal, record)); err != nil {
		return fmt.Errorf("a past event: %w", err)
	}
	later, err := claimed(ctx, journal, "later "+period)
	if err != nil {
		return err
	}
	record = of("later "+period, batch.StepPurchasing, purchased("1", "NGN"))
	record.Period = period
	if _, err := later.Append(ctx, record, budget); err == nil {
		return errors.New("a purchase is recorded, and the committed sum cannot be counted")
	}
	if err := errors.Join(later.Release(ctx), holds(ctx, journal, batch.Record{Key: record.Key})); err != nil {
		return fmt.Errorf("a purchase that was refused: %w", err)
	}
	if _, err := journal.Committed(ctx, period, *budget); !errors.Is(err, shipping.ErrOverBudget) &&
		!errors.Is(err, shipping.ErrAmountOverflow) {
		return fmt.Errorf("Committed of a sum that cannot be counted: the error is %v", err)
	}
	return nil
}

func expires(ctx context.Context, journal batch.Journal) error {
	first, err := claimed(ctx, journal, "a")
	if err != nil {
		return err
	}
	began := time.Now()
	if _, err := first.Append(ctx, of("a", batch.StepAnalyzed, batch.Record{RequestID: "RD-1"}), nil); err != nil {
		return err
	}
	second, err := takenOver(ctx, journal, "a", began.Add(journal.Lease()))
	if err != nil {
		return err
	}
	return ended(ctx, journal, first, second)
}

func renews(ctx context.Context, journal batch.Journal) error {
	claim, err := claimed(ctx, journal, "a")
	if err != nil {
		return err
	}
	if err := eventually(ctx, func() (bool, error) {
		_, stop, err := claim.Within(ctx)
		if errors.Is(err, batch.ErrItemTaken) {
			return true, nil
		}
		if err == nil {
			stop()
		}
		return false, err
	}); err != nil {
		return fmt.Errorf("Within does not refuse a claim that is about to end: %w", err)
	}
	began := time.Now()
	if _, err := claim.Append(ctx, of("a", batch.StepAnalyzed, batch.Record{}), nil); err != nil {
		return err
	}
	_, stop, err := claim.Within(ctx)
	if err != nil {
		return fmt.Errorf("Within after an Append: %w", err)
	}
	stop()
	_, err = takenOver(ctx, journal, "a", began.Add(journal.Lease()))
	return err
}

func openPurchase(ctx context.Context, journal batch.Journal) error {
	claim, err := claimed(ctx, journal, "a")
	if err != nil {
		return err
	}
	began := time.Now()
	record := of("a", batch.StepPurchasing, purchased("1", "NGN"))
	if _, err := claim.Append(ctx, record, nil); err != nil {
		return err
	}
	other, err := takenOver(ctx, journal, "a", began.Add(journal.Lease()+journal.Lease()/4))
	if err != nil {
		return err
	}
	return same(other.Record(), record)
}

func within(ctx context.Context, journal batch.Journal) error {
	began := time.Now()
	claim, err := claimed(ctx, journal, "a")
	if err != nil {
		return err
	}
	purchasing, stop, err := claim.Within(ctx)
	if err != nil {
		return fmt.Errorf("Within a new claim: %w", err)
	}
	defer stop()
	deadline, bounded := purchasing.Deadline()
	if !bounded || time.Now().After(deadline) || deadline.After(began.Add(journal.Lease())) {
		return fmt.Errorf("a purchase has time until %s (%v), and its claim holds for %s", deadline, bounded, journal.Lease())
	}
	return nil
}
