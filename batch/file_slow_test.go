package batch

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
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
		storage := shippingtest.Must(logfile.OpenStorage(filepath.Join(t.TempDir(), "journal"), journalFormat()))(t)
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

// fullStorage is a file on a disk with room for some bytes.
type fullStorage struct {
	logfile.Storage
	room *int
}

func (s fullStorage) WriteAt(p []byte, at int64) (int, error) {
	n, err := s.Storage.WriteAt(p[:min(len(p), *s.room)], at)
	if *s.room -= n; n < len(p) {
		err = syscall.ENOSPC
	}
	return n, err
}

// After a full disk, a program that kept its journal open purchased nothing until it was started again, although the
// error advises to run the batch again. The next run continues, without the record that was not written and its amount.
func TestBatchFile_ContinuesAfterAFullDisk(t *testing.T) {
	t.Parallel()
	path, room := filepath.Join(t.TempDir(), "journal"), 300
	storage := shippingtest.Must(logfile.OpenStorage(path, journalFormat()))(t)
	journal := shippingtest.Must(openFile(path, fullStorage{storage, &room}))(t)
	budget := &shipping.Budget{Amount: shippingtest.Amount(t, "250"), Currency: "NGN"}
	purchase := func(key string) error {
		claim := shippingtest.Must(journal.Claim(t.Context(), key))(t)
		record := Record{Key: key, Step: StepPurchasing, RequestID: "RD-" + key, Amount: shippingtest.Amount(t, "100"),
			Currency: "NGN"}
		_, err := claim.Append(t.Context(), record, budget, nil)
		return errors.Join(err, claim.Release(t.Context()))
	}
	shippingtest.NoError(t, purchase("a"))
	for range 2 { // the second run begins while the disk is still full
		shippingtest.NoError(t, journal.begin())
		shippingtest.WantError(t, "purchased on a full disk", purchase("b"), syscall.ENOSPC)
		shippingtest.WantError(t, "the end of a run on a full disk", journal.end(), syscall.ENOSPC)
	}
	room = 1 << 20
	shippingtest.NoError(t, journal.begin())
	shippingtest.NoError(t, purchase("c"))
	shippingtest.WantError(t, "a purchase above the budget", purchase("d"), shipping.ErrOverBudget)
	shippingtest.NoError(t, errors.Join(journal.end(), journal.Close()))
	journal = shippingtest.Must(OpenFile(path))(t)
	records, err := journal.Records()
	if err != nil || len(records) != 2 || records[0].Key != "a" || records[1].Key != "c" {
		t.Errorf("the journal has %+v, %v", records, err)
	}
	shippingtest.NoError(t, journal.Close())
}

// A purchase is found while its record is on the way to the disk, and not after the write has failed. If it was found
// only after the flush, two keys could purchase one shipment.
func TestBatchFile_FindsAPurchaseWhileItsRecordIsWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		storage := shippingtest.Must(logfile.OpenStorage(filepath.Join(t.TempDir(), "journal"), journalFormat()))(t)
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
		shippingtest.WantError(t, "the record of another key is being written", purchase("b"), repeated)
		writer.Wait()
		shippingtest.NoError(t, storage.Close())
		claim := shippingtest.Must(journal.Claim(t.Context(), "c"))(t)
		failed := Record{Key: "c", Step: StepPurchasing, ShipmentID: "SH-2"}
		_, err := claim.Append(t.Context(), failed, nil, func([]Record) error { return nil })
		if found, _ := journal.Related(t.Context(), failed); err == nil || len(found) > 0 {
			t.Errorf("a write that failed: %v, and the journal holds %+v", err, found)
		}
	})
}
