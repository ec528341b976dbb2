// Command growth measures how the cost of the reference server grows with what it holds, in this process and without
// sockets except for the row of connections, and prints a table as Markdown.
//
//	go run ./cmd/growth [-most 100000] [-into ../../docs/BENCHMARKS.md]
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/test/benchmarks/report"
)

func main() {
	most := flag.Int("most", 100_000, "the largest `number` of things to measure")
	into := flag.String("into", "", "replace the table in this Markdown `file` instead of printing it")
	flag.Parse()
	if err := run(*most, *into); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

// cost is a measurement with a number of records.
type cost struct {
	each   time.Duration // to make one
	bytes  float64       // kept for one
	then   time.Duration // the time of row.then with all of them
	failed error
}

// row measures one kind of thing.
type row struct {
	thing   string
	then    string // what cost.then is
	most    int    // the largest number that this machine can hold; 0 for no limit
	measure func(n int) cost
}

func run(most int, into string) error {
	sizes := slices.DeleteFunc([]int{1_000, 10_000, 100_000}, func(n int) bool { return n > most })
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s.\n\n", time.Now().UTC().Format(time.DateOnly), report.Machine())
	columns := []string{"The server holds", "Figure"}
	for _, n := range sizes {
		columns = append(columns, thousands(n))
	}
	report.Header(&b, columns...)
	for _, r := range rows() {
		each, kept, then := []string{r.thing, "µs to make one"}, []string{"", "bytes kept for one"}, []string{"", r.then}
		for _, n := range sizes {
			if r.most > 0 && n > r.most {
				each, kept, then = append(each, "–"), append(kept, "–"), append(then, "–")
				continue
			}
			c := r.measure(n)
			if c.failed != nil {
				return fmt.Errorf("%d %s: %w", n, r.thing, c.failed)
			}
			each = append(each, fmt.Sprintf("%.1f", float64(c.each.Nanoseconds())/1000))
			kept = append(kept, fmt.Sprintf("%.0f", c.bytes))
			then = append(then, fmt.Sprintf("%.3f", float64(c.then.Nanoseconds())/1e6))
		}
		for _, cells := range [][]string{each, kept, then} {
			report.Row(&b, cells...)
		}
		fmt.Fprintln(os.Stderr, r.thing)
	}
	place := report.Place{Table: "growth table", Command: "go run ./cmd/growth -into"}
	return place.Publish(os.Stdout, into, b.String())
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
	before, started := heap(), time.Now()
	for i := range n {
		if c.failed = one(i); c.failed != nil {
			return c
		}
	}
	c.each = time.Since(started) / time.Duration(n)
	c.bytes = (float64(heap()) - float64(before)) / float64(n)
	return c
}

// best is the least time of several.
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
