// Package doctor tests a receiver of webhook notifications: it sends valid and invalid deliveries, and judges the
// receiver's responses.
//
// The specification shows neither the payload nor the headers nor the signature of a delivery. The deliveries
// follow the assumptions of the reference server.
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

// Config configures an examination.
type Config struct {
	// URL is the receiver's address.
	URL string
	// Key signs the deliveries.
	Key string
	// OtherKey is a second key that the receiver accepts, as during key rotation; empty if it accepts
	// only one.
	OtherKey string
	// SignatureHeader is the name of the header with the signature; empty: [delivery.HeaderSignature].
	SignatureHeader string
	// Anywhere allows receivers on other machines.
	Anywhere bool
	// Roots are the CA certificates for receivers with https; nil: those of the system.
	Roots *x509.CertPool
	// Patience is the maximum time for a response, both for the service that is emulated and for a sender that is
	// too slow. Zero: [DefaultPatience].
	Patience time.Duration

	dial dialFunc // connects to the receiver; nil: over the network
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// DefaultPatience is longer than the 10 s after which a receiver of package webhook gives up a slow request.
const DefaultPatience = 15 * time.Second

// Verdict is the judgement of a response.
type Verdict string

// Verdicts.
const (
	Good    Verdict = "good"
	Bad     Verdict = "bad"
	Skipped Verdict = "skipped"
)

// Finding is one delivery, or one group of them, and its verdict.
type Finding struct {
	// Delivery is the short name of the delivery.
	Delivery string `json:"delivery"`
	// Wanted is the expected response.
	Wanted string `json:"wanted"`
	// Saw is the actual response.
	Saw     string  `json:"saw"`
	Verdict Verdict `json:"verdict"`
	// Advice explains how to correct the receiver, or what else to check; may be empty.
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

// ErrNoKey is returned for a [Config] without a key.
var ErrNoKey = errors.New("no key: deliveries are signed, so set the key with which the receiver verifies them")

// Examine makes every examination of the table and returns the scorecard. It returns an error if the receiver cannot
// be examined: the address is invalid or not allowed, there is no key, or the receiver is not running.
//
// If the receiver refuses a valid delivery, the other examinations are skipped, because its refusals would
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
			card.add(Finding{Delivery: x.delivery, Wanted: x.wanted, Verdict: Skipped, Saw: "not sent, because the valid delivery was not accepted"})
			continue
		}
		f := x.make(e)
		f.Delivery, f.Wanted = x.delivery, x.wanted
		card.add(f)
		if err := ctx.Err(); err != nil {
			return card, fmt.Errorf("examination interrupted: %w", err)
		}
		if i == 0 && e.unreachable != nil {
			return Scorecard{}, fmt.Errorf("no response from %s: %w; start the receiver first", config.URL, e.unreachable)
		}
		refusing = i == 0 && f.Verdict == Bad
	}
	return card, nil
}

// examiner sends deliveries.
type examiner struct {
	Config
	ctx         context.Context
	client      *http.Client
	sent        int
	unreachable error // why no connection was made for the first delivery
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
	if config.dial == nil {
		config.dial = newDialer(config.Anywhere).DialContext
	}
	return &examiner{Config: config, ctx: ctx, client: &http.Client{
		// No proxy: a receiver on this machine is not reached through another machine.
		Transport:     &http.Transport{DialContext: config.dial, TLSClientConfig: &tls.Config{RootCAs: config.Roots}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

var errNotLoopback = errors.New("only receivers on this machine are examined; use -anywhere to allow others")

func checkTarget(target string, anywhere bool) error {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("%q is not an absolute http or https URL: write one such as http://127.0.0.1:8080/hooks", target)
	}
	if !anywhere && !delivery.IsLoopback(u.Hostname()) {
		return errNotLoopback
	}
	return nil
}

// newDialer returns a dialer that checks the address that is dialled, so that a name cannot resolve to another machine.
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
