package batch

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping/internal/filelock"
	"github.com/shipping-go/shipping/internal/logfile"
)

// File is a [Journal] in an append-only file, for one process at a time. After a header, each line is a JSON object
// whose member "record" is a [Record]. Each append is one write and one flush to the disk: on a disk that takes 2 ms
// for a flush, a batch can record about 125 items a second. The file is locked while it is open, so that two processes
// cannot run the same batch. In a process, one [Run] or [Resolve] at a time uses it; another one returns [ErrInUse].
//
// A record for which [Claim.Append] returned nil survives the end of the process, a power loss, and a full disk.
// After an append that failed, such as on a full disk, nothing more is appended until the next Run or Resolve begins.
//
// No other program may write to the file, move it, or truncate it, as logrotate does with copytruncate. Such a change
// is noticed before the next record is accepted, or when the run ends: the error is [ErrDamaged] or [ErrMoved]. If
// another program removes the last records while the file is not open, this is not noticed.
type File struct {
	*local // because no other process can open the file
	path   string

	// lock guards the fields below. It is a channel, so that virtual time advances while an append waits for another.
	lock    chan struct{}
	log     *logfile.Log
	running bool // a batch uses the journal
}

var (
	// ErrInUse is returned if the journal is open already, in another process or in this one, or if another batch
	// of this process uses it.
	ErrInUse = errors.New("shipping: the batch journal is in use")
	// ErrMoved is returned if the journal's file was removed, renamed or replaced while it was
	// open. The next run would not find the records, so nothing more is purchased.
	ErrMoved = errors.New("shipping: the batch journal was removed, renamed or replaced while it was open; " +
		"put the file back before the next run, which could buy twice without it; if it is lost" + begins)
	// ErrDamaged is returned if another program has truncated, overwritten or added to the file
	// of the journal. Nothing more is purchased, and [OpenFile] refuses
	// the file until a complete one is in its place.
	ErrDamaged = errors.New("shipping: the batch journal is damaged")
)

// OpenFile opens the journal at path, or creates it. It returns [ErrInUse], and changes
// nothing, if the journal is open already. In another folder, a relative path is another journal, without the purchases
// of the first: pass an absolute path.
//
// A record that a crash left incomplete is discarded, because the step that it records was not taken yet. For any other
// damage, such as an empty file, a file of another kind, and a journal of a newer version, OpenFile returns an error
// and leaves the file unchanged.
//
// A new journal is written to a file whose name ends in ".new", which is then renamed, so that a crash leaves no empty
// journal. Its directory is flushed to the disk, too. On systems that cannot flush a directory, such as Windows,
// a power loss shortly after the journal was created can lose the file.
func OpenFile(path string) (*File, error) {
	if err := logfile.CheckPath(path, "batch.journal"); err != nil {
		return nil, fmt.Errorf("shipping: the batch journal cannot be opened: %w", err)
	}
	storage, err := logfile.OpenStorage(path, journalFormat())
	if err != nil {
		return nil, openError(path, err)
	}
	journal, err := openFile(path, storage)
	if err != nil {
		return nil, errors.Join(err, storage.Close())
	}
	return journal, nil
}

// openFile reads a file that is locked, and prepares it for appends.
func openFile(path string, storage logfile.Storage) (*File, error) {
	j := &File{path: path, lock: make(chan struct{}, 1)}
	j.local = newLocal(j.append)
	var err error
	j.log, err = logfile.Open(path, storage, journalFormat(), func(object []byte) error {
		record, err := parseRecord(object)
		if err == nil {
			j.load(record)
		}
		return err
	})
	if err != nil {
		return nil, j.explain(err)
	}
	return j, nil
}

// begins is what a person does after the journal was lost.
const begins = ": record the wallet's purchases in a new journal (batch.Adopt), or leave their shipments out of " +
	"every later list"

const nilFile = "a nil *batch.File: check the error of OpenFile"

var errNilFile = invalid("journal", "is "+nilFile)

// explain returns the error of a call of the log.
func (j *File) explain(err error) error {
	const putBack = "put a complete copy of the file in its place before the next run, which could buy twice without " +
		"the records; an older copy lacks the latest purchases; without a complete copy, move the file away 5 minutes " +
		"after the last run" + begins
	switch {
	case err == nil, errors.Is(err, ErrMoved):
		return err
	case errors.Is(err, ErrDamaged):
		return fmt.Errorf("%w; %s", err, putBack)
	case errors.Is(err, errEmpty):
		return fmt.Errorf("%w: %s %w; if nothing was purchased with it, remove the file; otherwise %s",
			ErrDamaged, j.path, err, putBack)
	case errors.Is(err, errForeign):
		return fmt.Errorf("%w: %s: %w; if it was the journal, %s", ErrDamaged, j.path, err, putBack)
	case errors.Is(err, errDamagedLine):
		return fmt.Errorf("%w: %s: %w; if you added this line by hand, remove it; otherwise %s",
			ErrDamaged, j.path, err, putBack)
	}
	return fmt.Errorf("shipping: the batch journal %s: %w", j.path, err)
}

// Lease implements [Journal]. It returns 0, because no other process can open the file.
func (j *File) Lease() time.Duration { return 0 }

// Records returns all records in the order in which they were appended, including those since the journal was opened.
func (j *File) Records() (records []Record, err error) {
	if j == nil {
		return nil, errNilFile
	}
	defer j.locked()()
	_, err = j.log.Read(func(object []byte) error {
		record, err := parseRecord(object)
		records = append(records, record)
		return err
	})
	return records, j.explain(err)
}

// append writes the record and flushes it to the disk. A record with a text that the file cannot hold, such as a key
// that is not UTF-8, is refused; the journal stays usable.
func (j *File) append(record Record) error {
	if err := record.validate(); err != nil {
		return err
	}
	object, err := json.Marshal(map[string]Record{"record": record})
	if err != nil {
		return err
	}
	defer j.locked()()
	return j.explain(j.log.Append(object))
}

// locked waits for the lock, and returns the function that releases it.
func (j *File) locked() (unlock func()) {
	j.lock <- struct{}{}
	return func() { <-j.lock }
}

// begin reserves the journal for one batch, and end releases it. Both return an error if the file was changed after the
// last append. begin discards a record that could not be written.
func (j *File) begin() error {
	defer j.locked()()
	if j.running {
		return fmt.Errorf("%w: %s: another Run or Resolve of this process uses it; wait until it returns", ErrInUse, j.path)
	}
	err := j.explain(j.log.Resume())
	j.running = err == nil
	return err
}

func (j *File) end() error {
	defer j.locked()()
	j.running = false
	return j.explain(j.log.Intact())
}

// Close waits for a running Append, closes the file and releases its lock. The error is [ErrDamaged] or
// [ErrMoved] if the file was changed after the last append.
func (j *File) Close() error {
	if j == nil {
		return errNilFile
	}
	defer j.locked()()
	return j.explain(j.log.Close())
}

func openError(path string, err error) error {
	if errors.Is(err, filelock.ErrInUse) {
		return fmt.Errorf("%w: %s: if this process opened it, use that File or close it; if not, wait until the other "+
			"process ends, or end it with SIGTERM: the next run continues", ErrInUse, path)
	}
	return fmt.Errorf("shipping: the batch journal cannot be opened, so nothing was purchased: %w%s", err,
		logfile.OpenAdvice(err))
}
