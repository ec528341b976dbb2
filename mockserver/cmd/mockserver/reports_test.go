package main

import (
	"context"
	"encoding/json"
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

func TestDoctor_FindsTheReceiverOfThisModuleWell(t *testing.T) {
	t.Parallel()
	const secret, older = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	for _, test := range []struct {
		key, other string
		dialect    *dialect.Dialect
		args       []string
		want       string
	}{
		{"k", "older", nil, nil, "16 good, 0 bad, 1 skipped"},
		{secret, older, dialect.StandardWebhooks(), []string{"-dialect", "standard-webhooks"}, "17 good, 0 bad, 0 skipped"},
		{"k", "older", dialect.Contrary(), []string{"-dialect", "contrary"}, "17 good, 0 bad, 0 skipped"},
	} {
		receiver := shippingtest.Must(webhook.NewReceiver(func(context.Context, *webhook.Notification) error { return nil },
			webhook.WithKeys(test.key, test.other), webhook.WithDialect(test.dialect), webhook.WithLimits(1<<20,
				500*time.Millisecond)))(t)
		srv := httptest.NewServer(receiver)
		t.Cleanup(func() {
			srv.Close()
			shippingtest.NoError(t, receiver.Close(context.Background()))
		})
		args := append([]string{"doctor", srv.URL, "-key", test.key, "-other-key", test.other, "-within", "1m"}, test.args...)
		invoke(t, nil, args...).want(t, exitOK, test.want)
	}
	invoke(t, nil, "doctor", "http://127.0.0.1:1/", "-key", "k", "-dialect", "standard-webhooks").want(t, exitFailure,
		"whsec_")
}
