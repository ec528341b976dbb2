package watch

import (
	"log/slog"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// AccessLog logs exchanges. It runs before the response is sent, because sending may end the request's goroutine.
type AccessLog struct{ logger *slog.Logger }

// NewAccessLog returns an access log that writes to a logger.
func NewAccessLog(logger *slog.Logger) AccessLog { return AccessLog{logger} }

// See logs an exchange.
func (l AccessLog) See(x *wire.Exchange) {
	attributes := []slog.Attr{
		slog.String("method", x.Method), slog.String("path", wire.Redact(x.URL.Path)), slog.Int("status", x.Status()),
		slog.Duration("duration", x.Took), slog.String("world", x.World), slog.String("request_id", x.ID),
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
	l.logger.LogAttrs(x.Context(), slog.LevelInfo, "request", attributes...)
}
