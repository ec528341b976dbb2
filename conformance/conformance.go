// Package conformance checks any implementation of the shipping service against the specification, over HTTP.
// Paths, statuses, names and types, and the operations that require a key, are from the OpenAPI description of the
// service; the other rules are written by hand from the text of the specification. To find mistakes that the client
// and the reference server of this module share, it has no code in common with them, except the redaction of keys,
// and the cost and the charge of the offer that it purchases.
//
// In a test of your service:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Target{BaseURL: server.URL, Wallet: "VA-…"}, conformance.WithSecretKey(key))
//	}
//
// Elsewhere, [Check] returns a [Report]; "mockserver conform URL" prints one.
//
// Every check names the heading of the specification that it follows. A check of an open point of the specification
// never fails: it has the verdict [Assumption], and reports whether the service behaves as this project assumes. If
// not, [Report.Lines] has the line that declares the difference in the dialect of the service.
package conformance

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/redact"
)

// Target is the service under test. A check that needs an empty field is [NotRun], and its detail names the field.
type Target struct {
	// BaseURL is the address of the service, with or without a slash or /v1 at its end.
	BaseURL string
	// Wallet is the identifier of the wallet whose transactions are listed, VA-<digits>.
	Wallet string
	// Shipment is the identifier of a shipment to analyze, SH-<alphanumerics>. Needed with [WithWrites] only.
	Shipment string
	// Invoice is the URL of an uploaded commercial invoice. Needed with [WithWrites] only.
	Invoice string
	// Webhook is the identifier of an active webhook, WA-<digits>, that replays may be sent to. Without
	// it the replay goes to every active webhook that is subscribed. Needed with [WithWrites] only.
	Webhook string
}

// Option changes how the checks are made.
type Option func(*settings)

type settings struct {
	writes           bool
	secondPurchase   bool
	refusedPurchases bool
	patience         time.Duration
	transport        http.RoundTripper
	key              redact.Key
	known            *dialect.Dialect
	document, most   string
}

// WithSecretKey sends a key as "Authorization: Bearer <SECRET_KEY>". Reports do not contain it.
func WithSecretKey(key string) Option {
	held := redact.New(key)
	return func(s *settings) { s.key = held }
}

// WithWrites also sends requests that change something. It purchases nothing without [WithPurchase].
//
// Without WithWrites only GET requests are sent, and incomplete POST requests, which a service must refuse:
//
//   - up to two replays, two analyses and two purchases with the body {}, the first of each without Authorization
//   - four replays that lack a shipment, an event or both
//
// No purchase names a request.
//
// With WithWrites these POST requests are sent too. If the service limits the rate of requests,
// a request that it refuses with a Retry-After is sent again, except a purchase.
//
//   - Up to seven replays of an event of Target.Shipment: three that must succeed, to Target.Webhook or to every
//     active webhook that is subscribed, and four that must be refused, to an inactive webhook, to one that is
//     not subscribed, to WA-0, and without Authorization. A service that fails those checks sends notifications.
//   - Two analyses, of Target.Shipment and Target.Invoice, and one more of Target.Shipment with an unknown member.
//     Each creates a draft, which stays. A fourth, without Authorization, must be refused. If the wallet pays
//     something meanwhile, the first two are sent two more times: a payment that comes each time is theirs.
//
// The requests without Authorization are sent only to a service that refuses the body {} in the same way with and
// without Authorization. [Report.Purchases] lists the purchases that were sent.
func WithWrites() Option { return func(s *settings) { s.writes = true } }

// WithPurchase makes the writes of [WithWrites], and sends one purchase of one document: documentType, from the
// draft of Target.Shipment, or from that of Target.Invoice if the former is not a draft. It is not sent if the
// service refuses to list the transactions of Target.Wallet, or if the document costs more than most, such as
// "2000.00 NGN". The cost is that of a budget of the client: the price and all other numbers of the offer, except
// those that the dialect of [WithDialect] declares.
//
// A service that charges more fails a check, after the fact.
func WithPurchase(documentType, most string) Option {
	return func(s *settings) { s.writes, s.document, s.most = true, documentType, most }
}

// WithSecondPurchase sends the purchase of [WithPurchase] a second time, to check that the purchase of a purchased
// request charges nothing. A service that fails this check charges the wallet twice. The second is sent only if the
// first succeeded, and if the transactions of the wallet show its charge, because the check needs them.
func WithSecondPurchase() Option {
	return func(s *settings) { s.writes, s.secondPurchase = true, true }
}

// WithRefusedPurchases makes the writes of [WithWrites]. It also sends purchases from the draft of Target.Invoice that
// the service must refuse: one without document_types, one of a document that the draft does not have, one of a
// regulatory request that does not exist and, under the condition of WithWrites, one without Authorization. If the
// wallet pays something meanwhile, each of the first three is sent two more times, as an analysis is. A service
// that conforms charges nothing for them. Any other service can charge the sum of the prices of the draft of
// Target.Invoice, or an amount that cannot be predicted. The checks need Target.Wallet, Target.Invoice and
// Target.Shipment.
func WithRefusedPurchases() Option {
	return func(s *settings) { s.writes, s.refusedPurchases = true, true }
}

// WithDialect checks a dialect: if the service differs from it at an open point, the check fails. A
// choice that it declares, such as a status that the specification does not list, passes.
func WithDialect(d *dialect.Dialect) Option {
	return func(s *settings) { s.known = cmp.Or(d, s.known) }
}

// WithPatience limits the time for one response, for the generation of the purchased document, and for waits that the
// service requests in Retry-After. Default: 30 seconds each.
func WithPatience(d time.Duration) Option { return func(s *settings) { s.patience = d } }

// WithTransport sends the requests through transport.
func WithTransport(transport http.RoundTripper) Option {
	return func(s *settings) { s.transport = transport }
}

// Check makes every check and returns the report. It lists every check in every run, with the same names. If the
// service cannot be reached, the report contains only that failure.
func Check(ctx context.Context, target Target, opts ...Option) Report {
	set := settings{patience: 30 * time.Second, known: new(dialect.Dialect)}
	for _, opt := range opts {
		if opt != nil {
			opt(&set)
		}
	}
	s := newSession(ctx, target, set)
	first := s.call("rates.list", request{query: url.Values{"perPage": {"1"}}})
	if first.lost != nil {
		s.judge([]check{{"Response envelope (all endpoints)", "the service responds", missing{},
			problem(true, "no response from %s: %v; check the address, and that the service is running", s.base, first.lost),
			stated}})
		return s.report
	}
	s.checkLists()
	unproven := s.checkAccess()
	s.checkReplay()
	shipment, invoice := s.checkRegulatory()
	s.checkUnproven(unproven, shipment, invoice)
	s.checkErrors()
	s.observeRefusals()
	s.checkKey(first)
	s.checkOpen()
	s.checkStates()
	s.judge(unseen())
	return s.report
}

// Run makes every check, each as a subtest. A check that failed or could not be made fails its subtest: supply what the
// check needs, or use [Check] and [Report.Complete] instead. Checks that were not requested, and assumptions, are
// logged.
func Run(t *testing.T, target Target, opts ...Option) {
	t.Helper()
	for _, r := range Check(t.Context(), target, opts...).Results {
		t.Run(r.Heading+"/"+r.Check, func(t *testing.T) {
			switch r.Verdict {
			case Fail:
				t.Error(r.Detail)
			case NotRun:
				t.Errorf("not run: %s", r.Detail)
			default:
				t.Log(r.Verdict, r.Detail)
			}
		})
	}
}
