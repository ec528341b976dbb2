package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/test/benchmarks/report"
)

// What still counts as flat: growth from the second quarter of the time to the last one.
const (
	flatRatio = 1.10
	flatSlack = 2 // MiB; below that, when the collector ran last is all that is seen
)

// findings are the samples of the server before, during and after the load.
type findings struct {
	plan                  plan
	before, after         sample
	during                []sample
	visits, notifications int64
}

// held is something that a server holds, and must not hold more and more of.
type held struct {
	name   string
	format string
	of     func(sample) float64
	memory bool // judged during the load, else after it
}

func allHeld() []held {
	return []held{
		{"resident memory, MiB", "%.1f", func(s sample) float64 { return s.resident }, true},
		{"open files and sockets", "%.0f", func(s sample) float64 { return s.files }, false},
		{"worlds", "%.0f", func(s sample) float64 { return s.worlds }, false},
	}
}

// quarter returns the median of a quarter of the time, counted from 1.
func (f *findings) quarter(n int, of func(sample) float64) float64 {
	var values []float64
	for _, s := range f.during[(n-1)*len(f.during)/4 : n*len(f.during)/4] {
		values = append(values, of(s))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// keeps returns nil where a thing stayed as it was.
func (f *findings) keeps(h held) error {
	if h.memory {
		second, last := f.quarter(2, h.of), f.quarter(4, h.of)
		if last > second*flatRatio && last > second+flatSlack {
			return fmt.Errorf("%s: "+h.format+" in the last quarter after "+h.format+" in the second is %.2f times as much; at most %.2f is flat",
				h.name, last, second, last/second, flatRatio)
		}
		return nil
	}
	if before, after := h.of(f.before), h.of(f.after); after > before {
		return fmt.Errorf("%s: "+h.format+" are left %s after the load; there were "+h.format+" before", h.name, after, patience, before)
	}
	return nil
}

// enough returns nil if there are enough samples to judge by.
func (f *findings) enough() error {
	if len(f.during) < 8 {
		return fmt.Errorf("%d samples are too few to judge: raise -for", len(f.during))
	}
	return nil
}

// verdict returns an error that names the figures that grew, or nil.
func (f *findings) verdict() error {
	var grown []error
	for _, h := range allHeld() {
		grown = append(grown, f.keeps(h))
	}
	return errors.Join(grown...)
}

func (f *findings) markdown(now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s; %s of %d programs and %d readers of the live stream, "+
		"%d worlds opened and closed, %d notifications.\n\n",
		now.UTC().Format(time.DateOnly), report.Machine(), f.plan.length, f.plan.workers, f.plan.readers,
		f.visits, f.notifications)
	report.Header(&b, "The server holds", "before", "second quarter", "last quarter", "growth", "limit", "after", "Flat")
	for _, h := range allHeld() {
		show := func(value float64) string { return fmt.Sprintf(h.format, value) }
		second, last := f.quarter(2, h.of), f.quarter(4, h.of)
		growth, limit := "–", "after ≤ before"
		if h.memory {
			growth, limit = fmt.Sprintf("%.2f", last/second), fmt.Sprintf("≤ %.2f", flatRatio)
		}
		report.Row(&b, h.name, show(h.of(f.before)), show(second), show(last), growth, limit, show(h.of(f.after)), report.Met(f.keeps(h) == nil))
	}
	return b.String()
}
