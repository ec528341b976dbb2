package batch

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/shipping-go/shipping"
)

// invalid returns the error of a field that was refused before anything was sent.
func invalid(field, problem string) error {
	return &shipping.ValidationError{Field: "batch: " + field, Problem: problem}
}

// quoteShort quotes the start of a text.
func quoteShort(text string) string {
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	return strconv.Quote(text)
}

// inFull writes an amount with two decimals, and never rounds.
func inFull(a shipping.Amount) string {
	if a == a.Round(2) {
		return a.StringFixed(2)
	}
	return a.String()
}

// withReason adds to an error why the context ended.
func withReason(ctx context.Context, err error) error {
	for _, reason := range []error{ctx.Err(), context.Cause(ctx)} {
		if !errors.Is(err, reason) {
			err = fmt.Errorf("%w (%w)", reason, err)
		}
	}
	return err
}
