// Command server measures the reference server with wrk, against a bare handler that writes the same
// bytes on the same net/http settings and against an earlier revision of itself, and prints the figures as Markdown.
//
//	go run ./cmd/server [-rounds 15] [-for 1s] [-connections 8] [-before REVISION] [-into ../../docs/BENCHMARKS.md]
//
// A round drives every side with every payload, one right after the other; a ratio is taken within its
// round, so that other load on the machine affects both. server.sh installs wrk if it is missing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	var p plan
	bareFolder := flag.String("bare", "", "be the bare handler: serve the bodies in this `folder`, each at its name")
	flag.IntVar(&p.rounds, "rounds", 15, "how many `rounds` to run")
	flag.DurationVar(&p.length, "for", time.Second, "how `long` wrk drives one side with one payload")
	flag.IntVar(&p.connections, "connections", 8, "how `many` connections wrk keeps, to either side")
	flag.IntVar(&p.starts, "starts", 41, "how `many` times the server is started to see how long that takes")
	flag.StringVar(&p.before, "before", "c1f1f8e", "also measure the server of this git `revision`; empty for none")
	into := flag.String("into", "", "replace the table in this Markdown `file` instead of printing it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch {
	case *bareFolder != "":
		err = serveBare(ctx, *bareFolder, os.Stdout)
	case flag.NArg() > 0 || p.rounds < 1 || p.length < time.Second || p.connections < 1 || p.starts < 1:
		err = errors.New("-rounds, -connections and -starts must be at least 1, -for at least 1s; arguments are not accepted")
	default:
		err = run(ctx, p, *into)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
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
