//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// hostile are values that a shell, a reader of .env files or a terminal could interpret.
var hostile = []string{
	"plain", "it's", `"`, `\`, `\'`, "$(touch made)", "`touch made`", "$HOME", "a;touch made", "a b", "#a", "a#b", "-o", "@/etc/passwd", "~", "*", "!!", "a=b", "é",
}

// Each command of the banner is a single call of curl, whatever values a state file put into the world.
func TestServe_TheBannerIsQuoted(t *testing.T) {
	t.Parallel()
	for _, value := range append([]string{"a\nb", "\x1b[2J", "\u009b2J"}, hostile...) {
		var out strings.Builder
		err := greet(&out, ready{URL: "http://127.0.0.1:1", SecretKey: value, Wallets: []string{value},
			Shipments: []string{value}, CA: value, Console: "http://127.0.0.1:1/_mock/"})
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(out.String(), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Errorf("a terminal would act on %q", &out)
		}
		_, commands, _ := strings.Cut(out.String(), "\n")
		commands, _, _ = strings.Cut(commands, "\nFor curl")
		dir := t.TempDir()
		// A function, because a file that was just written can be busy when another test starts a process.
		const curl = `curl() { echo >>runs; for a in "$@"; do printf '%s\0' "$a"; done >>arguments; }`
		sh := exec.CommandContext(t.Context(), "/bin/sh", "-c", curl+"\n"+commands)
		sh.Dir, sh.Env = dir, []string{"PATH=/usr/bin:/bin"}
		if said, err := sh.CombinedOutput(); err != nil || len(said) > 0 {
			t.Fatalf("%v %s: %s", err, said, commands)
		}
		arguments, err := os.ReadFile(filepath.Join(dir, "arguments"))
		if err != nil {
			t.Fatal(err)
		}
		runs, err := os.ReadFile(filepath.Join(dir, "runs"))
		if err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(map[string]string{"shipment_id": value})
		if err != nil {
			t.Fatal(err)
		}
		made, err := os.ReadDir(dir)
		if err != nil || string(runs) != "\n\n\n" || len(made) != 2 ||
			strings.Count(string(arguments), "Authorization: Bearer "+value+"\x00") != 3 ||
			!strings.Contains(string(arguments), "\x00"+string(body)+"\x00") {
			t.Errorf("%q: %d runs with %q leave %q", value, len(runs), arguments, made)
		}
	}
}

// Text from a service reaches the terminal without escape sequences.
func TestReports_HoldNoEscapeSequences(t *testing.T) {
	t.Parallel()
	forger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write([]byte(`{"status":true,"message":"` + `\u001b]0;forged\u0007` +
			`","data":{"request_id":"\u001b[2J","rates":"\u009b2J","pagination":{}}}`))
	}))
	t.Cleanup(forger.Close)
	env := map[string]string{"SHIPPING_SECRET_KEY": "sk_test_1", "SHIPPING_WALLET": "VA-1", "SHIPPING_SHIPMENT": "SH-1"}
	for _, args := range [][]string{{"conform", forger.URL, "-write"}, {"doctor", forger.URL, "-patience", "1s"},
		{"env", "-url", forger.URL}} {
		got := invoke(t, env, args...)
		if strings.ContainsFunc(got.stdout+got.stderr, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Errorf("%v prints %q", args, got.stdout+got.stderr)
		}
	}
	var stderr strings.Builder
	if run(t.Context(), []string{"ready", "a\x1b[2Jb"}, os.Getenv, nil, &stderr,
		&stderr); !strings.Contains(stderr.String(), `"a\x1b[2Jb"`) {
		t.Errorf("%q", &stderr)
	}
}
