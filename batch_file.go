package shipping

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
)

// BatchFile is a [BatchJournal] in an append-only file, a JSON record a line. Each Append is flushed
// to the disk before it returns; appends that come together share a flush. The file is locked while it
// is open, so that two processes cannot run the same batch.
type BatchFile struct {
	file    *os.File
	records []BatchRecord

	mu      sync.Mutex
	written sync.Cond
	pending []byte
	queued  int // appends queued so far
	flushed int // appends on the disk
	writing bool
	err     error // the first failure; after it nothing is appended
}

// ErrBatchFileInUse is a journal that another process, or this one, has open.
var ErrBatchFileInUse = errors.New("shipping: the batch journal is in use by another run")

// OpenBatchFile opens the journal at path, or creates it. A last line that a crash cut off is
// discarded: what it would have said was not done yet. Any other damage is an error that names the
// line, and leaves the file as it is.
func OpenBatchFile(path string) (*BatchFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &BatchFile{file: file}
	j.written.L = &j.mu
	if err := errors.Join(lockFile(file), j.read(path)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return j, nil
}

func (j *BatchFile) read(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	damaged := func(line int) error {
		return fmt.Errorf("shipping: line %d of the batch journal %s is damaged; restore the file from a copy: running without it could buy twice", line, path)
	}
	kept := bytes.LastIndexByte(data, '\n') + 1
	for number, line := range bytes.Split(bytes.TrimSuffix(data[:kept], []byte("\n")), []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var record BatchRecord
		if err := json.Unmarshal(line, &record); err != nil || record.Key == "" || record.Step == "" {
			return damaged(number + 1)
		}
		j.records = append(j.records, record)
	}
	if !cutOff(data[kept:]) {
		return damaged(bytes.Count(data, []byte("\n")) + 1)
	}
	if err := j.file.Truncate(int64(kept)); err != nil {
		return err
	}
	_, err = j.file.Seek(int64(kept), 0)
	return err
}

// cutOff reports whether a last line is what a crash left of a record, and not of another kind of file. On
// some file systems the part that is missing reads as zeros.
func cutOff(line []byte) bool {
	const begins = `{"key":"`
	line = bytes.TrimRight(line, "\x00")
	n := min(len(line), len(begins))
	return string(line[:n]) == begins[:n]
}

// Load returns the records that the file held when it was opened.
func (j *BatchFile) Load(context.Context) ([]BatchRecord, error) { return j.records, nil }

// Append writes the record and flushes it to the disk.
func (j *BatchFile) Append(_ context.Context, record BatchRecord) error {
	line, err := json.Marshal(record)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending = append(append(j.pending, line...), '\n')
	j.queued++
	for mine := j.queued; j.flushed < mine && j.err == nil; {
		if j.writing {
			j.written.Wait()
			continue
		}
		j.flush()
	}
	return j.err
}

// flush writes what is pending, with the lock released while the disk works.
func (j *BatchFile) flush() {
	lines, upTo := j.pending, j.queued
	j.pending, j.writing = nil, true
	j.mu.Unlock()
	_, err := j.file.Write(lines)
	err = errors.Join(err, j.file.Sync())
	j.mu.Lock()
	j.writing, j.flushed, j.err = false, upTo, err
	j.written.Broadcast()
}

// Close closes the file and gives its lock up.
func (j *BatchFile) Close() error { return j.file.Close() }
