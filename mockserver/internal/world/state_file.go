package world

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/shipping-go/shipping/internal/filelock"
	"github.com/shipping-go/shipping/mockserver/assumption"
)

// A state file holds worlds, so that a server can restore the state of another: a line of JSON for each, compressed by
// gzip, whose checksum detects a damaged file. It is replaced atomically, and only its owner can read it. The secrets in
// it are those that the state needs: the names of worlds, from which keys are derived; the URLs of webhooks; and the
// notifications of the delivery log. It has neither the home world's key nor faults, late requests and journals.

// stateHeader is the first line of a state file.
type stateHeader struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

var stateFormat = stateHeader{"mockserver-state", 3}

// savedWorld is another line.
type savedWorld struct {
	Name string `json:"name"`
	*Snapshot
}

// ErrStateFile is returned, wrapped with the reason, if a state file cannot be restored.
var ErrStateFile = errors.New("the state file cannot be used")

// realPath resolves the symbolic links of a path. The file need not exist.
func realPath(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// Save writes the contents of every world to the file that Use has locked. It replaces the file atomically.
func (b *Worlds) Save(path string) error {
	err := filelock.Replace(realPath(path), func(file io.Writer) error {
		return EncodeState(file, func(yield func(string, *Snapshot) bool) { // one after the other, so that at most one is in memory twice
			for _, w := range b.Worlds() {
				if !yield(w.name, w.Snapshot()) {
					return
				}
			}
		})
	})
	if err != nil {
		return fmt.Errorf("mockserver: cannot save the state to %s: %w", path, err)
	}
	return nil
}

// EncodeState writes a state file.
func EncodeState(file io.Writer, worlds iter.Seq2[string, *Snapshot]) error {
	compressed := gzip.NewWriter(file)
	encoder := json.NewEncoder(compressed)
	encoder.SetEscapeHTML(false) // keeps the bytes of records
	if err := encoder.Encode(stateFormat); err != nil {
		return err
	}
	for name, s := range worlds {
		if err := encoder.Encode(savedWorld{name, s}); err != nil {
			return fmt.Errorf("world %s: %w", name, err)
		}
	}
	return compressed.Close()
}

// DecodeState reads a state file. It returns an error if the file is damaged or if a world violates an invariant.
func DecodeState(file io.Reader) ([]savedWorld, error) {
	compressed, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("not a state file, and not changed (%w): choose another path", err)
	}
	decoder := json.NewDecoder(compressed)
	var header stateHeader
	if err := decoder.Decode(&header); err != nil {
		return nil, err
	}
	if header != stateFormat {
		return nil, fmt.Errorf("the file has format %q, version %d; this program reads format %q, version %d", header.Format, header.Version, stateFormat.Format, stateFormat.Version)
	}
	var worlds []savedWorld
	for {
		var w savedWorld
		if err := decoder.Decode(&w); errors.Is(err, io.EOF) {
			return worlds, nil
		} else if err != nil {
			return nil, err
		}
		if w.Snapshot == nil || w.State.Ledger == nil {
			return nil, fmt.Errorf("world %q is not complete", w.Name)
		}
		if err := w.Check(); err != nil {
			return nil, fmt.Errorf("world %q: %w", w.Name, err)
		}
		worlds = append(worlds, w)
	}
}

// Load restores the worlds of a file: the home world, and every other world, which is opened if it is not open. If the
// file is invalid, nothing changes.
func (b *Worlds) Load(path string) error {
	if err := b.load(path); err != nil {
		return fmt.Errorf("mockserver: %w: %s: %w", ErrStateFile, path, err)
	}
	return nil
}

func (b *Worlds) load(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	saved, err := DecodeState(file)
	if err != nil {
		return err
	}
	before := b.Worlds()
	worlds := make([]*World, len(saved))
	for i, s := range saved {
		if worlds[i], err = b.reopen(s); err == nil {
			continue
		}
		for _, opened := range worlds[:i] {
			if !slices.Contains(before, opened) {
				b.Close(opened)
			}
		}
		return fmt.Errorf("world %q: %w", s.Name, err)
	}
	for i, w := range worlds {
		w.Restore(saved[i].Snapshot)
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
	lock, err := filelock.Acquire(realPath(path))
	switch {
	case errors.Is(err, filelock.ErrInUse):
		return fmt.Errorf("mockserver: %w: %s: another server uses it: stop that server, or use another file: %w", ErrStateFile, path, err)
	case err != nil:
		return fmt.Errorf("mockserver: %w: %w; choose a path in a folder that exists", ErrStateFile, err)
	}
	b.lock = lock
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
