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

// conform reports what it sent and could not check, also by its exit code.
func TestConform_TheServerConformsToTheSpecification(t *testing.T) {
	t.Parallel()
	r := start(t, nil, "-json", "-dialect", fast).world(t)
	env := environ(r)
	got := invoke(t, env, "conform", "-second-purchase", "-refused-purchases", "-json", r.URL+"/v1").want(t, exitOK)
	var report conformance.Report
	shippingtest.NoError(t, json.Unmarshal([]byte(got.stdout), &report))
	if !report.Writes || report.BaseURL != r.URL || report.Count(conformance.Skipped) != 0 ||
		len(report.Purchases) != 5 || report.Count(conformance.Unseen) == 0 || strings.Contains(got.stdout, r.SecretKey) {
		t.Errorf("%s", got.stdout)
	}
	got = invoke(t, env, "conform", "-write").want(t, exitOK, " 0 failed, 0 not run", "-second-purchase",
		"Open points of the specification", "Rules that no run can check")
	shippingtest.Diff(t, "purchases", 1, strings.Count(got.stdout, "a purchase was sent: "))
	delete(env, "SHIPPING_SHIPMENT")
	invoke(t, env, "conform").want(t, exitOK, "read-only")
	delete(env, "SHIPPING_WALLET")
	invoke(t, env, "conform", "-json").want(t, exitIncomplete, `"not run"`, "needs a wallet: -wallet")
}

// The file of -dialect is written once and compared later; -update keeps what a person has changed.
func TestConform_DialectFile(t *testing.T) {
	t.Parallel()
	env, file := environ(start(t, nil, "-json", "-dialect", fast).world(t)), filepath.Join(t.TempDir(), "service.json")
	invoke(t, env, "conform", "-dialect", file, "-key", "sk_test_wrong").want(t, exitFailure,
		file+": no request with the key succeeded: nothing was measured, and no file was written")
	invoke(t, env, "conform", "-dialect", file).want(t, exitOK, file+": written, 13 fields were measured")
	invoke(t, env, "conform", "-dialect", file).want(t, exitOK, file+": compared, 0 of 13 measured fields differ\n")
	invoke(t, env, "conform", "-dialect", file, "-key", "sk_test_wrong").want(t, exitFailure, "and the file is unchanged")

	text := shippingtest.Must(os.ReadFile(file))(t)
	text = []byte(strings.Replace(string(text), `"rule": 400`, `"rule": 422`, 1))
	shippingtest.NoError(t, os.WriteFile(file, text, 0o600))
	const changed = `refusal.rule: "422" in the file (set by hand, and stays), "400" measured`
	for range 2 {
		invoke(t, env, "conform", "-dialect", file, "-update").want(t, exitFailure, "updated, 1 of 13", changed)
	}
	got := invoke(t, env, "conform", "-dialect", file, "-write", "-most", "1.00 NGN", "-json").want(t, exitFailure)
	for _, want := range []string{"compared, 1 of 23 measured fields differ\n", changed,
		`record.at: not in the file, -update adds it: nothing`} {
		shippingtest.Contains(t, "standard error", got.stderr, want)
	}
	shippingtest.Contains(t, "report", got.stdout, "and -most is 1.00 NGN")
	update := []string{"conform", "-dialect", file, "-update", "-write"}
	invoke(t, env, append(update, "-most", "1.00 NGN")...).want(t, exitFailure,
		"updated, 1 of 23 measured fields differ; 12 were not measured: 12 need a purchase\n")
	invoke(t, env, update...).want(t, exitFailure, "updated, 1 of 35 measured fields differ\n",
		"purchase.quoted: added: \"false\"")
	invoke(t, env, "conform", "-dialect", file).want(t, exitFailure,
		"compared, 1 of 13 measured fields differ; 22 of 35 were not compared: 11 need -write, 11 need a purchase\n")
}

func TestDoctor_ScorecardAndExitCode(t *testing.T) {
	t.Parallel()
	careless := httptest.NewServer(noContent)
	t.Cleanup(careless.Close)
	invoke(t, nil, "doctor", careless.URL, "-key", "k", "-patience", "1s").want(t, exitFailure, "Receiver "+careless.URL,
		"BAD   bad signature", "Anyone could send you events")
	got := invoke(t, map[string]string{"SHIPPING_SECRET_KEY": "k"}, "doctor", "-json", "-patience", "1s",
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
