package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

func writeReport(path string, report *batch.Report) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := [][]string{{"item", "state", "request_id", "documents", "amount", "currency", "problem"}}
	for _, result := range report.Results {
		problem := ""
		if result.Err != nil {
			problem = result.Err.Error()
		}
		lines = append(lines, []string{
			result.Key, string(result.State), result.RequestID, list(result.Documents),
			result.Amount.StringFixed(2), result.Currency, problem,
		})
	}
	if err := csv.NewWriter(file).WriteAll(lines); err != nil {
		return err
	}
	return file.Close()
}

// download fetches the missing PDFs, and returns how many there are.
func (j *job) download(ctx context.Context, report *batch.Report) (have int, err error) {
	for _, result := range report.Results {
		if result.State != batch.StateCompleted {
			continue
		}
		for _, document := range result.Documents {
			path := filepath.Join(j.folder, result.RequestID+"-"+string(document)+".pdf")
			if _, err := os.Stat(path); err == nil {
				have++
				continue
			}
			pdf, err := j.client.Regulatory.PDF(ctx, result.RequestID, document)
			if errors.Is(err, shipping.ErrNotFound) {
				continue // the service has no such route
			}
			if err == nil {
				err = os.WriteFile(path+".part", pdf, 0o644)
			}
			if err == nil { // an interruption leaves no half of a PDF
				err = os.Rename(path+".part", path)
			}
			if err != nil {
				return have, err
			}
			have++
		}
	}
	return have, nil
}

func (j *job) summarize(report *batch.Report, pdfs int) {
	fmt.Fprintln(j.out)
	for _, state := range []batch.State{
		batch.StateCompleted, batch.StateDraft, batch.StateOverBudget, batch.StateFailed,
		batch.StateError, batch.StateWaiting, batch.StateUnknown,
	} {
		if n := report.Count(state); n > 0 {
			fmt.Fprintf(j.out, "%5d %s\n", n, state)
		}
	}
	if j.budget == nil {
		for currency, cost := range j.costs {
			fmt.Fprintf(j.out, "\nTotal: %s %s. Nothing was bought in this run: add -budget \"%s %s\" to buy.\n", cost, currency, cost, currency)
		}
		return
	}
	fmt.Fprintf(j.out, "\nSpent %s of %s. %d PDFs and report.csv are in %s\n", report.Committed.StringFixed(2), j.budget, pdfs, j.folder)
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
