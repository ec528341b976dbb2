// Command table runs the benchmarks in turns and prints, as Markdown, what each client costs as a share
// of hand-written code on the same bytes.
//
//	go run ./cmd/table [-count 5] [-time 300ms] [-walks 1] [-into ../../docs/BENCHMARKS.md]
//
// A round runs every benchmark once, raw and client next to each other, first with the first version of
// encoding/json and then with GOEXPERIMENT=jsonv2. A ratio is taken within a round, so that what else
// the machine does touches both sides; the table shows the median of the rounds.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	var p plan
	flag.IntVar(&p.rounds, "count", 5, "how many `rounds` to run")
	flag.DurationVar(&p.benchTime, "time", 300*time.Millisecond, "how `long` each benchmark runs in a round")
	flag.IntVar(&p.walks, "walks", 1, "in how many of the `rounds` a million transactions are walked")
	into := flag.String("into", "", "replace the table in this Markdown `file` instead of printing it")
	flag.Parse()
	if flag.NArg() > 0 || p.rounds < 1 || p.benchTime <= 0 || p.walks < 0 {
		fmt.Fprintln(os.Stderr, "table: -count must be at least 1, -time positive, -walks not negative; arguments are not accepted")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, p, *into); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, p plan, into string) error {
	found, err := p.measure(ctx, os.Stderr)
	if err != nil {
		return err
	}
	return place().Publish(os.Stdout, into, found.markdown(time.Now()))
}
