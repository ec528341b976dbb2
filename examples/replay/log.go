package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/shipping-go/shipping/batch"
)

// outcomeLog is the report: the outcome of each notification, over all runs.
type outcomeLog struct {
	file *os.File // nil in a dry run
	skip map[string]bool
}

// openLog reads the report of earlier runs, if there is one, and appends to it.
func openLog(path string, dryRun bool) (*outcomeLog, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1] // a crash may have cut the last line off
	l := &outcomeLog{}
	if l.skip, err = batch.QueuedReplays(bytes.NewReader(whole)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if dryRun {
		return l, nil
	}
	if l.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	if err = l.file.Truncate(int64(len(whole))); err == nil {
		_, err = l.file.Seek(0, io.SeekEnd)
	}
	return l, err
}

// add writes an outcome. Skipped ones are in the report already.
func (l *outcomeLog) add(outcome batch.ReplayOutcome) error {
	if l.file == nil || outcome.State == batch.ReplaySkipped {
		return nil
	}
	line, err := json.Marshal(outcome)
	if err != nil {
		return err
	}
	_, err = l.file.Write(append(line, '\n'))
	return err
}

func (l *outcomeLog) close() {
	if l.file != nil {
		l.file.Close()
	}
}
