package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/sweep"
)

// subject is the program under test.
type subject struct {
	args   []string
	folder string // for the folders of the runs
}

// keptOutput is how much of a program's output is kept, and closePatience how long its descendants may hold the
// output open once it has ended.
const (
	keptOutput    = 8 << 10
	closePatience = time.Second
)

// execute runs the program in a world until it ends or the context does, which kills it with its descendants.
func (s *subject) execute(ctx context.Context, a sweep.Attempt) sweep.Outcome {
	w, dir := a.World, filepath.Join(s.folder, strconv.Itoa(a.Run))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return sweep.Outcome{How: err.Error()}
	}
	values := []setting{{"dir", dir}, {"wallet", w.Wallets()[0]}, {"shipment", w.Shipments()[0]}, {"invoice", w.Invoices()[0]}, {"webhook", w.Webhooks()[0]}}
	var pairs []string
	for _, v := range values {
		pairs = append(pairs, "{"+v.name+"}", v.value)
	}
	placeholders := strings.NewReplacer(pairs...)
	args := make([]string, len(s.args))
	for i, arg := range s.args {
		args[i] = placeholders.Replace(arg)
	}
	output := &tail{limit: keptOutput}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = output, output, closePatience
	cmd.Env = append(os.Environ(), "SWEEP_DIR="+dir)
	for _, s := range settings(w.URL, w.SecretKey, w.Wallets()[0], w.Shipments()[0], w.Invoices()[0], w.Webhooks()[0]) {
		cmd.Env = append(cmd.Env, s.name+"="+s.value)
	}
	killGroup := inGroup(cmd)
	err := cmd.Run()
	killGroup()
	return sweep.Outcome{Success: err == nil, How: ending(ctx, err), Output: output.String()}
}

// ending describes how a program ended.
func ending(ctx context.Context, err error) string {
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return "exit code 0"
	case ctx.Err() != nil:
		return "killed"
	case exited && exit.ExitCode() >= 0:
		return fmt.Sprintf("exit code %d", exit.ExitCode())
	default:
		return err.Error()
	}
}

// tail is a writer that keeps the end of its input.
type tail struct {
	limit int
	kept  []byte
	cut   bool
}

// Write implements [io.Writer].
func (t *tail) Write(text []byte) (int, error) {
	t.kept = append(t.kept, text...)
	if over := len(t.kept) - t.limit; over > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[over:]...), true
	}
	return len(text), nil
}

// String returns the end of the input.
func (t *tail) String() string {
	if t.cut {
		return "…" + strings.ToValidUTF8(string(t.kept), "")
	}
	return string(t.kept)
}

// progress shows how far a sweep is: on a terminal as one line that changes, else as a line for every tenth.
type progress struct {
	out            io.Writer
	terminal       bool
	ended, failing int
}

func progressTo(out io.Writer) *progress { return &progress{out: out, terminal: isTerminal(out)} }

func (p *progress) update(ended, total int, r sweep.Result) {
	p.ended = ended
	if len(r.Findings) > 0 {
		p.failing++
	}
	switch {
	case p.terminal:
		fmt.Fprintf(p.out, "\r%d of %d runs, %d failing ", ended, total, p.failing)
	case ended == total || ended*10/total != (ended-1)*10/total:
		fmt.Fprintf(p.out, "%d of %d runs, %d failing\n", ended, total, p.failing)
	}
}

// end leaves the line.
func (p *progress) end() {
	if p.terminal && p.ended > 0 {
		fmt.Fprintln(p.out)
	}
}
