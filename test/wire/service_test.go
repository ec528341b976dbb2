package wire

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/shipping-go/shipping/test/internal/tcptest"
)

// service counts the requests, other than GET, that it has read whole.
type service struct {
	*tcptest.Server
	// play responds to a request that is not a GET, and reports whether the connection stays open.
	play func(c *connection) (open bool)
	// beforeGet, if set, is called before the response to a GET over HTTP/1.1.
	beforeGet func()
	// drains lets attempt wait for requests that the client still writes when the call has ended.
	drains   bool
	requests atomic.Int32
}

// listen starts a service that reads each connection with serve.
func listen(config *tls.Config, serve func(*service, net.Conn)) *service {
	s := &service{}
	s.Server = tcptest.Start(config, func(conn net.Conn) { serve(s, conn) })
	return s
}

// attempt makes a call over kept connections, or a new one, and requires one request and one attempt.
func (s *service) attempt(t *testing.T, op operation, through transport, kept int) error {
	t.Helper()
	defer s.Close()
	defer through.CloseIdleConnections()
	c := newCaller(t, s.URL, through)
	var keeping sync.WaitGroup
	for range kept {
		keeping.Go(func() { c.keep(t) })
	}
	keeping.Wait()
	err := op.call(t.Context(), c.Client)
	if s.drains {
		through.CloseIdleConnections()
		s.Drain()
	}
	c.checkAttempts(t, err, int(s.requests.Load()))
	return err
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
			c.respond()
		} else if s.requests.Add(1) > 1 {
			c.respond() // otherwise net/http would never stop
		} else if !s.play(c) {
			return
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
	_ = c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: block.Bytes(), EndHeaders: true,
		EndStream: end})
}

func (c *connection) respond() bool {
	c.header("200", "", false)
	_ = c.framer.WriteData(c.stream, true, []byte(record))
	return true
}
