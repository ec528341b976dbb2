package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/jsonexact"
)

// The environment variables that programs which use the service read too.
const (
	baseURLVariable   = "SHIPPING_BASE_URL"
	secretKeyVariable = "SHIPPING_SECRET_KEY"
)

func readyCommand() command {
	return command{
		word: "ready", summary: "tell by the exit code whether a server answers", argument: "[URL]",
		about: `For scripts and health checks: exit code 0 as soon as GET URL/_mock/healthz succeeds, 1 when it has not
in time. Without URL it is ` + baseURLVariable + `, else http://` + defaultAddr + `.`,
		examples: []string{
			"ready",
			"ready http://127.0.0.1:4010 -wait 10s",
			"ready https://127.0.0.1:4010 -cacert ca.pem     # of serve -tls -tls-ca ca.pem",
		},
		define: func(f *flags) action {
			wait := f.Duration("wait", 0, "go on asking for this `TIME`; 0 asks once")
			cacert, token := cacertFlag(f), tokenFlag(f)
			return func(ctx context.Context, p program) int {
				return awaitReady(ctx, p, *cacert, *token, *wait)
			}
		},
	}
}

// awaitReady asks until the server answers or the wait is over.
func awaitReady(ctx context.Context, p program, cacert, token string, wait time.Duration) int {
	base, err := baseURL(p)
	if err != nil {
		return p.fail("%v", err)
	}
	asking, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	pause := 10 * time.Millisecond
	for {
		err := healthy(ctx, cacert, token, base)
		if err == nil {
			return exitOK
		}
		if !paused(asking, pause) {
			return p.fail("no mockserver answers on %s: %v; start one with mockserver serve, or wait longer with -wait", base, err)
		}
		pause = min(2*pause, 500*time.Millisecond)
	}
}

// paused waits, and reports false when the context ended first.
func paused(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}

// askPatience is how long one question to a server may take.
const askPatience = 2 * time.Second

// healthy returns nil when a mockserver answers on the base address, else why not: with -tls also where its
// authority is not written yet.
func healthy(ctx context.Context, cacert, token, base string) error {
	w, err := newWire(cacert, token)
	if err != nil {
		return err
	}
	defer w.CloseIdleConnections()
	return ask(ctx, w, base+"/_mock/healthz", "", &struct{}{})
}

// ask reads the data of one of a server's own routes, about the world of a key; an empty key means the
// world that the server began with.
func ask(ctx context.Context, w wire, address, key string, data any) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	if token := w.token(); token != "" {
		req.Header.Set("X-Mock-Token", token)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := w.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var envelope struct {
		Message string           `json:"message"`
		Data    shipping.RawJSON `json:"data"`
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	if err == nil {
		err = jsonexact.Unmarshal(body, &envelope)
	}
	switch {
	case resp.StatusCode != http.StatusOK && err == nil && envelope.Message != "":
		return &refusal{resp.StatusCode, envelope.Message}
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s answered %s", req.URL.Path, resp.Status)
	case err == nil:
		err = envelope.Data.Decode(data)
	}
	if err != nil {
		return fmt.Errorf("%s answered what no mockserver does: %w", req.URL.Path, err)
	}
	return nil
}

// refusal is what a server answered with instead of data.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return fmt.Sprintf("%s (%d)", r.message, r.status) }

// baseURL returns the address of the service that a word is about, without a slash or version at its
// end: its argument, else what the environment says, else where serve listens.
func baseURL(p program) (string, error) {
	base := p.getenv(baseURLVariable)
	if len(p.args) > 0 {
		base = p.args[0]
	}
	if base == "" {
		base = "http://" + defaultAddr
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("%q is no base address: write one such as http://%s", base, defaultAddr)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("a base address has no user, query or fragment: give the key with -key or " + secretKeyVariable)
	}
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v1"), nil
}
