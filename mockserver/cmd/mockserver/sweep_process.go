package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

// subject is the program under test.
type subject struct {
	args   []string
	notify string   // the URL at which the program receives notifications; empty if it receives none
	folder string   // for the folders of the runs
	files  []string // of the goal, in the folder of each run

	mu        sync.Mutex
	ports     map[*mockserver.World]string // on which the program listens
	unstarted error                        // why the operating system did not start the program
}

// setUp subscribes the program to notifications, on a free port.
func (s *subject) setUp(w *mockserver.World) error {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(free.Addr().String())
	if err = errors.Join(err, free.Close()); err != nil {
		return err
	}
	s.mu.Lock()
	s.ports[w] = port
	s.mu.Unlock()
	_, err = w.AddWebhook(notify.Webhook{Name: "Program", URL: strings.ReplaceAll(s.notify, "{port}", port)})
	return err
}

// port returns the port of the program in a world; empty without notifications.
func (s *subject) port(w *mockserver.World) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ports[w]
}

// history returns the events of the first shipment of a world, oldest first.
func history(w *mockserver.World) []notify.Event {
	var events []notify.Event
	for _, d := range slices.Backward(w.Deliveries()) {
		var payload struct {
			Data json.RawMessage `json:"data"`
		}
		if d.ShipmentID == w.Shipments()[0] && json.Unmarshal(d.Payload, &payload) == nil {
			events = append(events, notify.Event{Kind: d.Event, Data: payload.Data})
		}
	}
	return events
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
	replacer := placeholders(w, setting{"dir", dir}, setting{"port", s.port(w)})
	args := make([]string, len(s.args))
	for i, arg := range s.args {
		args[i] = replacer.Replace(arg)
	}
	output := &tail{limit: keptOutput}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = output, output, closePatience
	cmd.Env = append(os.Environ(), "SWEEP_DIR="+dir, "SWEEP_PORT="+s.port(w))
	for _, s := range settings(w.URL, w.SecretKey, w.Wallets()[0], w.Shipments()[0], w.Invoices()[0], w.Webhooks()[0]) {
		cmd.Env = append(cmd.Env, s.name+"="+s.value)
	}
	killGroup := inGroup(cmd)
	asked, err := s.runUntil(cmd, a.End)
	killGroup()
	out := sweep.Outcome{Success: err == nil, How: ending(ctx, err), Output: output.String(), Files: readFiles(dir, s.files)}
	if exit, exited := errors.AsType[*exec.ExitError](err); exited && asked && ctx.Err() == nil && terminated(exit) {
		out.Success, out.How = true, "ended when asked to"
	}
	return out
}

// placeholders replaces {shipment} and the like by records of a world, and by further values.
func placeholders(w *mockserver.World, more ...setting) *strings.Replacer {
	values := append(more, setting{"wallet", w.Wallets()[0]}, setting{"shipment", w.Shipments()[0]}, setting{"invoice", w.Invoices()[0]}, setting{"webhook", w.Webhooks()[0]})
	var pairs []string
	for _, v := range values {
		pairs = append(pairs, "{"+v.name+"}", v.value)
	}
	return strings.NewReplacer(pairs...)
}

// unknownPlaceholder returns an error if a word in braces resembles the name of a record and has its first letter. Other
// braces belong to the program. {dir} and {port} are too short to compare: {report} would resemble {port}.
func unknownPlaceholder(texts ...string) error {
	records := []string{"shipment", "wallet", "invoice", "webhook"}
	braces := regexp.MustCompile(`(?:^|[^${])\{([a-z]{5,})\}`)
	for _, text := range texts {
		for _, match := range braces.FindAllStringSubmatch(text, -1) {
			name := match[1]
			if nearest := spelling.Nearest(name, records); nearest != "" && nearest != name && nearest[0] == name[0] {
				return fmt.Errorf("unknown placeholder {%s}; did you mean {%s}? The placeholders are {%s}, {dir}, {port}", name, nearest, strings.Join(records, "}, {"))
			}
		}
	}
	return nil
}

// readFiles returns the content of those of some files that can be read.
func readFiles(folder string, names []string) map[string]string {
	content := map[string]string{}
	for _, name := range names {
		if text, err := os.ReadFile(filepath.Join(folder, name)); err == nil {
			content[name] = string(text)
		}
	}
	return content
}

// runUntil runs a command and asks it to end when end is closed.
func (s *subject) runUntil(cmd *exec.Cmd, end <-chan struct{}) (asked bool, err error) {
	if err := cmd.Start(); err != nil {
		s.mu.Lock()
		s.unstarted = innermost(err)
		s.mu.Unlock()
		return false, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
		return false, err
	case <-end:
		terminate(cmd)
		return true, <-ended
	}
}

// innermost returns the reason in an error of [exec.Cmd.Start], without the name of the program.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
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

// tail keeps the last bytes that are written to it.
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

// String returns the last bytes, after an ellipsis if there were more.
func (t *tail) String() string {
	if t.cut {
		return "…" + strings.ToValidUTF8(string(t.kept), "")
	}
	return string(t.kept)
}

// progress shows how far a sweep is: on a terminal as one line that changes, else as a line for every tenth.
type progress struct {
	out                   io.Writer
	terminal              bool
	ended, total, failing int
}

func progressTo(out io.Writer) *progress { return &progress{out: out, terminal: isTerminal(out)} }

func (p *progress) update(ended, total int, r sweep.Result) {
	p.ended, p.total = ended, total
	if len(r.Findings) > 0 {
		p.failing++
	}
	switch {
	case p.terminal:
		fmt.Fprintf(p.out, "\r%d of %s, %d failing ", ended, spelling.Counted(total, "run", "runs"), p.failing)
	case ended == total || ended*10/total != (ended-1)*10/total:
		fmt.Fprintf(p.out, "%d of %s, %d failing\n", ended, spelling.Counted(total, "run", "runs"), p.failing)
	}
}

// end leaves the line.
func (p *progress) end() {
	if p.terminal && p.ended > 0 {
		fmt.Fprintln(p.out)
	}
}
