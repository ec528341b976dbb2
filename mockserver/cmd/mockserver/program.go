package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/freeport"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

// program is the program under test, which runs as a group of processes that end together.
type program struct {
	args   []string
	notify string   // the URL at which the program receives notifications; empty if it receives none
	folder string   // for the folders of the runs
	files  []string // of the goal, in the folder of each run

	free  *freeport.Sequence
	ports sync.Map // by *mockserver.World: the port on which the program listens, a string
}

// setUp subscribes the program to notifications, on a free port.
func (p *program) setUp(w *mockserver.World) error {
	port, err := p.free.Next()
	if err != nil {
		return err
	}
	p.ports.Store(w, port)
	_, err = w.AddWebhook(notify.Webhook{Name: "Program", URL: strings.ReplaceAll(p.notify, "{port}", port)})
	return err
}

// history returns the events of the first shipment of a world, oldest first. If -setup added the shipment, it has no
// events.
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
	if len(events) == 0 {
		for _, kind := range []string{shipping.EventShipmentCreated, shipping.EventShipmentUpdated} {
			events = append(events, notify.Event{Kind: kind, ShipmentID: w.Shipments()[0]})
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

// execute runs the program in a world until it ends. The end of the context kills it and its descendants.
func (p *program) execute(ctx context.Context, a sweep.Execution) sweep.Outcome {
	w, dir := a.World, filepath.Join(p.folder, strconv.Itoa(a.Run))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return sweep.Outcome{How: err.Error()}
	}
	port, _ := p.ports.Load(w) // nil without notifications
	text, _ := port.(string)
	variables := append(describe(w).settings(), setting{"SWEEP_DIR", dir}, setting{"SWEEP_PORT", text})
	replacer := placeholders(variables)
	args := make([]string, len(p.args))
	for i, arg := range p.args {
		args[i] = replacer.Replace(arg)
	}
	output := &tail{limit: keptOutput}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = output, output, closePatience
	cmd.Env = slices.DeleteFunc(os.Environ(), isProxy)
	for _, v := range variables {
		cmd.Env = append(cmd.Env, v.name+"="+v.value)
	}
	killGroup := inGroup(cmd)
	asked, err := runUntil(cmd, a.End)
	killGroup()
	out := sweep.Outcome{Success: err == nil, How: ending(ctx, err), Output: output.String(),
		Files: readFiles(dir, p.files)}
	if exit, exited := errors.AsType[*exec.ExitError](err); exited && asked && ctx.Err() == nil && terminated(exit) {
		out.Success, out.How = true, "ended when asked to"
	}
	return out
}

// isProxy reports whether a variable sends requests through a proxy, which cannot reach the server of a run.
func isProxy(variable string) bool {
	name, _, _ := strings.Cut(strings.ToUpper(variable), "=")
	return slices.Contains([]string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}, name)
}

// placeholders replaces {shipment}, which stands for SHIPPING_SHIPMENT, and the like.
func placeholders(variables []setting) *strings.Replacer {
	var pairs []string
	for _, v := range variables {
		_, name, _ := strings.Cut(strings.ToLower(v.name), "_")
		pairs = append(pairs, "{"+name+"}", v.value)
	}
	return strings.NewReplacer(pairs...)
}

// checkPlaceholders returns an error if a placeholder in an argument is misspelled.
func checkPlaceholders(args []string) error {
	known := []string{"shipment", "wallet", "invoice", "webhook", "dir", "port", "base_url", "secret_key"}
	for _, found := range regexp.MustCompile(`\{\w+\}`).FindAllString(strings.Join(args, " "), -1) {
		name := strings.Trim(found, "{}")
		if meant := spelling.Nearest(name, known); meant != "" && meant != name {
			return fmt.Errorf("unknown placeholder %s: did you mean {%s}?", found, meant)
		}
	}
	return nil
}

// readFiles returns the contents of the files that can be read.
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
func runUntil(cmd *exec.Cmd, end <-chan struct{}) (asked bool, err error) {
	if err := cmd.Start(); err != nil {
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
