package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
)

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
		"did you mean empty_ci42?")
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
