package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/test/benchmarks/process"
)

// sample is the resources of the server at a moment.
type sample struct {
	resident      float64 // MiB
	worlds, files float64
}

func (s sample) String() string {
	return fmt.Sprintf("%.1f MiB resident, %.0f open files, %.0f worlds", s.resident, s.files, s.worlds)
}

// watch samples a server, over one connection that stays open.
type watch struct {
	server *process.Process
	client *http.Client
}

func newWatch(server *process.Process) *watch {
	return &watch{server: server, client: &http.Client{Transport: new(http.Transport), Timeout: 10 * time.Second}}
}

// sample reads the figures of the kernel and the number of worlds.
func (w *watch) sample(ctx context.Context) (s sample, err error) {
	if s.worlds, err = w.worlds(ctx); err != nil {
		return s, err
	}
	if s.resident, err = w.server.Memory(); err != nil {
		return s, err
	}
	files, err := w.server.OpenFiles()
	s.files = float64(files)
	return s, err
}

// worlds returns how many worlds are open.
func (w *watch) worlds(ctx context.Context) (open float64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.server.Hello.URL+"/_mock/worlds", nil)
	if err != nil {
		return 0, err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	var list struct {
		Data []struct{} `json:"data"`
	}
	err = json.NewDecoder(resp.Body).Decode(&list)
	return float64(len(list.Data)), err
}

// patience is how long a server may take to close what it opened during a load.
const patience = 30 * time.Second

// settle samples the server until it holds at most as much as before, or patience is over.
func (w *watch) settle(ctx context.Context, before sample) (sample, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	last, err := w.sample(ctx)
	for err == nil && !last.isBackTo(before) {
		select {
		case <-ctx.Done():
			return last, nil
		case <-ticker.C:
		}
		var next sample
		if next, err = w.sample(ctx); ctx.Err() != nil {
			return last, nil
		}
		last = next
	}
	return last, err
}

// isBackTo reports whether everything that was opened is closed. Memory is judged while the load lasts.
func (s sample) isBackTo(before sample) bool {
	return s.files <= before.files && s.worlds <= before.worlds
}
