package world

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/internal/filelock"
	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
)

// A state file holds worlds as JSON, so that a server can restore the state of another. It is replaced atomically, and
// only its owner can read it. The secrets in it are those that the state needs: the names of worlds, from which keys
// are derived; the URLs of webhooks; and the notifications of the delivery log. It has neither the home world's key nor
// faults and journals.

const (
	stateFormat  = "mockserver-state"
	stateVersion = 1
	maxStateFile = 1 << 30
)

// stateFile is the content of a state file.
type stateFile struct {
	Format  string       `json:"format"`
	Version int          `json:"version"`
	Worlds  []savedWorld `json:"worlds"`
}

// ErrStateFile is returned, wrapped with the reason, if a state file cannot be restored.
var ErrStateFile = errors.New("the state file cannot be used")

// lockState locks a state file, and removes temporary files of a process that was killed while saving.
func lockState(path string) (*filelock.Lock, error) {
	lock, err := filelock.Acquire(path)
	switch {
	case errors.Is(err, filelock.ErrInUse):
		return nil, fmt.Errorf("mockserver: %w: %s: another server uses it: stop that server, or use another file: %w", ErrStateFile, path, err)
	case err != nil:
		return nil, fmt.Errorf("mockserver: %w: %w", ErrStateFile, err)
	}
	left, _ := filepath.Glob(globQuote(path) + ".*" + temporarySuffix) // the pattern is well-formed
	for _, name := range left {
		number := strings.TrimSuffix(strings.TrimPrefix(name, path+"."), temporarySuffix)
		if strings.Trim(number, "0123456789") == "" {
			_ = os.Remove(name) // an error does no harm
		}
	}
	return lock, nil
}

// globQuote returns the pattern that matches only a path.
func globQuote(path string) string {
	if runtime.GOOS == "windows" { // where patterns have no escapes, and names no asterisks
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// temporarySuffix is the suffix of a state file while it is written.
const temporarySuffix = ".tmp"

// realPath resolves symbolic links in a path; the file need not exist.
func realPath(path string) string {
	const most = 40 // links, as on common systems
	for range most {
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(folder, filepath.Base(path))
	}
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	return path
}

// writeLocked is like writeState, for a file that this server has not locked.
func writeLocked(path string, worlds iter.Seq2[string, *Snapshot]) error {
	lock, err := lockState(path)
	if err != nil {
		return err
	}
	return errors.Join(writeState(path, worlds), lock.Release())
}

// writeState writes a state file, one world after the other, so that at most one of them is in memory
// twice.
func writeState(path string, worlds iter.Seq2[string, *Snapshot]) (err error) {
	folder := filepath.Dir(path)
	temporary, err := os.CreateTemp(folder, filepath.Base(path)+".*"+temporarySuffix)
	if err != nil {
		return fmt.Errorf("mockserver: cannot save the state: %w", err)
	}
	defer func() {
		if err != nil {
			// The first error is returned.
			_ = temporary.Close()
			_ = os.Remove(temporary.Name())
			err = fmt.Errorf("mockserver: cannot save the state to %s: %w", path, err)
		}
	}()
	if err = EncodeState(temporary, worlds); err != nil {
		return err
	}
	if err = temporary.Sync(); err != nil { // otherwise a crash could leave an empty file
		return err
	}
	if err = temporary.Close(); err != nil {
		return err
	}
	if err = os.Rename(temporary.Name(), path); err != nil {
		return err
	}
	syncFolder(folder)
	return nil
}

// EncodeState writes a state file.
func EncodeState(file io.Writer, worlds iter.Seq2[string, *Snapshot]) error {
	out := bufio.NewWriter(file)
	written := 0
	put := func(text []byte) error {
		if written += len(text); written >= maxStateFile { // it could not be read again
			return fmt.Errorf("the state would have more than %d bytes: close some worlds", maxStateFile)
		}
		_, err := out.Write(text)
		return err
	}
	between := fmt.Sprintf(`{"format":%q,"version":%d,"worlds":[`, stateFormat, stateVersion)
	for name, s := range worlds {
		world, err := s.saved()
		if err != nil {
			return fmt.Errorf("world %s: %w", name, err)
		}
		world.Name = name
		text, err := jsontext.Encode(world) // which keeps the bytes of records
		if err != nil {
			return fmt.Errorf("world %s: %w", name, err)
		}
		if err := errors.Join(put([]byte(between)), put(text)); err != nil {
			return err
		}
		between = ",\n"
	}
	if err := put([]byte("]}\n")); err != nil {
		return err
	}
	return out.Flush()
}

// syncFolder makes a rename durable, on systems on which a folder can be synced.
func syncFolder(folder string) {
	if f, err := os.Open(folder); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

func readStateFile(path string) (stateFile, error) {
	opened, err := os.Open(path)
	if err != nil {
		return stateFile{}, fmt.Errorf("mockserver: %w: %w", ErrStateFile, err)
	}
	defer opened.Close()
	file, err := DecodeState(opened)
	if err != nil {
		return stateFile{}, fmt.Errorf("mockserver: %w: %s: %w", ErrStateFile, path, err)
	}
	return file, nil
}

// DecodeState reads a state file.
func DecodeState(from io.Reader) (stateFile, error) {
	text, err := io.ReadAll(io.LimitReader(from, maxStateFile+1))
	switch {
	case err != nil:
		return stateFile{}, err
	case len(text) > maxStateFile:
		return stateFile{}, fmt.Errorf("the file is longer than %d bytes", maxStateFile)
	}
	var about struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := jsonread.Unmarshal(text, &about); err != nil {
		return stateFile{}, fmt.Errorf("not a complete JSON object: %w", err)
	}
	if about.Format != stateFormat || about.Version != stateVersion {
		return stateFile{}, fmt.Errorf("the file has format %q, version %d; this program reads format %q, version %d", about.Format, about.Version, stateFormat, stateVersion)
	}
	var file stateFile
	if err := jsonread.Unmarshal(text, &file); err != nil {
		return stateFile{}, err
	}
	if name, found := jsonread.UnknownMember(text, &file); found {
		return stateFile{}, fmt.Errorf("unknown field %q", name)
	}
	names := map[string]bool{}
	for _, w := range file.Worlds {
		if names[w.Name] {
			return stateFile{}, fmt.Errorf("world %q appears twice", w.Name)
		}
		names[w.Name] = true
	}
	if len(file.Worlds) == 0 {
		return stateFile{}, errors.New("the file has no world")
	}
	return file, nil
}

// Save writes the contents of every world to a file, and replaces an existing file atomically. It returns an error if
// another server uses the file.
func (b *Worlds) Save(path string) error {
	write := writeLocked
	if b.lock != nil && realPath(path) == realPath(b.file) {
		write = writeState
	}
	return write(realPath(path), func(yield func(string, *Snapshot) bool) {
		for _, w := range b.Worlds() {
			if !yield(w.name, w.Snapshot()) {
				return
			}
		}
	})
}

// Load restores the worlds of a file: the home world, and every other world, which is opened if it is not open. If the
// file is invalid, nothing changes.
func (b *Worlds) Load(path string) error {
	file, err := readStateFile(path)
	if err != nil {
		return err
	}
	snapshots := make([]*Snapshot, len(file.Worlds))
	for i, saved := range file.Worlds {
		if snapshots[i], err = saved.Snapshot(); err != nil {
			return fmt.Errorf("mockserver: %w: %s: world %q: %w", ErrStateFile, path, saved.Name, err)
		}
	}
	before := b.Worlds()
	worlds := make([]*World, len(file.Worlds))
	for i, saved := range file.Worlds {
		if worlds[i], err = b.reopen(saved); err == nil {
			continue
		}
		for _, opened := range worlds[:i] {
			if !slices.Contains(before, opened) {
				b.Close(opened)
			}
		}
		return fmt.Errorf("mockserver: %w: %s: world %q: %w", ErrStateFile, path, saved.Name, err)
	}
	for i, w := range worlds {
		w.Restore(snapshots[i])
	}
	return nil
}

// reopen returns the world of a state file, and opens it if it is not open. It returns an error if the world is open with
// assumptions that apply only when it opens.
func (b *Worlds) reopen(saved savedWorld) (*World, error) {
	w, err := b.OpenWith(saved.Name, assumption.Change{Assumptions: saved.Assumptions})
	if errors.Is(err, ErrWorldExists) {
		w, err = b.Open(saved.Name)
	}
	if err == nil {
		err = w.adopt(saved.Assumptions)
	}
	return w, err
}

// Use locks a file for these worlds, and restores from it if it exists.
func (b *Worlds) Use(path string) error {
	lock, err := lockState(realPath(path))
	if err != nil {
		return err
	}
	b.file, b.lock = path, lock
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return b.Load(path)
}

// ReleaseFile unlocks the file.
func (b *Worlds) ReleaseFile() {
	if b.lock == nil {
		return
	}
	if err := b.lock.Release(); err != nil {
		b.settings.Logger.Error("cannot unlock the state file", "error", err)
	}
}
