package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/test/benchmarks/report"
)

// place is where the table stands in BENCHMARKS.md.
func place() report.Place {
	return report.Place{Table: "server table", Command: "test/benchmarks/server.sh -into"}
}

// Limits that the project set itself, besides those of the payloads.
const (
	startLimit     = 12 // ms
	idleLimit      = 15 // MiB
	afterwardLimit = 40
)

// markdown writes everything that was found.
func (f *findings) markdown(now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s; %d rounds of %s a side, %d connections, one core for the server and the other for wrk.\n\n",
		now.UTC().Format(time.DateOnly), f.machine, f.plan.rounds, f.plan.length, f.plan.connections)
	report.Header(&b, "Target", "Limit", "Measured", "Met")
	for _, p := range f.payloads {
		if p.limit > 0 {
			got := spreadOf(p.ratios(func(d drive) float64 { return d.perSecond }))
			report.Row(&b, fmt.Sprintf("%s, %s: requests a second, share of bare", p.title, kilobytes(p.bytes)), fmt.Sprintf("≥ %.2f", p.limit), got.text("%.2f"), report.Met(got.median >= p.limit))
		}
	}
	starts := spreadOf(f.starts)
	report.Row(&b, "start until the line of -json, ms", fmt.Sprintf("≤ %d", startLimit), starts.text("%.1f"), report.Met(starts.median <= startLimit))
	report.Row(&b, "memory when idle, MiB", fmt.Sprintf("≤ %d", idleLimit), fmt.Sprintf("%.1f", f.idle), report.Met(f.idle <= idleLimit))
	report.Row(&b, "memory after the load, MiB", fmt.Sprintf("≤ %d", afterwardLimit), fmt.Sprintf("%.1f", f.afterwards), report.Met(f.afterwards <= afterwardLimit))
	b.WriteString("\n")
	report.Header(&b, "Payload", "Size", "Share of bare", "Processor time, share of bare", "Requests a second", "bare", "µs of processor", "bare", "p99", "bare")
	for _, p := range f.payloads {
		throughput, processor := func(d drive) float64 { return d.perSecond }, func(d drive) float64 { return d.processor }
		report.Row(&b, p.title, kilobytes(p.bytes),
			spreadOf(p.ratios(throughput)).text("%.2f"), spreadOf(p.ratios(processor)).text("%.2f"),
			medianOf(p.ours, throughput, "%.0f"), medianOf(p.bare, throughput, "%.0f"),
			medianOf(p.ours, processor, "%.1f"), medianOf(p.bare, processor, "%.1f"),
			slowest(p.ours), slowest(p.bare))
	}
	return b.String()
}

// ratios are ours over bare, by round.
func (p *payload) ratios(of func(drive) float64) []float64 {
	out := make([]float64, len(p.ours))
	for i := range p.ours {
		out[i] = of(p.ours[i]) / of(p.bare[i])
	}
	return out
}

// spread is the median, the least and the largest measurement.
type spread struct{ median, least, most float64 }

func spreadOf(values []float64) spread {
	sorted := slices.Sorted(slices.Values(values))
	return spread{sorted[len(sorted)/2], sorted[0], sorted[len(sorted)-1]}
}

func (s spread) text(format string) string {
	return fmt.Sprintf(format+" ("+format+"–"+format+")", s.median, s.least, s.most)
}

func medianOf(drives []drive, of func(drive) float64, format string) string {
	values := make([]float64, len(drives))
	for i, d := range drives {
		values[i] = of(d)
	}
	return fmt.Sprintf(format, spreadOf(values).median)
}

// slowest is the median of the 99th percentiles.
func slowest(drives []drive) string {
	return medianOf(drives, func(d drive) float64 { return float64(d.p99.Microseconds()) / 1000 }, "%.2f ms")
}

func kilobytes(n int) string { return fmt.Sprintf("%.1f KB", float64(n)/1000) }
