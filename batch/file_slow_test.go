package batch

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/logfile"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// slowStorage is a file whose flushes take a second.
type slowStorage struct{ logfile.Storage }

func (slowStorage) Sync() error {
	time.Sleep(time.Second)
	return nil
}

// Of purchases that are recorded at the same time only those that fit into the budget together are recorded: a price
// counts before its record is on the disk, and until the record that gives it back is there. If it counted only after
// the flush, all of the purchases would fit.
func TestBatchFile_CountsAPriceWhileItsRecordIsWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		storage := shippingtest.Must(logfile.OpenStorage(filepath.Join(t.TempDir(), "journal")))(t)
		defer storage.Close()
		journal := shippingtest.Must(openFile("journal", slowStorage{storage}))(t)
		budget := &shipping.Budget{Amount: shippingtest.Amount(t, "250"), Currency: "NGN"}
		var kept, refused []Claim
		var mu sync.Mutex
		purchase := func(claim Claim) {
			record := Record{
				Key: claim.Record().Key, Step: StepPurchasing, Amount: shippingtest.Amount(t, "100"), Currency: "NGN",
			}
			_, err := claim.Append(t.Context(), record, budget, nil)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				kept = append(kept, claim)
			case errors.Is(err, shipping.ErrOverBudget):
				refused = append(refused, claim)
			default:
				t.Error(err)
			}
		}
		var writers sync.WaitGroup
		for n := range 4 {
			claim := shippingtest.Must(journal.Claim(t.Context(), fmt.Sprint(n)))(t)
			writers.Go(func() { purchase(claim) })
		}
		writers.Wait()
		if len(kept) != 2 || len(refused) != 2 {
			t.Fatalf("%d purchases of 100 fit into 250, and %d do not", len(kept), len(refused))
		}
		writers.Go(func() {
			free := Record{Key: kept[0].Record().Key, Step: StepAnalyzed}
			if _, err := kept[0].Append(t.Context(), free, budget, nil); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		for _, when := range []struct{ kept, refused int }{{2, 3}, {3, 3}} { // while it is written, and after that
			if purchase(refused[0]); len(kept) != when.kept || len(refused) != when.refused {
				t.Errorf("%d purchases are recorded, and %d are refused; want %+v", len(kept), len(refused), when)
			}
			writers.Wait()
		}
		committed, err := journal.Committed(t.Context(), "", *budget)
		if err != nil || committed != shippingtest.Amount(t, "200") {
			t.Errorf("%s is committed, %v", committed, err)
		}
	})
}

// A purchase is found while its record is on the way to the disk, and not after the write has failed. If it was found
// only after the flush, two keys could purchase one shipment.
func TestBatchFile_FindsAPurchaseWhileItsRecordIsWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		storage := shippingtest.Must(logfile.OpenStorage(filepath.Join(t.TempDir(), "journal")))(t)
		journal := shippingtest.Must(openFile("journal", slowStorage{storage}))(t)
		repeated := errors.New("another key has it")
		purchase := func(key string) error {
			claim := shippingtest.Must(journal.Claim(t.Context(), key))(t)
			_, err := claim.Append(t.Context(), Record{Key: key, Step: StepPurchasing, ShipmentID: "SH-1"}, nil,
				func(same []Record) error {
					if len(same) > 0 {
						return repeated
					}
					return nil
				})
			return err
		}
		var writer sync.WaitGroup
		writer.Go(func() { shippingtest.NoError(t, purchase("a")) })
		synctest.Wait()
		if err := purchase("b"); !errors.Is(err, repeated) {
			t.Errorf("the record of another key is being written: %v", err)
		}
		writer.Wait()
		shippingtest.NoError(t, storage.Close())
		claim := shippingtest.Must(journal.Claim(t.Context(), "c"))(t)
		failed := Record{Key: "c", Step: StepPurchasing, ShipmentID: "SH-2"}
		_, err := claim.Append(t.Context(), failed, nil, func([]Record) error { return nil })
		if found, _ := journal.OfSource(t.Context(), "SH-2"); err == nil || len(found) > 0 {
			t.Errorf("a write that failed: %v, and the journal holds %+v", err, found)
		}
	})
}
