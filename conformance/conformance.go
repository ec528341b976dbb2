// Package conformance checks any implementation of the shipping service against the specification, over HTTP. Paths,
// statuses, names and types, and the operations that require a key, are those of the OpenAPI description of the
// service; the other rules are written by hand from the text of the specification. It shares no code with the client
// and the reference server of this module, except the redaction of keys and the reader of amounts, so that it finds a
// mistake that both share. A run also measures the dialect of the service: [Report.Dialect].
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
// never fails: it has the verdict [Assumption], and reports whether the service behaves as this project assumes.
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
	// Request is the identifier of a regulatory request, which shows names and places without [WithWrites]. Optional.
	// A request that the service does not return is a failed check.
	Request string
	// Failing is the identifier of a shipment whose analysis fails. Optional, and used with [WithWrites] only.
	Failing string
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
	update           bool
	most             string
}

// WithSecretKey sends a key as "Authorization: Bearer <SECRET_KEY>". Reports do not contain it.
func WithSecretKey(key string) Option {
	held := redact.New(key)
	return func(s *settings) { s.key = held }
}

// WithWrites also sends requests that change something, and spends money: it sends one purchase of one document.
//
// Without WithWrites only GET requests are sent, and incomplete POST requests, which a service must refuse: up to two
// replays, two analyses and two purchases with the body {}, the first of each without Authorization, and three replays
// that lack a shipment, an event or both. No purchase names a request.
//
// With WithWrites these POST requests are sent too, each at most once:
//
//   - Up to seven replays of an event of Target.Shipment: three that must succeed, to Target.Webhook or to every
//     active webhook that is subscribed, and four that must be refused, to an inactive webhook, to one that is
//     not subscribed, to WA-0, and without Authorization. A service that fails those checks sends notifications.
//   - Two analyses, of Target.Shipment and Target.Invoice, and two more of Target.Shipment that a strict service
//     refuses: with an unknown member, and without Content-Type. Each creates a draft, which stays. A fifth, without
//     Authorization, must be refused. One more, of Target.Failing, leaves a failed request.
//   - One purchase of one document: the cheapest that the first of these drafts offers and that needs no evidence
//     from a person (mode "manual"). The wallet is charged the price that the draft shows for it, under the name that
//     the dialect of [WithDialect] gives. Nothing is bought if no price is known: if it is missing, negative or not a
//     number, if the draft shows two prices for the document, or if its prices are in several currencies; also
//     if the analysis of Target.Shipment returns no draft, or if the service refuses to list the transactions of
//     Target.Wallet. The check is [NotRun] then.
//
// The requests without Authorization are sent only to a service that refuses the body {} in the same way with and
// without it. A service that charges another amount than the price fails a check, after the fact. [Report.Purchases]
// lists the purchases that were sent.
func WithWrites() Option { return func(s *settings) { s.writes = true } }

// WithSecondPurchase makes the writes of [WithWrites], and then sends the same purchase a second time, to check
// that the purchase of a purchased request charges nothing. A service that fails this check charges the wallet
// twice: at most twice the price. The second is sent only if the first succeeded, and if the transactions of the wallet
// show its charge, because the check needs them.
func WithSecondPurchase() Option {
	return func(s *settings) { s.writes, s.secondPurchase = true, true }
}

// WithRefusedPurchases sends the requests of [WithWrites], but purchases from the draft of Target.Shipment. It also
// sends purchases from the draft of Target.Invoice that the service must refuse: one without document_types, one of a
// document that the draft does not have, one of a regulatory request that does not exist and, under the condition of
// WithWrites, one without Authorization. A service that conforms charges nothing for them. Any other service can charge
// the sum of the prices of the draft of Target.Invoice, or an amount that cannot be predicted. The checks need
// Target.Wallet, Target.Invoice and Target.Shipment.
func WithRefusedPurchases() Option {
	return func(s *settings) { s.writes, s.refusedPurchases = true, true }
}

// WithMost allows the purchase of [WithWrites] of a document with several numbers or with a price under another name,
// so that the debit shows which of them is the price: [Report.Dialect]. The largest number of its offer is at most
// amount, such as "2000.00 NGN", and every amount in it can be read. Without a code, the amount is in the currency that
// the offer shows. If the dialect of [WithDialect] names the price, the document with the lowest price is bought; else
// the cheapest by its largest number, of those whose offers show the most different numbers outside lists.
func WithMost(amount string) Option { return func(s *settings) { s.most = amount } }

// WithDialect compares the service with a dialect: a field that was set or measured, and now differs, is a failed
// check; see [Report.Differences]. So is a price that the dialect names and no offer shows. A choice that the dialect
// declares, such as another status or shape of a breakdown, passes although the specification does not have it.
func WithDialect(d *dialect.Dialect) Option {
	return func(s *settings) { s.known = cmp.Or(d, s.known) }
}

// WithUpdate fails only the fields that a person has set in the dialect of [WithDialect]: see [dialect.Dialect.Update].
func WithUpdate() Option { return func(s *settings) { s.update = true } }

// WithPatience limits the time for one response, and for the generation of the purchased document.
// Default: 30 seconds each.
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
	s.measureGiven()
	shipment, invoice := s.checkRegulatory()
	s.checkUnproven(unproven, shipment, invoice)
	s.checkErrors()
	s.measureRefusals()
	s.prove()
	s.measureAbsent()
	s.measureStates()
	s.checkKey(first)
	s.checkDialect()
	s.judge(unseen())
	return s.report
}

// Run makes every check, each as a subtest. A check that failed and one that could not be made fail their subtests:
// supply what the check needs, or use [Check] and [Report.Complete] instead. Checks that were not requested, and
// assumptions, are logged.
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
