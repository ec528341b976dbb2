package webhook

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// quietInterval is the time between two warnings of the same kind from a receiver without [WithLogger].
const quietInterval = time.Minute

// quietHandler passes each message on at most once in a quietInterval. A sender that cannot sign correctly must not be
// able to fill the log, and a receiver that refuses everything must not be silent. It discards messages below a warning.
type quietHandler struct {
	slog.Handler
	state *quietState
}

type quietState struct {
	mu   sync.Mutex
	last map[string]time.Time // by message: the receiver has only a few
}

func newQuietHandler(handler slog.Handler) quietHandler {
	return quietHandler{handler, &quietState{last: map[string]time.Time{}}}
}

// Enabled implements [slog.Handler].
func (h quietHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h quietHandler) Handle(ctx context.Context, record slog.Record) error {
	if !h.state.due(record.Message) {
		return nil
	}
	return h.Handler.Handle(ctx, record)
}

func (s *quietState) due(message string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if last, logged := s.last[message]; logged && now.Sub(last) < quietInterval {
		return false
	}
	s.last[message] = now
	return true
}
