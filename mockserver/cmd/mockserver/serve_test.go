package main

import (
	"bufio"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/shell"
)

func TestServe_PrintsOneLineOfJSONOnceReady(t *testing.T) {
	t.Parallel()
	d := start(t, nil, "-json", "-clock", "virtual")
	shippingtest.Diff(t, "lines", 1, strings.Count(d.printed, "\n"))
	r := d.world(t)
	if len(r.Wallets) == 0 || len(r.Shipments) == 0 || len(r.Invoices) == 0 || r.Console == "" ||
		len(r.Webhooks) != 3 { // a replay reaches no other webhook
		t.Errorf("something is missing: %+v", r)
	}
	shippingtest.Contains(t, "an empty world", start(t, nil, "-json", "-scenario", "empty").printed, `"webhooks":[]`)
	listed(t, r, "/v1/rates")
	resp := shippingtest.Must(http.Post(r.URL+"/_mock/clock/advance", "application/json",
		strings.NewReader(`{"duration":"1h"}`)))(t)
	defer resp.Body.Close()
	shippingtest.Contains(t, "clock", shippingtest.Must(io.ReadAll(resp.Body))(t), "2026-01-05T10:30:00")
	d.stop()
	if ended := <-d.ended; ended.code != exitOK || ended.stderr != "" {
		t.Errorf("stopped with %+v", ended)
	}
}

// listed returns the response to a request with the key of the world, which must be 200.
func listed(t *testing.T, r ready, path string) []byte {
	t.Helper()
	req := shippingtest.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, r.URL+path, nil))(t)
	req.Header.Set("Authorization", "Bearer "+r.SecretKey)
	resp := shippingtest.Must(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%s, %v", resp.Status, err)
	}
	return body
}

func TestServe_WarnsWhenOtherMachinesCanReachIt(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]bool{"127.0.0.1:4010": true, "[::1]:0": true, ":4010": false, "192.0.2.7:80": false,
		"nonsense": false} {
		shippingtest.Diff(t, addr, want, isLoopback(addr))
	}
	d := start(t, nil, "-json", "-addr", ":0")
	d.stop()
	shippingtest.Contains(t, "warning", (<-d.ended).stderr, "can be reached from other machines")
}

// underWay opens a request whose body does not come to its end, and returns once the server reads it.
func underWay(t *testing.T, r ready) net.Conn {
	t.Helper()
	conn := shippingtest.Must(net.Dial("tcp", strings.TrimPrefix(r.URL, "http://")))(t)
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST /v1/webhooks/replay HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+
		"%s\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", r.SecretKey)
	line := shippingtest.Must(bufio.NewReader(io.LimitReader(conn, 25)).ReadString('\n'))(t)
	shippingtest.Contains(t, "the interim response", line, "100 Continue")
	return conn
}

// A signal lets no new request in, and the server ends when those under way have their response. If it closed its
// connections first, a purchase would be made without a response.
func TestServe_FinishesRequestsUnderWayBeforeItStops(t *testing.T) {
	t.Parallel()
	d := start(t, nil, "-json")
	r := d.world(t)
	conn := underWay(t, r)
	d.stop()
	for { // it has begun to stop once nobody new is let in
		other, err := net.Dial("tcp", strings.TrimPrefix(r.URL, "http://"))
		if err != nil {
			break
		}
		other.Close()
	}
	select {
	case ended := <-d.ended:
		t.Fatalf("stopped with a request under way: %+v", ended)
	default:
	}
	shippingtest.Must(io.WriteString(conn, "{}"))(t)
	resp := shippingtest.Must(http.ReadResponse(bufio.NewReader(conn), nil))(t)
	defer resp.Body.Close()
	shippingtest.Diff(t, "status", http.StatusBadRequest, resp.StatusCode)
	if ended := <-d.ended; ended.code != exitOK || ended.stderr != "" {
		t.Errorf("stopped with %+v", ended)
	}
}

// serve prints the token unless it was given, which would write a secret to a log. The other commands send it.
func TestServe_PrintsTheToken(t *testing.T) {
	t.Parallel()
	own := start(t, nil, "-json", "-addr", ":0").world(t)
	if len(own.Token) < 20 || !strings.HasPrefix(own.URL, "http://127.0.0.1:") ||
		own.Console != own.URL+"/_mock/?token="+own.Token {
		t.Errorf("printed %+v", own)
	}
	for _, form := range []string{"-json", "-verbose"} {
		given := start(t, map[string]string{"MOCKSERVER_TOKEN": "of-the-environment"}, form).printed
		if strings.Contains(given, "of-the-environment") || !strings.Contains(given, "/_mock/") {
			t.Errorf("printed %s", given)
		}
	}
	shippingtest.Contains(t, "banner", start(t, nil).printed, "/_mock/?token=")
	var sent string
	remote := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		sent = r.Header.Get("X-Mock-Token")
	}))
	defer remote.Close()
	invoke(t, nil, "env", "-url", remote.URL, "-token", "of-the-flag")
	shippingtest.Diff(t, "token that env sends", "of-the-flag", sent)
}

// Files, presets and fields of a dialect can be set by a flag; each overrides those before it.
func TestServe_TakesADialect(t *testing.T) {
	t.Parallel()
	file := file(t, "service.json", `{"version":1,"list":{"max_per_page":7},"time":{"generation":0.5}}`)
	settings := "strict,contrary," + file +
		",list.max_per_page=2,offer.beside=vat,fees,list.order=newest first"
	r := start(t, nil, "-json", "-dialect", settings).world(t)
	var envelope struct {
		Data []struct{ Field, Value string }
	}
	shippingtest.NoError(t, json.Unmarshal(listed(t, r, "/_mock/dialect"), &envelope))
	got := map[string]string{}
	for _, row := range envelope.Data {
		got[row.Field] = row.Value
	}
	for name, want := range map[string]string{"list.max_per_page": "2", "offer.beside": "vat,fees",
		"list.order": "newest first", "request.unknown_fields": "refused", "record.at": "request", "time.generation": "0.5"} {
		shippingtest.Diff(t, name, want, got[name])
	}
}

// A server that a test program started and did not stop ran until it was killed. With -stdin it stops when the program
// has ended, which closes its end of the pipe; without, an input that is at its end, such as /dev/null, stops nothing.
func TestServe_StopsWhenItsInputEnds(t *testing.T) {
	t.Parallel()
	input, program := io.Pipe()
	d := startReading(t, input, nil, "-json", "-stdin")
	listed(t, d.world(t), "/v1/rates")
	program.Close()
	if ended := <-d.ended; ended.code != exitOK || ended.stderr != "" {
		t.Errorf("stopped with %+v", ended)
	}
	listed(t, start(t, nil, "-json").world(t), "/v1/rates")
}

// Worlds of programs that were killed stayed open until a restart.
func TestServe_ClosesIdleWorlds(t *testing.T) {
	t.Parallel()
	d := start(t, nil, "-json", "-close-idle", "50ms")
	r := d.world(t)
	r.SecretKey = "sk_test_virtual_killed"
	listed(t, r, "/v1/rates")
	for open := []any{nil, nil}; len(open) > 1; {
		shippingtest.NoError(t, json.Unmarshal(listed(t, d.world(t), "/_mock/worlds"), &struct{ Data *[]any }{&open}))
	}
}

// env prints commands for a shell, with the settings of a world of a running server. Without a server, the settings of
// a seed are those that serve prints.
func TestEnv(t *testing.T) {
	t.Parallel()
	r := start(t, nil, "-json", "-seed", "5").world(t)
	got := invoke(t, nil, "env", "-url", r.URL+"/").want(t, exitOK).stdout
	want := "export SHIPPING_BASE_URL=" + r.URL + "\nexport SHIPPING_SECRET_KEY=" + r.SecretKey +
		"\nexport SHIPPING_WALLET=" + r.Wallets[0] + "\n"
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	running, served := asked(t, "-url", r.URL), environ(r)
	shippingtest.Diff(t, "of the server", served, running)
	served["SHIPPING_BASE_URL"] = "http://127.0.0.1:4010"
	shippingtest.Diff(t, "of the seed", served, asked(t, "-seed", "5"))
	empty := invoke(t, map[string]string{"MOCKSERVER_SEED": "", "MOCKSERVER_JSON": "true"}, "env").want(t, exitOK).stdout
	first := invoke(t, nil, "env", "-json", "-seed", "1").want(t, exitOK).stdout
	shippingtest.Diff(t, "with an empty variable", first, empty)

	opened := strings.NewReader(`{"name":"ci42","scenario":"empty"}`)
	resp := shippingtest.Must(http.Post(r.URL+"/_mock/worlds", "application/json", opened))(t)
	resp.Body.Close()
	other := asked(t, "-url", r.URL, "-world", "empty_ci42")
	if !strings.Contains(other["SHIPPING_SECRET_KEY"], "ci42") || other["SHIPPING_SHIPMENT"] != "" {
		t.Errorf("%v", other)
	}
	invoke(t, nil, "env", "-url", r.URL, "-world", "empty_ci24").want(t, exitFailure, `no world "empty_ci24"`,
		"such as empty_ci42")
}

func asked(t *testing.T, args ...string) (settings map[string]string) {
	t.Helper()
	got := invoke(t, nil, append([]string{"env", "-json"}, args...)...).want(t, exitOK)
	shippingtest.NoError(t, json.Unmarshal([]byte(got.stdout), &settings))
	return settings
}

func TestReady_ExitCode(t *testing.T) {
	t.Parallel()
	r := start(t, nil, "-json").world(t)
	for _, address := range []string{r.URL, r.URL + "/", r.URL + "/v1", r.URL + "/v1/"} {
		got := invoke(t, nil, "ready", address).want(t, exitOK)
		shippingtest.Diff(t, address, "", got.stdout+got.stderr)
	}
	invoke(t, map[string]string{"SHIPPING_BASE_URL": r.URL}, "ready").want(t, exitOK)
	listening := map[string]string{"MOCKSERVER_ADDR": "0.0.0.0" + strings.TrimPrefix(r.URL, "http://127.0.0.1")}
	invoke(t, listening, "ready").want(t, exitOK) // as in a container, with the settings of serve
	nobody := "http://" + taken(t)
	invoke(t, nil, "ready", nobody).want(t, exitFailure, "no mockserver responds on "+nobody, "mockserver serve")
	invoke(t, nil, "ready", nobody, "--wait", "30ms").want(t, exitFailure, "no mockserver responds")
	for _, wrong := range []string{"127.0.0.1:4010", "ftp://host", "http://", "http://user:secret@host", "http://host?x=1",
		"http://a b"} {
		got := invoke(t, nil, "ready", wrong).want(t, exitFailure, "base address")
		if strings.Contains(got.stderr, "secret@") {
			t.Errorf("a password is shown: %s", got.stderr)
		}
	}
}

// Each value of the banner is quoted for a shell, and a terminal acts on nothing. Package journal tests more values.
func TestServe_TheBannerIsQuoted(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"it's", "$(touch made)", "a;touch\nmade", "\x1b[2J", "\u009b2J"} {
		var out strings.Builder
		shippingtest.NoError(t, greet(&out, ready{URL: "http://127.0.0.1:1", SecretKey: value, Token: value, CA: value,
			Wallets: []string{value}, Shipments: []string{value}, Console: "http://127.0.0.1:1/_mock/"}))
		quoted := strings.NewReplacer(shell.Quote("Authorization: Bearer "+value), "", shell.Quote("X-Mock-Token: "+value),
			"", shell.Quote(`{"shipment_id":"`+value+`"}`), "", shell.Quote(value), "")
		if left := quoted.Replace(out.String()); strings.Contains(left, value) || !shell.Visible(out.String()) {
			t.Errorf("%q: %s", value, &out)
		}
		lines := "  export SHIPPING_SECRET_KEY=" + shell.Quote(value) + "\n  export SHIPPING_WALLET=" + shell.Quote(value)
		if n := strings.Count(out.String(), shell.Quote("Authorization: Bearer "+value)); n != 3 ||
			!strings.Contains(out.String(), lines) || !strings.Contains(out.String(), "Ctrl-C") {
			t.Errorf("%d commands of curl: %s", n, &out)
		}
	}
	empty := start(t, nil, "-scenario", "empty").printed
	if !strings.Contains(empty, "/v1/rates") || strings.Contains(empty, `shipment_id":""`) ||
		strings.Contains(empty, "SHIPPING_SHIPMENT=") {
		t.Errorf("the banner of an empty world:\n%s", empty)
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
	for _, args := range [][]string{{"conform", forger.URL, "-write"}, {"doctor", forger.URL, "-patience", "1m"},
		{"env", "-url", forger.URL}} {
		got := invoke(t, env, args...)
		if strings.ContainsFunc(got.stdout+got.stderr, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Errorf("%v prints %q", args, got.stdout+got.stderr)
		}
	}
	var stderr strings.Builder
	run(t.Context(), []string{"ready", "a\x1b[2Jb"}, environment{get: os.Getenv}, nil, &stderr, &stderr)
	shippingtest.Contains(t, "standard error", &stderr, `"a\x1b[2Jb"`)
}

// TestMain lets the binary of the tests be the command: a process reads the certificates that it trusts only once.
func TestMain(m *testing.M) {
	if os.Getenv("MOCKSERVER_IS_THE_COMMAND") != "" {
		main()
	}
	if err := flag.Set("test.parallel", "8"); err != nil { // most tests wait for processes
		panic(err)
	}
	os.Exit(m.Run())
}

// Every command that sends requests to a server also does so over https.
func TestTLS_CommandsTrustACA(t *testing.T) {
	t.Parallel()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	r := start(t, nil, "-json", "-tls", "-tls-ca", ca).world(t)
	if !strings.HasPrefix(r.URL, "https://127.0.0.1:") || r.CA != ca {
		t.Fatalf("%+v", r)
	}
	localhost := strings.Replace(r.URL, "127.0.0.1", "localhost", 1)
	invoke(t, nil, "ready", r.URL).want(t, exitFailure, "or name it with -tls-ca")
	for _, args := range [][]string{{"ready", r.URL}, {"ready", localhost}, {"env", "-url", r.URL}, {"conform", r.URL}} {
		invoke(t, environ(r), args...).want(t, exitFailure, "set SSL_CERT_FILE")
		trusting(t, ca, r, args...).want(t, exitOK)
	}
	invoke(t, map[string]string{
		"MOCKSERVER_ADDR": strings.TrimPrefix(r.URL, "https://"), "MOCKSERVER_TLS": "true", "MOCKSERVER_TLS_CA": ca,
	}, "ready").want(t, exitOK)
	receiver := httptest.NewTLSServer(noContent)
	t.Cleanup(receiver.Close)
	invoke(t, nil, "doctor", receiver.URL, "-key", "k").want(t, exitFailure, "set SSL_CERT_FILE")
	trusting(t, file(t, "ca.pem", certificate(receiver)), r, "doctor", receiver.URL, "-patience",
		"1m").want(t, exitFailure, "BAD   bad signature")
}

// trusting runs a command line in a process that trusts a certificate.
func trusting(t *testing.T, ca string, r ready, args ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "MOCKSERVER_IS_THE_COMMAND=1", caVariable+"="+ca)
	for name, value := range environ(r) {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, _ := cmd.CombinedOutput() // the error is the exit code
	return outcome{code: cmd.ProcessState.ExitCode(), stdout: string(out)}
}

func certificate(server *httptest.Server) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

// Without -tls-ca the certificate is in a temporary file that serve prints, and is removed with the server.
func TestTLS_ItsCertificateGoesWithTheServer(t *testing.T) {
	t.Parallel()
	d := start(t, nil, "-json", "-tls")
	ca := d.world(t).CA
	shippingtest.Must(os.Stat(ca))(t)
	d.stop()
	(<-d.ended).want(t, exitOK)
	if _, err := os.Stat(ca); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", ca, err)
	}
	shippingtest.Contains(t, "greeting", start(t, nil, "-tls").printed, "--cacert ", "https://127.0.0.1:")
	invoke(t, nil, "serve", "-addr", "127.0.0.1:0", "-tls", "-tls-ca",
		filepath.Join(t.TempDir(), "no", "ca.pem")).want(t, exitFailure, "-tls-ca")
}
