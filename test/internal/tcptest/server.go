// Package tcptest starts servers on real connections, which tests break or write byte by byte, be it HTTP or not.
package tcptest

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
)

// Server passes each connection to a function, and closes the connection when the function returns.
type Server struct {
	// URL is http:// or https://, and the address.
	URL string

	talk     func(net.Conn)
	listener net.Listener
	serving  sync.WaitGroup
	mu       sync.Mutex
	open     map[net.Conn]bool
	closed   bool
}

// Start starts a server on a loopback port, with TLS if a configuration is given. talk is called for many connections
// at the same time. Start panics if it cannot listen.
func Start(config *tls.Config, talk func(net.Conn)) *Server {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	scheme := "http://"
	if config != nil {
		scheme, listener = "https://", tls.NewListener(listener, config)
	}
	s := &Server{URL: scheme + listener.Addr().String(), talk: talk, listener: listener, open: map[net.Conn]bool{}}
	s.serving.Go(s.accept)
	return s
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.open[conn] = true; s.closed { // Close has not seen it
			_ = conn.Close()
		}
		s.mu.Unlock()
		s.serving.Go(func() {
			s.talk(conn)
			_ = conn.Close()
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.open, conn)
		})
	}
}

// Close closes the listener and all connections, and returns when every call of the function has returned.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.StopListening()
	s.CloseConnections(Reset)
	s.serving.Wait()
}

// StopListening closes the listener: later connections are refused.
func (s *Server) StopListening() { _ = s.listener.Close() }

// Drain closes the listener and waits until every connection has ended, so that a request which a client still writes
// is read. The client has to close its idle connections before.
func (s *Server) Drain() {
	s.StopListening()
	s.serving.Wait()
}

// CloseConnections closes the connections that are open.
func (s *Server) CloseConnections(closeOne func(net.Conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.open {
		closeOne(conn)
	}
}

// Reset closes a connection so that the peer cannot write to it any more.
func Reset(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

// ReadRequest reads a request to the end of its body, which it discards. It fails for a request that is not complete.
func ReadRequest(from *bufio.Reader) (*http.Request, error) {
	r, err := http.ReadRequest(from)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, r.Body)
	return r, err
}
