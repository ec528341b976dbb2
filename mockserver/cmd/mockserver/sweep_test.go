package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

// built builds examples and returns the folder of the executables.
func built(t *testing.T, names ...string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	args := []string{"build", "-ldflags=-s -w", "-o", folder + string(filepath.Separator)}
	for _, name := range names {
		args = append(args, "../../../examples/"+name)
	}
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return folder
}

// failing returns the failing schedules of a report as JSON, each with its verdicts.
func (o outcome) failing(t *testing.T) map[string][]sweep.Verdict {
	t.Helper()
	var report sweep.Report
	if err := json.Unmarshal([]byte(o.stdout), &report); err != nil {
		t.Fatalf("%v: %s%s", err, o.stdout, o.stderr)
	}
	found := map[string][]sweep.Verdict{}
	for _, r := range report.Failing() {
		for _, f := range r.Findings {
			if !slices.Contains(found[r.Schedule], f.Verdict) {
				found[r.Schedule] = append(found[r.Schedule], f.Verdict)
			}
		}
	}
	return found
}

// setupFile writes a file for the flag -setup.
func setupFile(t *testing.T, text string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "setup.json")
	shippingtest.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// A file of control requests that cannot prepare a server ends the sweep before a run.
func TestSweep_SetupErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"path":"/_mock/shipments"}`:                   `write a list such as [{"path": "/_mock/shipments", "body": {}}]`,
		`[{"url":"/_mock/shipments"}]`:                  `unknown field "url"`,
		`[{"path":"/_mock/seed"},{"path":"/v1/rates"}]`: `request 2 has the path "/v1/rates": it must begin with /_mock/`,
	} {
		invoke(t, nil, "sweep", "-setup", setupFile(t, text), "--", "go").want(t, exitUsage, want)
	}
	refused := setupFile(t, `[{"path":"/_mock/shipments","body":{"a":1}}]`)
	invoke(t, nil, "sweep", "-setup", refused, "--", "go").want(t, exitFailure,
		`request 1: POST /_mock/shipments: 400 Bad Request: unknown field "a"`)
}

// The program that everybody writes first fails as docs/sweep.md describes, and its careful form passes.
// test/languages/run.sh does the same in Python and JavaScript.
func TestSweep_Careless(t *testing.T) {
	t.Parallel()
	careless := filepath.Join(built(t, "careless"), "careless")
	twice, setup := []sweep.Verdict{sweep.PaidTwice}, setupFile(t, `[{"path":"/_mock/shipments","body":{
		"shipment_id":"SH-MINE01","line_items":[{"hs_code":"910211"}],"documents":[{"document_type":"WATCH","amount":5}]}}]`)
	const notified = "-notify http://127.0.0.1:{port}/ -quiet 500ms "
	for _, test := range []struct {
		flags, program string
		want           map[string][]sweep.Verdict
	}{
		{"-faults lost-before,lost-after,truncated", "-shipment {shipment}", map[string][]sweep.Verdict{
			"regulatory.purchase#1:lost-after": twice, "regulatory.purchase#1:truncated": twice}},
		{"-only regulatory.purchase#3:lost-after", "-shipment {shipment}", map[string][]sweep.Verdict{
			"regulatory.purchase#3:lost-after": {sweep.NotStruck}}}, // it makes no such request
		{"-faults lost-before,lost-after", "-give-up -shipment {shipment}", map[string][]sweep.Verdict{
			"regulatory.purchase#1:lost-after": {sweep.Unsettled}}},
		{"-restart -faults lost-before,killed", "-give-up -shipment {shipment}", map[string][]sweep.Verdict{
			"regulatory.purchase#1:killed": twice}},
		{`-restart -faults lost-after,html,killed
			-goal {"documents":{"{shipment}":["CUSTOMS","FDA","FISH-WILDLIFE","TEXTILE","WATCH"]}}`,
			"-careful -shipment {shipment} -notes {dir}", nil},
		{"-setup " + setup + ` -faults lost-after,refused -goal {"documents":{"SH-MINE01":["WATCH"]}}`,
			"-careful -shipment {shipment} -notes {dir}", nil},
		{notified + "-setup " + setup + ` -faults replayed -goal {"documents":{"SH-MINE01":["WATCH"]}}`,
			"-listen 127.0.0.1:{port}", map[string][]sweep.Verdict{"notification#1:replayed": twice}},
		{notified + "-faults twice,forged", "-listen 127.0.0.1:{port}", map[string][]sweep.Verdict{
			"notification#1:twice": twice, "notification#1:forged": {sweep.Different}}},
		{notified + "-restart -faults twice,replayed,forged,out-of-order,killed",
			"-listen 127.0.0.1:{port} -careful -notes {dir}", nil},
	} {
		t.Run(test.flags+test.program, func(t *testing.T) {
			t.Parallel()
			code := exitOK
			if len(test.want) > 0 {
				code = exitFailure
			}
			args := strings.Fields("sweep -json " + test.flags + " -- " + careless + " " + test.program)
			got := invoke(t, nil, args...).want(t, code).failing(t)
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("failing (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("report and replay", func(t *testing.T) {
		t.Parallel()
		reportAndReplay(t, careless)
	})
}

// reportAndReplay requires that the report names a command that makes the failing run again and nothing else.
func reportAndReplay(t *testing.T, careless string) {
	got := invoke(t, nil, "sweep", "-seed", "7", "-faults", "lost-after", "--", careless, "-shipment",
		"{shipment}").want(t, exitFailure,
		"regulatory.purchase#1  X", "paid-twice: CUSTOMS, FDA, ", "twice, but once without faults", "POST "+
			"/v1/regulatory-documents/purchase  no response",
		"2 requests without faults; 2 runs with faults, 1 failing", "2 of 2 runs, 1 failing")
	_, line, found := strings.Cut(got.stdout, "again: mockserver ")
	line, _, _ = strings.Cut(line, "\n")
	if !found {
		t.Fatal(got.stdout)
	}
	again := strings.Fields(strings.ReplaceAll(line, "'", ""))
	invoke(t, nil, again...).want(t, exitFailure, "paid-twice", "2 requests without faults; 1 run with faults, 1 failing",
		"1 of 1 run, 1 failing")
}

// A program inherited HTTP_PROXY, through which some clients request even addresses of this machine.
func TestSweep_ProgramsUseNoProxy(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, "http://proxy.invalid")
	}
	invoke(t, nil, "sweep", "--", "/bin/sh", "-c", "echo proxies=$HTTP_PROXY$https_proxy$ALL_PROXY; exit 1").want(t,
		exitFailure, "the output of the program:\nproxies=\n")
}

// Our own programs pass. In short form it is one of them, with a lost response to a purchase and killed after it;
// SHIPPING_SWEEP=all takes them all, under every fault. quickstart has a server of its own, which no sweep can reach.
func TestSweep_Examples(t *testing.T) {
	t.Parallel()
	shipments := file(t, "shipments.txt", asked(t)["SHIPPING_SHIPMENT"]+"\n")
	nightly := "nightly -night 2026-11-26 -in " + shipments + " -wallet {wallet} -budget 400000|NGN -out {dir}"
	const (
		shop   = "receiver -addr 127.0.0.1:{port} -store {dir}/deliveries -buy {dir} -budget 400000|NGN"
		notify = " -restart -patience 0 -parallel 80 -notify http://127.0.0.1:{port}/hooks/shipping"
	)
	tests := []struct{ flags, program string }{
		{"-restart -patience 0 -only regulatory.purchase#1:lost-after", nightly},
		{"-restart -patience 0 -only regulatory.purchase#1:killed", nightly},
		{"-quiet 1s -faults twice,replayed,forged" + notify, shop},
		{"-quiet 3m -timeout 12m" + notify, shop}, // it settles for five minutes, with pauses of up to 160 s
		{"-restart -patience 0", nightly},
		{"-faults late,late-after -parallel 40", nightly},
		{"-restart -patience 0", "ledger -wallet {wallet} -out {dir}/ledger.csv"},
		{"-restart -notify http://127.0.0.1:{port}/hooks/shipping", "receiver -addr 127.0.0.1:{port}"},
	}
	if os.Getenv("SHIPPING_SWEEP") != "all" {
		tests = tests[:3]
	}
	var names []string
	for _, test := range tests {
		if name, _, _ := strings.Cut(test.program, " "); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	folder := built(t, names...)
	for _, test := range tests {
		t.Run(test.flags+test.program, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields("sweep " + test.flags + " -- " + folder + string(filepath.Separator) + test.program)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "|", " ")
			}
			got := invoke(t, nil, args...).want(t, exitOK, " 0 failing")
			t.Logf("%s", got.stdout[strings.LastIndex(got.stdout, "\n\n")+2:])
		})
	}
}
