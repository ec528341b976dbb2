package wire

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// service accepts connections and counts the requests, other than GET, that it has read whole.
type service struct {
	listener net.Listener
	serve    func(*service, net.Conn)
	// play responds to a request that is not a GET, and reports whether the connection stays open.
	play func(c *connection) (open bool)
	// beforeGet, if set, is called before the response to a GET.
	beforeGet func(c *connection)

	serving sync.WaitGroup

	mu       sync.Mutex
	conns    []net.Conn
	requests int // that were read whole
}

func listen(t *testing.T, config *tls.Config, serve func(*service, net.Conn)) *service {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	s := &service{listener: listener, serve: serve}
	s.serving.Go(s.accept)
	return s
}

func (s *service) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns = append(s.conns, conn)
		s.mu.Unlock()
		s.serving.Go(func() {
			defer conn.Close()
			s.serve(s, conn)
		})
	}
}

func (s *service) address() string { return s.listener.Addr().String() }

func (s *service) close() {
	_ = s.listener.Close()
	s.closeConnections(reset)
}

// drain waits until every connection has ended, so that a request which the client still writes is seen.
// The client has to close its idle connections before.
func (s *service) drain() {
	_ = s.listener.Close()
	s.serving.Wait()
}

// closeConnections closes the connections that were accepted so far.
func (s *service) closeConnections(closeOne func(net.Conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		closeOne(conn)
	}
	s.conns = nil
}

func (s *service) read() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
}

// seen returns how many requests, other than GET, were read whole.
func (s *service) seen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// reset closes a connection so that the peer cannot write to it any more.
func reset(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

// connection is one connection while the service responds to a request. HTTP/1.1 leaves framer nil.
type connection struct {
	net    net.Conn
	framer *http2.Framer
	stream uint32
}

// serveHTTP2 reads frames. It responds to every GET, and play responds to the rest.
func serveHTTP2(s *service, conn net.Conn) {
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_ = framer.WriteSettings()
	methods := map[uint32]string{} // by stream
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		ended := false
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = framer.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !frame.IsAck() {
				_ = framer.WritePing(true, frame.Data)
			}
		case *http2.MetaHeadersFrame:
			methods[frame.StreamID] = frame.PseudoValue("method")
			ended = frame.StreamEnded()
		case *http2.DataFrame:
			ended = frame.StreamEnded()
		}
		if !ended {
			continue
		}
		c := &connection{conn, framer, frame.Header().StreamID}
		if methods[c.stream] == http.MethodGet {
			if s.beforeGet != nil {
				s.beforeGet(c)
			}
			c.respond()
		} else {
			s.read()
			if !s.play(c) {
				return
			}
		}
	}
}

func (c *connection) header(status, length string, end bool) {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	encoder.SetMaxDynamicTableSize(0)
	_ = encoder.WriteField(hpack.HeaderField{Name: ":status", Value: status})
	if length != "" {
		_ = encoder.WriteField(hpack.HeaderField{Name: "content-length", Value: length})
	}
	_ = c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: end})
}

func (c *connection) respond() bool {
	c.header("200", "", false)
	_ = c.framer.WriteData(c.stream, true, []byte(record))
	return true
}

// certificate is a certificate for 127.0.0.1, and the settings of a client that trusts it.
func certificate() (server, client *tls.Config) {
	authority := httptest.NewTLSServer(nil)
	defer authority.Close()
	client = authority.Client().Transport.(*http.Transport).TLSClientConfig
	return &tls.Config{Certificates: authority.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}, client
}
