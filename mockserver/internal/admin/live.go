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

// How the stream at /_mock/live behaves.
const (
	maxLive       = 64                     // streams at once
	liveTick      = 500 * time.Millisecond // how often a stream looks where no call wakes it
	liveGather    = 100 * time.Millisecond // how long it waits after a call for more of them
	liveHeartbeat = 15 * time.Second       // silence after which it says that it is there
	livePatience  = 10 * time.Second       // how long a reader may take for one message
)

// pulse is what a world looks like from afar: a number for each thing that a page can show, which is
// another one once the thing has changed.
type pulse struct {
	World         string `json:"world"`
	Calls         uint64 `json:"journal_entries"` // since the world began or was reset
	LedgerEntries int    `json:"ledger_entries"`
	Requests      int    `json:"regulatory_requests"`
	// Unauthenticated counts the requests of the server whose key opens no world.
	Unauthenticated uint64             `json:"unauthenticated_entries"`
	Pending         int                `json:"pending"` // on the clock
	Clock           string             `json:"clock"`
	Now             jsontext.Timestamp `json:"now"`
	Marks           marks              `json:"marks"`
}

// marks are numbers that differ from those before once what GET returns at a route of the name has changed.
type marks struct {
	Ledger     uint32 `json:"ledger"`
	Requests   uint32 `json:"regulatory_requests"`
	Deliveries uint32 `json:"deliveries"`
	Webhooks   uint32 `json:"webhooks"`
	Faults     uint32 `json:"faults"`
	Worlds     uint32 `json:"worlds"`
}

// still returns the pulse without what passes by itself, for comparing.
func (p pulse) still() pulse {
	if p.Clock == "real" {
		p.Now = jsontext.Timestamp{}
	}
	return p
}

// pulse takes that of a world. Nothing tells a stream that something has changed: it asks. So a server
// whom nobody watches does nothing for it, and a reader who is slow holds up nobody.
func (s *Admin) pulse(w *world.World) pulse {
	p := pulse{
		World: w.Name(), Calls: w.Log.Last(), Unauthenticated: s.Worlds.Unauthenticated.Log.Last(),
		Marks:   marks{Deliveries: w.Dispatcher.Mark(), Faults: w.Faults.Mark(), Worlds: markWorlds(s.Worlds.Worlds())},
		Pending: w.Waiting(), Clock: clockKind(w), Now: jsontext.Timestamp(w.Clock.Now()),
	}
	w.Lock()
	defer w.Unlock()
	p.LedgerEntries, p.Requests = w.Account.Ledger.Len(), w.Desk.Len()
	p.Marks.Ledger = mark(p.LedgerEntries)
	if last, known := w.Account.Ledger.Last(); known {
		p.Marks.Ledger = mark(p.LedgerEntries, last.ID)
	}
	p.Marks.Requests = mark(p.Requests, w.Desk.Stored())
	if newest := w.Desk.Newest(0, 1); len(newest) > 0 {
		p.Marks.Requests = mark(p.Requests, w.Desk.Stored(), newest[0].RequestID)
	}
	var hooks []any
	for _, h := range w.Account.Webhooks.All {
		hooks = append(hooks, h.WebhookID, h.Revision)
	}
	p.Marks.Webhooks = mark(hooks...)
	return p
}

// mark makes a number of what it is given.
func mark(parts ...any) uint32 {
	hash := fnv.New32a()
	_, _ = fmt.Fprint(hash, parts...) // a hash takes every write
	return hash.Sum32()
}

// markWorlds is a number that is another one once a world was opened or closed.
func markWorlds(opened []*world.World) uint32 { return mark(len(opened), opened[len(opened)-1].Name()) }

// adminLive answers GET /_mock/live: the pulse of a world, or a stream of them for one who accepts
// text/event-stream.
func (s *Admin) adminLive(c *control) wire.Reply {
	if !wire.Accepts(c.Header, "text/event-stream") {
		return wire.SucceedWith(nil, "The state of the world; send Accept: text/event-stream for a stream of its changes", s.pulse(c.world))
	}
	if s.watching.Add(1) > maxLive {
		s.watching.Add(-1)
		return wire.Refused(http.StatusServiceUnavailable, wire.CodeUnavailable, fmt.Sprintf("%d pages are watching already: close one", maxLive))
	}
	return wire.Reply{
		Status: http.StatusOK, ContentType: "text/event-stream", Header: http.Header{"X-Content-Type-Options": {"nosniff"}},
		Stream: func(w http.ResponseWriter) error {
			defer s.watching.Add(-1)
			return s.live(c.Context(), newEventWriter(w), c.world)
		},
	}
}

// live writes a world's pulse whenever it has changed, until the reader leaves, the world is closed or
// the server is.
func (s *Admin) live(ctx context.Context, out *eventWriter, w *world.World) error {
	defer out.close()
	var sent pulse
	var spoke time.Time
	for {
		called := w.Log.Changes()
		now := time.Now()
		switch p := s.pulse(w); {
		case w != s.Worlds.Unauthenticated && s.Worlds.ByKey(w.SecretKey) != w:
			return out.event("closed", p)
		case p.still() != sent:
			if err := out.event("change", p); err != nil {
				return err
			}
			sent, spoke = p.still(), now
		case now.Sub(spoke) >= liveHeartbeat:
			if err := out.comment("still here"); err != nil {
				return err
			}
			spoke = now
		}
		if !s.rest(ctx, called, liveTick) || !s.rest(ctx, nil, liveGather) {
			return nil
		}
	}
}

// rest returns after a time, or as soon as the channel closes; false when there is nothing more to wait
// for.
func (s *Admin) rest(ctx context.Context, until <-chan struct{}, longest time.Duration) bool {
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

// eventWriter writes server-sent events, each of which the reader has to take in time.
type eventWriter struct {
	w   http.ResponseWriter
	out *http.ResponseController
}

func newEventWriter(w http.ResponseWriter) *eventWriter {
	return &eventWriter{w, http.NewResponseController(w)}
}

func (e *eventWriter) event(kind string, data any) error {
	encoded, err := json.Marshal(data) // on one line, as the format wants it
	if err != nil {
		return err
	}
	return e.send("event: " + kind + "\ndata: " + string(encoded) + "\n\n")
}

func (e *eventWriter) comment(text string) error { return e.send(": " + text + "\n\n") }

func (e *eventWriter) send(text string) error {
	// A writer that knows no deadlines is none of a network, and so has no slow reader behind it.
	_ = e.out.SetWriteDeadline(time.Now().Add(livePatience))
	if _, err := e.w.Write([]byte(text)); err != nil {
		return err
	}
	return e.out.Flush()
}

// close gives the reader as long for the end of the stream. The HTTP server takes the deadline back.
func (e *eventWriter) close() { _ = e.out.SetWriteDeadline(time.Now().Add(livePatience)) }
