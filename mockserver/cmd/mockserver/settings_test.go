package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnv_Formats(t *testing.T) {
	t.Parallel()
	settings := []setting{{"SHIPPING_BASE_URL", "http://127.0.0.1:4010"}, {"SHIPPING_INVOICE", "https://invoices.example/it's a&b.pdf"}}
	tests := []struct{ format, want string }{
		{"sh", "export SHIPPING_BASE_URL=http://127.0.0.1:4010\nexport SHIPPING_INVOICE='https://invoices.example/it'\\''s a&b.pdf'\n"},
		{"dotenv", "SHIPPING_BASE_URL=http://127.0.0.1:4010\nSHIPPING_INVOICE='https://invoices.example/it'\\''s a&b.pdf'\n"},
		{"json", "{\n  \"SHIPPING_BASE_URL\": \"http://127.0.0.1:4010\",\n  \"SHIPPING_INVOICE\": \"https://invoices.example/it's a&b.pdf\"\n}\n"},
	}
	for _, test := range tests {
		var got strings.Builder
		if err := writeSettings(&got, test.format, settings); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.format, diff)
		}
	}
}

func TestEnv_IsWhatServePrints(t *testing.T) {
	t.Parallel()
	r := start(t, nil, "-json", "-seed", "5").world(t)
	got := invoke(t, nil, "env", "-seed", "5", "-url", r.URL, "-format", "json").want(t, exitOK)
	var settings map[string]string
	if err := json.Unmarshal([]byte(got.stdout), &settings); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"SHIPPING_BASE_URL": r.URL, "SHIPPING_SECRET_KEY": r.SecretKey, "SHIPPING_WALLET": r.Wallets[0],
		"SHIPPING_SHIPMENT": r.Shipments[0], "SHIPPING_INVOICE": r.Invoices[0], "SHIPPING_WEBHOOK": r.Webhooks[0],
	}
	if diff := cmp.Diff(want, settings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEnv_PrintsNothingThatIsNotTrue(t *testing.T) {
	t.Parallel()
	r := start(t, nil, "-json", "-seed", "6").world(t)
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"another seed", []string{"-url", r.URL}, "is not of seed 1"},
		{"nobody there", []string{"-url", "http://" + taken(t)}, "no mockserver answers"},
		{"no URL", []string{"-url", "4010"}, "no base address"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := invoke(t, nil, append([]string{"env"}, test.args...)...).want(t, exitFailure, test.want); got.stdout != "" {
				t.Errorf("printed %s", got.stdout)
			}
		})
	}
}

func TestReady_TellsByTheExitCode(t *testing.T) {
	t.Parallel()
	r := start(t, nil, "-json").world(t)
	for _, address := range []string{r.URL, r.URL + "/", r.URL + "/v1", r.URL + "/v1/"} {
		if got := invoke(t, nil, "ready", address).want(t, exitOK); got.stdout+got.stderr != "" {
			t.Errorf("%s: said %+v", address, got)
		}
	}
	invoke(t, map[string]string{"SHIPPING_BASE_URL": r.URL}, "ready").want(t, exitOK)
	nobody := "http://" + taken(t)
	invoke(t, nil, "ready", nobody).want(t, exitFailure, "no mockserver answers on "+nobody, "mockserver serve")
	invoke(t, nil, "ready", nobody, "--wait", "30ms").want(t, exitFailure, "no mockserver answers")
	for _, wrong := range []string{"127.0.0.1:4010", "ftp://host", "http://", "http://user:secret@host", "http://host?x=1", "http://a b"} {
		got := invoke(t, nil, "ready", wrong).want(t, exitFailure, "base address")
		if strings.Contains(got.stderr, "secret@") {
			t.Errorf("a password is shown: %s", got.stderr)
		}
	}
}
