package mockserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/internal/admin"
	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Server is a running reference server with one complete, seeded world. [New] returns one; close it when done.
// It is safe for concurrent use, and is an [http.Handler].
type Server struct {
	// World is the home world: the seeded account that the server starts with. Its fields URL and SecretKey, and its
	// methods, are promoted to the server.
	*World

	config     config
	operations []operations.Operation
	err        error
	worlds     *world.Worlds
	api        *api.API
	admin      *admin.Admin

	ca       []byte // PEM of the certificate; nil without TLS
	http     *http.Server
	pipes    *wire.PipeListener
	inMemory *http.Transport
	unused   sync.Map     // net.Conn: connections that have sent no request yet
	open     atomic.Int64 // connections over the network
	serving  sync.WaitGroup
	closing  sync.Once
}

// New starts a server with a seeded world on a free port of 127.0.0.1 and returns it, ready to accept requests.
// New does not panic: if an option cannot be applied, such as a port that is in use, [Server.Err] returns the
// error, every request is refused with it, and [World.Client] fails the test with it.
func New(opts ...Option) *Server {
	s := &Server{config: defaultConfig()}
	for _, opt := range opts {
		opt(&s.config)
	}
	if err := s.config.Dialect.Check(); err != nil {
		s.err = fmt.Errorf("mockserver: dialect: %w", err)
	}
	if s.config.Deliver == nil {
		s.config.Deliver = delivery.NewTransport(s.config.Anywhere)
	}
	s.err = errors.Join(s.err, s.config.checkAccess(), s.openHome(), s.newAPI())
	s.admin = s.newControlSurface()
	s.start()
	return s
}

func (s *Server) openHome() (err error) {
	s.worlds, err = world.NewWorlds(&s.config.Settings, s.config.scenario)
	s.World = s.public(s.worlds.Home())
	return err
}

// newAPI builds the API, which serves the operations.
func (s *Server) newAPI() error {
	routes := s.config.Dialect.Routes
	table, err := operations.WithRoutes(routes)
	if err != nil { // reported by the check of the dialect
		table = operations.All()
	}
	table = slices.DeleteFunc(table, func(o operations.Operation) bool {
		return o.Provisional && err == nil && len(routes) > 0 && routes[o.Name] == ""
	})
	s.operations = table
	s.api, err = api.New(api.Config{Worlds: s.worlds, Operations: s.operations, Logger: s.config.Logger})
	s.config.Specified = s.api.Specified
	return err
}

func (s *Server) newControlSurface() *admin.Admin {
	return admin.New(admin.Config{
		Worlds: s.worlds, Operations: s.operations,
		Hosts: s.config.hosts, Logger: s.config.Logger,
		Token: s.Token, TokenForAll: s.config.token != "", // start sets a random one later
	})
}

// start serves the listener, if one is wanted, and the connections in memory.
func (s *Server) start() {
	s.http = s.newHTTP()
	s.http.RegisterOnShutdown(s.closeUnused)
	s.pipes = wire.NewPipeListener()
	s.inMemory = s.pipes.Transport()
	listener, address := s.listen()
	if s.config.token == "" && listener != nil {
		s.config.token = rand.Text()
	}
	s.worlds.SetURL(address)
	s.URL = address
	s.serve(s.pipes)
	if listener != nil {
		s.serve(listener)
	}
}

// Err returns the error of the first option that could not be applied, or nil.
func (s *Server) Err() error { return s.err }

// Active returns how many requests to the service, in all worlds, are in progress. If it is 0, the journals contain
// every request that has arrived.
func (s *Server) Active() int { return s.api.Active() }

// Shutdown stops accepting connections, lets requests in progress finish until the context ends and closes the server.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	s.Close()
	return err
}

// Close closes every connection, stops deliveries and timers, and returns when all have ended. Close may
// be called more than once.
func (s *Server) Close() {
	s.closing.Do(func() {
		s.inMemory.CloseIdleConnections()
		// The only error is that the listener is closed already.
		_ = s.http.Close()
		for _, w := range append(s.worlds.End(), s.worlds.Unauthenticated) {
			w.Close()
		}
		if idle, ok := s.config.Deliver.(interface{ CloseIdleConnections() }); ok {
			idle.CloseIdleConnections()
		}
		s.serving.Wait()
	})
}

// ServeHTTP serves one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	wire.LimitWrite(w, 0) // removes the deadline of the previous response
	switch {
	case s.err != nil:
		const notRetried = http.StatusNotImplemented // by clients
		s.api.Refuse(w, r, wire.Refused(notRetried, wire.CodeUnavailable, "the server could not start: "+s.err.Error()))
	case headerTooLong(r):
		s.api.Refuse(w, r, wire.Refused(http.StatusRequestHeaderFieldsTooLarge, wire.CodeHeaderLarge,
			fmt.Sprintf("the header is longer than %d bytes: send less", maxHeader)))
	case !wire.IsClean(r.URL.Path): // ServeMux would redirect it and hide a mistake of the client
		s.api.NotFound(w, r)
	case r.URL.Path == admin.Root, r.URL.Path == "/" && wire.Prefers(r.Header, "text/html", "application/json"):
		// a browser
		s.admin.Redirect(w, r)
	case strings.HasPrefix(r.URL.Path, wire.ControlPrefix):
		s.admin.ServeHTTP(w, r)
	default:
		s.api.ServeHTTP(w, r)
	}
}

// headerTooLong reports whether a request's header exceeds the limit.
func headerTooLong(r *http.Request) bool {
	size := len(r.RequestURI) + len(r.Host)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value) + len(": \r\n")
		}
	}
	return size > maxHeader
}

// Unauthenticated returns the latest requests that were refused for their key, or whose key opens no world,
// oldest first. They are in the journal of no world, and no fault rule counts them. GET
// /_mock/journal?world=unauthenticated lists them too.
func (s *Server) Unauthenticated() []journal.Entry {
	return s.worlds.Unauthenticated.Find(journal.Query{})
}
