package wire

import (
	"context"
	"io"
	"net/http"
	"testing"

	"golang.org/x/net/http2"
)

// detached sends requests with another context, so that nothing above it learns how much was written.
type detached struct{ next http.RoundTripper }

func (d detached) RoundTrip(r *http.Request) (*http.Response, error) {
	return d.next.RoundTrip(r.Clone(context.Background()))
}

// A transport that replaces the context hides how much was written. A request whose body was read is then not sent again.
func TestDetached_OneRequestAnAttempt(t *testing.T) {
	t.Parallel()
	serving, trusting := certificate()
	faults := map[string]func(c *connection) bool{
		"REFUSED_STREAM": func(c *connection) bool {
			return c.framer.WriteRSTStream(c.stream, http2.ErrCodeRefusedStream) == nil
		},
		"GOAWAY": func(c *connection) bool { return c.framer.WriteGoAway(0, http2.ErrCodeNo, nil) == nil },
	}
	for name, play := range faults {
		for _, op := range operations() {
			if !op.body {
				continue
			}
			t.Run(name+"/"+op.name, func(t *testing.T) {
				t.Parallel()
				s := listen(t, serving, serveHTTP2)
				defer s.Close()
				s.play = func(c *connection) bool {
					if s.seen() > 1 { // net/http would never stop
						return c.respond()
					}
					return play(c)
				}
				transport := &http.Transport{TLSClientConfig: trusting.Clone(), ForceAttemptHTTP2: true}
				defer transport.CloseIdleConnections()
				c := newCaller(t, s.URL, detached{transport})
				err := op.call(t.Context(), c.Client)
				c.checkAttempts(t, err, s.seen())
			})
		}
	}
	t.Run("Idempotency-Key", func(t *testing.T) {
		s := listen(t, nil, serveHTTP1)
		defer s.Close()
		s.play = func(*connection) bool { return false }
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		c := newCaller(t, s.URL, keyed{detached{transport}})
		c.keep(t)
		c.checkAttempts(t, purchase(t.Context(), c.Client), s.seen())
	})
}

// restoring reads the body before it sends the request, as a log of requests does.
type restoring struct{ next http.RoundTripper }

func (s restoring) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.GetBody != nil {
		_, _ = io.ReadAll(r.Body)
		r.Body, _ = r.GetBody()
	}
	return s.next.RoundTrip(r)
}

// A transport that reads the body before the request is sent can restore it.
func TestDetached_ABodyThatWasReadBeforeIsSent(t *testing.T) {
	t.Parallel()
	serving, trusting := certificate()
	for scheme, transport := range map[string]*http.Transport{
		"http": {}, "https": {TLSClientConfig: trusting.Clone(), ForceAttemptHTTP2: true},
	} {
		config, serve := serving, serveHTTP2
		play := (*connection).respond
		if scheme == "http" {
			config, serve = nil, serveHTTP1
			play = func(c *connection) bool { _, err := io.WriteString(c.net, whole); return err == nil }
		}
		for _, op := range operations() {
			s := listen(t, config, serve)
			s.play = play
			c := newCaller(t, s.URL, restoring{transport})
			err := op.call(t.Context(), c.Client)
			c.checkAttempts(t, err, s.seen())
			if err != nil {
				t.Errorf("%s, %s: %v", scheme, op.name, err)
			}
			transport.CloseIdleConnections()
			s.Close()
		}
	}
}
