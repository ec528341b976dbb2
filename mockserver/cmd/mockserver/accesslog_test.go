package main

import (
	"encoding/json"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// logged runs serve with flags, makes three requests, one of them with a key in its path, and returns what
// stands on standard error.
func logged(t *testing.T, args ...string) string {
	t.Helper()
	d := start(t, nil, append([]string{"-json"}, args...)...)
	if strings.Count(d.printed, "\n") != 1 {
		t.Errorf("not one line: %s", d.printed)
	}
	r := d.world(t)
	for _, path := range []string{"/v1/rates?perPage=1&q=" + r.SecretKey, "/v1/transactions", "/v1/" + r.SecretKey + "%0A%1b[2J"} {
		listed(t, r, path)
	}
	d.stop()
	said := (<-d.ended).stderr
	if strings.Contains(said, strings.TrimPrefix(r.SecretKey, "sk_test_")) {
		t.Errorf("the log has the key:\n%s", said)
	}
	return said
}

func TestAccessLog_TextIsALineForEachRequest(t *testing.T) {
	t.Parallel()
	said := strings.Split(strings.TrimSuffix(logged(t, "-log", "text"), "\n"), "\n")
	want := []string{
		`^\d\d:\d\d:\d\d 200 +[0-9.]+(µs|ms) GET  /v1/rates$`,
		`^\d\d:\d\d:\d\d 400 +[0-9.]+(µs|ms) GET  /v1/transactions  the query parameter wallet is required: .*$`,
		`^\d\d:\d\d:\d\d 404 +[0-9.]+(µs|ms) GET  /v1/sk_…��\[2J  no route GET .*$`,
	}
	if len(said) != len(want) {
		t.Fatalf("%d lines:\n%s", len(said), strings.Join(said, "\n"))
	}
	for i := range want {
		if !regexp.MustCompile(want[i]).MatchString(said[i]) {
			t.Errorf("line %d is %q, want %s", i+1, said[i], want[i])
		}
	}
}

func TestAccessLog_JSONIsAnObjectForEachRequest(t *testing.T) {
	t.Parallel()
	decoder := json.NewDecoder(strings.NewReader(logged(t, "-log", "json")))
	for _, want := range []struct {
		status  int
		refused bool
	}{{200, false}, {400, true}, {404, true}} {
		var line struct {
			Method, Path, World, Refused string
			Status, Duration             int
		}
		if err := decoder.Decode(&line); err != nil {
			t.Fatal(err)
		}
		if line.Method != "GET" || line.Status != want.status || line.World != "home" || line.Duration <= 0 || (line.Refused != "") != want.refused {
			t.Errorf("%+v, want %+v", line, want)
		}
	}
	if decoder.More() {
		t.Error("there is more")
	}
}

func TestAccessLog_IsForThoseWhoLook(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"off", "auto"} {
		if said := logged(t, "-log", form); said != "" {
			t.Errorf("-log %s: %s", form, said)
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if isTerminal(null) {
		t.Error("nobody reads the null device")
	}
}

// On a terminal of 80 columns every line fits, and a reason is read below its request.
func TestAccessLog_FitsATerminal(t *testing.T) {
	t.Parallel()
	requests := []struct {
		method, path, world, fault, refused string
		status                              int
		took                                time.Duration
	}{
		{"GET", "/v1/regulatory-documents/request/RD-CZUEJYRRMAIQMUZS", "home", "", "", 200, 35 * time.Microsecond},
		{"POST", "/v1/webhooks/replay", "lowfunds_ci42", "", "", 200, 13_326 * time.Microsecond},
		{"GET", "/v1/ratez", "home", "", "no route GET /v1/ratez: every path begins with /v1 and has no empty or dot segments and no trailing slash", 404, 22 * time.Microsecond},
		{"GET", "/v1/rates", "home", "drop by rule 1", "", 0, 161 * time.Microsecond},
		{"GET", "/v1/rates", "home", "", strings.Repeat("x", 90) + " a b", 400, 2 * time.Second},
	}
	var out strings.Builder
	logger := slog.New(&lines{out: &out, terminal: true})
	for _, r := range requests {
		attributes := []any{"method", r.method, "path", r.path, "status", r.status, "duration", r.took, "world", r.world}
		if r.fault != "" {
			attributes = append(attributes, "fault", r.fault)
		}
		if r.refused != "" {
			attributes = append(attributes, "refused", r.refused)
		}
		logger.Info("request", attributes...)
	}
	got := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d`).ReplaceAllString(out.String(), "14:03:07")
	want := `14:03:07 200    35µs GET  /v1/regulatory-documents/request/RD-CZUEJYRRMAIQMUZS
14:03:07 200 13.33ms POST /v1/webhooks/replay  in lowfunds_ci42
14:03:07 404    22µs GET  /v1/ratez
         no route GET /v1/ratez: every path begins with /v1 and has no empty or
         dot segments and no trailing slash
14:03:07 ---   161µs GET  /v1/rates
         drop by rule 1
14:03:07 400      2s GET  /v1/rates
         ` + strings.Repeat("x", 90) + `
         a b
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	coloured := &lines{terminal: true, coloured: true}
	if got := coloured.reason("why"); got != "\x1b[2m\n         why\x1b[0m" {
		t.Errorf("a reason is %q", got)
	}
}

func TestAccessLog_ColoursStatusesUnlessAskedNotTo(t *testing.T) {
	t.Parallel()
	coloured := &lines{coloured: true}
	for status, want := range map[int64]string{200: "32", 304: "36", 404: "33", 503: "31", 0: "31"} {
		if got := coloured.colour(status, "x"); got != "\x1b["+want+"mx\x1b[0m" {
			t.Errorf("%d is %q", status, got)
		}
	}
	var handler slog.Handler = accessLog("text", program{stderr: new(strings.Builder), getenv: func(string) string { return "1" }})
	if handler.(*lines).coloured {
		t.Error("coloured without a terminal")
	}
}
