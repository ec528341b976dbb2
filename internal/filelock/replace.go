package filelock

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace replaces the content of a file, so that a crash leaves the old content or the new one. Only its owner can
// read the new file. The new content is first written to a file beside it, whose name ends in ".new".
func Replace(path string, content []byte) error {
	next, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = next.Write(content); err == nil {
		err = next.Sync() // otherwise a crash could leave an empty file
	}
	if err := errors.Join(err, next.Close()); err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	if err := os.Rename(next.Name(), path); err != nil {
		return err
	}
	return SyncDirectory(filepath.Dir(path))
}
