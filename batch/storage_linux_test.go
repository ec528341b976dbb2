package batch

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
)

// A directory that cannot be flushed is not an error; one that is missing is.
func TestJournalFile_SyncDirectory(t *testing.T) {
	t.Parallel()
	unflushable := journalFile{path: "/proc/journal"} // fsync reports EINVAL
	if err := unflushable.SyncDirectory(); err != nil {
		t.Error(err)
	}
	missing := journalFile{path: filepath.Join(t.TempDir(), "none", "journal")}
	if err := missing.SyncDirectory(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
}
