package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/test/benchmarks/report"
)

// place is where the tables stand in BENCHMARKS.md.
func place() report.Place {
	return report.Place{Table: "table", Command: "go run ./cmd/table -into"}
}

// markdown writes everything that was found.
func (f *findings) markdown(now time.Time) string {
	var b strings.Builder
	m := f.machine
	fmt.Fprintf(&b, "Measured on %s: %s, %d cores, %s, %s; rounds: %d of %s a benchmark, "+
		"with the long walk in %d of them.\n", now.UTC().Format(time.DateOnly), m.cpu, m.cores, m.platform, m.goVersion,
		f.plan.rounds, f.plan.benchTime, min(f.plan.walks, f.plan.rounds))
	fmt.Fprintf(&b, "Peers: %s.\n", strings.Join(m.modules, ", "))
	f.writeTargets(&b)
	f.writeCalls(&b)
	f.writeWalks(&b)
	f.writeGrowth(&b)
	f.writeSizes(&b)
	f.writeRaw(&b)
	return b.String()
}

func (f *findings) writeTargets(b *strings.Builder) {
	header(b, "Targets", []string{"Target", "Before", "Limit"}, each("%s"), []string{"Met"})
	for _, t := range targets() {
		row := []string{t.text, t.before, t.limits()}
		met := "yes"
		for _, v := range variants() {
			got, ok := t.measured(f, v)
			switch {
			case !ok:
				met = "not measured"
			case t.limitFor(v) > 0 && got.median > t.limitFor(v) && met == "yes":
				met = "**no**"
			}
			row = append(row, withRange(t.format, got, ok))
		}
		report.Row(b, append(row, met)...)
	}
}

// limits writes the limit, and that of jsonv2 if it is another.
func (t target) limits() string {
	text := "≤ " + fmt.Sprintf(t.format, t.limit)
	for _, v := range variants()[1:] {
		switch limit := t.limitFor(v); limit {
		case t.limit:
		case 0:
			text += ", " + v.name + " –"
		default:
			text += ", " + v.name + " " + fmt.Sprintf(t.format, limit)
		}
	}
	return text
}

// writeCalls compares every client with raw on the bytes that it reads.
func (f *findings) writeCalls(b *strings.Builder) {
	header(b, "Calls, as a share of raw on the same bytes", []string{"Work", "Client"},
		each("time (%s)"), each("bytes (%s)"), each("allocations (%s)"))
	for _, contest := range f.contests("List", "One", "Forms") {
		row := []string{contest.work, contest.client}
		for _, unit := range []string{cpuTime, memory, allocations} {
			for _, v := range variants() {
				share, ok := f.runs[v.name].ratio(contest.name, contest.raw, unit)
				if unit == cpuTime {
					row = append(row, withRange("%.2f", share, ok))
					continue
				}
				row = append(row, plain("%.2f", share, ok))
			}
		}
		report.Row(b, row...)
	}
}

func (f *findings) writeWalks(b *strings.Builder) {
	header(b, "Walks", []string{"Work", "Client"}, each("seconds (%s)"), each("largest heap, MiB (%s)"))
	for _, name := range f.names("Pages", "Walk") {
		work, client, _ := cutLast(name)
		_, work, _ = strings.Cut(work, "/")
		switch {
		case name == "Pages/200 pages/shipping":
			work = "200 pages at 20 ms, fast consumer"
		case strings.HasPrefix(name, "Pages/"):
			work = "20 pages at 20 ms, " + work
		}
		if rows, ok := f.runs[variants()[0].name].value(name, "rows"); ok {
			work = fmt.Sprintf("%s (%.0f)", work, rows.median)
		}
		row := []string{work, client}
		for _, unit := range []string{"ns/op", "heap-MiB"} {
			for _, v := range variants() {
				got, ok := f.runs[v.name].value(name, unit)
				format := "%.1f"
				if unit == "ns/op" {
					got, format = spread{median: got.median / 1e9}, "%.3f"
				}
				row = append(row, plain(format, got, ok))
			}
		}
		report.Row(b, row...)
	}
}

// writeGrowth shows how the cost of a row depends on the number of rows, in the first variant.
func (f *findings) writeGrowth(b *strings.Builder) {
	rows := []string{"1000", "10000", "100000"}
	columns := func(format string) (columns []string) {
		for _, n := range rows {
			columns = append(columns, fmt.Sprintf(format, n))
		}
		return columns
	}
	header(b, "How cost grows", []string{"Work"}, columns("µs a row, %s rows"), columns("heap held after %s rows, MiB"))
	run := f.runs[variants()[0].name]
	for _, name := range f.names("Growth") {
		work, n, _ := cutLast(name)
		if n != rows[0] {
			continue
		}
		_, title, _ := strings.Cut(work, "/")
		cells := []string{title}
		for _, n := range rows {
			got, ok := run.value(work+"/"+n, "ns/row")
			cells = append(cells, plain("%.1f", spread{median: got.median / 1e3}, ok))
		}
		for _, n := range rows {
			got, ok := run.value(work+"/"+n, "heap-MiB")
			cells = append(cells, plain("%.1f", got, ok))
		}
		report.Row(b, cells...)
	}
}

func (f *findings) writeSizes(b *strings.Builder) {
	header(b, "Programs, stripped", []string{"Program"}, each("MB (%s)"), each("MB over raw (%s)"))
	for _, program := range programs() {
		sizes, extras := []string{}, []string{}
		for _, v := range variants() {
			size := f.sizes[v.name]
			sizes = append(sizes, fmt.Sprintf("%.2f", float64(size[program])/1e6))
			extras = append(extras, fmt.Sprintf("%+.2f", float64(size[program]-size["raw"])/1e6))
		}
		report.Row(b, slices.Concat([]string{program}, sizes, extras)...)
	}
}

// writeRaw gives the absolute numbers that the shares are of.
func (f *findings) writeRaw(b *strings.Builder) {
	header(b, "Raw, in absolute numbers", []string{"Work"}, each("µs (%s)"), each("bytes (%s)"), each("allocations (%s)"))
	for _, contest := range f.contests("List", "One") {
		row := []string{contest.work}
		for _, unit := range []string{cpuTime, memory, allocations} {
			for _, v := range variants() {
				got, ok := f.runs[v.name].value(contest.raw, unit)
				format := "%.0f"
				if unit == cpuTime {
					got, format = spread{median: got.median / 1e3}, "%.1f"
				}
				row = append(row, plain(format, got, ok))
			}
		}
		report.Row(b, row...)
	}
}

// contestNames are the benchmarks of one contest, and its label.
type contestNames struct{ name, raw, work, client string }

// contests lists the clients that were measured against raw, in order.
func (f *findings) contests(kinds ...string) []contestNames {
	var contests []contestNames
	for _, name := range f.names(kinds...) {
		contest, client, _ := cutLast(name)
		if client == "raw" {
			continue
		}
		_, work, _ := strings.Cut(contest, "/")
		contests = append(contests, contestNames{name, contest + "/raw", work, client})
	}
	return contests
}

// names lists the benchmarks of some kinds, in order.
func (f *findings) names(kinds ...string) []string {
	var names []string
	for _, name := range f.runs[variants()[0].name].names {
		if kind, _, _ := strings.Cut(name, "/"); slices.Contains(kinds, kind) {
			names = append(names, name)
		}
	}
	return names
}

func cutLast(name string) (before, after string, found bool) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}

// each makes a column a variant; the verb takes its name.
func each(format string) []string {
	var columns []string
	for _, v := range variants() {
		columns = append(columns, fmt.Sprintf(format, v.name))
	}
	return columns
}

func header(b *strings.Builder, title string, columns ...[]string) {
	fmt.Fprintf(b, "\n### %s\n\n", title)
	report.Header(b, slices.Concat(columns...)...)
}

func plain(format string, s spread, ok bool) string {
	if !ok {
		return "–"
	}
	return fmt.Sprintf(format, s.median)
}

// withRange adds the smallest and largest of the rounds if they differ from the median.
func withRange(format string, s spread, ok bool) string {
	middle, least, most := plain(format, s, ok), plain(format, spread{median: s.least}, ok), plain(format, spread{median: s.most}, ok)
	if least == most {
		return middle
	}
	return fmt.Sprintf("%s (%s–%s)", middle, least, most)
}
