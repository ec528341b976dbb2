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

// limits that the project set itself, besides those of the payloads.
func (f *findings) limits() []limit {
	return []limit{
		{"start until the line of -json, ms", 10, func(side string) float64 { return spreadOf(f.starts[side]).median }},
		{"memory when idle, MiB", 13.6, func(side string) float64 { return f.memories[side].idle }},
		{"the same without pages of the program's file, MiB", 4.1, func(side string) float64 { return f.memories[side].anonymous }},
		{"memory after 200,000 requests, MiB", 38.8, func(side string) float64 { return f.memories[side].requests }},
		{"memory after 1,000 connections, MiB", 45, func(side string) float64 { return f.memories[side].connections }},
	}
}

// limit is the largest value of a figure of a reference server.
type limit struct {
	text   string
	most   float64
	figure func(side string) float64
}

func throughput(d drive) float64 { return d.perSecond }
func processor(d drive) float64  { return d.processor }

// markdown writes everything that was found.
func (f *findings) markdown(now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s; %d rounds of %s a side, %d connections, one core for the servers and the other for wrk.\n\n",
		now.UTC().Format(time.DateOnly), f.machine, f.plan.rounds, f.plan.length, f.plan.connections)
	f.writeTargets(&b)
	report.Header(&b, "Payload", "Size", "Share of bare", "Processor time, share of bare", "Requests a second", "bare", "µs of processor", "bare", "p99", "bare")
	for _, p := range f.payloads {
		ours, bare := p.drives[oursSide], p.drives[bareSide]
		report.Row(&b, p.title, kilobytes(p.bytes),
			spreadOf(p.ratios(oursSide, throughput)).text("%.2f"), spreadOf(p.ratios(oursSide, processor)).text("%.2f"),
			medianOf(ours, throughput, "%.0f"), medianOf(bare, throughput, "%.0f"),
			medianOf(ours, processor, "%.1f"), medianOf(bare, processor, "%.1f"),
			slowest(ours), slowest(bare))
	}
	return b.String()
}

func (f *findings) writeTargets(b *strings.Builder) {
	report.Header(b, "Target", "Before", "Limit", "Measured", "Met")
	before := func(format string, figure func(side string) float64) string {
		if !f.measured(beforeSide) {
			return "–"
		}
		return fmt.Sprintf(format, figure(beforeSide))
	}
	for _, p := range f.payloads {
		if p.limit == 0 {
			continue
		}
		share := func(side string) spread { return spreadOf(p.ratios(side, throughput)) }
		report.Row(b, fmt.Sprintf("%s, %s: requests a second, share of bare", p.title, kilobytes(p.bytes)),
			before("%.2f", func(side string) float64 { return share(side).median }),
			fmt.Sprintf("≥ %.2f", p.limit), share(oursSide).text("%.2f"), report.Met(share(oursSide).median >= p.limit))
	}
	for _, l := range f.limits() {
		got := l.figure(oursSide)
		report.Row(b, l.text, before("%.1f", l.figure), fmt.Sprintf("≤ %g", l.most), fmt.Sprintf("%.1f", got), report.Met(got <= l.most))
	}
	b.WriteString("\n")
}

// ratios are a side's figures over those of bare, by round.
func (p *payload) ratios(side string, of func(drive) float64) []float64 {
	out := make([]float64, len(p.drives[side]))
	for i, d := range p.drives[side] {
		out[i] = of(d) / of(p.drives[bareSide][i])
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
