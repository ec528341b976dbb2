package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Limits and times of the stream at /_mock/live.
const (
	maxStreams        = 64                     // maximum number of streams
	checkInterval     = 500 * time.Millisecond // interval between checks for changes
	gatherTime        = 100 * time.Millisecond // wait after a request, to combine several
	heartbeatInterval = 15 * time.Second       // interval between heartbeats
	writeTimeout      = 10 * time.Second       // timeout for one message
)

// summary is a summary of a world: its counts, and a checksum for each kind of data that a page can show.
type summary struct {
	World         string `json:"world"`
	Entries       uint64 `json:"journal_entries"` // since the world was opened or reset
	LedgerEntries int    `json:"ledger_entries"`
	Requests      int    `json:"regulatory_requests"`
	// Unauthenticated counts the requests of the server whose key opens no world.
	Unauthenticated uint64             `json:"unauthenticated_entries"`
	Pending         int                `json:"pending"` // timers on the clock
	Clock           string             `json:"clock"`
	Now             jsontext.Timestamp `json:"now"`
	Marks           marks              `json:"marks"`
}

// marks has a checksum for each route: it changes when the data that GET returns there changes, also if the data was the
// same at an earlier time.
type marks struct {
	Assumptions uint32 `json:"assumptions"`
	Ledger      uint32 `json:"ledger"`
	Requests    uint32 `json:"regulatory_requests"`
	Deliveries  uint32 `json:"deliveries"`
	Inbox       uint32 `json:"inbox"`
	Webhooks    uint32 `json:"webhooks"`
	Faults      uint32 `json:"faults"`
	Worlds      uint32 `json:"worlds"`
}

// withoutTime returns the summary without the fields that change with time, for comparison.
func (p summary) withoutTime() summary {
	if p.Clock == "real" {
		p.Now = jsontext.Timestamp{}
	}
	return p
}

// summary returns the summary of a world. Streams poll it, so that a server without streams does no work for them and a
// slow reader delays nobody.
func (s *Admin) summary(w *world.World) summary {
	p := summary{
		World: w.Name(), Entries: w.Log.Last(), Unauthenticated: s.Worlds.Unauthenticated.Log.Last(),
		Marks:   marks{Faults: w.Faults.Mark(), Worlds: checksumWorlds(s.Worlds.Worlds())},
		Pending: w.Waiting(), Clock: clockKind(w), Now: jsontext.Timestamp(w.Clock.Now()),
	}
	deliveries, inbox := w.Dispatcher.Mark(), w.Inbox.Received()
	w.Lock()
	defer w.Unlock()
	p.LedgerEntries, p.Requests = w.Account.Ledger.Len(), w.Desk.Len()
	p.Marks.Assumptions = checksum(w.Replaced, *w.Assume())
	p.Marks.Deliveries = checksum(w.Replaced, deliveries)
	p.Marks.Inbox = checksum(w.Replaced, inbox)
	p.Marks.Ledger = checksum(w.Replaced, p.LedgerEntries)
	if last, known := w.Account.Ledger.Last(); known {
		p.Marks.Ledger = checksum(w.Replaced, p.LedgerEntries, last.ID)
	}
	p.Marks.Requests = checksum(w.Replaced, p.Requests, w.Desk.Stored())
	if newest := w.Desk.Newest(0, 1); len(newest) > 0 {
		p.Marks.Requests = checksum(w.Replaced, p.Requests, w.Desk.Stored(), newest[0].RequestID)
	}
	hooks := []any{w.Replaced}
	for _, h := range w.Account.Webhooks.All {
		hooks = append(hooks, h.WebhookID, h.Revision)
	}
	p.Marks.Webhooks = checksum(hooks...)
	return p
}

// checksum returns a hash of its arguments.
func checksum(parts ...any) uint32 {
	hash := fnv.New32a()
	_, _ = fmt.Fprint(hash, parts...) // a hash does not fail
	return hash.Sum32()
}

// checksumWorlds returns a number that changes when a world is opened or closed, or its snapshots change.
func checksumWorlds(opened []*world.World) uint32 {
	changes := 0
	for _, w := range opened {
		w.Lock()
		changes += w.SnapshotChanges
		w.Unlock()
	}
	return checksum(len(opened), opened[len(opened)-1].Name(), changes)
}

// watchWorld serves GET /_mock/live: the summary of a world, or a stream of summaries for clients that accept
// text/event-stream.
func (s *Admin) watchWorld(c *control) wire.Reply {
	if !wire.Prefers(c.Header, "text/event-stream", "application/json") {
		return wire.Succeed("The state of the world; send Accept: text/event-stream for a stream of its changes", s.summary(c.world))
	}
	if s.watching.Add(1) > maxStreams {
		s.watching.Add(-1)
		return wire.Refused(http.StatusServiceUnavailable, wire.CodeUnavailable, fmt.Sprintf("the limit of %d streams is reached: close one", maxStreams))
	}
	return wire.Reply{
		Status: http.StatusOK, ContentType: "text/event-stream", Header: http.Header{"X-Content-Type-Options": {"nosniff"}},
		Stream: func(w http.ResponseWriter) error {
			defer s.watching.Add(-1)
			return s.live(c.Context(), newEventWriter(w), c.world)
		},
	}
}

// live writes a world's summary whenever it has changed, until the client disconnects, or the world or the server is
// closed.
func (s *Admin) live(ctx context.Context, out *eventWriter, w *world.World) error {
	defer out.close()
	var sent summary
	var sentAt time.Time
	for {
		changes := w.Log.Changes()
		now := time.Now()
		switch p := s.summary(w); {
		case w != s.Worlds.Unauthenticated && s.Worlds.ByKey(w.SecretKey) != w:
			return out.event("closed", p)
		case p.withoutTime() != sent:
			if err := out.event("change", p); err != nil {
				return err
			}
			sent, sentAt = p.withoutTime(), now
		case now.Sub(sentAt) >= heartbeatInterval:
			if err := out.comment("heartbeat"); err != nil {
				return err
			}
			sentAt = now
		}
		if !s.pause(ctx, changes, checkInterval) || !s.pause(ctx, nil, gatherTime) {
			return nil
		}
	}
}

// pause returns true after a time, or as soon as the channel closes, and false if the stream must end.
func (s *Admin) pause(ctx context.Context, until <-chan struct{}, longest time.Duration) bool {
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-until:
	case <-timer.C:
	case <-ctx.Done():
		return false
	case <-s.leaving:
		return false
	}
	return true
}

// eventWriter writes server-sent events, each with a timeout.
type eventWriter struct {
	w   http.ResponseWriter
	out *http.ResponseController
}

func newEventWriter(w http.ResponseWriter) *eventWriter {
	return &eventWriter{w, http.NewResponseController(w)}
}

func (e *eventWriter) event(kind string, data any) error {
	encoded, err := json.Marshal(data) // on one line, as the format requires
	if err != nil {
		return err
	}
	return e.send("event: " + kind + "\ndata: " + string(encoded) + "\n\n")
}

func (e *eventWriter) comment(text string) error { return e.send(": " + text + "\n\n") }

func (e *eventWriter) send(text string) error {
	// A writer without deadlines is not a network connection.
	_ = e.out.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := e.w.Write([]byte(text)); err != nil {
		return err
	}
	return e.out.Flush()
}

// close sets the timeout for the end of the stream. The HTTP server removes the deadline.
func (e *eventWriter) close() { _ = e.out.SetWriteDeadline(time.Now().Add(writeTimeout)) }
