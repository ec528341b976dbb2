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

// Environment variables that clients of the service also read.
const (
	baseURLVariable   = "SHIPPING_BASE_URL"
	secretKeyVariable = "SHIPPING_SECRET_KEY"
)

func readyCommand() command {
	return command{
		word: "ready", summary: "wait for a server; exit 0 when it is ready", argument: "[URL]",
		about: `For scripts and health checks. The exit code is 0 as soon as GET URL/_mock/healthz succeeds, and 1 after the time
of -wait. The default of URL is ` + baseURLVariable + `, else http://` + defaultAddr + `.`,
		examples: []string{
			"ready",
			"ready http://127.0.0.1:4010 -wait 10s",
			"ready https://127.0.0.1:4010 -cacert ca.pem     # of serve -tls -tls-ca ca.pem",
		},
		define: func(f *flags) action {
			wait := f.Duration("wait", 0, "retry for this `TIME`; 0 sends one request")
			cacert, token := cacertFlag(f), tokenFlag(f)
			return func(ctx context.Context, p program) int {
				return awaitReady(ctx, p, *cacert, *token, *wait)
			}
		},
	}
}

// awaitReady sends requests until the server responds or the wait is over.
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
			return p.fail("no mockserver responds on %s: %v; start one with mockserver serve, or wait longer with -wait", base, err)
		}
		pause = min(2*pause, 500*time.Millisecond)
	}
}

// paused waits for d, and returns false if the context ends first.
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

// askPatience limits one request to a server.
const askPatience = 2 * time.Second

// healthy returns nil if a mockserver responds on the base address, else the reason. With -tls the CA certificate
// may not be written yet.
func healthy(ctx context.Context, cacert, token, base string) error {
	w, err := newWire(cacert, token)
	if err != nil {
		return err
	}
	defer w.CloseIdleConnections()
	return ask(ctx, w, base+"/_mock/healthz", "", &struct{}{})
}

// ask reads the data of a route below /_mock/ into data, for the world of a key; an empty key means the home world.
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
		return fmt.Errorf("%s returned %s", req.URL.Path, resp.Status)
	case err == nil:
		err = envelope.Data.Decode(data)
	}
	if err != nil {
		return fmt.Errorf("the response of %s is not from a mockserver: %w", req.URL.Path, err)
	}
	return nil
}

// refusal is a response without data.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return fmt.Sprintf("%s (%d)", r.message, r.status) }

// baseURL returns the address of the service for a subcommand, without a trailing slash or version: its argument, else
// the environment variable, else the default address of serve.
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
		return "", fmt.Errorf("invalid base address %q: write it as http://%s", base, defaultAddr)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("the base address has a user, query or fragment: remove it, and set the key with -key or  " + secretKeyVariable)
	}
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v1"), nil
}
