package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// plan says how much to measure.
type plan struct {
	rounds, connections, starts int
	length                      time.Duration
}

// payload is what both sides are asked for.
type payload struct {
	name, title string
	limit       float64 // the least share of bare's throughput; 0 for none
	path        string  // on the reference server
	bytes       int
	bare, ours  []drive // by round
}

// findings is all that was measured.
type findings struct {
	plan             plan
	payloads         []*payload
	starts           []float64 // ms until the line
	idle, afterwards float64   // MiB resident
	machine          string
}

func (p plan) measure(ctx context.Context, progress io.Writer) (found *findings, err error) {
	folder, err := os.MkdirTemp("", "server-benchmark")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "mockserver")
	if err := build(ctx, program, "github.com/shipping-go/shipping/mockserver/cmd/mockserver"); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	found = &findings{plan: p, machine: describeMachine()}
	fmt.Fprintf(progress, "%d starts\n", p.starts)
	if err := found.start(ctx, program); err != nil {
		return nil, err
	}
	ours, err := launch(ctx, serverCore, program, serveArguments()...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ours.stop()) }()
	if found.idle, err = ours.memory(); err != nil {
		return nil, err
	}
	bodies := filepath.Join(folder, "bodies")
	if found.payloads, err = preparePayloads(ctx, ours.hello, bodies); err != nil {
		return nil, err
	}
	bare, err := launch(ctx, serverCore, self, "-bare", bodies)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.stop()) }()
	for round := range p.rounds {
		fmt.Fprintf(progress, "round %d of %d\n", round+1, p.rounds)
		for _, load := range found.payloads {
			if err := p.round(ctx, load, round, bare, ours); err != nil {
				return nil, err
			}
		}
	}
	found.afterwards, err = ours.memory()
	return found, err
}

// round drives both sides, and every other round the other one first.
func (p plan) round(ctx context.Context, load *payload, round int, bare, ours *process) error {
	sides := []func() error{
		func() error {
			got, err := p.drive(ctx, bare, "/"+load.name, ours.hello.SecretKey, p.length)
			load.bare = append(load.bare, got)
			return err
		},
		func() error {
			got, err := p.drive(ctx, ours, load.path, ours.hello.SecretKey, p.length)
			load.ours = append(load.ours, got)
			return err
		},
	}
	if round%2 == 1 {
		slices.Reverse(sides)
	}
	for _, side := range sides {
		if err := side(); err != nil {
			return fmt.Errorf("%s: %w", load.name, err)
		}
	}
	return nil
}

func serveArguments() []string {
	return []string{"serve", "-addr", "127.0.0.1:0", "-json"}
}

func build(ctx context.Context, program, target string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, target)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s (run this command in the benchmarks folder): %w\n%s", target, err, output)
	}
	return nil
}

// start starts the server again and again, each time until its line is there.
func (f *findings) start(ctx context.Context, program string) error {
	for range f.plan.starts {
		p, err := launch(ctx, "", program, serveArguments()...)
		if err != nil {
			return err
		}
		f.starts = append(f.starts, float64(p.started.Microseconds())/1000)
		if err := p.stop(); err != nil {
			return err
		}
	}
	return nil
}

// preparePayloads fetches what both sides will serve, and puts it where the bare handler finds it.
func preparePayloads(ctx context.Context, server hello, folder string) ([]*payload, error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	draft, err := ask(ctx, server, http.MethodPost, "/v1/regulatory-documents/analyze", `{"shipment_id":"`+server.Shipments[len(server.Shipments)-1]+`"}`)
	if err != nil {
		return nil, err
	}
	var envelope struct {
		Data struct {
			RequestID string `json:"request_id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(draft, &envelope); err != nil {
		return nil, err
	}
	payloads := []*payload{
		{name: "request", title: "one regulatory request", limit: 0.80, path: "/v1/regulatory-documents/request/" + envelope.Data.RequestID},
		{name: "rates", title: "60 KB of rates", limit: 0.80, path: "/v1/rates?perPage=81"},
		{name: "transactions", title: "a page of transactions in the middle", path: "/v1/transactions?page=2&perPage=50&wallet=" + server.Wallets[0]},
		{name: "countries", title: "all countries", path: "/v1/countries"},
	}
	for _, load := range payloads {
		body, err := ask(ctx, server, http.MethodGet, load.path, "")
		if err != nil {
			return nil, err
		}
		load.bytes = len(body)
		if err := os.WriteFile(filepath.Join(folder, load.name), body, 0o600); err != nil {
			return nil, err
		}
	}
	return payloads, nil
}

func ask(ctx context.Context, server hello, method, path, body string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, server.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+server.SecretKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	return text, err
}

func describeMachine() string {
	cpu := "unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
				cpu = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores, %s/%s, %s", cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}
