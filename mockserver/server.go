package mockserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
)

// Server is a running reference server with one complete, seeded world. Make one with [New] and
// close it when done. It is safe for concurrent use, and an [http.Handler] of its own.
type Server struct {
	// URL is the base address, such as "http://127.0.0.1:41234". Without a listener it is an address
	// that no network resolves, for use with [Server.Transport].
	URL string
	// SecretKey is the key of the seeded world: "sk_test_" and a text that follows from the seed.
	SecretKey string

	config  config
	err     error
	home    *world
	worlds  map[string]*world // by secret key
	routes  *router
	admin   http.Handler
	buffers sync.Pool

	http     *http.Server
	pipes    *pipeListener
	inMemory *http.Transport
	serving  sync.WaitGroup
	closing  sync.Once
}

// New starts a server with a seeded world on a free port of 127.0.0.1 and returns it, ready to
// answer. Nothing panics: when an option cannot be fulfilled, a taken port for one, [Server.Err] says
// so, every request in memory is answered with it, and [Server.Client] fails the test with it.
func New(opts ...Option) *Server {
	s := &Server{config: defaultConfig()}
	for _, opt := range opts {
		opt(&s.config)
	}
	s.err = s.config.prepare()
	s.buffers.New = func() any { return new([]byte) }
	s.home = newWorld(&s.config)
	s.SecretKey = s.home.key
	s.worlds = map[string]*world{s.home.key: s.home}
	s.routes = newRouter(s, s.config.operations)
	s.admin = newAdmin(s)
	s.err = errors.Join(s.err, s.home.err, s.routes.err)
	s.start()
	return s
}

// start serves the listener, if one is wanted, and the connections in memory.
func (s *Server) start() {
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          s.config.errorLog(),
		ConnContext:       markInMemory,
	}
	s.pipes = newPipeListener()
	s.inMemory = s.pipes.transport()
	s.serve(s.pipes)

	s.URL = inMemoryURL
	if !s.config.listen {
		return
	}
	listener, err := net.Listen("tcp", s.config.addr)
	if err != nil {
		s.err = errors.Join(s.err, fmt.Errorf("mockserver: cannot listen on %s: %w; choose another address, or port 0 for a free one", s.config.addr, err))
		return
	}
	s.URL = "http://" + listener.Addr().String()
	s.serve(listener)
}

func (s *Server) serve(listener net.Listener) {
	s.serving.Go(func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.config.logger.Error("the listener failed", "error", err)
		}
	})
}

// Err returns why the server is not what the options asked for, or nil.
func (s *Server) Err() error { return s.err }

// Client returns a client of the seeded world, through the listener where there is one, else in
// memory. Its connections close when the test ends. A server that could not start fails the test.
func (s *Server) Client(tb testing.TB) *shipping.Client {
	tb.Helper()
	if s.err != nil {
		tb.Fatal(s.err)
	}
	transport := s.inMemory.Clone()
	if s.config.listen {
		transport = &http.Transport{MaxIdleConnsPerHost: 16}
	}
	tb.Cleanup(transport.CloseIdleConnections)
	c, err := shipping.NewClient(s.SecretKey,
		shipping.WithBaseURL(s.URL),
		shipping.WithHTTPClient(&http.Client{Transport: transport}))
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// Transport returns a transport that reaches the server without a socket, whatever host a request
// names: a real HTTP connection over memory. It works inside a testing/synctest bubble when the
// server was made there, with [WithoutListener].
func (s *Server) Transport() http.RoundTripper { return s.inMemory }

// Shutdown stops accepting, lets requests under way finish until the context ends, and closes.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	s.Close()
	return err
}

// Close cuts every connection, stops deliveries and timers, and returns when all have ended. It may
// be called again.
func (s *Server) Close() {
	s.closing.Do(func() {
		s.inMemory.CloseIdleConnections()
		// Its error is a listener's that is already closed.
		_ = s.http.Close()
		for _, w := range s.worlds {
			w.close()
		}
		s.serving.Wait()
	})
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.err != nil:
		s.refuse(w, r, refused(http.StatusServiceUnavailable, codeUnavailable, "the server could not start: "+s.err.Error()))
	case !isClean(r.URL.Path): // ServeMux would redirect it; a client that builds one has a mistake to hear about
		s.notFound(w, r)
	case isAdminPath(r.URL.Path):
		s.admin.ServeHTTP(w, r)
	default:
		s.routes.mux.ServeHTTP(w, r)
	}
}
