package logfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/shipping-go/shipping/internal/filelock"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// disk is a file in memory. It records its operations, and how many lines were
// acknowledged at that moment.
type disk struct {
	mu      sync.Mutex
	content []byte
	done    []diskStep
	acked   *int
	fails   string // the method that fails
}

// newDisk returns a new file, which has a header.
func newDisk() *disk { return &disk{content: format().Header()} }

var errFails = errors.New("the disk fails")

// fail returns an error if a method fails.
func (d *disk) fail(method string) error {
	if d.fails == method {
		return errFails
	}
	return nil
}

// diskStep is a write, a truncation, or a flush of the file or of its directory.
type diskStep struct {
	kind  string
	data  []byte
	at    int64
	acked int // lines, when the step began
}

// step makes a step, which a method calls.
func (d *disk) step(method string, step diskStep) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.acked != nil {
		step.acked = *d.acked
	}
	d.done = append(d.done, step)
	d.content = step.apply(d.content)
	return d.fail(method)
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
	if err := d.fail("ReadAt"); err != nil || at >= int64(len(d.content)) {
		return 0, cmp.Or(err, io.EOF)
	}
	n := copy(p, d.content[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (d *disk) WriteAt(p []byte, at int64) (int, error) {
	return len(p), d.step("WriteAt", diskStep{kind: "write", data: slices.Clone(p), at: at})
}

func (d *disk) Size() (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(len(d.content)), d.fail("Size")
}

func (d *disk) Truncate(size int64) error {
	return d.step("Truncate", diskStep{kind: "truncate", at: size})
}

func (d *disk) Sync() error { return d.step("Sync", diskStep{kind: "sync"}) }
func (d *disk) SyncDirectory() error {
	return d.step("SyncDirectory", diskStep{kind: "sync directory"})
}

func (d *disk) InPlace() (bool, error) { return true, d.fail("InPlace") }
func (d *disk) Close() error           { return nil }

// crashes visits the contents that a power loss can leave of a log, with how many lines were
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
			visit(format().Header(), next.acked) // of the file that is then created again
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

// open opens a log over a disk, and returns the objects of its lines.
func open(storage Storage) (log *Log, objects []string, err error) {
	log, err = Open("journal", storage, format(), func(object []byte) error {
		objects = append(objects, string(object))
		return nil
	})
	return log, objects, err
}

// object is the object of the nth line.
func object(n int) string {
	return fmt.Sprintf(`{"record":{"key":"%d","step":"purchasing","request_id":"RD-1","documents":["CUSTOMS"],`+
		`"currency":"NGN"}}`, n)
}

// written appends lines to a log over a disk, and returns their objects.
func written(t *testing.T, d *disk, appends int) (objects []string) {
	t.Helper()
	acked := 0
	d.acked = &acked
	log, _, err := open(d)
	shippingtest.NoError(t, err)
	for n := range appends {
		shippingtest.NoError(t, log.Append([]byte(object(n))))
		acked++
		objects = append(objects, object(n))
	}
	return objects
}

// survivors opens the log after a crash. It reports a log that cannot be opened, that lost an acknowledged line, or
// that has one that was not written; then it appends and opens the log again.
func survivors(t *testing.T, content []byte, objects []string, acked int) (after *disk, kept []string) {
	after = &disk{content: slices.Clone(content)}
	log, kept, err := open(after)
	if err != nil {
		t.Fatalf("%d acknowledged: %v in %q", acked, err, content)
	}
	if len(kept) < acked || len(kept) > len(objects) || !slices.Equal(kept, objects[:len(kept)]) {
		t.Fatalf("%d acknowledged, %q in %q", acked, kept, content)
	}
	shippingtest.NoError(t, log.Append([]byte(`{"next":1}`)))
	kept = append(kept, `{"next":1}`)
	if _, more, err := open(&disk{content: after.content}); err != nil || !slices.Equal(more, kept) {
		t.Fatalf("with a line more: %q, %v in %q", more, err, after.content)
	}
	return after, kept
}

// Whatever a power loss leaves of a log's writes, opening it gives all acknowledged lines, and later appends are kept.
// This holds even if the power is lost again while the log is opened. SHIPPING_CRASH_STATES=1000000 tries as many
// states; the default is about 2,000.
func TestLog_PowerLossLosesNoAcknowledgedLine(t *testing.T) {
	t.Parallel()
	o := randomtest.New(t)
	limit := o.Number("SHIPPING_CRASH_STATES", 2_000)
	tried, repaired := 0, 0
	random, header := rand.New(rand.NewPCG(o.Seed(), 0)), string(format().Header())
	for round := 0; tried < limit; round++ {
		for i, start := range []struct {
			content string
			existed bool
		}{
			{header, false}, // a new file
			{header, true},
			{header + lineBegins, true},
		} {
			d := &disk{content: []byte(start.content)}
			objects := written(t, d, 2+round)
			sector := []int{64, 512, 128}[(i+round)%3]
			crashes([]byte(start.content), start.existed, d.done, sector, 5, func(content []byte, acked int) {
				tried++
				after, whole := survivors(t, content, objects, min(acked, len(objects)))
				if random.IntN(300) != 0 || len(after.done) < 4 {
					return
				}
				// The power is lost again, while the log is opened and the next line appended.
				crashes(content, true, after.done, sector, 5, func(content []byte, _ int) {
					tried++
					repaired++
					survivors(t, content, whole, min(acked, len(objects)))
				})
			})
		}
	}
	t.Attr("cases", fmt.Sprintf("%d states", tried))
	t.Logf("%d states of the disk after a power loss, %d of them after a second one; "+
		"0 acknowledged lines lost, 0 files refused", tried, repaired)
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

// A log on a full disk keeps the acknowledged lines. It accepts nothing after the failure, even if there is room, and
// continues once it is resumed or opened again.
func TestLog_AFullDiskLosesNoAcknowledgedLine(t *testing.T) {
	t.Parallel()
	for room := 100; room < 2_000; room += 29 {
		d := &fullDisk{newDisk(), room}
		log, _, err := open(d)
		shippingtest.NoError(t, err)
		var kept []string
		for err == nil {
			next := object(len(kept))
			if err = log.Append([]byte(next)); err == nil {
				kept = append(kept, next)
			}
		}
		d.room = 1 << 20
		late := log.Append([]byte(`{"late":1}`))
		if !errors.Is(err, syscall.ENOSPC) || !errors.Is(late, syscall.ENOSPC) {
			t.Errorf("room for %d bytes: %v, then %v", room, err, late)
		}
		check := func() {
			t.Helper()
			if _, found := survivors(t, d.content, kept, len(kept)); len(found) != len(kept)+1 { // and one more
				t.Errorf("room for %d bytes: %d lines were acknowledged, and %d are kept", room, len(kept), len(found)-1)
			}
		}
		check()
		more := object(len(kept))
		if err := errors.Join(log.Resume(), log.Append([]byte(more)), log.Close()); err != nil {
			t.Errorf("room for %d bytes, resumed: %v", room, err)
		}
		kept = append(kept, more)
		check()
	}
}

// A log is not resumed while the cause of its failure lasts, or if another program has written to the file meanwhile.
func TestLog_Resume(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fails string // a method
		added string // by another program
		want  error
	}{
		"the cause has ended":      {"", "", nil},
		"the file cannot be read":  {"ReadAt", "", errFails},
		"it cannot be truncated":   {"Truncate", "", errFails},
		"nothing can be flushed":   {"Sync", "", errFails},
		"the folder is gone":       {"InPlace", "", errFails},
		"another program wrote":    {"", "rest\n", errChanged},
		"another log has its line": {"", object(1), errChanged},
	} {
		d := newDisk()
		log, _, err := open(d)
		shippingtest.NoError(t, err)
		d.fails = "Sync" // the line is in the file, and may not be on the disk
		if err := log.Append([]byte(object(1))); !errors.Is(err, errFails) {
			t.Fatal(err)
		}
		d.fails, d.content = test.fails, append(d.content, test.added...)
		shippingtest.WantError(t, name, log.Resume(), test.want)
		d.fails = ""
		if err := log.Resume(); (err == nil) != (test.added == "") {
			t.Errorf("%s, resumed again: %v", name, err)
		}
		_, lines, err := open(&disk{content: d.content})
		if (err == nil) != (test.added == "") || err == nil && len(lines) > 0 {
			t.Errorf("%s, opened again: %q, %v", name, lines, err)
		}
	}
}

// A log whose file was moved is resumed once the file is back.
func TestLog_ResumeAMovedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	storage := shippingtest.Must(OpenStorage(path, format()))(t)
	log, _, err := open(storage)
	shippingtest.NoError(t, errors.Join(err, os.Rename(path, path+".old")))
	shippingtest.WantError(t, "moved", log.Resume(), errMoved)
	err = errors.Join(os.Rename(path+".old", path), log.Resume(), log.Append([]byte(object(1))), log.Close())
	if err != nil {
		t.Errorf("put back: %v", err)
	}
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

// A file that was truncated while a line was written was extended by the write, with zeros instead of the lines
// before it, and the line was acknowledged.
func TestLog_NoticesATruncationDuringAnAppend(t *testing.T) {
	t.Parallel()
	beforeWrite := func(d *meddledDisk) *func() { return &d.write }
	afterFlush := func(d *meddledDisk) *func() { return &d.sync }
	for name, tc := range map[string]struct {
		moment func(*meddledDisk) *func()
		size   int64
	}{
		"emptied before the write": {beforeWrite, 0},
		"cut off before the write": {beforeWrite, int64(len(format().Header())) + 50},
		"emptied after the flush":  {afterFlush, 0},
		"cut off after the flush":  {afterFlush, int64(len(format().Header())) + 50},
		"last line after the flush": {afterFlush,
			int64(len(format().Header()) + len(AppendLine(nil, []byte(object(1)), 48)))},
	} {
		nothing := func() {}
		d := &meddledDisk{newDisk(), nothing, nothing}
		log, _, err := open(d)
		if err == nil {
			err = log.Append([]byte(object(1)))
		}
		shippingtest.NoError(t, err)
		at := tc.moment(d)
		*at = func() {
			*at = nothing
			_ = d.Truncate(tc.size)
		}
		shippingtest.WantError(t, name, log.Append([]byte(object(2))), errChanged)
		if _, lines, err := open(&disk{content: d.content}); !errors.Is(err, errDamaged) {
			t.Errorf("%s, opened again: %q, %v", name, lines, err)
		}
	}
}

// A call that fails is an error when a file is opened and when a line is appended; after it, nothing is appended.
func TestLog_ReturnsTheErrorsOfItsFile(t *testing.T) {
	t.Parallel()
	for method, appends := range map[string]bool{
		"Size": true, "ReadAt": true, "WriteAt": true, "Sync": true, "InPlace": true, "Truncate": false,
		"SyncDirectory": false,
	} {
		torn := append(format().Header(), `{"crc":"`...)
		if _, _, err := open(&disk{content: torn, fails: method}); !errors.Is(err, errFails) && method != "WriteAt" {
			t.Errorf("%s, opened: %v", method, err)
		}
		mayBeEmpty := format()
		mayBeEmpty.Empty = nil
		if _, err := Open("log", &disk{fails: method}, mayBeEmpty, nil); !errors.Is(err, errFails) && method != "Truncate" {
			t.Errorf("%s, new: %v", method, err)
		}
		d := newDisk()
		log, _, err := open(d)
		shippingtest.NoError(t, err)
		d.fails = method
		first := log.Append([]byte(object(1)))
		d.fails = ""
		again := log.Append([]byte(object(2)))
		if errors.Is(first, errFails) != appends || !errors.Is(again, first) {
			t.Errorf("%s: %v, then %v", method, first, again)
		}
		if err := log.Close(); err != nil {
			t.Errorf("%s: %v is returned again", method, err)
		}
	}
}

// A file is locked while it is open, and is noticed if it is not at its path any more. A log that is closed reads and
// appends nothing.
func TestOpenStorage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(path string) error
		want   error
	}{
		"unchanged": {func(string) error { return nil }, nil},
		"removed":   {os.Remove, errMoved},
		"replaced": {func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		}, errMoved},
		"emptied": {func(path string) error { return os.Truncate(path, 0) }, errChanged},
	} {
		path := filepath.Join(t.TempDir(), "log")
		storage := shippingtest.Must(OpenStorage(path, format()))(t)
		shippingtest.WantError(t, name+": opened twice", shippingtest.Err(OpenStorage(path, format())), filelock.ErrInUse)
		log, _, err := open(storage)
		if err == nil {
			err = log.Append([]byte(object(1)))
		}
		shippingtest.NoError(t, errors.Join(err, test.change(path)))
		shippingtest.WantError(t, name, log.Close(), test.want)
		late, resumed := log.Append([]byte(object(2))), log.Resume()
		_, err = log.Read(func([]byte) error { return nil })
		if closed := "it is closed; open it again"; test.want == nil && (!errors.Is(late, os.ErrClosed) ||
			!errors.Is(err, os.ErrClosed) || !strings.Contains(late.Error(), closed) || resumed != late) {
			t.Errorf("%s, closed: %v, %v, %v", name, late, resumed, err)
		}
		if storage, err = OpenStorage(path, format()); err != nil {
			t.Fatal(err)
		}
		_, kept, err := open(storage)
		if err := errors.Join(err, storage.Close()); test.want == nil &&
			(err != nil || !slices.Equal(kept, []string{object(1)})) {
			t.Errorf("%s, opened again: %q, %v", name, kept, err)
		}
	}
	folder := t.TempDir()
	shippingtest.WantError(t, "without a folder",
		shippingtest.Err(OpenStorage(filepath.Join(folder, "none", "log"), format())), os.ErrNotExist)
	for path, want := range map[string]string{
		"": "is empty", folder: "is a folder", filepath.Join(folder, "log"): "<nil>",
	} {
		shippingtest.Contains(t, fmt.Sprintf("%q", path), CheckPath(path, "log"), want)
	}
}

// A file was created empty, so that a power loss could leave a file like one that another program emptied. It now has
// its name once its header is on the disk, whatever an earlier creation left, and one of several processes creates it.
func TestOpenStorage_CreatesAFileWithItsHeader(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, target := filepath.Join(folder, "log"), filepath.Join(folder, "target")
	shippingtest.NoError(t, errors.Join(os.Symlink("target", path), os.WriteFile(target+".new", []byte(`{"form`), 0o600)))
	creation := shippingtest.Must(filelock.Acquire(target + ".new"))(t)
	shippingtest.WantError(t, "opened while it is created", shippingtest.Err(OpenStorage(path, format())),
		filelock.ErrInUse)
	shippingtest.WantError(t, "the target while the lock is held", shippingtest.Err(os.Lstat(target)), os.ErrNotExist)
	shippingtest.NoError(t, creation.Release())
	var opened atomic.Int32
	var openers sync.WaitGroup
	var storages [8]Storage // kept: the file of an unreachable one is closed, which ends its lock
	for i := range storages {
		openers.Go(func() {
			var err error
			if storages[i], err = OpenStorage(path, format()); err == nil {
				opened.Add(1)
			} else if !errors.Is(err, filelock.ErrInUse) {
				t.Error(err)
			}
		})
	}
	openers.Wait()
	content, err := os.ReadFile(target)
	if err != nil || string(content) != string(format().Header()) || opened.Load() != 1 {
		t.Errorf("the file has %q, %v, and was opened %d times", content, err, opened.Load())
	}
	for _, storage := range storages {
		if storage != nil {
			_ = storage.Close()
		}
	}
	if left, err := filepath.Glob(target + ".*"); err != nil || len(left) > 0 {
		t.Errorf("%q are left, %v", left, err)
	}
}
