package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/filelock"
)

// File is a [Journal] in an append-only file, for one process at a time. Each line is a JSON record. Each append is
// one write and one flush to the disk: on a disk that takes 2 ms for a flush, a batch can record about 125 items a
// second. The file is locked while it is open, so that two processes cannot run the same batch.
//
// A record for which [Claim.Append] returned nil survives the end of the process, a power loss, and a full disk.
// After an append that failed, nothing more is appended: close the journal, and open it again when the cause is fixed.
//
// No other program may write to the file, move it, or truncate it, as logrotate does with copytruncate. Such a change
// is noticed before the next record is accepted, or when the run ends: the error is [ErrDamaged] or [ErrMoved]. If
// another program empties the file while it is not open, this is not noticed: the file is then a new journal.
type File struct {
	path  string
	file  journalStorage
	local *local

	// lock guards what follows. It is a channel, so that virtual time advances while an append waits for another.
	lock    chan struct{}
	size    int64  // of the acknowledged part of the file
	last    []byte // the last line of that part
	running bool   // a batch uses the journal
	err     error  // the first failure; after it nothing is appended
}

var (
	// ErrInUse is returned if the journal is open already, in another process or in this one, or if another batch
	// of this process uses it.
	ErrInUse = errors.New("shipping: the batch journal is in use")
	// ErrMoved is returned if the journal's file was removed, renamed or replaced while it was
	// open. The next run would not find the records, so nothing more is purchased.
	ErrMoved = errors.New("shipping: the batch journal was removed, renamed or replaced while it was open; " +
		"put the file back before the next run, which could buy twice without it")
	// ErrDamaged is returned if records of the journal are missing, because another program has truncated or
	// overwritten the file, or if it has added to the file. Nothing more is purchased, and [OpenFile] refuses
	// the file until a complete one is in its place.
	ErrDamaged = errors.New("shipping: the batch journal is damaged; put a complete copy of the file in its place " +
		"before the next run, which could buy twice without the records; an older copy does not have the latest purchases")
)

// journalStorage is the file of a [File]. Tests replace it.
type journalStorage interface {
	io.ReaderAt
	io.WriterAt
	Size() (int64, error)
	Truncate(size int64) error
	// Sync returns when the file's content is on the disk, and SyncDirectory when its name is.
	Sync() error
	SyncDirectory() error
	// InPlace returns [ErrMoved] unless the file is the one at the journal's path.
	InPlace() error
	Close() error
}

// OpenFile opens the journal at path, or creates it. It returns [ErrInUse], and changes
// nothing, if the journal is open already.
//
// The remains of a record that was not acknowledged before a crash are discarded: the step that it records
// was not done yet. Any other damage, a file of another kind, and a journal of a newer version are errors, and leave
// the file as it is.
//
// The directory of a new file is flushed to the disk, too. On systems that cannot flush a directory, such as Windows,
// a power loss shortly after the journal was created can lose the file.
func OpenFile(path string) (*File, error) {
	file, err := openJournalFile(path)
	if err != nil {
		return nil, err
	}
	journal, err := openFile(path, file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return journal, nil
}

// openFile reads a file that is locked, and prepares it for appends.
func openFile(path string, file journalStorage) (*File, error) {
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	j := &File{path: path, file: file, lock: make(chan struct{}, 1)}
	j.local = newLocal(j.append)
	content, err := j.read(size)
	if err != nil {
		return nil, err
	}
	// Each step is on the disk before the next one begins: a power loss leaves one of them incomplete at
	// most.
	if content.size < size {
		if err := errors.Join(file.Truncate(content.size), file.Sync()); err != nil {
			return nil, err
		}
	}
	for _, record := range content.records {
		j.local.load(record)
	}
	j.size, j.last = content.size, content.last
	if j.size == 0 {
		j.size, j.last = int64(len(journalHeader)), []byte(journalHeader)
		if _, err := file.WriteAt(j.last, 0); err != nil {
			return nil, err
		}
	}
	// Records that were read may be in the system's memory only, if a process ended before its flush.
	return j, errors.Join(file.Sync(), file.SyncDirectory(), j.intact(j.last, j.size))
}

func (j *File) read(size int64) (journalContent, error) {
	data, err := io.ReadAll(io.NewSectionReader(j.file, 0, size))
	if err != nil {
		return journalContent{}, err
	}
	if found := int64(len(data)); found < size {
		return journalContent{}, fmt.Errorf("%w: %s had %d bytes, and has %d", ErrDamaged, j.path, size, found)
	}
	content, err := parseJournal(data)
	switch {
	case errors.Is(err, errDamagedLine):
		return content, fmt.Errorf("%w: %s: %w", ErrDamaged, j.path, err)
	case err != nil:
		return content, fmt.Errorf("shipping: the batch journal %s: %w", j.path, err)
	}
	return content, nil
}

// Claim implements [Journal].
func (j *File) Claim(ctx context.Context, key string) (Claim, error) { return j.local.Claim(ctx, key) }

// Lease implements [Journal]. It returns 0, because no other process can open the file.
func (j *File) Lease() time.Duration { return 0 }

// Committed implements [Journal].
func (j *File) Committed(ctx context.Context, period string, budget shipping.Budget) (shipping.Amount, error) {
	return j.local.Committed(ctx, period, budget)
}

// Records returns all records in the order in which they were appended, including those since the journal was opened.
func (j *File) Records() ([]Record, error) {
	defer j.locked()()
	if errors.Is(j.err, os.ErrClosed) {
		return nil, j.err
	}
	content, err := j.read(j.size)
	return content.records, err
}

// append writes the record and flushes it to the disk. A record with a text that the file could not
// return as it is, such as a key that is not UTF-8, is refused; the journal stays usable.
func (j *File) append(record Record) error {
	if err := record.validate(); err != nil {
		return err
	}
	text, err := json.Marshal(record)
	if err != nil {
		return err
	}
	defer j.locked()()
	if j.err == nil {
		j.err = j.put(text)
	}
	return j.err
}

// locked waits for the lock, and returns the function that gives it back.
func (j *File) locked() (unlock func()) {
	j.lock <- struct{}{}
	return func() { <-j.lock }
}

// put writes the line of a record. If it fails, the record is not acknowledged; OpenFile discards an incomplete line.
func (j *File) put(record []byte) error {
	if err := j.intact(j.last, j.size); err != nil {
		return err
	}
	line := recordLine(record, j.size)
	size := j.size + int64(len(line))
	_, err := j.file.WriteAt(line, j.size)
	if err == nil {
		err = j.file.Sync()
	}
	if err == nil {
		err = j.intact(slices.Concat(j.last, line), size)
	}
	if err == nil {
		j.size, j.last = size, line
	}
	return err
}

// intact returns an error unless the file is at its path, has a size, and has an end. The end shows also that the file
// was truncated before a write that made it longer again.
func (j *File) intact(end []byte, size int64) error {
	if err := j.file.InPlace(); err != nil {
		return err
	}
	found, err := j.file.Size()
	if err != nil {
		return err
	}
	there := make([]byte, len(end))
	if _, err := j.file.ReadAt(there, size-int64(len(end))); err != nil && err != io.EOF {
		return err
	}
	lost := !bytes.Equal(there, end)
	if !lost && found == size {
		return nil
	}
	if lost {
		j.mark(found)
	}
	return fmt.Errorf("%w: %s had %d bytes, and has %d: another program truncated it, as logrotate with copytruncate "+
		"does, or wrote to it", ErrDamaged, j.path, size, found)
}

// mark appends a line that is not a record to a file that has lost records, so that the next run does not begin with
// the rest. Its own error does not matter: the error of this run reports the loss.
func (j *File) mark(size int64) {
	_, err := j.file.WriteAt([]byte("\n# Records of this batch journal are missing here.\n"), size)
	_ = errors.Join(err, j.file.Sync())
}

// begin reserves the journal for one batch, and end gives it back. Both return an error if the file is not as it
// was after the last append.
func (j *File) begin() error {
	defer j.locked()()
	if j.running {
		return fmt.Errorf("%w: %s: another Run or Resolve of this process uses it; wait until it returns", ErrInUse, j.path)
	}
	err := j.check()
	j.running = err == nil
	return err
}

func (j *File) end() error {
	defer j.locked()()
	j.running = false
	return j.check()
}

// check returns the first failure, or that of the file now. The journal is locked.
func (j *File) check() error {
	if j.err == nil {
		j.err = j.intact(j.last, j.size)
	}
	return j.err
}

// Close waits for a running Append, closes the file and releases its lock. The error is [ErrDamaged] or
// [ErrMoved] if the file was changed after the last append.
func (j *File) Close() error {
	defer j.locked()()
	known := j.err
	changed := j.check()
	if known != nil {
		changed = nil // it was returned before
	}
	if j.err == nil {
		j.err = fmt.Errorf("shipping: the batch journal %s is closed; open it again with OpenFile: %w", j.path, os.ErrClosed)
	}
	return errors.Join(changed, j.file.Close())
}

// journalFile is a locked file.
type journalFile struct {
	*os.File
	path string // absolute
}

// openJournalFile opens and locks the file at path, and creates it if it does not exist.
func openJournalFile(path string) (*journalFile, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(absolute, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, openError(absolute, err)
	}
	if err := filelock.TryLock(file); err != nil {
		return nil, errors.Join(lockError(path, err), file.Close())
	}
	return &journalFile{file, absolute}, nil
}

func openError(path string, err error) error {
	folder := filepath.Dir(path)
	if _, missing := os.Stat(folder); errors.Is(missing, os.ErrNotExist) {
		return fmt.Errorf("shipping: the batch journal cannot be created: make the folder %s first: %w", folder, err)
	}
	return fmt.Errorf("shipping: the batch journal cannot be opened: %w", err)
}

func lockError(path string, err error) error {
	if errors.Is(err, filelock.ErrInUse) {
		return fmt.Errorf("%w: %s: it is open in another process, or in this one; close it there, or pass the same *File "+
			"to every Run", ErrInUse, path)
	}
	return fmt.Errorf("shipping: the batch journal %s cannot be locked: %w", path, err)
}

func (f *journalFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Close releases the lock and closes the file.
func (f *journalFile) Close() error { return errors.Join(filelock.Unlock(f.File), f.File.Close()) }

func (f *journalFile) InPlace() error {
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Stat(f.path)
	if err == nil && os.SameFile(opened, named) {
		return nil
	}
	if err == nil || errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %s", ErrMoved, f.path)
	}
	return fmt.Errorf("shipping: the batch journal %s cannot be found: %w", f.path, err)
}

func (f *journalFile) SyncDirectory() error { return filelock.SyncDirectory(filepath.Dir(f.path)) }
