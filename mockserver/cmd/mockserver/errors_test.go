package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/doctor"
	"github.com/shipping-go/shipping/webhook"
)

// A command line that is wrong, or cannot be carried out, ends with its exit code and a text on standard error.
func TestRun_Errors(t *testing.T) {
	t.Parallel()
	busy, running := taken(t), strings.TrimPrefix(start(t, nil, "-json").world(t).URL, "http://")
	bad := file(t, "bad.json", `{"offer":{"amout":"price"}}`)
	const noRequest = "It sent no request"
	for _, test := range []struct {
		line string // {busy}, {running} and {bad} are replaced
		code int
		want string
	}{
		{"", exitUsage, "mockserver COMMAND [flags]"},
		{"sevre", exitUsage, `unknown command "sevre": did you mean serve?` + "\nsee mockserver help\n"},
		{"help docter", exitUsage, "did you mean doctor?"},
		{"serve -adr x", exitUsage, "mockserver: serve has no flag -adr: did you mean -addr?\nsee mockserver help serve\n"},
		{"serve now", exitUsage, `takes no argument "now"`},
		{"serve -port 80", exitUsage, "serve has no flag -port: write the port in -addr, such as -addr 127.0.0.1:4010"},
		{"conform -url http://127.0.0.1:1", exitUsage, "conform has no flag -url: write the URL as the last argument"},
		{"env http://127.0.0.1:1", exitUsage, `env takes no argument "http://127.0.0.1:1": write it after -url`},
		{"serve -seed x", exitUsage,
			`invalid value "x" for flag -seed: write a whole number that is not negative, such as 7`},
		{"conform -shipment -write", exitUsage, "for flag -shipment: -shipment has no value"},
		{"serve -clock virtal", exitUsage, "choose real or virtual: did you mean virtual?"},
		{"conform http://127.0.0.1:1", exitUsage, "-key or SHIPPING_SECRET_KEY"},
		{"doctor", exitUsage, "no URL given"},
		{"doctor localhost:80", exitFailure, `"localhost:80" has no scheme: write "http://localhost:80" (with the path of ` +
			"the receiver, such as http://127.0.0.1:8080/hooks)"},
		{"env -world ci42", exitUsage, "add -url"},

		{"sweep", exitUsage, "name the program"},
		{"sweep -faults lost -- go", exitUsage, `unknown fault "lost"`},
		{"sweep -only purchase -- go", exitUsage, "write it as regulatory.purchase#1:lost-after"},
		{"sweep -only regulatory.purchase#1:killed -- go", exitUsage, "needs -restart"},
		{"sweep -patience 0 -only regulatory.purchase#1:late -- go", exitUsage, "the fault late needs -patience"},
		{`sweep -goal {"file":[]} -- go`, exitUsage, `write it as {"documents": `},
		{"sweep -goal no-such-goal.json -- go", exitUsage, "no-such-goal.json"},
		{"sweep -setup no-such-setup.json -- go", exitUsage, "no-such-setup.json"},
		{`sweep -goal {"files":["../x"]} -- go`, exitUsage, "is not the name of a file in {dir}"},
		{"sweep -patience 1d -- go", exitUsage, `invalid value "1d" for flag -patience: write a time with a unit, such as ` +
			"2s, 500ms or 1m30s; a day is 24h"},
		{"sweep -timeout=soon -- go", exitUsage, `invalid value "soon" for flag -timeout: write a time with a unit`},
		{"sweep -max-runs all -- go", exitUsage, `invalid value "all" for flag -max-runs: write a whole number`},
		{"sweep -pairs=maybe -- go", exitUsage, `invalid value "maybe" for flag -pairs: write true or false`},
		{"sweep -dialect list.nothing=1 -- go", exitUsage, `unknown field "list.nothing"`},
		// These had no effect, or made a finding about a program without a mistake.
		{"sweep -allow foo -- go", exitUsage, `-allow: unknown rule "foo": use one of repeated-refusal, `},
		{"sweep -only regulatory.purchase#1:refused -pairs -- go", exitUsage, "-pairs does nothing with -only"},
		{"sweep -only regulatory.purchase#1:refused -faults drop -- go", exitUsage, "-faults does nothing with -only"},
		{`sweep -goal {"documents":{"{shipment}":["CUSTOMSS"]}} -- go`, exitUsage,
			`-goal: unknown document type "CUSTOMSS": did you mean "CUSTOMS"?`},
		{`sweep -goal {"documents":{"SH-NO":["CUSTOMS"]}} -- go`, exitUsage, `no shipment "SH-NO"`},
		{"sweep -notify http://127.0.0.1:8080/ -- go", exitUsage, "-notify needs {port}"},
		{"sweep -- go {shipmnt}", exitUsage, "unknown placeholder {shipmnt}: did you mean {shipment}?"},
		{"sweep -- ./no-such-program", exitFailure, "cannot start the program: "},
		{"sweep -- {dir}", exitFailure, "cannot start the program: "},
		{"sweep -- go no-such-subcommand", exitFailure,
			"fails without faults (exit code 2): correct the error in its output. " + noRequest},
		{"sweep -- go version", exitFailure, "it sent no request to the reference server: let it read " +
			"the address of the service from SHIPPING_BASE_URL"},
		{"sweep -scenario nowhere -- go", exitFailure, "nowhere"},

		{"serve -addr {busy}", exitFailure, "{busy} is used by another program: stop it, or use a free port with -addr " +
			"127.0.0.1:0"},
		{"serve -addr {running}", exitFailure, "{running} is used by another mockserver"},
		{"serve -addr 4010", exitFailure, `"4010" is only a port: write 127.0.0.1:4010, or :4010`},
		{"serve -addr nowhere", exitFailure, "cannot listen on nowhere: listen tcp: address nowhere: missing port in " +
			"address; write a host and a port, such as 127.0.0.1:4010"},
		{"serve -addr http://{busy}", exitFailure, "; write a host and a port, such as 127.0.0.1:4010"},
		{"serve -addr {busy} -token {ends}", exitFailure, "the token begins or ends with a space or a line break"},
		{"serve -addr {busy} -hosts ok,http://a.test", exitFailure, `the host "http://a.test" can never match: write only ` +
			"a name or an address, such as mock.internal, without scheme, port, path, space or *"},
		{"serve -addr {busy} -hosts a.test:4010", exitFailure, `the host "a.test:4010" can never match`},
		{"serve -addr {busy} -hosts *.test", exitFailure, `the host "*.test" can never match`},
		{"serve -addr {busy} -hosts {most}", exitFailure, `the host "9000.00 NGN" can never match`},
		{"serve -addr {busy} -tls-ca ca.pem", exitFailure, "warning: -tls-ca does nothing without -tls\n"},
		{"serve -addr {busy} -close-idle -1m", exitUsage, "-close-idle"},
		// An option is checked before the server listens: a mistake was hidden behind the error of an address in use.
		{"serve -addr {busy} -dialect {bad}", exitFailure, `bad.json: unknown member "offer.amout": did you mean "amount"?`},
		{"serve -addr {busy} -dialect none.json", exitFailure, "name an existing file (.json or .dialect), or write " +
			"contrary, strict or FIELD=VALUE"},
		{"serve -addr {busy} -dialect list.max_per_pge=2", exitFailure, `did you mean "list.max_per_page"?`},
		{"serve -addr {busy} -scenario lots", exitFailure, `unknown scenario "lots"`},
		{"conform http://127.0.0.1:1 -key k -dialect nowhere", exitFailure,
			`unknown dialect "nowhere": use one of contrary, reference, standard-webhooks, strict, or an existing file`},
		{"ready https://{running}", exitFailure, "does not use TLS: use http://{running}, or start the server with -tls"},

		{"conform http://127.0.0.1:1 -key sk_live_1 -write", exitFailure,
			"-write makes changes, and a live key is refused: use a test key"},
		{"conform http://127.0.0.1:1 -key sk_live_1 -second-purchase", exitFailure, "use a test key"},
		{"conform nowhere -key k", exitFailure, "invalid base address"},
		{"conform http://127.0.0.1:1 -key k -write -most 5", exitFailure, "a purchase needs -write, -purchase and -most"},
		{"conform http://127.0.0.1:1 -key k -second-purchase", exitFailure, "a purchase needs -write, -purchase and -most"},
		{"conform http://127.0.0.1:1 -key k -purchase FDA -most 5", exitFailure, "a purchase needs -write, -purchase and"},
		{"conform http://127.0.0.1:1 -key k -write -purchase FDA -most naira", exitUsage,
			`the currency, such as "150.00 NGN"`},
		{"conform http://127.0.0.1:1 -key k -write -purchase FDA -most 50", exitUsage,
			`-most: needs an amount and a currency of three letters, with one space, such as "150.00 NGN"`},
		// The reason was one of 38 in the whole report.
		{"conform http://127.0.0.1:1 -key k -write -purchase FDA -most {most}", exitFailure,
			"-purchase needs -shipment or -invoice; nothing was sent"},
		{"env -url http://{busy}", exitFailure, "no mockserver responds"},
		{"env -url 4010", exitFailure, "invalid base address"},
	} {
		t.Run(test.line, func(t *testing.T) {
			t.Parallel()
			replaced := strings.NewReplacer("{busy}", busy, "{running}", running, "{bad}", bad, "{most}", "9000.00 NGN",
				"{ends}", "a\n")
			args := strings.Fields(test.line)
			for i := range args {
				args[i] = replaced.Replace(args[i])
			}
			got := invoke(t, nil, args...).want(t, test.code)
			if want := replaced.Replace(test.want); !strings.Contains(got.stderr, want) || got.stdout != "" {
				t.Errorf("standard output:\n%s\nstandard error:\n%s\nwant %q", got.stdout, got.stderr, want)
			}
			if test.code == exitUsage && strings.HasPrefix(test.line, "sweep") {
				got.want(t, exitUsage, "see mockserver help sweep")
			}
		})
	}
	// A misspelt variable was ignored. The others are set by the image, or by Kubernetes for a service of this name.
	variables := map[string]string{"MOCKSERVER_SEDE": "7", "MOCKSERVER_TLS_CA": "ca.pem", "MOCKSERVER_WAIT": "1s",
		"MOCKSERVER_PORT": "tcp://10.0.0.1:80", "MOCKSERVER_SERVICE_HOST": "10.0.0.1", "MOCKSERVER_ADDR": "nowhere"}
	got := invoke(t, variables, "serve").want(t, exitFailure,
		"warning: MOCKSERVER_SEDE does nothing: did you mean MOCKSERVER_SEED?\n")
	shippingtest.Diff(t, "warnings", 1, strings.Count(got.stderr, "warning"))
	// The message contained the name of a type of Go.
	for name, want := range map[string]string{
		"SEED":       "seed: write a whole number that is not negative, such as 7\n",
		"CLOSE_IDLE": "close-idle: write a time with a unit, such as 2s, 500ms or 1m30s; a day is 24h\n",
		"TLS":        "tls: write true or false\n",
	} {
		variables = map[string]string{variablePrefix + name: "5x"}
		invoke(t, variables, "serve").want(t, exitUsage, `could not parse "5x" from `+variablePrefix+name+" for flag "+want)
	}
}

// A service that responds with something else is reported by each command.
func TestRun_AnotherService(t *testing.T) {
	t.Parallel()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`[]`))
	}))
	t.Cleanup(broken.Close)
	env := map[string]string{"SHIPPING_SECRET_KEY": "sk_test_1"}
	invoke(t, env, "conform", broken.URL).want(t, exitFailure, "FAIL", "the body is not a JSON object")
	invoke(t, env, "conform", "http://"+taken(t)).want(t, exitFailure, "no response from")
	invoke(t, nil, "env", "-url", broken.URL).want(t, exitFailure, "not from a mockserver")
}

// taken returns an address on which another program listens.
func taken(t *testing.T) string {
	t.Helper()
	listener := shippingtest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { listener.Close() })
	go func() { // hang up on whoever asks
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	return listener.Addr().String()
}

// environ is the settings of a world as a program has them in its environment.
func environ(r ready) map[string]string {
	env := map[string]string{}
	for _, s := range r.settings() {
		env[s.name] = s.value
	}
	return env
}

// fast generates documents in a hundredth of their time.
const fast = "time.generation=0.01"

// conform reports its requests and the checks that it could not make, and its exit code shows the latter.
func TestConform_TheServerConformsToTheSpecification(t *testing.T) {
	t.Parallel()
	r := start(t, nil, "-json", "-dialect", fast).world(t)
	env := environ(r)
	buys := []string{"conform", "-write", "-purchase", "CUSTOMS", "-most", "9000.00 NGN"}
	got := invoke(t, env, append(buys, "-second-purchase", "-refused-purchases", "-json", r.URL+"/v1")...).want(t, exitOK)
	var report conformance.Report
	shippingtest.NoError(t, json.Unmarshal([]byte(got.stdout), &report))
	if !report.Writes || report.BaseURL != r.URL || report.Count(conformance.Skipped) != 0 ||
		len(report.Purchases) != 5 || report.Count(conformance.Unseen) == 0 || strings.Contains(got.stdout, r.SecretKey) {
		t.Errorf("%s", got.stdout)
	}
	got = invoke(t, env, append(buys, "-v")...).want(t, exitOK, " 0 failed, 0 not run", "-second-purchase",
		"Open points of the specification", "Rules that no run can check", "the wallet paid 5904.16")
	shippingtest.Diff(t, "purchases", 1, strings.Count(got.stdout, "a purchase was sent: "))
	got = invoke(t, env, "conform", "-write").want(t, exitOK, " 0 failed, 0 not run", "nothing was spent")
	shippingtest.Diff(t, "lines", 2, strings.Count(got.stdout, "\n"))
	delete(env, "SHIPPING_SHIPMENT")
	invoke(t, env, "conform").want(t, exitOK, "read-only")
	delete(env, "SHIPPING_WALLET")
	invoke(t, env, "conform", "-json").want(t, exitIncomplete, `"not run"`, "needs a wallet: -wallet")
}

// A file of a service that has decided otherwise fails.
func TestConform_ChecksTheDialect(t *testing.T) {
	t.Parallel()
	env, file := environ(start(t, nil, "-json", "-dialect", fast).world(t)), filepath.Join(t.TempDir(), "service.json")
	shippingtest.NoError(t, os.WriteFile(file, []byte(`{"list":{"max_per_page":50}}`), 0o600))
	invoke(t, env, "conform", "-dialect", file).want(t, exitFailure, `the dialect declares "50"`)
	invoke(t, env, "conform", "-dialect", file+",list.max_per_page=10000").want(t, exitOK)
	// A file whose name does not show that it is one was refused.
	plain := strings.TrimSuffix(file, ".json")
	shippingtest.NoError(t, os.Rename(file, plain))
	invoke(t, env, "conform", "-dialect", "reference,"+plain).want(t, exitFailure, `the dialect declares "50"`)
	invoke(t, env, "conform", "-dialect", "offer.beside=vat,"+plain).want(t, exitOK) // an element of the list
}

func TestDoctor_ScorecardAndExitCode(t *testing.T) {
	t.Parallel()
	careless := httptest.NewServer(noContent)
	t.Cleanup(careless.Close)
	invoke(t, nil, "doctor", careless.URL, "-key", "k", "-patience", "1m").want(t, exitFailure, "Receiver "+careless.URL,
		"BAD   bad signature", "Anyone could send you events")
	got := invoke(t, map[string]string{"SHIPPING_SECRET_KEY": "k"}, "doctor", "-json", "-patience", "1m",
		careless.URL).want(t, exitFailure)
	var card doctor.Scorecard
	shippingtest.NoError(t, json.Unmarshal([]byte(got.stdout), &card))
	if card.Bad == 0 || card.Good+card.Bad+card.Skipped != len(card.Findings) {
		t.Errorf("%s", got.stdout)
	}
}

// The doctor of this module finds its receiver well; internal/doctor does so for each scheme of signatures.
func TestDoctor_FindsTheReceiverOfThisModuleWell(t *testing.T) {
	t.Parallel()
	receiver := shippingtest.Must(webhook.NewReceiver(func(context.Context, *webhook.Notification) error { return nil },
		webhook.WithKeys("k", "older"), webhook.WithDialect(dialect.Contrary()), webhook.WithLimits(1<<20,
			5*time.Second)))(t)
	srv := httptest.NewServer(receiver)
	t.Cleanup(func() {
		srv.Close()
		shippingtest.NoError(t, receiver.Close(context.Background()))
	})
	invoke(t, nil, "doctor", srv.URL, "-key", "k", "-other-key", "older", "-within", "1m", "-patience", "1m", "-dialect",
		"contrary").want(t, exitOK, "17 good, 0 bad, 0 skipped")
	invoke(t, nil, "doctor", "http://127.0.0.1:1/", "-key", "k", "-dialect", "standard-webhooks").want(t, exitFailure,
		"whsec_")
}
