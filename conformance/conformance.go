// Package conformance holds any implementation of the shipping service against the specification, over
// HTTP, with requests and expectations written by hand from its text. It shares no code with the client
// or the reference server of this module, so that a mistake which those two share is found.
//
// In a test of your own service:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Target{BaseURL: server.URL, SecretKey: key, Wallet: "VA-…"})
//	}
//
// Elsewhere, [Check] returns a [Report]; "mockserver conform URL" prints one.
//
// Every check names the heading of the specification that it follows. What the specification leaves
// open is never a failure: such checks have the verdict [Assumption] and tell whether the service does
// what this project assumes.
package conformance

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"
)

// Target is the service that is held against the specification. Checks that need what is not given are
// skipped, and say what they need.
type Target struct {
	// BaseURL is the address of the service, with or without a slash or /v1 at its end.
	BaseURL string
	// SecretKey is sent as "Authorization: Bearer <SECRET_KEY>". It stands in no report.
	SecretKey string
	// Wallet is the identifier of the wallet whose transactions are listed, VA-<digits>.
	Wallet string
	// Shipment is the identifier of a shipment that forms can be analyzed for, SH-<alphanumerics>.
	// Needed with [WithWrites] only.
	Shipment string
	// Invoice is the URL of an uploaded commercial invoice. Needed with [WithWrites] only.
	Invoice string
	// Webhook is the identifier of an active webhook, WA-<digits>, that replays may be sent to. Without
	// it the replay goes to every active webhook that is subscribed. Needed with [WithWrites] only.
	Webhook string
}

// Format implements [fmt.Formatter]: no verb shows the key.
func (t Target) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "{BaseURL:%s Wallet:%s Shipment:%s Invoice:%s Webhook:%s}", t.BaseURL, t.Wallet, t.Shipment, t.Invoice, t.Webhook)
}

// Option changes how the checks are made.
type Option func(*settings)

type settings struct {
	writes    bool
	patience  time.Duration
	transport http.RoundTripper
}

// WithWrites also replays webhooks, analyzes, and purchases the cheapest document offered, which
// charges the wallet. Without it only GET requests are sent, and POST requests that hold nothing to
// act upon, which the specification wants refused.
func WithWrites() Option { return func(s *settings) { s.writes = true } }

// WithPatience limits how long one answer, and the generation of the purchased document, may take.
// Default: 30 seconds each.
func WithPatience(d time.Duration) Option { return func(s *settings) { s.patience = d } }

// WithTransport sends the requests through a transport of the caller's.
func WithTransport(transport http.RoundTripper) Option {
	return func(s *settings) { s.transport = transport }
}

// Check makes every check and returns what it found. A service that cannot be reached, and a context
// that ends, are failures in the report.
func Check(ctx context.Context, target Target, opts ...Option) Report {
	set := settings{patience: 30 * time.Second}
	for _, opt := range opts {
		opt(&set)
	}
	s := newSession(ctx, target, set)
	if !s.reach() {
		return s.report
	}
	for _, part := range []func(*session){
		(*session).checkLists,
		(*session).checkCountries,
		(*session).checkAccess,
		(*session).checkReplay,
		(*session).checkRegulatory,
		(*session).checkRefusals,
	} {
		part(s)
	}
	return s.report
}

// Run makes every check, each as a subtest. Only failures fail; what is skipped or assumed is logged.
func Run(t *testing.T, target Target, opts ...Option) {
	t.Helper()
	for _, r := range Check(t.Context(), target, opts...).Results {
		t.Run(r.Heading+"/"+r.Check, func(t *testing.T) {
			if r.Verdict == Fail {
				t.Error(r.Detail)
				return
			}
			t.Log(r.Verdict, r.Detail)
		})
	}
}
