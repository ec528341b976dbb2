package journaltest

import (
	"errors"
	"fmt"
	"slices"
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
	{"the last records of a shipment, an invoice or a request are found", related},
	{"a charge above its cost is found until it has a note", overcharged},
	{"the committed sum of a period follows from the last records", sums},
	{"a purchase that does not fit in the budget is not recorded", notFitting},
	{"purchases at the same time fit in the budget together", together},
	{"a purchase that repeats another one is not recorded", repeating},
	{"of purchases of one shipment or request at the same time one is recorded", oneOfSource},
	{"a currency is the same in any spelling", spelling},
	{"money in another currency stops purchases, not the record of past events", uncountable(purchased("5", "USD"))},
	{"an unknown price stops purchases, not the record of past events", uncountable(batch.Record{
		Step: batch.StepPurchased, Documents: documents,
	})},
	{"a negative price stops purchases, not the record of past events", uncountable(purchased("-1", "NGN"))},
	{"a sum that overflows stops purchases, not the record of past events",
		uncountable(purchased("900000000000000000", "NGN"))},
}

var leaseRules = []rule{
	{"an expired claim is taken over, and accepts nothing", expires},
	{"an append renews the claim", renews},
	{"an open purchase is taken over a quarter of the lease later", openPurchase},
	{"a purchase ends before its claim", within},
}

var documents = []shipping.DocumentType{"FDA"}

// amount returns the amount of a text in the rules. Each of them can be read.
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

// of returns a record with the key of an item and a step.
func of(key string, step shipping.Step, record batch.Record) batch.Record {
	record.Key, record.Step = key, step
	return record
}

func oneClaim(j journal) {
	claim := j.claim("a")
	j.claim("b")
	j.taken("a")
	j.release(claim)
	j.claim("a")
	j.taken("a")
	j.taken("b")
}

func atOnce(j journal) {
	const claims = 16
	var succeeded atomic.Int32
	wrong := make([]error, claims)
	parallel(claims, func(n int) {
		switch _, err := j.Claim(j.t.Context(), "a"); {
		case err == nil:
			succeeded.Add(1)
		case !errors.Is(err, batch.ErrItemTaken):
			wrong[n] = err
		}
	})
	if n, err := succeeded.Load(), errors.Join(wrong...); n != 1 || err != nil {
		j.t.Fatalf("of %d claims at once %d succeeded, want 1: %v", claims, n, err)
	}
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

func earlierClaim(j journal) {
	first := j.claim("a")
	j.release(first)
	ended(j, first, j.claim("a"))
}

// ended checks that a claim has ended, and a later claim holds.
func ended(j journal, earlier, later batch.Claim) {
	key := later.Record().Key
	_, err := earlier.Append(j.t.Context(), of(key, batch.StepPurchasing, purchased("1", "NGN")), nil, nil)
	if !errors.Is(err, batch.ErrItemTaken) {
		j.t.Fatalf("Append after the claim has ended: the error is %v, want ErrItemTaken", err)
	}
	if err := earlier.Release(j.t.Context()); !errors.Is(err, batch.ErrItemTaken) {
		j.t.Fatalf("Release after the claim has ended: the error is %v, want ErrItemTaken", err)
	}
	j.taken(key)
	want := of(key, batch.StepAnalyzed, batch.Record{RequestID: "RD-2"})
	j.append(later, want, nil)
	j.releases(later, want)
}

func lastRecord(j journal) {
	claim := j.claim("a")
	j.same(claim.Record(), batch.Record{Key: "a"})
	for _, want := range []batch.Record{
		{Key: "a", Step: batch.StepAnalyzed, RequestID: "RD-1", At: time.Date(2026, 1, 5, 9, 30, 0, 123456789, time.UTC)},
		{
			Key: "a", Step: batch.StepPurchasing, ShipmentID: "SH-1", RequestID: "RD-ü\u2028\"\\<&>\U0001F680",
			Documents:   []shipping.DocumentType{"FDA", "<x>"},
			NotSelected: []shipping.DocumentType{"CITES"}, Amount: amount("18450.55"), Currency: "NGN", Period: "Mönday 1",
			Charged: amount("-0.000000000000000001"), ChargedCurrency: "USD", Cost: amount("0.5"), Note: "a\nnote",
			Overcharge: "90 NGN, and the draft shows 1",
			Earlier:    batch.EarlierLost,
			Purchase:   &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: documents, Sole: true, Refused: true},
		},
		{Key: "a", Step: batch.StepClosed, RequestID: "RD-1", Documents: documents, Amount: amount("0")},
	} {
		j.append(claim, want, nil)
		j.releases(claim, want)
		claim = j.claim("a")
	}
}

func anyKey(j journal) {
	var records []batch.Record
	for n, key := range []string{
		" ", "a", "A", "a ", " a", "a:b", "a/b", "%s", "a'; --", `"\`, "ł", "l", "é", "e\u0301", "\u2028", "\t", "😀",
		strings.Repeat("x", 1999) + "y", strings.Repeat("x", 2000), strings.Repeat("ü", 1000),
	} {
		records = append(records, batch.Record{Key: key, Step: batch.StepAnalyzed, RequestID: fmt.Sprint("RD-", n)})
		j.keep(records[n])
	}
	for _, record := range records {
		j.holds(record)
	}
}

// finds checks what Related returns for a record.
func (j journal) finds(record batch.Record, want ...string) {
	records, err := j.Related(j.t.Context(), record)
	if got := named(records); err != nil || !slices.Equal(got, want) {
		j.t.Fatalf("Related returns the records %q, %v, for the source %.20q and the request %.20q; want %q", got, err,
			record.Source(), record.RequestID, want)
	}
}

// overcharged appends records with a charge above the cost, to which any record is related.
func overcharged(j journal) {
	record := batch.Record{Key: "a", Step: batch.StepPurchased, ShipmentID: "SH-1", RequestID: "RD-1",
		Overcharge: "90 NGN, and the draft shows 1", Period: "Monday"}
	j.keep(record)
	j.finds(batch.Record{}, "a purchased")
	j.finds(batch.Record{ShipmentID: "SH-1", RequestID: "RD-1"}, "a purchased")
	claim := j.claim("b")
	stopped := errors.New("a charge is open")
	_, err := claim.Append(j.t.Context(), of("b", batch.StepPurchasing, purchased("1", "NGN")), naira("100"),
		func(found []batch.Record) error {
			if len(found) == 1 && found[0].Overcharged() {
				return stopped
			}
			return nil
		})
	if !errors.Is(err, stopped) {
		j.t.Fatalf("a purchase beside a charge above its cost: Append returns %v: %s", err, advice)
	}
	record.Note = "a person has compared it"
	j.keep(record)
	j.finds(batch.Record{})
	j.finds(batch.Record{ShipmentID: "SH-1"}, "a purchased")
}

func related(j journal) {
	long := strings.Repeat("ü", 2000)
	find := func(id string, want ...string) { j.finds(batch.Record{ShipmentID: id}, want...) }
	find("SH-1")
	for _, record := range []batch.Record{
		{Key: "a", Step: batch.StepAnalyzed, ShipmentID: "SH-1"},
		{Key: "a", Step: batch.StepCompleted, ShipmentID: "SH-1", Period: "Monday"},
		{Key: "SH-1", Step: batch.StepAnalyzed, ShipmentID: "SH-1", Period: "Tuesday"},
		{Key: "b", Step: batch.StepAnalyzed, ShipmentID: "SH-1"},
		{Key: "b", Step: batch.StepAnalyzed, ShipmentID: "sh-1"}, // corrected
		{Key: "c", Step: batch.StepCompleted, ShipmentID: long},
		{Key: "d", Step: batch.StepCompleted},
		{Key: "e", Step: batch.StepCompleted, ShipmentID: "SH-10"},
		{Key: "f", Step: batch.StepAnalyzed, FileHash: "sha256:01"},
		{Key: "g", Step: batch.StepAnalyzed, ShipmentID: "SH-1", FileHash: "sha256:01"}, // its source is the shipment
		{Key: "i", Step: batch.StepAnalyzed, RequestID: "RD-1"},
		{Key: "i", Step: batch.StepAnalyzed, RequestID: "RD-2"}, // analyzed again
		{Key: "j", Step: batch.StepPurchased, RequestID: "RD-2", ShipmentID: "SH-2", Period: "Monday"},
		{Key: "k", Step: batch.StepAnalyzed, RequestID: "rd-2"},
	} {
		j.keep(record)
	}
	j.claim("h") // without a record
	find("SH-1", "SH-1 analyzed", "a completed", "g analyzed")
	find("SH-10", "e completed")
	find("sh-1", "b analyzed")
	find("sha256:01", "f analyzed")
	find(long, "c completed")
	find("'; --")
	find("RD-2")
	j.finds(batch.Record{RequestID: "RD-1"})
	j.finds(batch.Record{RequestID: "RD-2"}, "i analyzed", "j purchased")
	j.finds(batch.Record{RequestID: "RD-2", ShipmentID: "SH-2"}, "i analyzed", "j purchased")
	j.finds(batch.Record{RequestID: "RD-2", ShipmentID: "SH-10"}, "e completed", "i analyzed", "j purchased")
	j.finds(batch.Record{})
}

// named returns the keys and steps of records, sorted.
func named(records []batch.Record) []string {
	names := make([]string, len(records))
	for n, record := range records {
		names[n] = record.Key + " " + string(record.Step)
	}
	slices.Sort(names)
	return names
}

// sums changes a few items, and checks the sum of the period after each change, also as Append returns it.
func sums(j journal) {
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
		claim := j.claim(step.key)
		record := of(step.key, step.step, purchased(step.price, "NGN"))
		record.Period = step.period
		committed, err := claim.Append(j.t.Context(), record, step.budget, nil)
		switch {
		case (err == nil) != step.fits, err != nil && !errors.Is(err, shipping.ErrOverBudget):
			j.t.Fatalf("change %d, %+v: Append returns the error %v", n+1, step, err)
		case err == nil && step.budget != nil && committed.Cmp(amount(step.want)) != 0:
			j.t.Fatalf("change %d, %+v: Append returns %s as committed", n+1, step, committed)
		}
		j.release(claim)
		j.committed(step.period, *budget, step.want)
	}
	record := of("f", batch.StepPurchasing, purchased("1", "USD"))
	record.Period = "Monday"
	dollars := &shipping.Budget{Amount: amount("1000"), Currency: "USD"}
	if _, err := j.claim("f").Append(j.t.Context(), record, dollars, nil); !errors.Is(err, shipping.ErrOverBudget) {
		j.t.Fatalf("a purchase with a budget in dollars, in a period with naira: the error is %v, want ErrOverBudget", err)
	}
	j.committed("Sunday", *budget, "0") // without records
}

func notFitting(j journal) {
	claim := j.claim("a")
	analyzed := of("a", batch.StepAnalyzed, batch.Record{RequestID: "RD-1"})
	j.append(claim, analyzed, naira("10"))
	_, err := claim.Append(j.t.Context(), of("a", batch.StepPurchasing, purchased("10.01", "NGN")), naira("10"), nil)
	if !errors.Is(err, shipping.ErrOverBudget) {
		j.t.Fatalf("a purchase of 10.01 within 10: the error is %v, want ErrOverBudget", err)
	}
	j.releases(claim, analyzed)
}

func together(j journal) {
	const purchases = 24
	var kept atomic.Int32
	wrong := make([]error, purchases)
	parallel(purchases, func(n int) {
		key := fmt.Sprint("item ", n)
		claim, err := j.Claim(j.t.Context(), key)
		if err == nil {
			_, err = claim.Append(j.t.Context(), of(key, batch.StepPurchasing, purchased("9.1", "NGN")), naira("100"), nil)
		}
		switch {
		case err == nil:
			kept.Add(1)
		case !errors.Is(err, shipping.ErrOverBudget):
			wrong[n] = err
		}
	})
	if n, err := kept.Load(), errors.Join(wrong...); n != 10 || err != nil {
		j.t.Fatalf("%d concurrent purchases of 9.1 fit in 100, want 10: %v", n, err)
	}
	j.committed("", *naira("100"), "91")
}

// advice names the features that a journal of an earlier version lacks.
const advice = "Append must call the function alone with the result of Related, and write the record, in one " +
	"transaction, under locks of the source and the request"

var errRepeated = errors.New("it repeats a purchase")

// repeating checks that Append calls alone with the records of the source, and returns its error.
func repeating(j journal) {
	for _, source := range []batch.Record{{ShipmentID: "SH-1"}, {FileHash: "sha256:01"}} {
		for _, budget := range []*shipping.Budget{nil, naira("100")} {
			record := purchased("5", "NGN")
			record.ShipmentID, record.FileHash, record.RequestID = source.ShipmentID, source.FileHash, ""
			record.Period = fmt.Sprint(source.Source(), budget != nil)
			one := of("one "+record.Period, batch.StepPurchased, record)
			j.keep(one)
			another := record
			another.ShipmentID, another.FileHash = "SH-10", ""
			j.keep(of("another "+record.Period, batch.StepPurchased, another))
			own := of("own "+record.Period, batch.StepPurchasing, record)
			claim := j.claim(own.Key)
			analyzed := of(own.Key, batch.StepAnalyzed, batch.Record{ShipmentID: source.ShipmentID, FileHash: source.FileHash})
			j.append(claim, analyzed, budget)
			var found []string
			_, err := claim.Append(j.t.Context(), own, budget, func(same []batch.Record) error {
				found = named(same)
				return errRepeated
			})
			if !errors.Is(err, errRepeated) || !slices.Contains(found, one.Key+" purchased") ||
				slices.ContainsFunc(found, func(name string) bool { return strings.HasPrefix(name, "another") }) {
				j.t.Fatalf("a purchase for %s, which another key has: Append returns %v after it found %q: %s",
					source.Source(), err, found, advice)
			}
			j.same(claim.Record(), analyzed)
			j.committed(record.Period, *naira("100"), "10")
			if _, err := claim.Append(j.t.Context(), own, budget, func([]batch.Record) error { return nil }); err != nil {
				j.t.Fatalf("Append refused a purchase, although its function allowed it: %v", err)
			}
			j.releases(claim, own)
		}
	}
}

// oneOfSource begins purchases of one shipment, or of one request, under different keys at the same time, within a
// budget and without.
func oneOfSource(j journal) {
	const purchases = 24
	for name, budget := range map[string]*shipping.Budget{"without a budget": nil, "with a budget": naira("1000"),
		"one request, without a budget": nil, "one request, with a budget": naira("1000")} {
		var kept atomic.Int32
		wrong := make([]error, purchases)
		claims := make([]batch.Claim, purchases)
		for n := range claims {
			claims[n] = j.claim(fmt.Sprint(name, n))
		}
		parallel(purchases, func(n int) {
			record := of(fmt.Sprint(name, n), batch.StepPurchasing, purchased("1", "NGN"))
			record.ShipmentID, record.RequestID = "SH "+name, ""
			if strings.HasPrefix(name, "one request") {
				record.ShipmentID, record.RequestID = "SH "+record.Key, "RD "+name
			}
			_, err := claims[n].Append(j.t.Context(), record, budget, func(same []batch.Record) error {
				if len(same) > 0 {
					return errRepeated
				}
				return nil
			})
			switch {
			case err == nil:
				kept.Add(1)
			case !errors.Is(err, errRepeated):
				wrong[n] = err
			}
		})
		if n, err := kept.Load(), errors.Join(wrong...); n != 1 || err != nil {
			j.t.Fatalf("%s: %d of %d concurrent purchases of one shipment or request are recorded, want 1 (%v): %s",
				name, n, purchases, err, advice)
		}
	}
}

func spelling(j journal) {
	for _, currency := range []string{"NGN", "ngn", " Ngn ", ""} {
		j.keep(of("item "+currency, batch.StepPurchased, purchased("5", currency)))
	}
	// An item without a purchase or without documents needs no price.
	j.keep(batch.Record{Key: "x", Step: batch.StepAnalyzed, Documents: documents})
	j.keep(batch.Record{Key: "y", Step: batch.StepFailed})
	for _, currency := range []string{"NGN", "ngn", " nGN"} {
		j.committed("", shipping.Budget{Amount: amount("100"), Currency: currency}, "20")
	}
}

// uncountable checks a journal with a record that no budget of naira can count.
func uncountable(foreign batch.Record) func(j journal) {
	return func(j journal) {
		for period, own := range map[string]*shipping.Budget{"without a budget": nil,
			"with a budget": naira("900000000000000000")} {
			foreign.Period = period
			stopsPurchases(j, foreign, own)
		}
	}
}

// stopsPurchases appends a record with a budget or without, and checks what follows in its period.
func stopsPurchases(j journal, foreign batch.Record, own *shipping.Budget) {
	budget, period := naira("900000000000000000"), foreign.Period
	j.committed(period, *budget, "0")
	foreign.Key = "foreign " + period
	first := j.claim(foreign.Key)
	_, _ = first.Append(j.t.Context(), foreign, own, nil) // with a budget it may return why it cannot be counted
	j.releases(first, foreign)
	j.committed("another period", *budget, "0")

	record := of("past "+period, batch.StepPurchased, purchased("300000000000000000", "NGN"))
	record.Period = period
	past := j.claim(record.Key)
	if _, err := past.Append(j.t.Context(), record, budget, nil); err == nil {
		j.t.Fatalf("%s: Append returns a sum that cannot be counted", period)
	}
	j.releases(past, record)

	record = of("later "+period, batch.StepPurchasing, purchased("1", "NGN"))
	record.Period = period
	later := j.claim(record.Key)
	if _, err := later.Append(j.t.Context(), record, budget, nil); err == nil {
		j.t.Fatalf("%s: a purchase is recorded, and the committed sum cannot be counted", period)
	}
	j.releases(later, batch.Record{Key: record.Key})
	if _, err := j.Committed(j.t.Context(), period, *budget); !errors.Is(err, shipping.ErrOverBudget) &&
		!errors.Is(err, shipping.ErrAmountOverflow) {
		j.t.Fatalf("%s: Committed of a sum that cannot be counted: the error is %v", period, err)
	}
}

func expires(j journal) {
	first := j.claim("a")
	began := time.Now()
	j.append(first, of("a", batch.StepAnalyzed, batch.Record{RequestID: "RD-1"}), nil)
	ended(j, first, j.takenOver("a", began.Add(j.Lease())))
}

func renews(j journal) {
	claim := j.claim("a")
	within := func() error {
		_, stop, err := claim.Within(j.t.Context())
		if err == nil {
			stop()
		}
		return err
	}
	j.eventually("Within a claim that is about to end", func() bool {
		err := within()
		if err != nil && !errors.Is(err, batch.ErrItemTaken) {
			j.t.Fatalf("Within a claim that is about to end: %v", err)
		}
		return err != nil
	})
	began := time.Now()
	j.append(claim, of("a", batch.StepAnalyzed, batch.Record{}), nil)
	if err := within(); err != nil {
		j.t.Fatalf("Within after an Append: %v", err)
	}
	j.takenOver("a", began.Add(j.Lease()))
}

func openPurchase(j journal) {
	claim := j.claim("a")
	began := time.Now()
	record := of("a", batch.StepPurchasing, purchased("1", "NGN"))
	j.append(claim, record, nil)
	j.same(j.takenOver("a", began.Add(j.Lease()+j.Lease()/4)).Record(), record)
}

func within(j journal) {
	began := time.Now()
	purchasing, stop, err := j.claim("a").Within(j.t.Context())
	if err != nil {
		j.t.Fatalf("Claim.Within: %v", err)
	}
	defer stop()
	deadline, bounded := purchasing.Deadline()
	if !bounded || time.Now().After(deadline) || deadline.After(began.Add(j.Lease())) {
		j.t.Fatalf("a purchase has time until %s (%v), and its claim holds for %s", deadline, bounded, j.Lease())
	}
}
