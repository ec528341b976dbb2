package pgstore_test

import (
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/stores/pgstore"
)

func amount(t *testing.T, text string) shipping.Amount {
	t.Helper()
	var a shipping.Amount
	if err := a.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return a
}

func claim(t *testing.T, journal *pgstore.BatchJournal, key string) shipping.BatchClaim {
	t.Helper()
	c, err := journal.Claim(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMigrate_MayRunOnSeveralMachinesAtOnce(t *testing.T) {
	pool := connect(t)
	var machines sync.WaitGroup
	for range 4 {
		machines.Go(func() {
			if err := pgstore.Migrate(t.Context(), pool); err != nil {
				t.Error(err)
			}
		})
	}
	machines.Wait()
}

func TestBatchJournal_AnItemIsInOneHandUntilItIsReleased(t *testing.T) {
	journal := pgstore.NewBatchJournal(connect(t), t.Name()+rand.Text(), 0)
	first := claim(t, journal, "a")
	if _, err := journal.Claim(t.Context(), "a"); !errors.Is(err, shipping.ErrBatchItemTaken) {
		t.Errorf("claimed twice: %v", err)
	}
	claim(t, journal, "b")
	record := shipping.BatchRecord{
		Key: "a", Step: shipping.BatchPurchased, RequestID: "RD-1", Documents: []shipping.DocumentType{"FDA"},
		Amount: amount(t, "18450.55"), Currency: "NGN", At: time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC),
	}
	if _, err := first.Append(t.Context(), record, nil); err != nil {
		t.Fatal(err)
	}
	if err := first.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := claim(t, journal, "a").Record()
	if got.RequestID != "RD-1" || got.Amount != record.Amount || len(got.Documents) != 1 || !got.At.Equal(record.At) {
		t.Errorf("the record came back as %+v", got)
	}
	if err := first.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := journal.Claim(t.Context(), "a"); !errors.Is(err, shipping.ErrBatchItemTaken) {
		t.Errorf("a release from the past gave the item away: %v", err)
	}
}

func TestBatchJournal_AClaimThatWasTakenOverAcceptsNothing(t *testing.T) {
	pool, batch := connect(t), t.Name()+rand.Text()
	journal := pgstore.NewBatchJournal(pool, batch, time.Hour)
	stale := claim(t, journal, "a")
	if left := time.Until(stale.Until()); left <= 0 || left > time.Hour-5*time.Minute {
		t.Errorf("the claim ends in %s, with nothing kept back of its lease", left)
	}
	// The database's clock is as good as an hour ahead.
	if _, err := pool.Exec(t.Context(), `UPDATE shipping_batch_item SET until = until - interval '1 hour' WHERE batch = $1`, batch); err != nil {
		t.Fatal(err)
	}
	claim(t, journal, "a")
	_, err := stale.Append(t.Context(), shipping.BatchRecord{Key: "a", Step: shipping.BatchPurchasing}, nil)
	if !errors.Is(err, shipping.ErrBatchItemTaken) {
		t.Errorf("a claim from the past kept a record: %v", err)
	}
}

func TestBatchJournal_ABudgetHoldsForAllThatAppendAtTheSameMoment(t *testing.T) {
	journal := pgstore.NewBatchJournal(connect(t), t.Name()+rand.Text(), 0)
	budget := &shipping.Budget{Amount: amount(t, "100"), Currency: "NGN"}
	var kept atomic.Int32
	var appends sync.WaitGroup
	for n := range 24 {
		key := string(rune('a' + n))
		appends.Go(func() {
			c, err := journal.Claim(t.Context(), key)
			if err != nil {
				t.Error(err)
				return
			}
			_, err = c.Append(t.Context(), shipping.BatchRecord{Key: key, Step: shipping.BatchPurchasing, Amount: amount(t, "9.1"), Currency: "NGN"}, budget)
			switch {
			case err == nil:
				kept.Add(1)
			case !errors.Is(err, shipping.ErrOverBudget):
				t.Error(err)
			case c.Record().Step != "":
				t.Error("what the budget had no room for is in the record")
			}
		})
	}
	appends.Wait()
	committed, err := journal.Committed(t.Context(), *budget)
	if err != nil || kept.Load() != 10 || committed != amount(t, "91") {
		t.Errorf("%d purchases of 9.1 fit in 100, %s committed, %v", kept.Load(), committed, err)
	}
	dollars := shipping.Budget{Amount: amount(t, "100"), Currency: "USD"}
	if _, err := journal.Committed(t.Context(), dollars); !errors.Is(err, shipping.ErrOverBudget) {
		t.Errorf("naira were held against a budget of dollars: %v", err)
	}
}
