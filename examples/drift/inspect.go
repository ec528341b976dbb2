package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/shipping-go/shipping"
)

// inspection holds the flags, and the findings.
type inspection struct {
	client  *shipping.Client
	wallet  string
	analyze shipping.AnalyzeRequest
	pages   int

	mu    sync.Mutex
	found map[string][]finding // by operation
}

// result is the outcome of one operation.
type result struct {
	Operation string    `json:"operation"`
	Records   int       `json:"records"`
	Skipped   string    `json:"skipped,omitempty"`
	Error     string    `json:"error,omitempty"`
	Findings  []finding `json:"findings"`
}

// finding is a difference from the specification, however many records show it.
type finding struct {
	Path   string             `json:"path"`
	Kind   shipping.DriftKind `json:"kind"`
	Detail string             `json:"detail,omitempty"`
	Count  int                `json:"count"`
	// Assumed marks a field that this module expects and the specification does not show: its absence is not a
	// fault of the service.
	Assumed bool `json:"assumed,omitempty"`
}

// assumed reports whether a field is inside an entry of a draft. "Other fields of the record and of its
// entries: not shown" (specification: "Regulatory document request").
func assumed(operation string, f shipping.DriftFinding) bool {
	return operation == shipping.OpAnalyze && f.Kind != shipping.DriftUnknown && strings.Contains(f.Path, "[].")
}

// note is called for each response that differs.
func (i *inspection) note(drift shipping.Drift) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.found == nil {
		i.found = map[string][]finding{}
	}
	for _, f := range drift.Findings {
		all := i.found[drift.Operation]
		at := slices.IndexFunc(all, func(known finding) bool {
			return known.Path == f.Path && known.Kind == f.Kind && known.Detail == f.Detail
		})
		if at >= 0 { // on another page
			all[at].Count += f.Count
			continue
		}
		i.found[drift.Operation] = append(all, finding{Path: f.Path, Kind: f.Kind, Detail: f.Detail, Count: f.Count, Assumed: assumed(drift.Operation, f)})
	}
}

// inspect calls each operation. One that fails does not stop the others; the error is that of ctx.
func (i *inspection) inspect(ctx context.Context) ([]result, error) {
	var results []result
	for _, o := range []struct {
		operation string
		missing   string // the flag that it needs
		look      func(context.Context) (records int, err error)
	}{
		{shipping.OpListRates, "", i.rates},
		{shipping.OpListCountries, "", i.countries},
		{shipping.OpListWebhooks, "", i.webhooks},
		{shipping.OpListTransactions, i.needs(i.wallet != "", "a wallet with -wallet"), i.transactions},
		{shipping.OpAnalyze, i.needs(i.analyze != (shipping.AnalyzeRequest{}), "a shipment with -shipment, or an invoice with -invoice; the draft costs nothing"), i.draft},
	} {
		r := result{Operation: o.operation, Skipped: o.missing, Findings: []finding{}}
		if o.missing == "" {
			var err error
			r.Records, err = o.look(ctx)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err != nil {
				r.Error = err.Error()
			}
			r.Findings = append(r.Findings, i.found[o.operation]...)
		}
		results = append(results, r)
	}
	return results, nil
}

func (i *inspection) needs(given bool, what string) string {
	if given {
		return ""
	}
	return "name " + what
}

// look reads some pages of a list in order.
func look[T any](i *inspection, pages iter.Seq2[*shipping.Page[T], error]) (records int, err error) {
	read := 0
	for page, err := range pages {
		if err != nil {
			return records, err
		}
		records += len(page.Items)
		if read++; read == i.pages {
			break
		}
	}
	return records, nil
}

func (i *inspection) rates(ctx context.Context) (int, error) {
	return look(i, i.client.Rates.Pages(ctx, nil, shipping.WithWindow(1)))
}

func (i *inspection) webhooks(ctx context.Context) (int, error) {
	return look(i, i.client.Webhooks.Pages(ctx, nil, shipping.WithWindow(1)))
}

func (i *inspection) transactions(ctx context.Context) (int, error) {
	list := &shipping.TransactionListOptions{Wallet: i.wallet}
	return look(i, i.client.Transactions.Pages(ctx, list, shipping.WithWindow(1)))
}

func (i *inspection) countries(ctx context.Context) (int, error) {
	countries, err := i.client.Countries.List(ctx)
	return len(countries), err
}

func (i *inspection) draft(ctx context.Context) (int, error) {
	if _, err := i.client.Regulatory.Analyze(ctx, &i.analyze); err != nil {
		return 0, err
	}
	return 1, nil
}

// write prints the results for a person.
func write(out io.Writer, where string, results []result) error {
	_, err := fmt.Fprintf(out, "%s against the specification\n\n", where)
	for _, r := range results {
		said := fmt.Sprintf("%d records", r.Records)
		if r.Records == 1 {
			said = "1 record"
		}
		switch {
		case r.Skipped != "":
			said = "skipped: " + r.Skipped
		case r.Error != "":
			said = "failed: " + r.Error
		case len(r.Findings) == 0:
			said += ", as documented"
		}
		_, e := fmt.Fprintf(out, "%-20s  %s\n", r.Operation, said)
		err = errors.Join(err, e)
		for _, f := range r.Findings {
			remark := ""
			if f.Assumed {
				remark = "; assumed, the specification does not show it"
			}
			_, e := fmt.Fprintf(out, "    %s%s\n", shipping.DriftFinding{Path: f.Path, Kind: f.Kind, Detail: f.Detail, Count: f.Count}, remark)
			err = errors.Join(err, e)
		}
	}
	return err
}

// verdict returns an error if the service falls short of the specification.
func verdict(results []result) error {
	short, failed := 0, 0
	for _, r := range results {
		if r.Error != "" {
			failed++
		}
		for _, f := range r.Findings {
			if f.Kind != shipping.DriftUnknown && !f.Assumed {
				short++
			}
		}
	}
	if short+failed == 0 {
		return nil
	}
	return fmt.Errorf("the service falls short of the specification: fields missing or of another type: %d, operations that failed: %d", short, failed)
}
