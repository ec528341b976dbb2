// Grade grades a client of the shipping service, in any language, with the vectors:
//
//	go run ./test/vectors/grade python3 purchase.py
//
// It runs the command once for each case, with the purchase in its environment, and compares the last line of its output, a
// JSON report, with the one true report. The README of the vectors describes both. The exit code is 0 if every report is
// right, 1 if one is wrong, and 2 for a wrong use.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/shipping-go/shipping/test/vectors"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("grade", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		_, _ = fmt.Fprintln(stderr, "usage: grade [flags] COMMAND [ARGUMENT]...")
		flags.PrintDefaults()
	}
	only := flags.String("run", "", "grade only the cases whose name contains `TEXT`")
	patience := flags.Duration("patience", 30*time.Second, "the maximum `TIME` of one command")
	parallel := flags.Int("parallel", 4, "the maximum `NUMBER` of commands at the same time")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() == 0 || *parallel < 1 {
		flags.Usage()
		return 2
	}
	cases, err := vectors.Cases()
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "grade:", err)
		return 2
	}
	var graded, wrong int
	var mu sync.Mutex
	var running sync.WaitGroup
	free := make(chan struct{}, *parallel)
	for _, c := range cases {
		if !strings.Contains(c.Name(), *only) {
			continue
		}
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			err := c.Grade(ctx, command(c, *patience, flags.Args()))
			mu.Lock()
			defer mu.Unlock()
			graded++
			if err != nil {
				wrong++
				_, _ = fmt.Fprintf(stdout, "WRONG  %s: %v\n", c.Name(), err)
			}
		})
	}
	running.Wait()
	_, _ = fmt.Fprintf(stdout, "%d of %d reports are right\n", graded-wrong, graded)
	if wrong > 0 || graded == 0 {
		return 1
	}
	return 0
}

// command returns a client that is a command. A report without an error's class is not graded by it.
func command(c vectors.Case, patience time.Duration, words []string) vectors.Client {
	return func(ctx context.Context, baseURL string) (vectors.Report, error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.WaitDelay = time.Second // for children that it leaves running
		cmd.Env = append(os.Environ(), "SHIPPING_BASE_URL="+baseURL, "SHIPPING_SECRET_KEY="+vectors.SecretKey,
			"SHIPPING_REQUEST_ID="+vectors.RequestID, "SHIPPING_DOCUMENT="+vectors.Document)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if ctx.Err() != nil {
			return vectors.Report{}, fmt.Errorf("the command did not end within %s", patience)
		}
		lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
		var report struct {
			Outcome string
			Error   *string
		}
		if json.Unmarshal(lines[len(lines)-1], &report) != nil || report.Outcome == "" {
			return vectors.Report{}, fmt.Errorf("the last line of the output is not a report: %.200q (%v)", lines[len(lines)-1], err)
		}
		if report.Error == nil {
			return vectors.Report{Outcome: report.Outcome, Error: c.Want.Error}, nil
		}
		return vectors.Report{Outcome: report.Outcome, Error: *report.Error}, nil
	}
}
