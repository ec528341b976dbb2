// Command soak keeps the reference server's command under load, over sockets and with the real client, and
// fails when the server does not stay as it was.
//
//	go run ./cmd/soak [-for 10m] [-workers 2] [-into ../../docs/BENCHMARKS.md]
//	go run ./cmd/soak -for 15s                     # the short form
//
// Worlds open with faults and a webhook, are read, bought in, forked, restored and closed again;
// notifications are delivered, now and then to a receiver that refuses them; readers of the live stream come
// and go; the journal of the server's own world is full.
//
// Memory is flat when the median of the last quarter of the time is at most 1.10 times that of the second,
// or at most 2 MiB above it. Once the load is over, open files and worlds have to be back to what they
// were before. The books of every world have to be in balance all the time, and whatever is refused
// must be the doing of a fault.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"time"

	"github.com/shipping-go/shipping/test/benchmarks/process"
	"github.com/shipping-go/shipping/test/benchmarks/report"
)

// plan is the amount of load, and its duration.
type plan struct {
	length           time.Duration
	workers, readers int
}

func main() {
	var p plan
	flag.DurationVar(&p.length, "for", 15*time.Second, "how `long` to keep up the load")
	flag.IntVar(&p.workers, "workers", 2, "how `many` programs use the server at once")
	flag.IntVar(&p.readers, "readers", 2, "how `many` pages follow the live stream at once")
	into := flag.String("into", "", "replace the table in this Markdown `file` instead of printing it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := errors.New("-for must be at least 5s, -workers at least 1, -readers not negative; arguments are not accepted")
	if flag.NArg() == 0 && p.length >= 5*time.Second && p.workers > 0 && p.readers >= 0 {
		err = run(ctx, p, *into)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// run prints the table also for a server that has failed, to show the figures that grew.
func run(ctx context.Context, p plan, into string) error {
	found, err := p.soak(ctx, os.Stderr)
	if err != nil {
		return err
	}
	return errors.Join(found.verdict(), place().Publish(os.Stdout, into, found.markdown(time.Now())))
}

// place is where the table stands in BENCHMARKS.md.
func place() report.Place {
	return report.Place{Table: "soak table", Command: "go run ./cmd/soak -into"}
}

// soak runs a server under load and returns its samples.
func (p plan) soak(ctx context.Context, progress io.Writer) (found *findings, err error) {
	folder, err := os.MkdirTemp("", "soak")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "mockserver")
	if err := process.Build(ctx, program); err != nil {
		return nil, err
	}
	server, err := process.Launch(ctx, "", program, "serve", "-addr", "127.0.0.1:0", "-json")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()

	found = &findings{plan: p}
	watch := newWatch(server)
	if found.before, err = watch.sample(ctx); err != nil {
		return nil, err
	}
	l := newLoad(server.Hello)
	found.during, err = p.underLoad(ctx, l, watch, progress)
	found.visits, found.notifications = l.visits.Load(), l.notifications.Load()
	l.close()
	if err := errors.Join(err, l.failure(), found.enough()); err != nil {
		return nil, err
	}
	found.after, err = watch.settle(ctx, found.before)
	return found, err
}

// underLoad samples the server while all use it.
func (p plan) underLoad(ctx context.Context, l *load, watch *watch, progress io.Writer) ([]sample, error) {
	ctx, stop := context.WithTimeout(ctx, p.length)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for i := range p.workers {
		all.Go(func() {
			defer stop() // a worker that ends before its time has failed
			l.work(ctx, i)
		})
	}
	for range p.readers {
		all.Go(func() { l.follow(ctx) })
	}
	ticker := time.NewTicker(min(p.length/50, 5*time.Second))
	defer ticker.Stop()
	var samples []sample
	for begun := time.Now(); ; {
		select {
		case <-ctx.Done():
			return samples, nil
		case <-ticker.C:
		}
		s, err := watch.sample(ctx)
		switch {
		case ctx.Err() != nil:
			return samples, nil
		case err != nil:
			return nil, err
		}
		samples = append(samples, s)
		if len(samples)%12 == 0 {
			fmt.Fprintf(progress, "%s: %s\n", time.Since(begun).Round(time.Second), s)
		}
	}
}
