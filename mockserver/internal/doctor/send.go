package doctor

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/delivery"
)

// post is one request to the receiver. The zero value is a valid delivery.
type post struct {
	body      io.Reader
	signature string // "" sends none
	id        string // "" means a new one
	kind      string // the content type; "" is JSON
	method    string // "" is POST
}

// signed returns a valid delivery of a body.
func (e *examiner) signed(body []byte) post {
	return post{body: bytes.NewReader(body), signature: delivery.Sign(e.Key, body)}
}

// reaction is the receiver's response.
type reaction struct {
	status   int
	location string // where a redirect leads
	err      error  // without a response
	took     time.Duration
}

// request converts a post to a request, and counts it.
func (e *examiner) request(ctx context.Context, p post) (*http.Request, error) {
	method := cmp.Or(p.method, http.MethodPost)
	req, err := http.NewRequestWithContext(ctx, method, e.URL, p.body)
	if err != nil {
		return nil, err
	}
	if p.body != nil {
		req.Header.Set("Content-Type", cmp.Or(p.kind, "application/json"))
	}
	if p.signature != "" {
		req.Header.Set(e.SignatureHeader, p.signature)
	}
	e.sent++
	id := cmp.Or(p.id, e.newID())
	req.Header.Set(delivery.HeaderDeliveryID, id)
	req.Header.Set(delivery.HeaderEventID, strings.Replace(id, "WD-", "WE-", 1))
	return req, nil
}

// send sends one request and waits for the response for at most the patience.
func (e *examiner) send(p post) reaction {
	ctx, cancel := context.WithTimeout(e.ctx, e.Patience)
	defer cancel()
	req, err := e.request(ctx, p)
	if err != nil {
		return reaction{err: err}
	}
	began := time.Now()
	resp, err := e.client.Do(req)
	r := reaction{err: err, took: time.Since(began)}
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			r.err = failed.Err
		}
		return r
	}
	defer resp.Body.Close()
	// Only the status matters.
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	r.status, r.location = resp.StatusCode, resp.Header.Get("Location")
	return r
}

// sendStalled begins a request and stops within its body. It writes to the connection itself, because an
// http.Transport that waits for a body does not notice that the receiver has closed the connection.
func (e *examiner) sendStalled(p post) reaction {
	ctx, cancel := context.WithTimeout(e.ctx, e.Patience)
	defer cancel()
	req, err := e.request(ctx, p)
	if err != nil {
		return reaction{err: err}
	}
	conn, err := e.connect(ctx, req.URL)
	if err != nil {
		return reaction{err: err}
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	var whole bytes.Buffer
	if err := req.Write(&whole); err != nil {
		return reaction{err: err}
	}
	head, body, _ := bytes.Cut(whole.Bytes(), []byte("\r\n\r\n"))
	beginning := whole.Bytes()[:len(head)+len("\r\n\r\n")+min(1, len(body))]
	if _, err := conn.Write(beginning); err != nil {
		return reaction{err: err}
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err != nil {
		return reaction{err: cmp.Or(ctx.Err(), err)}
	}
	defer resp.Body.Close()
	return reaction{status: resp.StatusCode, location: resp.Header.Get("Location")}
}

// connect opens a connection to the host of a URL.
func (e *examiner) connect(ctx context.Context, u *url.URL) (net.Conn, error) {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	conn, err := e.dial(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil || u.Scheme == "http" {
		return conn, err
	}
	return tls.Client(conn, &tls.Config{ServerName: u.Hostname(), RootCAs: e.Roots}), nil
}

// newID returns the identifier of the next delivery.
func (e *examiner) newID() string { return fmt.Sprintf("WD-DOCTOR%010d", e.sent) }

func (r reaction) accepted() bool { return r.status >= 200 && r.status <= 299 }
func (r reaction) refused() bool  { return r.status >= 400 && r.status <= 499 }
func (r reaction) redirect() bool { return r.status >= 300 && r.status <= 399 }
func (r reaction) patienceEnded() bool {
	return errors.Is(r.err, context.DeadlineExceeded)
}

// unconnected returns why no connection was made, or nil.
func (r reaction) unconnected() error {
	if failed, ok := errors.AsType[*net.OpError](r.err); ok && failed.Op == "dial" {
		return r.err
	}
	return nil
}

func (r reaction) String() string {
	switch {
	case r.patienceEnded():
		return "no response in time"
	case r.err != nil:
		return "no response: " + r.err.Error()
	case r.redirect():
		return fmt.Sprintf("%d, to %q", r.status, r.location)
	}
	return fmt.Sprintf("%d %s", r.status, http.StatusText(r.status))
}
