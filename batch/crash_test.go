package batch

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// disk is the storage of a journal in memory. It records its operations, and how many records were
// acknowledged at that moment.
type disk struct {
	mu      sync.Mutex
	content []byte
	done    []diskStep
	acked   *int
	slow    time.Duration // of a Sync
}

// diskStep is a write, a truncation, or a flush of the file or of its directory.
type diskStep struct {
	kind  string
	data  []byte
	at    int64
	acked int // records, when the step began
}

func (d *disk) record(step diskStep) {
	if d.acked != nil {
		step.acked = *d.acked
	}
	d.done = append(d.done, step)
	d.content = step.apply(d.content)
}

func (s diskStep) apply(content []byte) []byte {
	switch s.kind {
	case "write":
		if need := int(s.at) + len(s.data); need > len(content) {
			content = append(slices.Clone(content), make([]byte, need-len(content))...)
		}
		content = slices.Clone(content)
		copy(content[s.at:], s.data)
	case "truncate":
		if int(s.at) < len(content) {
			content = slices.Clone(content[:s.at])
		}
	}
	return content
}

func (d *disk) ReadAt(p []byte, at int64) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at >= int64(len(d.content)) {
		return 0, io.EOF
	}
	n := copy(p, d.content[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (d *disk) WriteAt(p []byte, at int64) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record(diskStep{kind: "write", data: slices.Clone(p), at: at})
	return len(p), nil
}

func (d *disk) Size() (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(len(d.content)), nil
}

func (d *disk) Truncate(size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record(diskStep{kind: "truncate", at: size})
	return nil
}

func (d *disk) Sync() error {
	time.Sleep(d.slow)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record(diskStep{kind: "sync"})
	return nil
}

func (d *disk) SyncDirectory() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record(diskStep{kind: "sync directory"})
	return nil
}

func (d *disk) InPlace() (bool, error) { return true, nil }
func (d *disk) Close() error           { return nil }

// crashes visits the contents that a power loss can leave of a journal, with how many records were
// acknowledged. before is what the disk held at the start.
//
// Of the steps since the last flush, each may be lost or not, in their order or the other way round. A write may be
// there up to any byte, or in whole but for some of its sectors, which read as zeros. The file may be gone
// until its directory was flushed.
func crashes(
	before []byte, existed bool, done []diskStep, sector, maxSectors int, visit func(content []byte, acked int),
) {
	stable, named := before, existed
	var unsynced []diskStep
	for n, next := range append(slices.Clone(done), diskStep{kind: "end", acked: math.MaxInt}) {
		if n > 0 {
			switch last := done[n-1]; last.kind {
			case "sync":
				for _, step := range unsynced {
					stable = step.apply(stable)
				}
				unsynced = nil
			case "sync directory":
				named = true
			default:
				unsynced = append(unsynced, last)
			}
		}
		if !named {
			visit(nil, next.acked)
		}
		for subset := range 1 << len(unsynced) {
			var kept []diskStep
			for i, step := range unsynced {
				if subset>>i&1 == 1 {
					kept = append(kept, step)
				}
			}
			tearAll(stable, kept, sector, maxSectors, func(content []byte) { visit(content, next.acked) })
			if len(kept) > 1 {
				slices.Reverse(kept)
				tearAll(stable, kept, sector, maxSectors, func(content []byte) { visit(content, next.acked) })
			}
		}
	}
}

// tearAll applies steps in every way in which their writes can be torn.
func tearAll(content []byte, steps []diskStep, sector, maxSectors int, visit func([]byte)) {
	if len(steps) == 0 {
		visit(content)
		return
	}
	step, rest := steps[0], steps[1:]
	tearAll(step.apply(content), rest, sector, maxSectors, visit)
	if step.kind != "write" {
		return
	}
	for cut := 1; cut < len(step.data); cut++ {
		torn := step
		torn.data = step.data[:cut]
		tearAll(torn.apply(content), rest, sector, maxSectors, visit)
	}
	first := int(step.at) / sector
	sectors := (int(step.at)+len(step.data)-1)/sector - first + 1
	for lost := 1; lost < 1<<min(sectors, maxSectors); lost++ {
		torn := step
		torn.data = slices.Clone(step.data)
		for i := range torn.data {
			// Beyond maxSectors, all sectors are lost or kept like the last one.
			if lost>>min((int(step.at)+i)/sector-first, maxSectors-1)&1 == 1 {
				torn.data[i] = 0
			}
		}
		tearAll(torn.apply(content), rest, sector, maxSectors, visit)
	}
}

// written appends records to a journal over a disk, and returns their keys.
func written(t *testing.T, d *disk, appends int) (keys []string) {
	t.Helper()
	acked := 0
	d.acked = &acked
	journal, err := openFile("journal", d)
	if err != nil {
		t.Fatal(err)
	}
	for n := range appends {
		record := Record{
			Key: fmt.Sprint(n), Step: StepPurchasing, RequestID: "RD-1", Documents: []shipping.DocumentType{"CUSTOMS"},
			Currency: "NGN", Purchase: &shipping.PurchaseRequest{RequestID: "RD-1", Sole: true}, At: time.Now(),
		}
		if err := journal.append(record); err != nil {
			t.Fatal(err)
		}
		acked++
		keys = append(keys, record.Key)
	}
	return keys
}

// survivors opens the journal after a crash. It reports a journal that cannot be opened, that lost an acknowledged
// record, or that has one that was not written; then it appends and opens the journal again.
func survivors(t *testing.T, content []byte, keys []string, acked int) (after *disk, kept []string) {
	after = &disk{content: slices.Clone(content)}
	journal, err := openFile("journal", after)
	if err != nil {
		t.Fatalf("%d acknowledged: %v in %q", acked, err, content)
	}
	records, err := journal.Records()
	if err != nil || len(records) < acked || len(records) > len(keys) {
		t.Fatalf("%d acknowledged, %d records, %v in %q", acked, len(records), err, content)
	}
	for i, record := range records {
		if record.Key != keys[i] {
			t.Fatalf("record %d is %s, want %s, in %q", i, record.Key, keys[i], content)
		}
		kept = append(kept, record.Key)
	}
	if err := journal.append(Record{Key: "next", Step: StepAnalyzed}); err != nil {
		t.Fatal(err)
	}
	again, err := openFile("journal", &disk{content: after.content})
	if err != nil {
		t.Fatalf("with a record more: %v in %q", err, after.content)
	}
	more, err := again.Records()
	if err != nil || len(more) != len(records)+1 || more[len(records)].Key != "next" {
		t.Fatalf("with a record more: %+v, %v", more, err)
	}
	return after, append(kept, "next")
}

// Whatever a power loss leaves of a journal's writes, opening it gives all acknowledged records, and
// appends after that are kept as well; also if the power is lost again while it is opened.
// SHIPPING_CRASH_STATES=1000000 tries as many states; the default is about 2,000.
func TestBatchFile_PowerLossLosesNoAcknowledgedRecord(t *testing.T) {
	t.Parallel()
	o := randomtest.New(t)
	limit := o.Number("SHIPPING_CRASH_STATES", 2_000)
	tried, repaired := 0, 0
	random := rand.New(rand.NewPCG(o.Seed(), 0))
	for round := 0; tried < limit; round++ {
		for i, start := range []struct {
			content string
			existed bool
		}{
			{"", false}, // a new journal
			{"", true},
			{string(journalFormat().Header())[:20], true},
		} {
			d := &disk{content: []byte(start.content)}
			keys := written(t, d, 2+round)
			sector := []int{64, 512, 128}[(i+round)%3]
			crashes([]byte(start.content), start.existed, d.done, sector, 5, func(content []byte, acked int) {
				tried++
				after, _ := survivors(t, content, keys, min(acked, len(keys)))
				if random.IntN(300) != 0 || len(after.done) < 4 {
					return
				}
				// The power is lost again, while the journal is opened and the next record appended.
				whole := keysIn(t, after.content)
				crashes(content, true, after.done, sector, 5, func(content []byte, _ int) {
					tried++
					repaired++
					survivors(t, content, whole, min(acked, len(keys)))
				})
			})
		}
	}
	t.Attr("cases", fmt.Sprintf("%d states", tried))
	t.Logf("%d states of the disk after a power loss, %d of them after a second one; "+
		"0 acknowledged records lost, 0 journals refused", tried, repaired)
}

func keysIn(t *testing.T, content []byte) []string {
	t.Helper()
	keys, _, err := parseJournal(content)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// fullDisk is a disk with room for some bytes: of a longer write it keeps what fits.
type fullDisk struct {
	*disk
	room int
}

func (d *fullDisk) WriteAt(p []byte, at int64) (int, error) {
	n, err := d.disk.WriteAt(p[:min(len(p), d.room)], at)
	if d.room -= n; n < len(p) {
		err = syscall.ENOSPC
	}
	return n, err
}

// A journal on a full disk keeps the acknowledged records. It accepts nothing after the failure, even if there is room,
// and continues once it is opened again.
func TestBatchFile_AFullDiskLosesNoAcknowledgedRecord(t *testing.T) {
	t.Parallel()
	for room := 100; room < 2_000; room += 29 {
		d := &fullDisk{&disk{}, room}
		journal, err := openFile("journal", d)
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		for err == nil {
			key := fmt.Sprint(len(kept))
			if err = journal.append(Record{Key: key, Step: StepPurchasing, RequestID: "RD-1"}); err == nil {
				kept = append(kept, key)
			}
		}
		d.room = 1 << 20
		late := journal.append(Record{Key: "late", Step: StepAnalyzed})
		if !errors.Is(err, syscall.ENOSPC) || !errors.Is(late, syscall.ENOSPC) {
			t.Errorf("room for %d bytes: %v, then %v", room, err, late)
		}
		if _, found := survivors(t, d.content, kept, len(kept)); len(found) != len(kept)+1 { // and one more
			t.Errorf("room for %d bytes: %d records were acknowledged, and %d are kept", room, len(kept), len(found)-1)
		}
	}
}

// Eight workers record 100 items a second, of four records each, on a disk that takes 2 ms for a flush.
func TestBatchFile_ItemsPerSecond(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 8} {
		synctest.Test(t, func(t *testing.T) {
			const items = 400
			journal, err := openFile("journal", &disk{slow: 2 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			var work sync.WaitGroup
			for worker := range workers {
				work.Go(func() {
					for n := range items / workers {
						for _, step := range []shipping.Step{StepAnalyzed, StepPurchasing, StepPurchased, StepCompleted} {
							err := journal.append(Record{Key: fmt.Sprint(worker, n), Step: step, RequestID: "RD-1"})
							if err != nil {
								t.Error(err)
							}
						}
					}
				})
			}
			work.Wait()
			if rate := items / time.Since(start).Seconds(); rate < 100 {
				t.Errorf("%d workers: %.0f items a second", workers, rate)
			}
		})
	}
}

// Of purchases that are recorded at the same time only those that fit into the budget together are recorded: a price
// counts before its record is on the disk, and until the record that gives it back is there.
func TestBatchFile_CountsAPriceWhileItsRecordIsWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		journal, err := openFile("journal", &disk{slow: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		budget := &shipping.Budget{Amount: shippingtest.Amount(t, "250"), Currency: "NGN"}
		var kept, refused []Claim
		var mu sync.Mutex
		purchase := func(claim Claim) {
			record := Record{
				Key: claim.Record().Key, Step: StepPurchasing, Amount: shippingtest.Amount(t, "100"), Currency: "NGN",
			}
			_, err := claim.Append(t.Context(), record, budget)
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
			claim, err := journal.Claim(t.Context(), fmt.Sprint(n))
			if err != nil {
				t.Fatal(err)
			}
			writers.Go(func() { purchase(claim) })
		}
		writers.Wait()
		if len(kept) != 2 || len(refused) != 2 {
			t.Fatalf("%d purchases of 100 fit into 250, and %d do not", len(kept), len(refused))
		}
		writers.Go(func() {
			if _, err := kept[0].Append(t.Context(), Record{Key: kept[0].Record().Key, Step: StepAnalyzed}, budget); err != nil {
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

// meddledDisk is a disk whose file another program changes at a moment.
type meddledDisk struct {
	*disk
	write, sync func() // before a write, and after a flush
}

func (d *meddledDisk) WriteAt(p []byte, at int64) (int, error) {
	d.write()
	return d.disk.WriteAt(p, at)
}

func (d *meddledDisk) Sync() error {
	defer d.sync()
	return d.disk.Sync()
}

// A file that was truncated while a record was written was extended by the write, with zeros instead of the records
// before it, and the record was acknowledged.
func TestBatchFile_NoticesATruncationDuringAnAppend(t *testing.T) {
	t.Parallel()
	beforeWrite := func(d *meddledDisk) *func() { return &d.write }
	afterFlush := func(d *meddledDisk) *func() { return &d.sync }
	for name, tc := range map[string]struct {
		moment func(*meddledDisk) *func()
		size   int64
	}{
		"emptied before the write":    {beforeWrite, 0},
		"cut off before the write":    {beforeWrite, int64(len(journalFormat().Header())) + 50},
		"emptied after the flush":     {afterFlush, 0},
		"cut off after the flush":     {afterFlush, int64(len(journalFormat().Header())) + 50},
		"last record after the flush": {afterFlush, int64(len(journalFormat().Header()) + len(line("a", len(journalFormat().Header()))))},
	} {
		nothing := func() {}
		d := &meddledDisk{&disk{}, nothing, nothing}
		journal, err := openFile("journal", d)
		if err == nil {
			err = journal.append(Record{Key: "a", Step: StepAnalyzed, At: time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)})
		}
		if err != nil {
			t.Fatal(err)
		}
		at := tc.moment(d)
		*at = func() {
			*at = nothing
			_ = d.Truncate(tc.size)
		}
		if err := journal.append(Record{Key: "b", Step: StepAnalyzed}); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if again, err := openFile("journal", &disk{content: d.content}); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s, opened again: %+v, %v", name, again, err)
		}
	}
}
