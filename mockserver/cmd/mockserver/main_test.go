package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// environment is a program's surroundings under test.
func environment(args []string, env map[string]string) (program, *bytes.Buffer, *bytes.Buffer) {
	var stdout, stderr bytes.Buffer
	return program{args: args, getenv: func(name string) string { return env[name] }, stdout: &stdout, stderr: &stderr}, &stdout, &stderr
}

func TestRun_TellsWhatIsWrongWithTheCommandLine(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	tests := []struct {
		name string
		args []string
		env  map[string]string
		code int
		want string
	}{
		{"no word", nil, nil, exitUsage, "Usage: mockserver WORD"},
		{"unknown word", []string{"sevre"}, nil, exitUsage, `unknown word "sevre"`},
		{"unknown flag", []string{"serve", "-port", "1"}, nil, exitUsage, "Usage: mockserver serve"},
		{"argument", []string{"serve", "now"}, nil, exitUsage, `takes no argument "now"`},
		{"bad seed", []string{"serve", "-seed", "x"}, nil, exitUsage, "invalid value"},
		{"bad clock", []string{"serve", "-clock", "lunar"}, nil, exitUsage, "neither real nor virtual"},
		{"bad variable", []string{"serve"}, map[string]string{"MOCKSERVER_SEED": "x"}, exitUsage, `MOCKSERVER_SEED="x" is no value for -seed`},
		{"port taken", []string{"serve", "-addr", taken.Addr().String()}, nil, exitFailure, "is taken"},
		{"port taken, by variable", []string{"serve"}, map[string]string{"MOCKSERVER_ADDR": taken.Addr().String()}, exitFailure, "is taken"},
		{"bad address", []string{"serve", "-addr", "nowhere"}, nil, exitFailure, "cannot listen on nowhere"},
		{"help", []string{"serve", "-h"}, nil, exitOK, "MOCKSERVER_DELIVER_ANYWHERE"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, _, stderr := environment(test.args, test.env)
			if code := run(t.Context(), p); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			if !strings.Contains(stderr.String(), test.want) {
				t.Errorf("standard error lacks %q:\n%s", test.want, stderr)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	p, stdout, _ := environment([]string{"version"}, nil)
	if code := run(t.Context(), p); code != exitOK || !strings.HasPrefix(stdout.String(), "mockserver ") {
		t.Errorf("code %d: %s", code, stdout)
	}
}

// serving runs serve until the test is done with it, and returns what it printed first.
func serving(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	reader, writer := io.Pipe()
	var stderr bytes.Buffer
	p := program{args: append([]string{"serve", "-addr", "127.0.0.1:0"}, args...), getenv: func(string) string { return "" }, stdout: writer, stderr: &stderr}
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, p)
		writer.Close()
	}()
	printed := make([]byte, 64<<10)
	n, err := reader.Read(printed)
	if err != nil {
		t.Fatalf("nothing printed: %v; %s", err, &stderr)
	}
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != exitOK || stderr.Len() > 0 {
			t.Errorf("stopped with code %d: %s", code, &stderr)
		}
		if rest, err := io.ReadAll(reader); err != nil || len(rest) > 0 {
			t.Errorf("printed more (%v): %s", err, rest)
		}
	})
	return string(printed[:n])
}

func TestServe_PrintsOneLineOfJSONOnceReady(t *testing.T) {
	t.Parallel()
	printed := serving(t, "-json")
	if strings.Count(printed, "\n") != 1 {
		t.Errorf("not one line: %s", printed)
	}
	var r ready
	decoder := json.NewDecoder(strings.NewReader(printed))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if len(r.Wallets) == 0 || len(r.Shipments) == 0 || len(r.Invoices) == 0 || len(r.Webhooks) == 0 || r.Console == "" {
		t.Errorf("something is missing: %+v", r)
	}
	req, err := http.NewRequest(http.MethodGet, r.URL+"/v1/rates", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.SecretKey)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
}

func TestServe_GreetsAPersonWithLinesToCopy(t *testing.T) {
	t.Parallel()
	printed := serving(t, "-seed", "9")
	for _, want := range []string{"SHIPPING_BASE_URL=http://127.0.0.1:", "SHIPPING_SECRET_KEY=sk_test_", "curl -H", "/_mock/", "Ctrl-C"} {
		if !strings.Contains(printed, want) {
			t.Errorf("the greeting lacks %q:\n%s", want, printed)
		}
	}
}
