// Package doctor tests a receiver of webhook notifications: it sends valid and invalid deliveries, and judges the
// receiver's responses.
//
// The specification shows neither the payload nor the headers nor the signature of a delivery. The payload follows the
// assumptions of the reference server, and the rest follows a dialect.
package doctor

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/fips140"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/signature"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
)

// Config configures an examination.
type Config struct {
	URL      string           // the receiver's address
	Key      string           // signs the deliveries
	OtherKey string           // accepted during key rotation; empty if the receiver accepts one key only
	Scheme   signature.Scheme // how deliveries are signed and identified
	Anywhere bool             // allows receivers on other machines
	Patience time.Duration    // for a response, and for a receiver of a slow delivery; zero: [DefaultPatience]
	Within   time.Duration    // the time in which a receiver should respond; zero: [DefaultWithin]

	dial func(ctx context.Context, network, address string) (net.Conn, error) // nil: over the network
}

// DefaultPatience is longer than 10 s, after which a receiver of package webhook aborts a slow request.
const DefaultPatience = 15 * time.Second

// DefaultWithin is the time in which a receiver should respond.
const DefaultWithin = 2 * time.Second

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
	Delivery string  `json:"delivery"` // its short name
	Wanted   string  `json:"wanted"`   // the expected response
	Saw      string  `json:"saw"`      // the response
	Verdict  Verdict `json:"verdict"`
	Advice   string  `json:"advice,omitempty"` // how to correct the receiver, or what else to check
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

func (s Scorecard) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Receiver %s\n\n", s.URL)
	for _, f := range s.Findings {
		mark := map[Verdict]string{Good: "good", Bad: "BAD", Skipped: "-"}[f.Verdict]
		fmt.Fprintf(&b, "  %-5s %-22s %s\n", mark, f.Delivery, f.Saw)
		if f.Verdict == Bad {
			fmt.Fprintf(&b, "        wanted %s\n", f.Wanted)
		}
		for _, sentence := range strings.SplitAfter(f.Advice, ": ") {
			if f.Advice != "" {
				fmt.Fprintf(&b, "        %s\n", strings.TrimSpace(sentence))
			}
		}
	}
	_, err := fmt.Fprintf(w, "%s\n%d good, %d bad, %d skipped\n", b.String(), s.Good, s.Bad, s.Skipped)
	return err
}

// ErrNoKey is returned for a [Config] without a key.
var ErrNoKey = errors.New("no key: set the key with which the receiver verifies signatures: -key or " +
	"SHIPPING_SECRET_KEY")

// Examine makes every examination of the table and returns the scorecard. It returns an error if the receiver cannot
// be examined: the address is invalid or not allowed, the key is missing, or the receiver is not running.
//
// If the receiver refuses a valid delivery, the other examinations are skipped, because its refusals would
// prove nothing.
func Examine(ctx context.Context, config Config) (Scorecard, error) {
	if err := delivery.CheckTarget(config.URL, config.Anywhere); errors.Is(err, delivery.ErrNotLoopback) {
		return Scorecard{}, errors.New("only receivers on this machine are examined; use -anywhere to allow others")
	} else if err != nil {
		return Scorecard{}, fmt.Errorf("%w (with the path of the receiver, such as http://127.0.0.1:8080/hooks)", err)
	}
	if config.Key == "" {
		return Scorecard{}, ErrNoKey
	}
	config.Patience = cmp.Or(config.Patience, DefaultPatience)
	if config.dial == nil {
		config.dial = delivery.NewTransport(config.Anywhere).DialContext
	}
	e := examiner{Config: config}
	for _, key := range []string{config.Key, cmp.Or(config.OtherKey, config.Key)} {
		if _, err := e.Scheme.Decode(key); err != nil {
			return Scorecard{}, err
		}
	}
	card := Scorecard{URL: config.URL}
	for i, x := range examinations(cmp.Or(config.Within, DefaultWithin)) {
		f := Finding{Delivery: x.delivery, Wanted: x.wanted, Verdict: Skipped}
		switch {
		case i > 0 && card.Findings[0].Verdict == Bad:
			f.Saw = "not sent, because the valid delivery was not accepted"
		case x.rotated && e.OtherKey == "":
			f.Saw = "not sent: set the receiver's second key with -other-key"
		case x.outdated && !e.Scheme.Timed():
			f.Saw = "not sent: the signatures of this dialect cover no time"
		default:
			err := e.examine(ctx, x, i+1, &f)
			if ctx.Err() != nil {
				return card, fmt.Errorf("examination interrupted: %w", ctx.Err())
			}
			if failed, ok := errors.AsType[*net.OpError](err); i == 0 && ok && failed.Op == "dial" {
				return Scorecard{}, fmt.Errorf("no response from %s: %w; start the receiver first", config.URL, err)
			}
		}
		card.add(f)
	}
	return card, nil
}

// examiner sends deliveries.
type examiner struct {
	Config
	sent int
}

// examine makes one examination and returns the reason why no response was received, or nil.
func (e *examiner) examine(ctx context.Context, x examination, number int, f *Finding) error {
	p := e.post(x, number)
	r := e.send(ctx, p)
	well := x.well(r)
	f.Saw = r.String()
	if x.then != "" {
		if x.then != x.event {
			p = e.post(examination{event: x.then}, number)
		}
		second := e.send(ctx, p)
		well = well && x.well(second)
		f.Saw += ", then " + second.String()
	}
	f.Verdict, f.Advice = Bad, x.advice
	switch {
	case well:
		f.Verdict, f.Advice = Good, ""
		if x.check != "" {
			f.Advice = fmt.Sprintf("Check yourself: shipment %s %s.", shipmentID(number), x.check)
		}
	case number == 1:
		f.Advice = e.firstAdvice(r)
	case r.status >= 500 && x.wanted == wantRefused:
		f.Advice = "A 5xx means that the receiver failed, so the service retries: refuse with 4xx. " + x.advice
	}
	return r.err
}

// post is one request to the receiver.
type post struct {
	method, kind, id, signature string
	timestamp                   string // "" if the signature does not cover the time
	body                        []byte
	stalls                      bool // only the first byte of the body is sent
}

func (e *examiner) post(x examination, number int) post {
	e.sent++
	p := post{method: http.MethodPost, kind: "application/json", id: fmt.Sprintf("WD-DOCTOR%010d", e.sent),
		body: notification(x.event, number)}
	if x.body != nil {
		p.body = x.body(p.body)
	}
	key, at := e.Key, time.Now()
	if x.rotated {
		key = e.OtherKey
	}
	if x.outdated {
		at = at.Add(-time.Duration(e.Scheme.Tolerance) - time.Minute)
	}
	secret, _ := e.Scheme.Decode(key) // Examine has checked it
	if x.forged {
		secret = []byte("another key of enough bytes")
	}
	// A receiver may accept a key that is too short for FIPS 140.
	fips140.WithoutEnforcement(func() { p.signature, p.timestamp = e.Scheme.Sign(secret, p.id, at, p.body) })
	if x.edit != nil {
		x.edit(&p)
	}
	return p
}

// reaction is the receiver's response.
type reaction struct {
	status   int
	location string // where a redirect leads
	err      error  // without a response
	took     time.Duration
}

// send sends one request and waits for the response until the patience ends. It writes to the connection itself,
// because an http.Transport that waits for a body does not notice that the receiver has closed the connection.
func (e *examiner) send(ctx context.Context, p post) reaction {
	ctx, cancel := context.WithTimeout(ctx, e.Patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, p.method, e.URL, bytes.NewReader(p.body))
	if err != nil {
		return reaction{err: err}
	}
	req.Close = true
	for name, value := range map[string]string{
		"Content-Type": p.kind, e.Scheme.Header: p.signature, e.Scheme.TimestampHeader: p.timestamp,
		e.Scheme.DeliveryID: p.id, e.Scheme.EventID: strings.Replace(p.id, "WD-", "WE-", 1),
	} {
		if name != "" && value != "" {
			req.Header.Set(name, value)
		}
	}
	var text bytes.Buffer
	if err := req.Write(&text); err != nil {
		return reaction{err: err}
	}
	if p.stalls {
		text.Truncate(text.Len() - len(p.body) + 1)
	}
	conn, err := e.connect(ctx, req.URL)
	if err != nil {
		return reaction{err: err}
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	began := time.Now()
	go func() { _, _ = conn.Write(text.Bytes()) }() // a receiver may respond before it has read everything
	resp, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err != nil {
		return reaction{err: cmp.Or(ctx.Err(), err)}
	}
	defer resp.Body.Close()
	return reaction{status: resp.StatusCode, location: resp.Header.Get("Location"), took: time.Since(began)}
}

// connect opens a connection to the host of a URL.
func (e *examiner) connect(ctx context.Context, u *url.URL) (net.Conn, error) {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	conn, err := e.dial(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil || u.Scheme == "http" {
		return conn, err
	}
	return tls.Client(conn, &tls.Config{ServerName: u.Hostname()}), nil
}

func (r reaction) is(class int) bool { return r.status/100 == class }

// late reports whether the patience ended before the response.
func (r reaction) late() bool { return errors.Is(r.err, context.DeadlineExceeded) }

// String describes the response, with its time if it took long.
func (r reaction) String() string {
	text := fmt.Sprintf("%d %s", r.status, http.StatusText(r.status))
	switch {
	case r.late():
		return "no response in time"
	case r.err != nil:
		return "no response: " + r.err.Error()
	case r.is(3):
		text = fmt.Sprintf("%d, to %q", r.status, r.location)
	}
	if r.took > DefaultWithin {
		text += fmt.Sprintf(" after %s", r.took.Round(time.Millisecond))
	}
	return text
}
