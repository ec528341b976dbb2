package main

import (
	"fmt"
	"strings"

	"github.com/shipping-go/shipping/test/benchmarks/report"
)

// target is a limit that the project set itself.
type target struct {
	text     string
	before   string // at commit c1f1f8e
	limit    float64
	measured func(costs) (float64, bool)
	format   string
}

func targets() []target {
	const mega = 1e6
	return []target{
		{"virtual clock: advance past 100,000 purchased requests, s", "5–15", 1, of(purchased, 100_000, func(c cost) float64 { return c.then.Seconds() }), "%.2f"},
		{"first purchase in a world: KB kept", "208", 60, firstPurchase, "%.1f"},
		{"10,000 worlds with a purchase each, MB", "2400", 700, of(boughtWorlds, 10_000, func(c cost) float64 { return c.bytes * 10_000 / mega }), "%.0f"},
	}
}

// of returns a figure of a row with n things.
func of(thing string, n int, figure func(cost) float64) func(costs) (float64, bool) {
	return func(c costs) (float64, bool) {
		one, ok := c[thing][n]
		return figure(one), ok
	}
}

// firstPurchase is what a purchase adds to a world that has none, in KB.
func firstPurchase(c costs) (float64, bool) {
	bought, known := c[boughtWorlds][10_000]
	empty, also := c[emptyWorlds][10_000]
	return (bought.bytes - empty.bytes) / 1e3, known && also
}

func (c costs) writeTargets(b *strings.Builder) {
	report.Header(b, "Target", "Before", "Limit", "Measured", "Met")
	for _, t := range targets() {
		text, met := "–", "not measured"
		if got, ok := t.measured(c); ok {
			text, met = fmt.Sprintf(t.format, got), report.Met(got <= t.limit)
		}
		report.Row(b, t.text, t.before, fmt.Sprintf("≤ %g", t.limit), text, met)
	}
	b.WriteString("\n")
}
