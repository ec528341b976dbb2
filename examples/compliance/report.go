package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

func writeReport(path string, report *batch.Report) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	rows := csv.NewWriter(file)
	lines := [][]string{{"item", "state", "request_id", "documents", "amount", "currency", "problem"}}
	for _, result := range report.Results {
		problem := ""
		if result.Err != nil {
			problem = result.Err.Error()
		}
		lines = append(lines, []string{
			result.Key, string(result.State), result.RequestID, slugs(result.Documents, " "),
			result.Amount.StringFixed(2), result.Currency, problem,
		})
	}
	if err := rows.WriteAll(lines); err != nil {
		return err
	}
	return file.Close()
}

// download fetches the missing PDFs, and returns how many there are.
func (j *job) download(ctx context.Context, report *batch.Report) (int, error) {
	have := 0
	for _, result := range report.Results {
		if result.State != batch.StateCompleted {
			continue
		}
		for _, document := range result.Documents {
			path := filepath.Join(j.out, result.RequestID+"-"+string(document)+".pdf")
			if _, err := os.Stat(path); err == nil {
				have++
				continue
			}
			pdf, err := j.client.Regulatory.PDF(ctx, result.RequestID, document)
			if errors.Is(err, shipping.ErrNotFound) {
				continue // the service has no such route
			}
			if err == nil {
				err = writeWhole(path, pdf)
			}
			if err != nil {
				return have, err
			}
			have++
		}
	}
	return have, nil
}

// writeWhole leaves no half-written PDF behind, whenever it is interrupted.
func writeWhole(path string, data []byte) error {
	part := path + ".part"
	if err := os.WriteFile(part, data, 0o644); err != nil {
		return err
	}
	return os.Rename(part, path)
}

func summarize(out io.Writer, j *job, report *batch.Report, pdfs int) {
	fmt.Fprintln(out)
	for _, state := range []batch.State{
		batch.StateCompleted, batch.StateDraft, batch.StateOverBudget, batch.StateFailed,
		batch.StateError, batch.StateWaiting, batch.StateUnknown,
	} {
		if n := report.Count(state); n > 0 {
			fmt.Fprintf(out, "%5d %s\n", n, state)
		}
	}
	left, err := j.budget.Sub(report.Committed)
	if err == nil {
		fmt.Fprintf(out, "\nSpent %s of %s %s, %s left. ", report.Committed.StringFixed(2), j.budget.StringFixed(2), j.currency, left.StringFixed(2))
	}
	fmt.Fprintf(out, "%d PDFs and report.csv are in %s\n", pdfs, j.out)
}

// verdict is an error if an item failed or is unfinished, or if the budget had no room for any. An item that
// needs no documents is done.
func verdict(report *batch.Report) error {
	unfinished := 0
	for _, state := range []batch.State{batch.StateFailed, batch.StateError, batch.StateWaiting, batch.StateUnknown} {
		unfinished += report.Count(state)
	}
	switch {
	case unfinished > 0:
		return fmt.Errorf("%d of %d items did not complete; report.csv has the reasons", unfinished, len(report.Results))
	case report.Count(batch.StateCompleted) == 0 && report.Count(batch.StateOverBudget) > 0:
		return errors.New("no item completed: the budget has no room for any; report.csv has the reasons")
	}
	return nil
}

func slugs(documents []shipping.DocumentType, separator string) string {
	texts := make([]string, len(documents))
	for i, document := range documents {
		texts[i] = string(document)
	}
	return strings.Join(texts, separator)
}
