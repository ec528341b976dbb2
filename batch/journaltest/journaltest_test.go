package journaltest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/batchtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

const lease = 10 * time.Second

// flawed is a journal whose claims hold for a lease, with a mistake that is easily made.
type flawed struct {
	mistake string
	mu      sync.Mutex
	items   map[string]*item
}

type item struct {
	record batch.Record
	holder *claim // nil if nobody has the item
	until  time.Time
}

type claim struct {
	journal *flawed
	item    *item
	record  batch.Record
}

func newFlawed(mistake string) *flawed { return &flawed{mistake: mistake, items: map[string]*item{}} }

func (j *flawed) makes(mistake string) bool { return j.mistake == mistake }

func (j *flawed) Lease() time.Duration { return lease }

func (j *flawed) Claim(_ context.Context, key string) (batch.Claim, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	at := key
	switch {
	case j.makes("folds case"):
		at = strings.ToLower(key)
	case j.makes("trims keys"):
		at = strings.TrimSpace(key)
	case j.makes("cuts keys"):
		at = key[:min(len(key), 255)]
	}
	if j.items[at] == nil {
		j.items[at] = &item{record: batch.Record{Key: key}}
	}
	it := j.items[at]
	until := it.until
	switch {
	case it.record.Step == batch.StepPurchasing && !j.makes("gives an open purchase too early"):
		until = until.Add(lease / 4)
	case j.makes("gives items too early"):
		until = until.Add(-lease / 2)
	}
	expired := !time.Now().Before(until) && !j.makes("never expires")
	if it.holder != nil && !expired && !j.makes("gives an item twice") {
		return nil, batch.ErrItemTaken
	}
	it.holder, it.until = &claim{j, it, it.record}, time.Now().Add(lease)
	return it.holder, nil
}

func (j *flawed) Committed(_ context.Context, period string, budget shipping.Budget) (shipping.Amount, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.sum(period, budget)
}

func (j *flawed) sum(period string, budget shipping.Budget) (sum shipping.Amount, err error) {
	for _, it := range j.items {
		r := it.record
		if r.Period != period && !j.makes("counts all periods") || !r.Committed() && !j.makes("counts released amounts") {
			continue
		}
		currency, own := r.Currency, budget.Currency
		if !j.makes("compares currencies byte by byte") {
			currency, own = strings.ToLower(strings.TrimSpace(currency)), strings.ToLower(strings.TrimSpace(own))
		}
		switch unknown := len(r.Documents) > 0 && !r.Amount.Known(); {
		case currency != "" && currency != own && !j.makes("adds other currencies"),
			unknown && !j.makes("adds unknown prices"), r.Amount.Sign() < 0 && !j.makes("adds negative prices"):
			return sum, &shipping.BudgetError{Budget: budget, Problem: "cannot be counted"}
		}
		if sum, err = sum.Add(r.Amount); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

func (j *flawed) Related(_ context.Context, record batch.Record) ([]batch.Record, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.related(record), nil
}

func (j *flawed) related(record batch.Record) (records []batch.Record) {
	source := record.Source()
	for _, it := range j.items {
		own := it.record.Source()
		if j.makes("knows no invoices") {
			own = it.record.ShipmentID
		}
		sameRequest := record.RequestID != "" && it.record.RequestID == record.RequestID && !j.makes("knows no requests")
		isOpen := it.record.Overcharged() || it.record.Overcharge != "" && j.makes("finds charges with a note")
		if source != "" && own == source || sameRequest || isOpen && !j.makes("finds no charges") ||
			j.makes("ignores the source") ||
			strings.HasPrefix(own, source) && j.makes("compares the start of a source") {
			records = append(records, it.record)
		}
		if len(records) > 0 && j.makes("returns one record of a source") {
			break
		}
	}
	return records
}

func (c *claim) Record() batch.Record { return c.record }

func (c *claim) Within(ctx context.Context) (context.Context, context.CancelFunc, error) {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	longest := lease / 4
	if c.journal.makes("lets a purchase outlast its claim") {
		longest = 2 * lease
	}
	if time.Until(c.item.until) < lease/2 && !c.journal.makes("begins purchases too late") {
		return nil, nil, batch.ErrItemTaken
	}
	within, stop := context.WithTimeout(ctx, longest)
	return within, stop, nil
}

func (c *claim) Append(_ context.Context, record batch.Record, budget *shipping.Budget,
	alone func([]batch.Record) error) (sum shipping.Amount, err error) {
	j := c.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if c.item.holder != c && !j.makes("appends without a claim") {
		return sum, batch.ErrItemTaken
	}
	if alone != nil && !j.makes("does not look for the source") {
		if err := alone(j.related(record)); err != nil && !j.makes("records what repeats a purchase") {
			return sum, err
		}
		if j.makes("looks for the source too early") {
			j.mu.Unlock()
			time.Sleep(time.Millisecond)
			j.mu.Lock()
		}
	}
	before := c.item.record
	if budget != nil && record.Step == batch.StepPurchasing && j.makes("compares with the budget before it waits") {
		if sum, err = j.sum(record.Period, *budget); err == nil {
			err = budget.Fits(sum, record.Amount)
		}
		if budget = nil; err != nil {
			return sum, err
		}
		j.mu.Unlock()
		time.Sleep(time.Millisecond)
		j.mu.Lock()
	}
	c.item.record = record
	if budget != nil && !j.makes("ignores the budget") {
		sum, err = j.sum(record.Period, *budget)
		if err == nil && record.Step == batch.StepPurchasing {
			err = budget.Fits(shipping.Amount{}, sum)
		}
		if err != nil && (record.Step == batch.StepPurchasing && !j.makes("keeps what does not fit") ||
			j.makes("refuses past events")) {
			c.item.record = before
			return sum, err
		}
	}
	switch {
	case j.makes("drops the period"):
		c.item.record.Period = ""
	case j.makes("drops the purchase"):
		c.item.record.Purchase = nil
	case j.makes("drops records"):
		c.item.record = before
	}
	c.record = record
	if !j.makes("does not renew") {
		c.item.until = time.Now().Add(lease)
	}
	return sum, err
}

func (c *claim) Release(context.Context) error {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	switch {
	case c.item.holder == c || c.journal.makes("releases the claim of another"):
		c.item.holder = nil
	case c.item.holder != nil:
		return batch.ErrItemTaken
	}
	return nil
}

// broken returns the names of the rules that a journal breaks.
func broken(t *testing.T, open func() batch.Journal) (names []string) {
	t.Helper()
	for _, rule := range slices.Concat(rules, leaseRules) {
		synctest.Test(t, func(t *testing.T) {
			if shippingtest.Violates(t, func(v *shippingtest.Violation) { rule.check(journal{v, open()}) }) {
				names = append(names, rule.name)
			}
		})
	}
	return names
}

// A journal without mistakes breaks no rule, and each mistake breaks one.
func TestRun_FindsMistakes(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func() batch.Journal{
		"the journal of the tests of batch": func() batch.Journal { return batchtest.NewJournal(lease) },
		"no mistake":                        func() batch.Journal { return newFlawed("") },
	} {
		if names := broken(t, open); len(names) > 0 {
			t.Errorf("%s: breaks %q", name, names)
		}
	}
	const atOnce = "of purchases of one shipment or request at the same time one is recorded"
	for mistake, rule := range map[string]string{
		"gives an item twice":                      "an item has one claim at a time",
		"folds case":                               "any text is a key",
		"trims keys":                               "any text is a key",
		"cuts keys":                                "any text is a key",
		"appends without a claim":                  "the end of an earlier claim changes nothing",
		"releases the claim of another":            "the end of an earlier claim changes nothing",
		"drops records":                            "a claim has the last record of its item",
		"drops the purchase":                       "a claim has the last record of its item",
		"ignores the source":                       "the last records of a shipment, an invoice or a request are found",
		"returns one record of a source":           "the last records of a shipment, an invoice or a request are found",
		"compares the start of a source":           "the last records of a shipment, an invoice or a request are found",
		"knows no invoices":                        "the last records of a shipment, an invoice or a request are found",
		"knows no requests":                        "the last records of a shipment, an invoice or a request are found",
		"finds no charges":                         "a charge above its cost is found until it has a note",
		"finds charges with a note":                "a charge above its cost is found until it has a note",
		"does not look for the source":             "a purchase that repeats another one is not recorded",
		"records what repeats a purchase":          "a purchase that repeats another one is not recorded",
		"looks for the source too early":           atOnce,
		"drops the period":                         "the committed sum of a period follows from the last records",
		"counts all periods":                       "the committed sum of a period follows from the last records",
		"counts released amounts":                  "the committed sum of a period follows from the last records",
		"ignores the budget":                       "a purchase that does not fit in the budget is not recorded",
		"keeps what does not fit":                  "a purchase that does not fit in the budget is not recorded",
		"compares with the budget before it waits": "purchases at the same time fit in the budget together",
		"compares currencies byte by byte":         "a currency is the same in any spelling",
		"adds other currencies":                    "money in another currency stops purchases, not the record of past events",
		"adds unknown prices":                      "an unknown price stops purchases, not the record of past events",
		"adds negative prices":                     "a negative price stops purchases, not the record of past events",
		"refuses past events":                      "a sum that overflows stops purchases, not the record of past events",
		"never expires":                            "an expired claim is taken over, and accepts nothing",
		"gives items too early":                    "an expired claim is taken over, and accepts nothing",
		"does not renew":                           "an append renews the claim",
		"begins purchases too late":                "an append renews the claim",
		"gives an open purchase too early":         "an open purchase is taken over a quarter of the lease later",
		"lets a purchase outlast its claim":        "a purchase ends before its claim",
	} {
		if names := broken(t, func() batch.Journal { return newFlawed(mistake) }); !slices.Contains(names, rule) {
			t.Errorf("%q breaks %q, want %q", mistake, names, rule)
		}
	}
}
