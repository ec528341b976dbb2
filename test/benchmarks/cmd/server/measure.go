package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/test/benchmarks/process"
	"github.com/shipping-go/shipping/test/benchmarks/report"
)

// Both sides run on one core and wrk on the other, so that neither takes the other's time.
const (
	serverCore = "0"
	wrkCore    = "1"
)

// plan is how much to measure.
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
	if err := process.Build(ctx, program); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	found = &findings{plan: p, machine: report.Machine()}
	fmt.Fprintf(progress, "%d starts\n", p.starts)
	if err := found.start(ctx, program); err != nil {
		return nil, err
	}
	ours, err := process.Launch(ctx, serverCore, program, serveArguments()...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ours.Stop()) }()
	if found.idle, err = ours.Memory(); err != nil {
		return nil, err
	}
	bodies := filepath.Join(folder, "bodies")
	if found.payloads, err = preparePayloads(ctx, ours.Hello, bodies); err != nil {
		return nil, err
	}
	bare, err := process.Launch(ctx, serverCore, self, "-bare", bodies)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.Stop()) }()
	for round := range p.rounds {
		fmt.Fprintf(progress, "round %d of %d\n", round+1, p.rounds)
		for _, load := range found.payloads {
			if err := p.round(ctx, load, round, bare, ours); err != nil {
				return nil, err
			}
		}
	}
	found.afterwards, err = ours.Memory()
	return found, err
}

// round drives both sides, and every other round the other one first.
func (p plan) round(ctx context.Context, load *payload, round int, bare, ours *process.Process) error {
	sides := []func() error{
		func() error {
			got, err := p.drive(ctx, bare, "/"+load.name, ours.Hello.SecretKey, p.length)
			load.bare = append(load.bare, got)
			return err
		},
		func() error {
			got, err := p.drive(ctx, ours, load.path, ours.Hello.SecretKey, p.length)
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

// start starts the server again and again, each time until its line is there.
func (f *findings) start(ctx context.Context, program string) error {
	for range f.plan.starts {
		p, err := process.Launch(ctx, "", program, serveArguments()...)
		if err != nil {
			return err
		}
		f.starts = append(f.starts, float64(p.Started.Microseconds())/1000)
		if err := p.Stop(); err != nil {
			return err
		}
	}
	return nil
}

// preparePayloads fetches what both sides will serve, and puts it where the bare handler finds it.
func preparePayloads(ctx context.Context, server process.Hello, folder string) ([]*payload, error) {
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

func ask(ctx context.Context, server process.Hello, method, path, body string) ([]byte, error) {
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
