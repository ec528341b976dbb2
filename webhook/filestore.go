package webhook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/shipping-go/shipping/internal/filelock"
	"github.com/shipping-go/shipping/internal/logfile"
)

// FileStore is a [Store] in a file, for one process at a time: accepted notifications are remembered across restarts of
// a receiver. Make one with [OpenFileStore].
//
// An id for which Accept returned nil survives the end of the process and a power loss. Claims are not in the file, so
// a notification that was claimed when the process ended can be claimed again at once. After a
// write failed, such as on a full disk, Claim returns the error until the file can be rewritten
// with all accepted ids.
type FileStore struct {
	path   string
	memory *MemoryStore
	lock   *filelock.Lock

	mu    sync.Mutex
	log   *logfile.Log // nil after a failure, until the file was written again
	lines int          // in the file
	err   error        // if set, the store accepts nothing
}

var (
	// ErrStoreInUse is returned if the file of a [FileStore] is open already, here or in another process.
	ErrStoreInUse = errors.New("webhook: the file of the store is in use")
	// ErrStoreMoved is returned if the file of a [FileStore] was removed, replaced or truncated while it was open.
	ErrStoreMoved = errors.New("webhook: the file of the store was removed, replaced or truncated while it was open; " +
		"put the file back and open the store again: without it, notifications that were accepted before can be handled " +
		"again")
	errNoFileStore = errors.New("webhook: the store is a nil *FileStore: check the error of OpenFileStore")
)

// OpenFileStore opens the store at path, or creates it. The file has lines of about 150 bytes, at most twice
// options.Limit.
//
// A line that a crash left incomplete is discarded. Other damage, and a file of another kind, are errors, and the file
// is not changed. The error is [ErrStoreInUse] if the store is open already. The store is locked with a second file
// whose name ends in ".lock".
func OpenFileStore(path string, options StoreOptions) (*FileStore, error) {
	if err := logfile.CheckPath(path, "deliveries.store"); err != nil {
		return nil, fmt.Errorf("webhook: the store cannot be opened: %w", err)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	lock, err := filelock.Acquire(absolute)
	if errors.Is(err, filelock.ErrInUse) {
		return nil, fmt.Errorf("%w: %s: if this process opened it, use that store or close it; if not, wait until the "+
			"other process ends, or choose another path", ErrStoreInUse, path)
	}
	if err != nil {
		return nil, fmt.Errorf("webhook: the store cannot be opened: %w%s", err, logfile.OpenAdvice(err))
	}
	s := &FileStore{path: absolute, memory: NewMemoryStore(options), lock: lock}
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("webhook: the store %s: %w", path, err), lock.Release())
	}
	return s, nil
}

// load reads the file and rewrites it with the ids that are still remembered.
func (s *FileStore) load() error {
	var entries []storeEntry
	if err := s.open(func(object []byte) error {
		entry, err := parseEntry(object)
		entries = append(entries, entry)
		return err
	}); err != nil {
		return err
	}
	// Lines are in the order of Accept, and the oldest claim is forgotten first.
	slices.SortStableFunc(entries, func(a, b storeEntry) int { return a.at.Compare(b.at) })
	s.memory.load(entries)
	return s.rewrite()
}

// open opens the file, and calls line with the object of each line.
func (s *FileStore) open(line func(object []byte) error) error {
	storage, err := logfile.OpenStorage(s.path, storeFormat())
	if err != nil {
		return err
	}
	if s.log, err = logfile.Open(s.path, storage, storeFormat(), line); err != nil {
		return errors.Join(err, storage.Close())
	}
	return nil
}

// Claim implements [Store].
func (s *FileStore) Claim(ctx context.Context, id, claim string) (ClaimState, error) {
	if s == nil {
		return 0, errNoFileStore
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return 0, err
	}
	return s.memory.Claim(ctx, id, claim)
}

// Accept implements [Store]. If it returns an error other than [ErrClaimLost], the id is remembered, and is in the file
// once a later Claim has succeeded.
func (s *FileStore) Accept(_ context.Context, id, claim string) error {
	if s == nil {
		return errNoFileStore
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at, added, err := s.memory.accept(id, claim)
	if err != nil || !added {
		return err
	}
	if s.err == nil {
		s.err = s.log.Append(storeEntry{id, at}.object())
	}
	if s.lines++; s.err == nil && s.lines > 2*s.memory.limit {
		s.err = s.rewrite()
	}
	return s.err
}

// Release implements [Store].
func (s *FileStore) Release(ctx context.Context, id, claim string) error {
	if s == nil {
		return errNoFileStore
	}
	return s.memory.Release(ctx, id, claim)
}

// Close closes the file and releases its lock. Close the receiver first.
func (s *FileStore) Close() error {
	if s == nil {
		return errNoFileStore
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(s.err, os.ErrClosed) {
		return nil
	}
	s.err = fmt.Errorf("webhook: the store %s: %w", s.path, os.ErrClosed)
	return errors.Join(s.closeLog(), s.lock.Release())
}

func (s *FileStore) closeLog() (err error) {
	if s.log != nil {
		err = s.log.Close()
		s.log = nil
	}
	return err
}

// writable returns an error if the file cannot be written, and writes it again after a write failed. A file that
// another program changed is not written: the error is [ErrStoreMoved].
func (s *FileStore) writable() error {
	if s.err == nil {
		s.err = s.log.Intact()
	}
	if s.err != nil && !errors.Is(s.err, ErrStoreMoved) && !errors.Is(s.err, os.ErrClosed) {
		s.err = s.rewrite()
	}
	return s.err
}

// rewrite replaces the file by one with the ids that are remembered. A crash leaves the old file or the new one.
func (s *FileStore) rewrite() error {
	text := storeFormat().Header()
	entries := s.memory.accepted()
	for _, e := range entries {
		text = logfile.AppendLine(text, e.object(), int64(len(text)))
	}
	if err := s.closeLog(); err != nil { // Windows does not replace a file that is open
		return err
	}
	if err := filelock.Replace(s.path, text); err != nil {
		return err
	}
	s.lines = len(entries)
	return s.open(func([]byte) error { return nil })
}
