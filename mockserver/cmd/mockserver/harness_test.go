package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// outcome is how a command line ended.
type outcome struct {
	code           int
	stdout, stderr string
}

func invoke(t *testing.T, env map[string]string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, environmentOf(env), strings.NewReader(""), &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

func environmentOf(variables map[string]string) environment {
	env := environment{get: func(name string) string { return variables[name] }}
	for name, value := range variables {
		env.all = append(env.all, name+"="+value)
	}
	return env
}

// want fails the test unless the command line ended with a code, and printed each of the texts.
func (o outcome) want(t *testing.T, code int, texts ...string) outcome {
	t.Helper()
	shippingtest.Diff(t, "exit code", code, o.code)
	for _, text := range texts {
		shippingtest.Contains(t, "the output", o.stdout+o.stderr, text)
	}
	if t.Failed() {
		t.Fatalf("standard output:\n%s\nstandard error:\n%s", o.stdout, o.stderr)
	}
	return o
}

// noContent is a receiver that accepts whatever it gets.
var noContent = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	shippingtest.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// daemon is serve while it runs.
type daemon struct {
	printed string // its output once it was ready
	stop    context.CancelFunc
	ended   chan outcome // one, once it has stopped
}

// start runs serve on a free port and returns once it has printed something. It is stopped with the
// test at the latest.
func start(t *testing.T, env map[string]string, args ...string) *daemon {
	t.Helper()
	return startReading(t, strings.NewReader(""), env, args...)
}

// startReading is start with a standard input.
func startReading(t *testing.T, stdin io.Reader, env map[string]string, args ...string) *daemon {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	d := &daemon{stop: stop, ended: make(chan outcome, 1)}
	reader, writer := io.Pipe()
	var stderr bytes.Buffer
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		line := append([]string{"serve", "-addr", "127.0.0.1:0"}, args...)
		code := run(ctx, line, environmentOf(env), stdin, writer, &stderr)
		writer.Close()
		d.ended <- outcome{code: code, stderr: stderr.String()}
	}()
	t.Cleanup(func() {
		stop()
		<-finished
	})
	printed := make([]byte, 64<<10)
	n, err := reader.Read(printed)
	if err != nil {
		t.Fatalf("nothing printed: %v; %s", err, &stderr)
	}
	d.printed = string(printed[:n])
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	return d
}

func (d *daemon) world(t *testing.T) ready {
	t.Helper()
	var r ready
	decoder := json.NewDecoder(strings.NewReader(d.printed))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		t.Fatalf("%v: %s", err, d.printed)
	}
	return r
}

func TestHelp_ExamplesAreValid(t *testing.T) {
	t.Parallel()
	for _, c := range newCommand(environmentOf(nil)).Commands {
		lines, _ := c.Metadata["examples"].([]string)
		for _, example := range lines {
			isEnd := func(r rune) bool { return strings.ContainsRune("#>|", r) }
			words := strings.Fields(strings.FieldsFunc(example, isEnd)[0])
			root, reached := newCommand(environmentOf(nil)), false
			root.Command(c.Name).Action = func(context.Context, *cli.Command) error { reached = true; return nil }
			if err := root.Run(t.Context(), append([]string{"mockserver"}, words...)); err != nil || !reached {
				t.Errorf("%q: %v", example, err)
			}
		}
	}
}

func TestVersion_OpenAPI_Completion(t *testing.T) {
	t.Parallel()
	got := invoke(t, nil, "version").want(t, exitOK)
	if !strings.HasPrefix(got.stdout, "mockserver ") || strings.Count(got.stdout, "\n") != 1 {
		t.Errorf("%q", got.stdout)
	}
	want, err := mockserver.OpenAPI(nil)
	if printed := invoke(t, nil, "openapi").want(t, exitOK).stdout; err != nil || printed != string(want) {
		t.Errorf("%d bytes printed, want %d: %v", len(printed), len(want), err)
	}
	invoke(t, nil, "serve", "-cl", "--generate-shell-completion").want(t, exitOK, "--clock:real or virtual")
}
