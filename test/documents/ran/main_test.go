package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	reliabilityText = "# Promises\n\n| Promise | Tried | Test |\n|---|---|---|\n" +
		"| It is sent once | **2,430 calls**, **7 replays**, **≥ 2,000 calls** and **1 case** | `TestOnce_Always` |\n" +
		"| It is exact | any | `SHIPPING_ALL=1` `TestExact` |\n" +
		"| Any bytes | any | `FuzzRead` |\n" +
		"| By script | all **12 keys** | `bash .ci/secrets` |\n"
	specificationText = "## Rate\n\n| Rule | Client | Server |\n|---|---|---|\n| **Rate** | `TestRate` `ExampleRate` | `TestServed` |\n"
	goodLog           = "=== RUN   TestOnce_Always\n=== ATTR  TestOnce_Always cases 2430 calls\n=== ATTR  TestOnce_Always/x cases 7 replays\n--- PASS: TestOnce_Always (0.01s)\n    --- PASS: TestOnce_Always/x (0.00s)\n        --- PASS: TestOnce_Always/x/y/z (0.00s)\n" +
		"--- PASS: TestExact (0.00s)\n--- PASS: FuzzRead (0.00s)\nok  \ta\t0.1s\n--- PASS: TestRate (0.00s)\n--- PASS: ExampleRate (0.00s)\n--- PASS: TestServed (1.50s)\nok  \tb\t(cached)\n"
)

func TestRun(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		from, to string // a change of the log
		code     int
		want     string
	}{
		{"kept", "", "", 0, "the tests of 4 promises ran, none was skipped, and 4 figures are those of the run"},
		{"a test that did not run", "--- PASS: TestServed (1.50s)\n", "", 1, "SPECIFICATION.md, **Rate**: TestServed did not run"},
		{"a test that failed", "PASS: TestExact", "FAIL: TestExact", 1, "RELIABILITY.md, It is exact: TestExact did not run, or did not pass"},
		{"a test that was skipped", "PASS: TestRate ", "SKIP: TestRate ", 1, "TestRate was skipped"},
		{"a subtest that was skipped", "PASS: TestOnce_Always/x ", "SKIP: TestOnce_Always/x ", 1, "TestOnce_Always was skipped, or a subtest of it"},
		{"an example that did not run", "ExampleRate", "ExampleRates", 1, "ExampleRate did not run"},
		{"a fuzz target that did not run", "FuzzRead", "FuzzOther", 1, "FuzzRead did not run"},
		{"another test with this beginning", "TestExact", "TestExactly", 1, "TestExact did not run"},
		{"another figure", "cases 2430 calls", "cases 2415 calls", 1, `It is sent once: no run had "2430 calls"; TestOnce_Always had 1 subtests, and the cases ["2415 calls" "7 replays"]`},
		{"fewer than the minimum", "cases 2430 calls", "cases 1999 calls", 1, `no run had "≥ 2000 calls"`},
		{"another unit", "cases 7 replays", "cases 7 calls", 1, `no run had "7 replays"`},
		{"more subtests", "x/y/z (0.00s)\n", "x/y/z (0.00s)\n        --- PASS: TestOnce_Always/x/y (0.00s)\n        --- PASS: TestOnce_Always/x/w (0.00s)\n", 1, `no run had "1 case"`},
		{"no figure", "cases 7 replays", "", 1, `no run had "7 replays"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			log := goodLog
			if test.from != "" {
				if !strings.Contains(log, test.from) {
					t.Fatalf("the log has no %q", test.from)
				}
				log = strings.Replace(log, test.from, test.to, 1)
			}
			for name, text := range map[string]string{"docs/RELIABILITY.md": reliabilityText, "docs/SPECIFICATION.md": specificationText, "log": log} {
				path := filepath.Join(root, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			if code := run(root, []string{filepath.Join(root, "log")}, &out, &out); code != test.code || !strings.Contains(out.String(), test.want) {
				t.Errorf("exit code %d, want %d: %s", code, test.code, out.String())
			}
		})
	}
	var out strings.Builder
	if code := run(t.TempDir(), []string{"no-such-log"}, &out, &out); code != 2 {
		t.Errorf("exit code %d: %s", code, out.String())
	}
}
