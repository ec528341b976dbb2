package batch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// unknownAmount is an amount that was given and cannot be read.
func unknownAmount(t *testing.T) (a shipping.Amount) {
	t.Helper()
	if err := a.UnmarshalJSON([]byte(`"much"`)); err != nil {
		t.Fatal(err)
	}
	return a
}

// A journal stores each text up to its limit, and refuses one byte more, and texts that it could not return.
func TestRecord_Validate(t *testing.T) {
	t.Parallel()
	good := Record{Key: "SH-1", Step: StepPurchasing, RequestID: "RD-1", Documents: []shipping.DocumentType{"FDA"}, Currency: "NGN"}
	for name, test := range map[string]struct {
		change func(r *Record)
		want   string // in the error; empty for none
	}{
		"good":                {func(*Record) {}, ""},
		"longest key":         {func(r *Record) { r.Key = strings.Repeat("k", 2000) }, ""},
		"key too long":        {func(r *Record) { r.Key = strings.Repeat("k", 2001) }, "has 2001 bytes, more than 2000"},
		"no key":              {func(r *Record) { r.Key = "" }, `the key "", which is empty`},
		"longest text":        {func(r *Record) { r.Note = strings.Repeat("n", 4000) }, ""},
		"note too long":       {func(r *Record) { r.Note = strings.Repeat("n", 4001) }, "has the note"},
		"request id":          {func(r *Record) { r.RequestID = "\xff" }, `the request id "\xff", which is not UTF-8`},
		"currency":            {func(r *Record) { r.Currency = "\x00" }, `the currency "\x00", which contains a NUL character`},
		"charged currency":    {func(r *Record) { r.ChargedCurrency = "\x00" }, "the charged currency"},
		"document":            {func(r *Record) { r.Documents = append(r.Documents, "\x00") }, `the document "\x00"`},
		"unknown step":        {func(r *Record) { r.Step = "paid" }, `the unknown step "paid"`},
		"no step":             {func(r *Record) { r.Step = "" }, `the unknown step ""`},
		"amount unreadable":   {func(r *Record) { r.Amount = unknownAmount(t) }, "amount"},
		"charge unreadable":   {func(r *Record) { r.Charged = unknownAmount(t) }, "amount"},
		"a text of 40 bytes":  {func(r *Record) { r.Key, r.Note = strings.Repeat("k", 40), "\x00" }, `item "` + strings.Repeat("k", 40) + `" has`},
		"a text of 41 bytes":  {func(r *Record) { r.Key, r.Note = strings.Repeat("k", 41), "\x00" }, `item "` + strings.Repeat("k", 40) + `…" has`},
		"every step of a run": {func(r *Record) { r.Step = StepFailed }, ""},
	} {
		record := good
		record.Documents = append([]shipping.DocumentType(nil), good.Documents...)
		test.change(&record)
		if err := record.validate(); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// The amount with which a record counts against a budget in NGN.
func TestRecord_Commitment(t *testing.T) {
	t.Parallel()
	ten := shippingtest.Amount(t, "10")
	documents := []shipping.DocumentType{"FDA"}
	for name, test := range map[string]struct {
		record Record
		counts shipping.Amount
		want   string // why it cannot be counted
	}{
		"no step":                    {Record{Amount: ten, Currency: "USD"}, shipping.Amount{}, ""},
		"analyzed":                   {Record{Step: StepAnalyzed, Amount: ten, Currency: "USD"}, shipping.Amount{}, ""},
		"purchasing":                 {Record{Step: StepPurchasing, Amount: ten, Currency: "NGN", Documents: documents}, ten, ""},
		"completed":                  {Record{Step: StepCompleted, Amount: ten, Currency: "NGN"}, ten, ""},
		"without a currency":         {Record{Step: StepPurchased, Amount: ten}, ten, ""},
		"in another currency":        {Record{Step: StepPurchased, Amount: ten, Currency: "USD"}, ten, "in USD"},
		"documents without a price":  {Record{Step: StepPurchasing, Documents: documents}, shipping.Amount{}, "whose price is not known"},
		"no documents, no price":     {Record{Step: StepFailed}, shipping.Amount{}, ""},
		"free":                       {Record{Step: StepPurchased, Documents: documents, Amount: shippingtest.Amount(t, "0")}, shippingtest.Amount(t, "0"), ""},
		"less than nothing":          {Record{Step: StepPurchased, Amount: ten.Neg(), Currency: "NGN"}, ten.Neg(), "for -10"},
		"less than nothing, a draft": {Record{Step: StepAnalyzed, Amount: ten.Neg()}, shipping.Amount{}, ""},
	} {
		got := test.record.uncountable(shipping.Budget{Amount: ten, Currency: "NGN"})
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) || test.record.commitment() != test.counts {
			t.Errorf("%s: %q, want %q; it counts for %s", name, got, test.want, test.record.commitment())
		}
	}
}

// A record takes from the one before it only what it lacks; one that was not charged keeps nothing of the purchase.
func TestRecord_AfterAndNotCharged(t *testing.T) {
	t.Parallel()
	earlier := Record{Key: "k", RequestID: "RD-1", Documents: []shipping.DocumentType{"FDA"}, Note: "n"}
	own := Record{Key: "k", Step: StepPurchased, RequestID: "RD-2", Documents: []shipping.DocumentType{}}
	if diff := cmp.Diff(own, own.after(earlier)); diff != "" {
		t.Errorf("what it has (-want +got):\n%s", diff)
	}
	if got := (Record{Step: StepCompleted}).after(earlier); got.RequestID != "RD-1" || len(got.Documents) != 1 || got.Step != StepCompleted || got.Note != "" {
		t.Errorf("what it lacks: %+v", got)
	}
	ten := shippingtest.Amount(t, "10")
	paid := Record{Key: "k", Step: StepPurchasing, RequestID: "RD-1", Amount: ten, Currency: "NGN", Charged: ten, ChargedCurrency: "NGN", Purchase: &shipping.PurchaseRequest{RequestID: "RD-1"}, Note: "n"}
	if got := paid.notCharged(); !cmp.Equal(got, Record{Key: "k", Step: StepAnalyzed, RequestID: "RD-1", Note: "n"}) {
		t.Errorf("not charged: %+v", got)
	}
	for step, want := range map[Step][2]bool{"": {}, StepAnalyzed: {}, StepPurchasing: {false, true}, StepPurchased: {false, true}, StepCompleted: {true, true}, StepFailed: {true, true}} {
		if got := [2]bool{step.Final(), step.Committed()}; got != want {
			t.Errorf("%q is final, committed: %v", step, got)
		}
	}
}

// The state of a result follows from the last record, from whether the item has ended in this run, and from its error.
func TestEntry_Result(t *testing.T) {
	t.Parallel()
	over := &shipping.BudgetError{}
	for name, test := range map[string]struct {
		step Step
		done bool
		err  error
		want State
	}{
		"nothing yet":                      {"", false, nil, StateWaiting},
		"no draft":                         {"", true, errors.New("no"), StateError},
		"interrupted":                      {"", true, errors.Join(errors.New("no"), context.Canceled), StateWaiting},
		"too late":                         {StepAnalyzed, true, errors.Join(errors.New("no"), context.DeadlineExceeded), StateWaiting},
		"nothing selected":                 {StepAnalyzed, true, nil, StateDraft},
		"not reached":                      {StepAnalyzed, false, nil, StateWaiting},
		"over budget":                      {StepAnalyzed, true, over, StateOverBudget},
		"over budget, not ended":           {StepAnalyzed, false, over, StateWaiting},
		"purchasing":                       {StepPurchasing, false, nil, StateWaiting},
		"purchase unknown":                 {StepPurchasing, true, errors.New("lost"), StateUnknown},
		"purchase unknown and interrupted": {StepPurchasing, true, context.Canceled, StateUnknown},
		"purchased":                        {StepPurchased, true, errors.New("no"), StateWaiting},
		"completed":                        {StepCompleted, false, nil, StateCompleted},
		"failed":                           {StepFailed, true, nil, StateFailed},
	} {
		e := &entry{record: Record{Key: "k", Step: test.step}, done: test.done, err: test.err}
		got := e.result()
		if got.State != test.want || test.step == StepFailed != errors.Is(got.Err, shipping.ErrRequestFailed) {
			t.Errorf("%s: %s, %v, want %s", name, got.State, got.Err, test.want)
		}
	}
	own := errors.New("own")
	if got := (&entry{record: Record{Step: StepFailed}, err: own}).result(); got.Err != own {
		t.Errorf("the error of a failure is %v", got.Err)
	}
}

// A charge counts against the budget, and ends the purchases, only if it is more than the price in the same currency.
func TestEntry_Charge(t *testing.T) {
	t.Parallel()
	ten, twelve, none := shippingtest.Amount(t, "10"), shippingtest.Amount(t, "12"), shipping.Amount{}
	for name, test := range map[string]struct {
		price    shipping.Amount
		currency string
		charged  shipping.Amount
		in       string
		amount   shipping.Amount // that counts
		counts   string          // in this currency
		over     bool
	}{
		"none":                         {ten, "NGN", none, "NGN", ten, "NGN", false},
		"less":                         {twelve, "NGN", ten, "NGN", twelve, "NGN", false},
		"the same":                     {ten, "NGN", ten, "NGN", ten, "NGN", false},
		"more":                         {ten, "NGN", twelve, "NGN", twelve, "NGN", true},
		"more, without a currency":     {ten, "NGN", twelve, "", twelve, "NGN", true},
		"more, the price without one":  {ten, "", twelve, "NGN", twelve, "NGN", true},
		"in another currency":          {ten, "NGN", twelve, "USD", ten, "NGN", true},
		"without a price":              {none, "", ten, "NGN", ten, "NGN", false},
		"without a price, or currency": {none, "", ten, "", ten, "", false},
	} {
		budget := &shipping.Budget{Amount: twelve, Currency: "NGN"}
		e := &entry{run: &run{options: Options{Budget: budget}}, record: Record{Key: "k", Amount: test.price, Currency: test.currency}}
		e.charge(test.charged, test.in)
		if e.record.Amount != test.amount || e.record.Currency != test.counts || (e.run.mayPurchase() != nil) != test.over {
			t.Errorf("%s: %s %s counts, and %v", name, e.record.Amount, e.record.Currency, e.run.mayPurchase())
		}
		if want := test.charged; e.record.Charged != want || want.Known() && e.record.ChargedCurrency != test.in {
			t.Errorf("%s: recorded as %s %s", name, e.record.Charged, e.record.ChargedCurrency)
		}
	}
	unbounded := &run{}
	if unbounded.overcharged("12.00 for k"); unbounded.mayPurchase() != nil {
		t.Errorf("without a budget: %v", unbounded.mayPurchase())
	}
	twice := &run{options: Options{Budget: &shipping.Budget{Amount: twelve, Currency: "NGN"}}}
	twice.overcharged("12.00 for first")
	twice.overcharged("12.00 for second")
	if err := twice.mayPurchase(); err == nil || !strings.Contains(err.Error(), "charged 12.00 for first") {
		t.Errorf("the first of two is reported: %v", err)
	}
}

// Only the validation of a purchase proves that it was not sent: not that of another call, which its error may wrap.
func TestRefusedUnsent(t *testing.T) {
	t.Parallel()
	refused := invalid("x", "is wrong")
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"no error":              {nil, false},
		"validation":            {refused, true},
		"another error":         {errors.New("no"), false},
		"a purchase":            {&shipping.PurchaseError{Outcome: shipping.OutcomeUnknown, Err: errors.New("no")}, false},
		"a purchase, read back": {&shipping.PurchaseError{Outcome: shipping.OutcomeUnknown, Err: refused}, false},
	} {
		if got := refusedUnsent(test.err); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// leased is a journal with a lease.
func leased(lease time.Duration) Journal { return leasedJournal{Memory(), lease} }

type leasedJournal struct {
	Journal
	lease time.Duration
}

func (j leasedJournal) Lease() time.Duration { return j.lease }

// The lease must leave a quarter of QuietFor more than QuietFor.
func TestOptions_Complete(t *testing.T) {
	t.Parallel()
	ten := shippingtest.Amount(t, "10")
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"none":                    {Options{}, ""},
		"a lease just long":       {Options{Purchase: shipping.PurchaseOptions{QuietFor: 4 * time.Minute}, Journal: leased(5 * time.Minute)}, ""},
		"a lease too short":       {Options{Purchase: shipping.PurchaseOptions{QuietFor: 4 * time.Minute}, Journal: leased(5*time.Minute - 1)}, "make the lease at least 5m0s"},
		"a lease and the default": {Options{Journal: leased(75 * time.Second)}, ""},
		"the default too long":    {Options{Journal: leased(75*time.Second - 1)}, "make the lease at least 1m15s"},
		"no lease":                {Options{Purchase: shipping.PurchaseOptions{QuietFor: time.Hour}, Journal: leased(0)}, ""},
		"a budget of nothing":     {Options{Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "0"), Currency: "NGN"}}, ""},
		"a budget below nothing":  {Options{Budget: &shipping.Budget{Amount: ten.Neg(), Currency: "NGN"}}, "Budget"},
		"no amount":               {Options{Budget: &shipping.Budget{Currency: "NGN"}}, "Budget"},
		"no currency":             {Options{Budget: &shipping.Budget{Amount: ten}}, "Budget"},
		"negative concurrency":    {Options{Concurrency: -1}, "Concurrency"},
		"negative QuietFor":       {Options{Purchase: shipping.PurchaseOptions{QuietFor: -1}}, "PurchaseOptions has a negative field"},
	} {
		err := test.options.complete()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if err == nil && (test.options.Concurrency != 8 || test.options.Journal == nil) {
			t.Errorf("%s: the defaults are %+v", name, test.options)
		}
	}
}
