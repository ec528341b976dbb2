// Package doctor examines a receiver of webhook notifications: it sends it what the service sends, and
// what nobody should, and tells from the answers what the receiver does well and what it should learn.
//
// The specification shows neither the payload nor the headers nor the signature of a delivery. What is
// sent here follows the assumptions of the reference server's own deliveries.
package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/delivery"
)

// Config says whom to examine, and how.
type Config struct {
	// URL is the receiver's address.
	URL string
	// Key signs the deliveries.
	Key string
	// OtherKey is a second key that the receiver takes, as while keys are rotated; empty when it takes
	// only one.
	OtherKey string
	// SignatureHeader carries the signature; empty: [delivery.HeaderSignature].
	SignatureHeader string
	// Anywhere examines receivers on other machines too.
	Anywhere bool
	// Roots are the authorities that a receiver with https is trusted by; nil: those of the system.
	Roots *x509.CertPool
	// Patience is how long an answer may take: of the service that is examined for, and of a sender
	// that is too slow to be waited for. Zero: [DefaultPatience].
	Patience time.Duration
}

// DefaultPatience is as long as the reference server waits for a receiver.
const DefaultPatience = 10 * time.Second

// Verdict is what is thought of an answer.
type Verdict string

// The verdicts.
const (
	Good    Verdict = "good"
	Bad     Verdict = "bad"
	Skipped Verdict = "skipped"
)

// Finding is one delivery, or one group of them, and its verdict.
type Finding struct {
	// Delivery is the short name of what was sent.
	Delivery string `json:"delivery"`
	// Wanted says what a good receiver answers.
	Wanted string `json:"wanted"`
	// Saw is what it answered.
	Saw     string  `json:"saw"`
	Verdict Verdict `json:"verdict"`
	// Advice says how to do better, or what to look at besides; may be empty.
	Advice string `json:"advice,omitempty"`
}

// Scorecard is the outcome of an examination.
type Scorecard struct {
	URL      string    `json:"url"`
	Good     int       `json:"good"`
	Bad      int       `json:"bad"`
	Skipped  int       `json:"skipped"`
	Findings []Finding `json:"findings"`
}

func (s *Scorecard) add(f Finding) {
	switch f.Verdict {
	case Good:
		s.Good++
	case Bad:
		s.Bad++
	default:
		s.Skipped++
	}
	s.Findings = append(s.Findings, f)
}

// ErrNoKey is a [Config] without a key.
var ErrNoKey = errors.New("deliveries are signed: give the key that the receiver verifies with")

// Examine makes every examination of the table and returns the scorecard. It fails where there is
// nothing to examine: a wrong address, one that may not be examined, no key, nobody who answers.
//
// A receiver that refuses what is in order is not examined further: that it refuses the rest too would
// prove nothing.
func Examine(ctx context.Context, config Config) (Scorecard, error) {
	e, err := newExaminer(ctx, config)
	if err != nil {
		return Scorecard{}, err
	}
	defer e.client.CloseIdleConnections()
	card := Scorecard{URL: config.URL}
	refusing := false
	for i, x := range examinations() {
		if refusing {
			card.add(Finding{Delivery: x.delivery, Wanted: x.wanted, Verdict: Skipped, Saw: "not sent, as what is in order is not accepted yet"})
			continue
		}
		f := x.make(e)
		f.Delivery, f.Wanted = x.delivery, x.wanted
		card.add(f)
		if err := ctx.Err(); err != nil {
			return card, fmt.Errorf("the examination was interrupted: %w", err)
		}
		if i == 0 && e.unreachable != nil {
			return Scorecard{}, fmt.Errorf("nobody answers on %s: %w; start the receiver first", config.URL, e.unreachable)
		}
		refusing = i == 0 && f.Verdict == Bad
	}
	return card, nil
}

// examiner sends deliveries.
type examiner struct {
	Config
	ctx         context.Context
	dialer      *net.Dialer
	client      *http.Client
	sent        int
	unreachable error // why the first delivery was not connected at all
}

func newExaminer(ctx context.Context, config Config) (*examiner, error) {
	if err := checkTarget(config.URL, config.Anywhere); err != nil {
		return nil, err
	}
	if config.Key == "" {
		return nil, ErrNoKey
	}
	if config.SignatureHeader == "" {
		config.SignatureHeader = delivery.HeaderSignature
	}
	if config.Patience <= 0 {
		config.Patience = DefaultPatience
	}
	dialer := newDialer(config.Anywhere)
	return &examiner{Config: config, ctx: ctx, dialer: dialer, client: &http.Client{
		// No proxy: a receiver on this machine must not be asked for through another one.
		Transport:     &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{RootCAs: config.Roots}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

var errNotLoopback = errors.New("only receivers on this machine are examined, since the examination is rough; -anywhere allows others")

func checkTarget(target string, anywhere bool) error {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("%q is no absolute http or https URL: write one such as http://127.0.0.1:8080/hooks", target)
	}
	if !anywhere && !delivery.IsLoopback(u.Hostname()) {
		return errNotLoopback
	}
	return nil
}

// newDialer looks at the address that is really dialled, so that a name cannot lead elsewhere.
func newDialer(anywhere bool) *net.Dialer {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	if !anywhere {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(address)
			if err != nil || !ap.Addr().Unmap().IsLoopback() {
				return errNotLoopback
			}
			return nil
		}
	}
	return dialer
}
