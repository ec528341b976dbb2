package mockserver

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Timeouts, so that a slow or idle client does not hold a connection indefinitely.
const (
	readHeaderTimeout = 30 * time.Second
	idleTimeout       = 2 * time.Minute
)

// maxHeader is the maximum length of a request's header, including its first line, in bytes. A longer one is refused.
const maxHeader = 64 << 10

// WithHosts adds host names or addresses that the control surface accepts besides those of this machine, and
// that the certificate of [WithTLS] covers. Requests with the token of [WithToken] may use any host name.
func WithHosts(names ...string) Option {
	return func(c *config) { c.hosts = append(c.hosts, names...) }
}

// checkAccess returns an error for a host or a token that no request can have.
func (c *config) checkAccess() error {
	for _, host := range c.hosts {
		if net.ParseIP(host) == nil && (host == "" || strings.ContainsAny(host, ":/*[] ")) {
			return fmt.Errorf("mockserver: the host %q can never match: write only a name or an address, such as "+
				"mock.internal, without scheme, port, path, space or *", host)
		}
	}
	if strings.TrimSpace(c.token) != c.token {
		return errors.New("mockserver: the token begins or ends with a space or a line break, which headers cannot have: " +
			"remove it")
	}
	return nil
}

// WithTLS serves HTTPS, including HTTP/2, with a new certificate for localhost, 127.0.0.1, ::1 and the names
// of [WithHosts]. [World.Client] trusts it; other clients need [Server.CA]. Requests in memory are not encrypted.
func WithTLS() Option { return func(c *config) { c.tls = true } }

// CA returns the certificate of the server, as PEM, if it uses [WithTLS]; else nil. Clients must trust it, because it
// is self-signed. Its private key is only in the memory of the server.
func (s *Server) CA() []byte { return slices.Clone(s.ca) }

func (s *Server) newHTTP() *http.Server {
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		// Above this, net/http itself refuses the request. Between maxHeader and this, the refusal is an envelope.
		MaxHeaderBytes: 2 * maxHeader,
		ErrorLog:       s.config.errorLog(),
		ConnContext:    wire.MarkInMemory,
		ConnState:      s.track,
		Protocols:      new(http.Protocols),
	}
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetHTTP2(s.config.tls)
	return h
}

// track tracks connections until they have sent their first request, and closes new ones over the network at the limit.
func (s *Server) track(conn net.Conn, state http.ConnState) {
	if state != http.StateNew {
		s.unused.Delete(conn)
	} else {
		s.unused.Store(conn, nil)
	}
	if conn.LocalAddr().Network() == "pipe" { // from this process
		return
	}
	switch state {
	case http.StateNew:
		if s.open.Add(1) > int64(s.config.Limits.Connections) {
			_ = conn.Close()
		}
	case http.StateClosed, http.StateHijacked:
		s.open.Add(-1)
	}
}

// closeUnused closes the connections that have sent no request, such as those that browsers open ahead of time, so that
// they do not delay a shutdown.
func (s *Server) closeUnused() {
	s.unused.Range(func(conn, _ any) bool {
		_ = conn.(net.Conn).Close()
		return true
	})
}

// secured wraps a listener in TLS with a certificate made for it.
func (s *Server) secured(listener net.Listener) (net.Listener, error) {
	authority, certificate, err := wire.NewCertificate(time.Now(), s.config.hosts)
	if err != nil {
		return nil, fmt.Errorf("mockserver: cannot make a certificate: %w", err)
	}
	s.ca = authority
	return tls.NewListener(listener, &tls.Config{
		Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12,
	}), nil
}

// dialled returns a transport that connects to the listener.
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

// WithToken sets the token, sent in the header X-Mock-Token, that every request over the network to the control
// surface under /_mock/ needs. By default a server that listens has a random token (see [Server.Token]), which only
// these need: other machines, and requests that a proxy has forwarded with Forwarded, Via, X-Real-IP or
// X-Forwarded- headers. A proxy that adds none of them cannot be recognized: use WithToken behind any proxy. GET
// /_mock/healthz needs no token.
//
// In a container, requests to a published port do not come from a loopback address.
func WithToken(token string) Option { return func(c *config) { c.token = token } }

// Token returns the token of the control surface: that of [WithToken], or else a random one. It is "" with neither
// WithToken nor a listener: such a server refuses control requests from other machines.
func (s *Server) Token() string { return s.config.token }

// listen opens the listener, if one is wanted, and returns the base address of the server. A server that could not
// start listens on a free port, so that it can respond with the reason.
func (s *Server) listen() (listener net.Listener, address string) {
	if !s.config.listen {
		return nil, wire.InMemoryURL
	}
	if s.err == nil { // otherwise an option is invalid, and only this is reported
		listener, s.err = listenOn(s.config.addr)
	}
	if s.err != nil {
		listener, _ = net.Listen("tcp", "127.0.0.1:0")
	}
	if listener == nil {
		return nil, wire.InMemoryURL
	}
	address = reachable(listener.Addr().String())
	if !s.config.tls {
		return listener, "http://" + address
	}
	secured, err := s.secured(listener)
	if err != nil {
		s.err = errors.Join(s.err, err, listener.Close())
		return nil, wire.InMemoryURL
	}
	return secured, "https://" + address
}

func listenOn(addr string) (net.Listener, error) {
	if port, err := strconv.ParseUint(addr, 10, 16); err == nil {
		return nil, fmt.Errorf("mockserver: the address %[1]q is only a port: write 127.0.0.1:%[2]d, or :%[2]d to be "+
			"reached from other machines too", addr, port)
	}
	listener, err := net.Listen("tcp", addr)
	if _, malformed := errors.AsType[*net.AddrError](err); malformed {
		return nil, fmt.Errorf("mockserver: cannot listen on %s: %w; write a host and a port, such as 127.0.0.1:4010", addr,
			err)
	}
	if err != nil {
		return nil, fmt.Errorf("mockserver: cannot listen on %s: %w; choose another address, or port 0 for a free one", addr,
			err)
	}
	return listener, nil
}

// reachable returns an address at which programs on this machine reach a listener: all addresses of the machine,
// 0.0.0.0 or [::], include 127.0.0.1.
func reachable(listening string) string {
	if at, err := netip.ParseAddrPort(listening); err == nil && at.Addr().IsUnspecified() {
		return fmt.Sprintf("127.0.0.1:%d", at.Port())
	}
	return listening
}

func (s *Server) serve(listener net.Listener) {
	s.serving.Go(func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.config.Logger.Error("the listener failed", "error", err)
		}
	})
}
