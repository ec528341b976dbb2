package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/test/benchmarks/process"
	"github.com/shipping-go/shipping/test/benchmarks/report"
)

// The servers run on one core and wrk on the other, so that neither takes the other's time.
const (
	serverCore = "0"
	wrkCore    = "1"
)

// plan is how much to measure.
type plan struct {
	rounds, connections, starts int
	length                      time.Duration
	before                      string // the revision to compare with; empty for none
}

// payload is what every side is asked for.
type payload struct {
	name, title string
	limit       float64 // the least share of bare's throughput; 0 for none
	paths       map[string]string
	bytes       int
	drives      map[string][]drive // of each side, by round
}

// The sides of the comparison.
const (
	bareSide   = "bare"
	oursSide   = "ours"
	beforeSide = "before" // the reference server of an earlier revision
)

// memories are what a reference server holds, in MiB resident.
type memories struct{ idle, anonymous, requests, connections float64 }

// findings is all that was measured.
type findings struct {
	plan     plan
	payloads []*payload
	starts   map[string][]float64 // ms until the line, by side
	memories map[string]memories
	machine  string
}

// measured reports whether a side was measured.
func (f *findings) measured(side string) bool { return len(f.starts[side]) > 0 }

func (p plan) measure(ctx context.Context, progress io.Writer) (found *findings, err error) {
	folder, err := os.MkdirTemp("", "server-benchmark")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	programs, err := p.build(ctx, folder)
	if err != nil {
		return nil, err
	}
	found = &findings{plan: p, machine: report.Machine(), starts: map[string][]float64{}, memories: map[string]memories{}}
	fmt.Fprintf(progress, "%d starts\n", p.starts)
	for range p.starts {
		for side, program := range programs {
			if err := found.start(ctx, side, program); err != nil {
				return nil, err
			}
		}
	}
	sides := map[string]*process.Process{}
	defer func() {
		for _, side := range sides {
			err = errors.Join(err, side.Stop())
		}
	}()
	for side, program := range programs {
		if sides[side], err = process.Launch(ctx, serverCore, program, serveArguments()...); err != nil {
			delete(sides, side)
			return nil, err
		}
	}
	time.Sleep(time.Second) // the collections of the start
	idle := map[string]memories{}
	for side, server := range sides {
		if idle[side], err = atRest(server); err != nil {
			return nil, err
		}
	}
	bodies := filepath.Join(folder, "bodies")
	if found.payloads, err = preparePayloads(ctx, sides, bodies); err != nil {
		return nil, err
	}
	for _, side := range slices.Sorted(maps.Keys(sides)) {
		fmt.Fprintln(progress, "memory:", side)
		if found.memories[side], err = p.memories(ctx, sides[side], found.payloads, side, idle[side]); err != nil {
			return nil, err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if sides[bareSide], err = process.Launch(ctx, serverCore, self, "-bare", bodies); err != nil {
		delete(sides, bareSide)
		return nil, err
	}
	for round := range p.rounds {
		fmt.Fprintf(progress, "round %d of %d\n", round+1, p.rounds)
		for _, load := range found.payloads {
			if err := p.round(ctx, load, round, sides); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// build builds the reference servers, and returns them by side.
func (p plan) build(ctx context.Context, folder string) (map[string]string, error) {
	programs := map[string]string{oursSide: filepath.Join(folder, oursSide)}
	if err := process.Build(ctx, programs[oursSide]); err != nil {
		return nil, err
	}
	if p.before == "" {
		return programs, nil
	}
	source := filepath.Join(folder, "source")
	if err := os.Mkdir(source, 0o700); err != nil {
		return nil, err
	}
	programs[beforeSide] = filepath.Join(folder, beforeSide)
	return programs, process.BuildAt(ctx, p.before, source, programs[beforeSide])
}

// atRest measures a server that has served no request.
func atRest(server *process.Process) (found memories, err error) {
	if found.idle, err = server.Memory(); err != nil {
		return found, err
	}
	found.anonymous, err = server.Anonymous()
	return found, err
}

// memories also measures a server after 200,000 small requests, and after 1,000 connections that all read a large page.
func (p plan) memories(ctx context.Context, server *process.Process, payloads []*payload, side string, found memories) (memories, error) {
	var err error
	small, large := payloads[0].paths[side], payloads[1].paths[side]
	for requests := 0.0; requests < 200_000; {
		got, err := p.drive(ctx, server, small, 2*time.Second)
		if err != nil {
			return found, err
		}
		requests += got.requests
	}
	if found.requests, err = server.Memory(); err != nil {
		return found, err
	}
	crowd := p
	crowd.connections = 1000
	if _, err := crowd.drive(ctx, server, large, 3*time.Second); err != nil {
		return found, err
	}
	time.Sleep(5 * time.Second) // a server may release memory when load has ended
	found.connections, err = server.Memory()
	return found, err
}

// round drives every side, and every other round in the opposite order.
func (p plan) round(ctx context.Context, load *payload, round int, sides map[string]*process.Process) error {
	order := slices.Sorted(maps.Keys(sides))
	if round%2 == 1 {
		slices.Reverse(order)
	}
	for _, side := range order {
		got, err := p.drive(ctx, sides[side], load.paths[side], p.length)
		if err != nil {
			return fmt.Errorf("%s: %w", load.name, err)
		}
		load.drives[side] = append(load.drives[side], got)
	}
	return nil
}

func serveArguments() []string {
	return []string{"serve", "-addr", "127.0.0.1:0", "-json"}
}

// start starts a server until its line is there, and stops it.
func (f *findings) start(ctx context.Context, side, program string) error {
	p, err := process.Launch(ctx, "", program, serveArguments()...)
	if err != nil {
		return err
	}
	f.starts[side] = append(f.starts[side], float64(p.Started.Microseconds())/1000)
	return p.Stop()
}

// preparePayloads fetches the bodies from the reference server, and writes them to the folder of the bare handler.
func preparePayloads(ctx context.Context, sides map[string]*process.Process, folder string) ([]*payload, error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	payloads := []*payload{
		{name: "request", title: "one regulatory request", limit: 0.60},
		{name: "rates", title: "60 KB of rates", limit: 0.60},
		{name: "transactions", title: "a page of transactions in the middle"},
		{name: "countries", title: "all countries"},
	}
	for _, load := range payloads {
		load.paths, load.drives = map[string]string{}, map[string][]drive{}
	}
	for side, server := range sides {
		paths, err := pathsOn(ctx, server.Hello)
		if err != nil {
			return nil, err
		}
		for i, load := range payloads {
			load.paths[side] = paths[i]
		}
	}
	for _, load := range payloads {
		body, err := ask(ctx, sides[oursSide].Hello, http.MethodGet, load.paths[oursSide], "")
		if err != nil {
			return nil, err
		}
		load.bytes = len(body)
		load.paths[bareSide] = load.paths[oursSide] // parsing a path takes time, too
		path, _, _ := strings.Cut(load.paths[bareSide], "?")
		if err := os.WriteFile(filepath.Join(folder, url.PathEscape(path)), body, 0o600); err != nil {
			return nil, err
		}
	}
	return payloads, nil
}

// pathsOn returns the paths of the payloads on a reference server, and opens the draft that one of them reads.
func pathsOn(ctx context.Context, server process.Hello) ([]string, error) {
	draft, err := ask(ctx, server, http.MethodPost, "/v1/regulatory-documents/analyze", `{"shipment_id":"`+server.Shipments[len(server.Shipments)-1]+`"}`)
	if err != nil {
		return nil, err
	}
	var envelope struct {
		Data struct {
			RequestID string `json:"request_id"`
		} `json:"data"`
	}
	err = json.Unmarshal(draft, &envelope)
	return []string{
		"/v1/regulatory-documents/request/" + envelope.Data.RequestID, "/v1/rates?perPage=81",
		"/v1/transactions?page=2&perPage=50&wallet=" + server.Wallets[0], "/v1/countries",
	}, err
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
