package mockserver

import (
	"crypto/rand"
	"log/slog"
	"net"
)

// WithToken sets the token that opens the control surface under /_mock/ to other machines, as the header
// X-Mock-Token. Programs on this machine, which connect from a loopback address, need none. By default a server
// that other machines can reach has a random one, and every other server has none: see [Server.Token].
//
// A port that a container publishes is not a loopback address of the container.
func WithToken(token string) Option { return func(c *config) { c.token = token } }

// Token returns the token that opens the control surface to other machines; empty if nothing does.
func (s *Server) Token() string { return s.config.token }

// guard makes a token for a server that other machines can reach.
func (s *Server) guard(listener net.Listener) {
	if s.config.token == "" && listener != nil && !isLoopbackAddress(listener.Addr().String()) {
		s.config.token = rand.Text()
	}
}

// WithAccessLog logs every request to the service once its answer is ready: method, path, status (0 for a
// connection that is dropped), duration on the machine's clock, world, request_id, and where there is one the
// operation, the fault that struck and why the request was refused. Keys, queries and bodies are never logged. The
// world's name is the part of its key that its user chose, and no secret; of the home world's key it says nothing.
// Without it nothing is, and requests below /_mock/ never are.
func WithAccessLog(logger *slog.Logger) Option { return func(c *config) { c.accessLog = logger } }
