package conformance_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// serve returns a reference server that generates documents at once. Its wallets have few transactions, because each
// run reads all of them several times.
func serve(t *testing.T, dialects ...*dialect.Dialect) *mockserver.Server {
	t.Helper()
	opts := []mockserver.Option{mockserver.WithoutListener(), mockserver.WithScenario("history40"),
		mockserver.WithDialect(&dialect.Dialect{Time: dialect.Time{Generation: -1}})}
	for _, d := range dialects {
		opts = append(opts, mockserver.WithDialect(d))
	}
	srv := mockserver.New(opts...)
	t.Cleanup(srv.Close)
	shippingtest.NoError(t, srv.Err())
	return srv
}

func target(srv *mockserver.Server) conformance.Target {
	return conformance.Target{
		BaseURL: srv.URL, Wallet: srv.Wallets()[0],
		Shipment: srv.Shipments()[0], Invoice: srv.Invoices()[0],
	}
}

// whole returns the options of a run that makes every check.
func whole() []conformance.Option {
	return []conformance.Option{conformance.WithPurchase("CUSTOMS", "1000000 NGN"), conformance.WithSecondPurchase(),
		conformance.WithRefusedPurchases()}
}

// check checks a service: a server, or a handler that breaks it.
func check(t *testing.T, srv *mockserver.Server, service http.Handler, opts ...conformance.Option) conformance.Report {
	t.Helper()
	return checkAt(t, target(srv), srv, service, opts...)
}

func checkAt(t *testing.T, at conformance.Target, srv *mockserver.Server, service http.Handler,
	opts ...conformance.Option) conformance.Report {
	t.Helper()
	return conformance.Check(t.Context(), at, slices.Concat(opts, []conformance.Option{
		conformance.WithSecretKey(srv.SecretKey), conformance.WithTransport(through{service}),
	})...)
}

// through sends requests to a handler without any connection.
type through struct{ http.Handler }

func (t through) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	t.ServeHTTP(w, r)
	return w.Result(), nil
}

// inBubble runs a parallel subtest in virtual time, for services that are asked until the patience ends.
func inBubble(t *testing.T, name string, test func(*testing.T)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, test)
	})
}

// verdicts returns the checks that ended with a verdict, one a line.
func verdicts(r conformance.Report, v conformance.Verdict) []string {
	var out []string
	for _, result := range r.Results {
		if result.Verdict == v {
			out = append(out, fmt.Sprintf("%s/%s: %s", result.Heading, result.Check, result.Detail))
		}
	}
	return out
}

// none requires that no check ended with one of the verdicts.
func none(t *testing.T, r conformance.Report, of ...conformance.Verdict) {
	t.Helper()
	for _, v := range of {
		shippingtest.Diff(t, string(v), []string(nil), verdicts(r, v))
	}
}

func TestRun_TheReferenceServerConforms(t *testing.T) {
	t.Parallel()
	srv := serve(t)
	conformance.Run(t, target(srv), append(whole(), conformance.WithSecretKey(srv.SecretKey),
		conformance.WithTransport(srv.Transport()))...)
}

func TestCheck_TheReferenceServerPassesEveryCheckAndDoesAsAssumed(t *testing.T) {
	t.Parallel()
	srv := serve(t)
	withoutInvoice, withoutShipment := target(srv), target(srv)
	withoutInvoice.Invoice, withoutShipment.Shipment = "", ""
	var report conformance.Report
	for _, at := range []conformance.Target{withoutInvoice, withoutShipment, target(srv)} {
		report = checkAt(t, at, srv, srv, whole()...)
		for _, result := range report.Results {
			if result.Verdict == conformance.Assumption && result.Detail != "" {
				t.Errorf("otherwise than assumed: %+v", result)
			}
		}
	}
	none(t, report, conformance.Fail, conformance.NotRun, conformance.Skipped)
	t.Attr("cases", fmt.Sprintf("%d checks", len(report.Results)))
	if report.Count(conformance.Pass) < 50 || report.Count(conformance.Assumption) < 20 {
		t.Errorf("%d checks passed, %d assumptions", report.Count(conformance.Pass), report.Count(conformance.Assumption))
	}
	shippingtest.NoError(t, srv.Check())
}

// A requested check that could not be made fails its test, so that it does not look like a success. The
// test runs itself in another process, where Run may fail.
func TestRun_FailsIfACheckCouldNotBeMade(t *testing.T) {
	t.Parallel()
	if os.Getenv("CONFORMANCE_RUN") != "" {
		srv := serve(t)
		conformance.Run(t, conformance.Target{BaseURL: srv.URL}, conformance.WithSecretKey(srv.SecretKey),
			conformance.WithTransport(srv.Transport()))
		return
	}
	run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRun_FailsIfACheckCouldNotBeMade$")
	run.Env = append(os.Environ(), "CONFORMANCE_RUN=1")
	if out, err := run.CombinedOutput(); err == nil || !strings.Contains(string(out), "not run: needs a wallet") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCheck_AServiceThatDoesNotAnswerIsOneFailure(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	srv := serve(t)
	report := conformance.Check(ended, target(srv), nil, conformance.WithSecretKey(srv.SecretKey),
		conformance.WithTransport(srv.Transport()))
	if len(report.Results) != 1 || report.Conforms() || !strings.Contains(report.Results[0].Detail, "no response from") {
		t.Errorf("%+v", report)
	}
}

func TestReport_WriteText(t *testing.T) {
	t.Parallel()
	purchases := []conformance.Purchase{{RequestID: "RD-1", DocumentType: "FDA", Cost: "12.50", Currency: "NGN"},
		{RequestID: "RD-2", DocumentType: "FDA", Cost: "12.50", Paid: "6.25"},
		{RequestID: "RD-3", DocumentType: "STEEL", MustFail: true}}
	report := conformance.Report{BaseURL: "http://127.0.0.1:4010", Purchases: purchases,
		Lines: []string{"list.max_per_page = 100"},
		Results: []conformance.CheckResult{
			{Heading: "Rate", Check: "every record has the fields", Verdict: conformance.Fail,
				Detail: "rates[0].amount is missing\nrates[1].amount is missing"},
			{Heading: "Limits", Check: "page is 1 by default", Verdict: conformance.Pass},
			{Heading: "Rate", Check: "more", Verdict: conformance.NotRun, Detail: "the list is empty"},
			{Heading: "Rate", Check: "most", Verdict: conformance.Skipped, Detail: "needs writes"},
			{Heading: "Country", Check: "most", Verdict: conformance.Skipped, Detail: "needs writes"},
			{Heading: "Errors", Check: "400 for a rule", Verdict: conformance.Assumption, Detail: "HTTP status 422"},
			{Heading: "Errors", Check: "an envelope", Verdict: conformance.Assumption},
		}}
	const summary = `http://127.0.0.1:4010 checked against the specification, read-only: 1 passed, 1 failed, 1 not run, 2 skipped
FAIL Rate: every record has the fields: rates[0].amount is missing
not run: Rate: more: the list is empty
a purchase was sent: FDA of request RD-1, for at most 12.50 NGN; what the wallet paid is not clear
a purchase was sent: FDA of request RD-2, for at most 12.50 in a currency that the offer does not show; the wallet paid 6.25
purchases sent to be refused: 1
Open points that the service has decided otherwise: write in its dialect
list.max_per_page = 100
`
	const want = `Rate
  FAIL     every record has the fields
           rates[0].amount is missing
           rates[1].amount is missing

Limits
  pass     page is 1 by default

Checks that were not made
  not run  Rate: more
           the list is empty
  skipped  2 checks
           needs writes

Open points of the specification, which never fail
  other    Errors: 400 for a rule
           HTTP status 422
  assumed  Errors: an envelope

` + summary
	var got strings.Builder
	shippingtest.NoError(t, report.WriteText(&got))
	shippingtest.Diff(t, "text", want, got.String())
	got.Reset()
	shippingtest.NoError(t, report.WriteSummary(&got))
	shippingtest.Diff(t, "summary", summary, got.String())
}

// However much a run finds, its summary has at most 20 lines, and each line for the dialect.
func TestReport_WriteSummary_HasTwentyLines(t *testing.T) {
	t.Parallel()
	report := conformance.Report{Purchases: []conformance.Purchase{{}, {}, {MustFail: true}, {MustFail: true}}}
	for i := range 50 {
		verdict := []conformance.Verdict{conformance.Fail, conformance.NotRun}[i%2]
		report.Results = append(report.Results,
			conformance.CheckResult{Heading: "Rate", Check: fmt.Sprint(i), Verdict: verdict})
		report.Lines = append(report.Lines, fmt.Sprintf("record.states += s%d=generating", i))
	}
	report.Results[31].Detail = "nothing was bought: the limit" // it was in the whole report only
	var text strings.Builder
	shippingtest.NoError(t, report.WriteSummary(&text))
	if n := strings.Count(text.String(), "\n"); n > 20 {
		t.Errorf("%d lines:\n%s", n, text.String())
	}
	for _, line := range append(report.Lines, "and 20 more failed checks", "nothing was bought: the limit; and 24 more") {
		shippingtest.Contains(t, "summary", text.String(), line)
	}
}

// unreliable is a service that answers the third read, and each tenth one after it, in another way.
func unreliable(how func(w http.ResponseWriter)) breaking {
	return func(next http.Handler) http.Handler {
		reads := 0
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				if reads++; reads%10 == 3 {
					how(w)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// One bad read ended a run, and a limit on the rate of requests too, whatever Retry-After was.
func TestCheck_SurvivesABadReadAndALimitedRate(t *testing.T) {
	t.Parallel()
	limited := func(after string, status int) breaking {
		return func(next http.Handler) http.Handler {
			var window time.Time
			requests := 0
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if now := time.Now(); now.Sub(window) >= 10*time.Second {
					window, requests = now, 0
				}
				if requests++; requests > 20 {
					w.Header().Set("Retry-After", after)
					w.WriteHeader(status)
					return
				}
				next.ServeHTTP(w, r)
			})
		}
	}
	for name, test := range map[string]struct {
		how      breaking
		complete bool
	}{
		"502":                        {unreliable(func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) }), true},
		"truncated":                  {unreliable(func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{"status":true,"da`) }), true},
		"20 requests in 10 seconds":  {limited("10", http.StatusTooManyRequests), true},
		"Retry-After of an hour":     {limited("3600", http.StatusTooManyRequests), false},
		"a limit that states no end": {limited("", http.StatusTooManyRequests), false},
	} {
		inBubble(t, name, func(t *testing.T) {
			srv := serve(t)
			report := check(t, srv, test.how(srv), whole()[:1]...)
			none(t, report, conformance.Fail)
			if report.Complete() != test.complete {
				t.Errorf("complete: %t; not run: %q", report.Complete(), verdicts(report, conformance.NotRun))
			}
			shippingtest.Diff(t, "purchases", test.complete, len(report.Purchases) == 1)
		})
	}
}

// If a service returns the key in a response, escaped or not, the report does not contain the key.
func TestCheck_NoReportShowsTheKey(t *testing.T) {
	t.Parallel()
	const secret = "sk_test_8mK3vQ9rT2xW7yZ4bN6c"
	for name, key := range map[string]string{"itself": secret, "escaped": `\u0073` + secret[1:],
		"truncated": strings.Repeat("x", 180) + secret} {
		echo := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Key", secret)
			_, _ = io.WriteString(w, `{"status":"`+key+`","message":"`+key+`","data":{"`+key+`":"`+key+`"}}`)
		})
		report := conformance.Check(t.Context(), conformance.Target{BaseURL: "http://service.test", Wallet: "VA-1"},
			conformance.WithSecretKey(secret), conformance.WithTransport(through{echo}))
		if report.Conforms() {
			t.Errorf("%s: conforms", name)
		}
		if text := fmt.Sprintf("%+v", report); strings.Contains(text, "8mK3") || strings.Contains(text, secret[:8]) {
			t.Errorf("%s: %s", name, text)
		}
	}
}
