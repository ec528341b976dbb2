package logfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/shipping-go/shipping/internal/filelock"
)

// Storage is a file that is locked. Tests replace it.
type Storage interface {
	io.ReaderAt
	io.WriterAt
	Size() (int64, error)
	Truncate(size int64) error
	// Sync returns when the file's content is on the disk, and SyncDirectory when its name is.
	Sync() error
	SyncDirectory() error
	// InPlace reports whether the file is the one at its path.
	InPlace() (bool, error)
	Close() error
}

// Log is an open file. It is used by one goroutine at a time.
type Log struct {
	format  Format
	path    string
	storage Storage
	size    int64  // of the acknowledged part
	last    []byte // the last line of that part
	err     error  // the first failure; after it nothing is appended until Resume
	failed  []byte // the line whose append failed
}

// Open reads a locked file, calls line with the object of each line, and prepares the file for appends. A line that a
// crash left incomplete is discarded. After an error the storage is still open.
func Open(path string, storage Storage, format Format, line func(object []byte) error) (*Log, error) {
	size, err := storage.Size()
	if err != nil {
		return nil, err
	}
	l := &Log{format: format, path: path, storage: storage, size: size}
	content, err := l.Read(line)
	if err != nil {
		return nil, err
	}
	// Each step is on the disk before the next one begins: a power loss leaves one of them incomplete at most.
	if content.Size < size {
		if err := errors.Join(storage.Truncate(content.Size), storage.Sync()); err != nil {
			return nil, err
		}
	}
	if l.size, l.last = content.Size, content.last; l.size == 0 {
		l.last = format.Header()
		l.size = int64(len(l.last))
		if _, err := storage.WriteAt(l.last, 0); err != nil {
			return nil, err
		}
	}
	// If a process ended before its flush, lines may be only in the system's memory.
	return l, errors.Join(storage.Sync(), storage.SyncDirectory(), l.Intact())
}

// Read reads the file again.
func (l *Log) Read(line func(object []byte) error) (Content, error) {
	if errors.Is(l.err, os.ErrClosed) {
		return Content{}, l.err
	}
	data, err := io.ReadAll(io.NewSectionReader(l.storage, 0, l.size))
	if err != nil {
		return Content{}, err
	}
	if found := int64(len(data)); found < l.size {
		return Content{}, fmt.Errorf("%w: %s had %d bytes, now %d", l.format.Changed, l.path, l.size, found)
	}
	return l.format.Parse(data, line)
}

// Append writes the line of an object and flushes it to the disk. After an error the line is not acknowledged, and
// nothing more is appended until [Log.Resume], or until the file is opened again.
func (l *Log) Append(object []byte) error {
	if l.Intact() == nil {
		line := AppendLine(nil, object, l.size)
		if l.err = l.append(line); l.err != nil {
			l.failed = line
		}
	}
	return l.err
}

// Resume allows appends again after a failure, such as a full disk: it discards the line that was not acknowledged. It
// returns an error if the file is closed, is not at its path, or was changed by another program.
func (l *Log) Resume() error {
	if err := l.Intact(); err == nil || errors.Is(err, os.ErrClosed) || errors.Is(err, l.format.Changed) {
		return err
	}
	rest, err := io.ReadAll(io.NewSectionReader(l.storage, l.size, math.MaxInt64))
	if err == nil && bytes.HasPrefix(l.failed, rest) {
		err = errors.Join(l.storage.Truncate(l.size), l.storage.Sync())
	}
	if err != nil {
		return err
	}
	l.err, l.failed = nil, nil
	return l.Intact()
}

func (l *Log) append(line []byte) error {
	if _, err := l.storage.WriteAt(line, l.size); err != nil {
		return err
	}
	if err := l.storage.Sync(); err != nil {
		return err
	}
	size := l.size + int64(len(line))
	if err := l.intact(append(bytes.Clone(l.last), line...), size); err != nil {
		return err
	}
	l.size, l.last = size, line
	return nil
}

// Intact returns the first failure, or an error if the file was changed after the last append.
func (l *Log) Intact() error {
	if l.err == nil {
		l.err = l.intact(l.last, l.size)
	}
	return l.err
}

// intact returns an error unless the file is at its path, and has this size and this end. The end also shows if the
// file was truncated and then became longer again.
func (l *Log) intact(end []byte, size int64) error {
	there, err := l.storage.InPlace()
	if err != nil {
		return fmt.Errorf("%s cannot be found: %w", l.path, err)
	}
	if !there {
		return fmt.Errorf("%w: %s", l.format.Moved, l.path)
	}
	found, err := l.storage.Size()
	if err != nil {
		return err
	}
	kept := make([]byte, len(end))
	if _, err := l.storage.ReadAt(kept, size-int64(len(end))); err != nil && err != io.EOF {
		return err
	}
	lost := !bytes.Equal(kept, end)
	if !lost && found == size {
		return nil
	}
	if lost {
		l.mark(found)
	}
	return fmt.Errorf("%w: %s had %d bytes, now %d: another program truncated it, as logrotate with copytruncate "+
		"does, or wrote to it", l.format.Changed, l.path, size, found)
}

// mark appends a line that is not an object to a file that has lost lines, so that the next process refuses the file.
// Its own error is ignored: the error of this process reports the loss.
func (l *Log) mark(size int64) {
	_, err := l.storage.WriteAt([]byte("\n# Lines of this "+l.format.Noun+" are missing here.\n"), size)
	_ = errors.Join(err, l.storage.Sync())
}

// Close closes the file, and releases its lock. It returns a failure that was not returned before.
func (l *Log) Close() error {
	if errors.Is(l.err, os.ErrClosed) {
		return fmt.Errorf("it is closed already; call Close once: %w", os.ErrClosed)
	}
	known := l.err
	changed := l.Intact()
	if known != nil {
		changed = nil
	}
	if l.err == nil {
		l.err = fmt.Errorf("it is closed; open it again: %w", os.ErrClosed)
	}
	return errors.Join(changed, l.storage.Close())
}

// CheckPath returns an error for the path of a folder, and for an empty path. The error suggests name as the name
// of the file.
func CheckPath(path, name string) error {
	if path == "" {
		return fmt.Errorf("the path is empty: pass the path of a file, such as /var/lib/shop/%s", name)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder: pass the path of a file in it, such as %s", path, filepath.Join(path, name))
	}
	return nil
}

// OpenAdvice returns what to do about a file that cannot be opened, as the end of an error; "" if that is not known.
func OpenAdvice(err error) string {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "; make its folder first"
	}
	return "; let this user write to the file and to its folder, on a disk with free space"
}

// file is the storage of a path.
type file struct {
	*os.File
	path string // absolute
}

// OpenStorage opens and locks the file at path, and creates it if it does not exist. The error is [filelock.ErrInUse]
// if it is locked.
func OpenStorage(path string, format Format) (Storage, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	opened, err := os.OpenFile(absolute, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		if err := create(absolute, format.Header()); err != nil {
			if failed, ok := errors.AsType[*os.PathError](err); ok {
				failed.Path = absolute // not that of the lock, which the caller does not know
			}
			return nil, err
		}
		opened, err = os.OpenFile(absolute, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, err
	}
	if err := filelock.TryLock(opened); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return &file{opened, absolute}, nil
}

// create creates a file, or the target of a link. A crash leaves no file, or one with its header.
func create(path string, header []byte) error {
	for link, err := os.Readlink(path); err == nil; link, err = os.Readlink(path) {
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	lock, err := filelock.Acquire(path + ".new") // the file that Replace writes first
	if err != nil {
		return err
	}
	if _, err = os.Lstat(path); errors.Is(err, os.ErrNotExist) { // otherwise another process has created it
		err = filelock.Replace(path, header)
	}
	return errors.Join(err, lock.Release())
}

func (f *file) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f *file) Close() error { return errors.Join(filelock.Unlock(f.File), f.File.Close()) }

func (f *file) InPlace() (bool, error) {
	opened, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Stat(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(opened, named), err
}

func (f *file) SyncDirectory() error { return filelock.SyncDirectory(filepath.Dir(f.path)) }
