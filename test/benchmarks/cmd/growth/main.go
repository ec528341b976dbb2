// Command growth measures how the cost of the reference server grows with what it holds, in this process and without
// sockets except for the row of connections, and prints a table as Markdown.
//
//	go run ./cmd/growth [-most 100000] [-only REGEXP] [-cpuprofile FILE] [-into ../../docs/BENCHMARKS.md]
//
// Times are processor time of this process, the garbage collector included, so that other programs on the machine hardly
// change them; those of a single request are the least elapsed time of several.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/test/benchmarks/process"
	"github.com/shipping-go/shipping/test/benchmarks/report"
)

func main() {
	most := flag.Int("most", 100_000, "the largest `number` of things to measure")
	only := flag.String("only", "", "measure only the rows whose name this `regexp` matches, and no targets")
	profile := flag.String("cpuprofile", "", "write a profile to this `file`")
	into := flag.String("into", "", "replace the table in this Markdown `file` instead of printing it")
	flag.Parse()
	if err := profiled(*profile, func() error { return run(*most, *only, *into) }); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

// profiled runs a function under the profiler, unless file is empty.
func profiled(file string, do func() error) (err error) {
	if file == "" {
		return do()
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return do()
}

// cost is a measurement with a number of records.
type cost struct {
	each      time.Duration // to make one
	allocated float64       // bytes allocated to make one
	bytes     float64       // kept for one
	then      time.Duration // the time of row.then with all of them
	failed    error
}

// costs are those of each row, by its name and the number of things.
type costs map[string]map[int]cost

// row measures one kind of thing.
type row struct {
	thing   string
	then    string // what cost.then is
	most    int    // the largest number that this machine can hold; 0 for no limit
	also    []int  // numbers that a target needs, beside those of the table
	measure func(n int) cost
}

func run(most int, only, into string) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if into != "" && only != "" {
		return errors.New("-into needs all rows: leave -only out")
	}
	measured := costs{}
	for _, r := range rows() {
		if !wanted.MatchString(r.thing) {
			continue
		}
		fmt.Fprintln(os.Stderr, r.thing)
		if err := measured.add(r, most); err != nil {
			return err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s.\n\n", time.Now().UTC().Format(time.DateOnly), report.Machine())
	if only == "" {
		measured.writeTargets(&b)
	}
	measured.writeRows(&b, most)
	return place().Publish(os.Stdout, into, b.String())
}

// place is where the tables stand in BENCHMARKS.md.
func place() report.Place {
	return report.Place{Table: "growth table", Command: "go run ./cmd/growth -into"}
}

// sizes are the columns of the table.
func sizes(most int) []int {
	return slices.DeleteFunc([]int{1_000, 10_000, 100_000}, func(n int) bool { return n > most })
}

// add measures a row.
func (c costs) add(r row, most int) error {
	c[r.thing] = map[int]cost{}
	for _, n := range append(sizes(most), r.also...) {
		if r.most > 0 && n > r.most {
			continue
		}
		one := r.measure(n)
		if one.failed != nil {
			return fmt.Errorf("%d %s: %w", n, r.thing, one.failed)
		}
		c[r.thing][n] = one
	}
	return nil
}

func (c costs) writeRows(b *strings.Builder, most int) {
	columns := []string{"The server holds", "Figure"}
	for _, n := range sizes(most) {
		columns = append(columns, thousands(n))
	}
	report.Header(b, columns...)
	for _, r := range rows() {
		measured, wanted := c[r.thing]
		if !wanted {
			continue
		}
		each, kept, then := []string{r.thing, "µs to make one"}, []string{"", "bytes kept for one"}, []string{"", r.then}
		for _, n := range sizes(most) {
			one, ok := measured[n]
			if !ok {
				each, kept, then = append(each, "–"), append(kept, "–"), append(then, "–")
				continue
			}
			each = append(each, fmt.Sprintf("%.1f", float64(one.each.Nanoseconds())/1000))
			kept = append(kept, fmt.Sprintf("%.0f", one.bytes))
			then = append(then, fmt.Sprintf("%.3f", float64(one.then.Nanoseconds())/1e6))
		}
		for _, cells := range [][]string{each, kept, then} {
			report.Row(b, cells...)
		}
	}
}

func thousands(n int) string { return fmt.Sprintf("%d,000", n/1000) }

// heap returns the bytes in use after a collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // the second one empties pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// making measures n calls of a function, and the memory that they keep.
func making(n int, one func(i int) error) (c cost) {
	before, allocated := heap(), allocations()
	c.each, c.failed = processorTime(func() error {
		for i := range n {
			if err := one(i); err != nil {
				return err
			}
		}
		return nil
	})
	c.each /= time.Duration(n)
	c.allocated = float64(allocations()-allocated) / float64(n)
	c.bytes = (float64(heap()) - float64(before)) / float64(n)
	return c
}

// allocations returns the bytes that were allocated so far.
func allocations() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// processorTime returns how much processor time a function takes.
func processorTime(do func() error) (time.Duration, error) {
	before := process.OwnTime()
	err := do()
	return process.OwnTime() - before, err
}

// best is the least elapsed time of several.
func best(times int, do func() error) (least time.Duration, err error) {
	for i := range times {
		started := time.Now()
		if err := do(); err != nil {
			return 0, err
		}
		if took := time.Since(started); i == 0 || took < least {
			least = took
		}
	}
	return least, nil
}
