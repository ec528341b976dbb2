package mockserver

import (
	"log/slog"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// WithAccessLog logs every request to the service once its answer is ready: method, path, status (0 for a
// connection that is dropped), duration on the machine's clock, world, request_id, and where there is one the
// operation, the fault that struck and why the request was refused. Keys, queries and bodies are never logged. The
// world's name is the part of its key that its user chose, and no secret; of the home world's key it says nothing.
// Without it nothing is, and requests below /_mock/ never are.
func WithAccessLog(logger *slog.Logger) Option { return func(c *config) { c.accessLog = logger } }

// logAccess comes before the answer is sent, since the sending may end the request's goroutine.
func (s *Server) logAccess(w *World, x *wire.Exchange, id string) {
	if s.config.accessLog == nil {
		return
	}
	status := x.Reply.Status
	if x.Ending != wire.EndAnswered {
		status = 0
	}
	attributes := []slog.Attr{
		slog.String("method", x.Call.Method), slog.String("path", wire.Redact(x.Call.URL.Path)), slog.Int("status", status),
		slog.Duration("duration", time.Since(x.Began)), slog.String("world", w.name), slog.String("request_id", id),
	}
	if x.Operation != "" {
		attributes = append(attributes, slog.String("operation", x.Operation))
	}
	if len(x.Struck) > 0 {
		attributes = append(attributes, slog.String("fault", wire.Redact(x.Faults())))
	}
	if why := x.Reply.Refusal.Message; why != "" {
		attributes = append(attributes, slog.String("refused", wire.Redact(why)))
	}
	s.config.accessLog.LogAttrs(x.Ctx, slog.LevelInfo, "request", attributes...)
}
