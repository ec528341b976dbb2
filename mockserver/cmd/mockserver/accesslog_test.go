package main

import (
	"encoding/json"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"
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
		`^\d\d:\d\d:\d\d 200 GET    /v1/rates +[0-9.]+(µs|ms) home$`,
		`^\d\d:\d\d:\d\d 400 GET    /v1/transactions +[0-9.]+(µs|ms) home  the query parameter wallet is required: .*$`,
		`^\d\d:\d\d:\d\d 404 GET    /v1/sk_…��\[2J +[0-9.]+(µs|ms) home  no route GET .*$`,
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
