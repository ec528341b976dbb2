package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
)

// File is a [Journal] in an append-only file, a JSON record a line, for one process at a time. Each append is
// flushed to the disk before it returns; appends at the same time share a flush. The file is locked while it
// is open, so that two processes cannot run the same batch.
//
// A record for which [Claim.Append] returned nil survives the end of the process, a power loss, and a full disk.
// After an append that failed, nothing more is appended: close the journal, and open it again when the
// cause is gone.
type File struct {
	path  string
	file  journalStorage
	local *local

	mu      sync.Mutex
	written sync.Cond
	pending [][]byte // records, in JSON
	queued  int      // appends queued so far
	flushed int      // appends on the disk
	size    int64    // of the part of the file that is on the disk
	writing bool
	running bool  // a batch uses the journal
	err     error // the first failure; after it nothing is appended
}

var (
	// ErrInUse is returned if another process, or another batch of this one, has the journal
	// open.
	ErrInUse = errors.New("shipping: the batch journal is in use by another run")
	// ErrMoved is returned if the journal's file was removed, renamed or replaced while it was
	// open. The next run would not find the records, so nothing more is purchased.
	ErrMoved = errors.New("shipping: the batch journal was removed, renamed or replaced while it was open; " +
		"put the file back before the next run, which could buy twice without it")
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
// The remains of records that were not acknowledged before a crash are discarded: the steps that they record
// were not done yet. Any other damage, a file of another kind, and a journal of a newer version are errors, and leave
// the file as it is.
//
// The file's name is flushed to the disk too, except on systems that cannot flush a directory, such as
// Windows: there a power loss shortly after the journal was created can lose the file.
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
	j := &File{path: path, file: file}
	j.written.L = &j.mu
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
	j.size = content.size
	if !content.current {
		if _, err := file.WriteAt([]byte(journalHeader), j.size); err != nil {
			return nil, err
		}
		j.size += int64(len(journalHeader))
	}
	// Records that were read may be in the system's memory only, if a process ended before its flush.
	return j, errors.Join(file.Sync(), file.SyncDirectory(), file.InPlace())
}

func (j *File) read(size int64) (journalContent, error) {
	data, err := io.ReadAll(io.NewSectionReader(j.file, 0, size))
	if err != nil {
		return journalContent{}, err
	}
	content, err := parseJournal(data)
	if err != nil {
		return content, fmt.Errorf("shipping: batch journal %s: %w", j.path, err)
	}
	return content, nil
}

// Claim implements [Journal].
func (j *File) Claim(ctx context.Context, key string) (Claim, error) { return j.local.Claim(ctx, key) }

// Lease implements [Journal]: no other process has the file.
func (j *File) Lease() time.Duration { return 0 }

// Committed implements [Journal].
func (j *File) Committed(ctx context.Context, budget shipping.Budget) (shipping.Amount, error) {
	return j.local.Committed(ctx, budget)
}

// Records reads all records in the order they were appended, also those that were appended since the journal was
// opened.
func (j *File) Records() ([]Record, error) {
	j.mu.Lock()
	size := j.size
	j.mu.Unlock()
	content, err := j.read(size)
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
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	j.pending = append(j.pending, text)
	j.queued++
	for mine := j.queued; j.flushed < mine; {
		switch {
		case j.err != nil:
			return j.err
		case j.writing:
			j.written.Wait()
		default:
			j.flush()
		}
	}
	return nil
}

// flush writes the pending records, and releases the lock while the disk works.
func (j *File) flush() {
	var lines []byte
	for _, record := range j.pending {
		lines = appendLine(lines, record, j.size)
	}
	at, upTo := j.size, j.queued
	j.pending, j.writing = nil, true
	j.mu.Unlock()
	err := j.put(lines, at)
	j.mu.Lock()
	j.writing = false
	if err != nil {
		j.err = err
	} else {
		j.flushed, j.size = upTo, at+int64(len(lines))
	}
	j.written.Broadcast()
}

// put writes lines at an offset. If that fails, nothing of them is acknowledged, and the file is cut back
// to its length before, so that it needs no repair. That is not needed for correctness: OpenFile
// does the same.
func (j *File) put(lines []byte, at int64) error {
	_, err := j.file.WriteAt(lines, at)
	if err == nil {
		err = j.file.Sync()
	}
	if err == nil {
		err = j.file.InPlace()
	}
	if err != nil {
		_ = errors.Join(j.file.Truncate(at), j.file.Sync())
	}
	return err
}

// begin reserves the journal for one batch, and end gives it back.
func (j *File) begin() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.running:
		return ErrInUse
	case errors.Is(j.err, os.ErrClosed):
		return j.err
	}
	j.running = true
	return nil
}

func (j *File) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.running = false
}

// Close waits for a running Append, closes the file and releases its lock.
func (j *File) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.writing {
		j.written.Wait()
	}
	if j.err == nil {
		j.err = fmt.Errorf("shipping: the batch journal %s: %w", j.path, os.ErrClosed)
	}
	j.written.Broadcast()
	return j.file.Close()
}
