package mockserver

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Patience with clients that are slow or say nothing, so that they hold no connection for ever.
const (
	readHeaderTimeout = 30 * time.Second
	idleTimeout       = 2 * time.Minute
)

// WithMaxHeader limits the header of a request, its first line included, to that many bytes; a longer one
// is answered with 431. The default is 64 KiB.
func WithMaxHeader(bytes int) Option { return func(c *config) { c.maxHeader = max(1, bytes) } }

// WithHosts adds names or addresses that the control surface accepts as the host of a request, besides those of
// this machine, and that the certificate of [WithTLS] is for. Requests with the token of [WithToken] may use any.
func WithHosts(names ...string) Option {
	return func(c *config) { c.hosts = append(c.hosts, names...) }
}

// WithTLS serves HTTPS, HTTP/2 included, with a certificate made for localhost, 127.0.0.1, ::1 and the names
// of [WithHosts] when the server starts. [World.Client] trusts it; others need [Server.CA]. What is asked in memory stays plain.
func WithTLS() Option { return func(c *config) { c.tls = true } }

// WithH2C serves HTTP/2 without TLS too, to clients that begin with it.
func WithH2C() Option { return func(c *config) { c.h2c = true } }

// CA returns, as PEM, the certificate that clients must trust to use a server with [WithTLS]; else nil.
// Its private key existed only while the server's certificate was made.
func (s *Server) CA() []byte { return slices.Clone(s.ca) }

func (s *Server) newHTTP() *http.Server {
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		// net/http refuses in words of its own; twice the limit leaves the common case to ours.
		MaxHeaderBytes: 2 * s.config.maxHeader,
		ErrorLog:       s.config.errorLog(),
		ConnContext:    wire.MarkInMemory,
		ConnState:      s.api.Unread.ConnState,
		Protocols:      new(http.Protocols),
	}
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetHTTP2(s.config.tls)
	h.Protocols.SetUnencryptedHTTP2(s.config.h2c)
	return h
}

// headerTooLong reports whether a request's header is beyond the limit.
func (s *Server) headerTooLong(r *http.Request) bool {
	size := len(r.RequestURI) + len(r.Host)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value) + len(": \r\n")
		}
	}
	return size > s.config.maxHeader
}

// secured wraps a listener in TLS with a certificate made for it.
func (s *Server) secured(listener net.Listener) (net.Listener, error) {
	authority, certificate, err := wire.NewCertificate(time.Now(), s.config.hosts)
	if err != nil {
		return nil, fmt.Errorf("mockserver: no certificate can be made: %w", err)
	}
	s.ca = authority
	return tls.NewListener(listener, &tls.Config{
		Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12,
	}), nil
}

// dialled is a transport to the listener.
func (s *Server) dialled() *http.Transport {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	if s.config.tls {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(s.ca)
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		transport.ForceAttemptHTTP2 = true
	}
	return transport
}
