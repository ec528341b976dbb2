// Command suite measures how long the tests of this project take, with the packages built before, and prints a table as
// Markdown.
//
//	go run ./cmd/suite [-count 3] [-ci] [-into ../../docs/BENCHMARKS.md]
//
// Results of tests are not taken from the cache; each run links the test programs and runs them. With -ci it also runs
// .ci/run, once.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/test/benchmarks/report"
)

func main() {
	count := flag.Int("count", 3, "how many `times` to run go test")
	ci := flag.Bool("ci", false, "also run .ci/run")
	into := flag.String("into", "", "replace the table in this Markdown `file` instead of printing it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, max(1, *count), *ci, *into); err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		os.Exit(1)
	}
}

// times are the elapsed time of a command, and its processor time with that of its children.
type times struct{ elapsed, processor time.Duration }

func run(ctx context.Context, count int, ci bool, into string) error {
	if _, err := timed(ctx, "go", "test", "-run", "^$", "./..."); err != nil { // builds
		return err
	}
	tests := make([]times, count)
	for i := range tests {
		var err error
		if tests[i], err = timed(ctx, "go", "test", "-count=1", "./..."); err != nil {
			return err
		}
	}
	slices.SortFunc(tests, func(a, b times) int { return int(a.elapsed - b.elapsed) })
	middle := tests[len(tests)/2]
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s; the median of %d runs.\n\n", time.Now().UTC().Format(time.DateOnly), report.Machine(), count)
	report.Header(&b, "Target", "Before", "Limit", "Measured", "Met")
	report.Row(&b, "go test ./..., packages built before: s", "93–115", "≤ 45", fmt.Sprintf("%.0f", middle.elapsed.Seconds()), report.Met(middle.elapsed <= 45*time.Second))
	report.Row(&b, "its processor time, linking included: s", "–", "–", fmt.Sprintf("%.0f", middle.processor.Seconds()), "–")
	measured, met := "–", "not measured"
	if ci {
		whole, err := timed(ctx, "bash", ".ci/run")
		if err != nil {
			return err
		}
		measured, met = fmt.Sprintf("%.0f", whole.elapsed.Minutes()), report.Met(whole.elapsed <= 25*time.Minute)
	}
	report.Row(&b, "bash .ci/run: min", "16–21", "≤ 25", measured, met)
	return report.Place{Table: "suite table", Command: "go run ./cmd/suite -into"}.Publish(os.Stdout, into, b.String())
}

// timed runs a command in the root of the repository.
func timed(ctx context.Context, name string, args ...string) (times, error) {
	line := strings.Join(append([]string{name}, args...), " ")
	fmt.Fprintln(os.Stderr, line)
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "../..", &output, &output
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return times{}, errors.Join(fmt.Errorf("%s: %w", line, err), errors.New(output.String()))
	}
	return times{time.Since(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}
