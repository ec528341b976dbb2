package mockserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// pulse is the state of a world in the stream.
type pulse struct {
	World, Clock string
	Calls        int `json:"journal_entries"`
	Entries      int `json:"ledger_entries"`
	Requests     int `json:"regulatory_requests"`
	Pending      int
	Now          time.Time
	Marks        struct {
		Ledger, Deliveries, Webhooks, Faults, Worlds uint32
		Requests                                     uint32 `json:"regulatory_requests"`
	}
}

// stream is a page that follows a world.
type stream struct {
	t     *testing.T
	resp  *http.Response
	body  *bufio.Reader
	leave context.CancelFunc // at once: a transport may read on for a while behind a body that is only closed
}

// follow opens the stream of a world.
func follow(t *testing.T, w *mockserver.World, query string) *stream {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL+"/_mock/live"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := w.Transport().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("status %d, type %q", resp.StatusCode, kind)
	}
	return &stream{t, resp, bufio.NewReader(resp.Body), leave}
}

// message reads up to an empty line; "" at the end of the stream.
func (s *stream) message() string {
	var lines []string
	for {
		line, err := s.body.ReadString('\n')
		if err != nil || line == "\n" {
			return strings.Join(lines, "")
		}
		lines = append(lines, line)
	}
}

// next reads a pulse.
func (s *stream) next() (p pulse) {
	s.t.Helper()
	text := s.message()
	data, found := strings.CutPrefix(text, "event: change\ndata: ")
	if err := json.Unmarshal([]byte(data), &p); !found || err != nil {
		s.t.Fatalf("no pulse but %q: %v", text, err)
	}
	return p
}

// Everything that a page shows makes itself heard when it changes, within a second of the world's time.
func TestLive_SaysWhichThingHasChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, mockserver.WithoutListener(), virtual())
		s := follow(t, srv.World, "")
		defer s.leave()
		before := s.next()
		if before.World != "home" || before.Clock != "virtual" || before.Entries == 0 {
			t.Errorf("the first pulse is %+v", before)
		}
		draft := func() {
			post(t, srv, "/v1/regulatory-documents/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`).want(t, http.StatusOK)
		}
		steps := []struct {
			name    string
			act     func()
			changed func(before, after pulse) bool
		}{
			{"a call", func() { get(t, srv, "/v1/rates?perPage=1") }, func(a, b pulse) bool { return b.Calls == a.Calls+1 }},
			{"an analysis", draft, func(a, b pulse) bool { return b.Requests == 1 && b.Marks.Requests != a.Marks.Requests }},
			{"a fault rule", func() { inject(t, srv, fault.Rule{Nth: 1000, Fault: fault.Drop()}) }, func(a, b pulse) bool { return b.Marks.Faults != a.Marks.Faults }},
			{"a removed fault rule", func() { do(t, srv, http.MethodDelete, "/_mock/faults/1", "").want(t, 200) }, func(a, b pulse) bool { return b.Marks.Faults != a.Marks.Faults }},
			{"money", func() { fund(t, srv.World) }, func(a, b pulse) bool { return b.Entries == a.Entries+1 && b.Marks.Ledger != a.Marks.Ledger }},
			{"a webhook", func() { post(t, srv, "/_mock/webhooks", `{"url":"http://127.0.0.1:9/"}`).want(t, 200) }, func(a, b pulse) bool { return b.Marks.Webhooks != a.Marks.Webhooks }},
			{"an event", func() { post(t, srv, "/_mock/events", `{"event":"shipment.created"}`).want(t, 200) }, func(a, b pulse) bool { return b.Marks.Deliveries != a.Marks.Deliveries }},
			{"a world", func() { post(t, srv, "/_mock/worlds", `{"scenario":"empty","name":"x"}`).want(t, 200) }, func(a, b pulse) bool { return b.Marks.Worlds != a.Marks.Worlds }},
			{"time", func() { post(t, srv, "/_mock/clock/advance", `{"duration":"1h"}`).want(t, 200) }, func(a, b pulse) bool { return b.Now.Sub(a.Now) == time.Hour }},
			{"a reset", srv.Reset, func(a, b pulse) bool { return b.Calls == 0 && b.Requests == 0 }},
		}
		for _, step := range steps {
			step.act()
			after := s.next()
			for !step.changed(before, after) { // what the step before set off may still be under way
				if after == before {
					t.Fatalf("%s: nothing changed", step.name)
				}
				after = s.next()
			}
			before = after
		}
	})
}

func fund(t *testing.T, w *mockserver.World) {
	t.Helper()
	if err := w.Fund(w.Wallets()[0], amount(t, "12.50")); err != nil {
		t.Fatal(err)
	}
}

func TestLive_GathersManyCallsIntoFewMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, mockserver.WithoutListener())
		s := follow(t, srv.World, "")
		defer s.leave()
		s.next()
		for range 2000 {
			get(t, srv, "/v1/rates?perPage=1")
		}
		messages := 0
		for s.next().Calls < 2000 {
			messages++
		}
		if messages > 1 {
			t.Errorf("%d messages before the last, for calls that took no time", messages)
		}
	})
}

func TestLive_SaysThatItIsThereWhereNothingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, mockserver.WithoutListener())
		s := follow(t, srv.World, "")
		defer s.leave()
		s.next()
		began := time.Now()
		if got := s.message(); got != ": heartbeat\n" || time.Since(began) > 20*time.Second {
			t.Errorf("%q after %v", got, time.Since(began))
		}
	})
}

func TestLive_EndsWithTheServer(t *testing.T) {
	for name, end := range map[string]func(*mockserver.Server) error{
		"closed":    func(s *mockserver.Server) error { s.Close(); return nil },
		"shut down": func(s *mockserver.Server) error { return s.Shutdown(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t, mockserver.WithoutListener())
				s := follow(t, srv.World, "")
				defer s.leave()
				s.next()
				if err := end(srv); err != nil {
					t.Error(err)
				}
				if rest, _ := io.ReadAll(s.body); len(rest) != 0 { // whether it is cut or ends, it is over
					t.Errorf("after the end it said %q", rest)
				}
			})
		})
	}
}

func TestLive_EndsWithItsWorld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, mockserver.WithoutListener())
		w, err := srv.Open("empty_short")
		if err != nil {
			t.Fatal(err)
		}
		s := follow(t, srv.World, "?world=empty_short")
		defer s.leave()
		if p := s.next(); p.World != "empty_short" {
			t.Errorf("the pulse is that of %s", p.World)
		}
		w.Close()
		if got := s.message(); !strings.HasPrefix(got, "event: closed\n") {
			t.Errorf("the last message is %q", got)
		}
		if got := s.message(); got != "" {
			t.Errorf("behind the last message comes %q", got)
		}
	})
}

// A page that has read a world between two changes reads it again, even if the second change undid the first.
func TestLive_MarksDifferAfterAChangeThatWasUndone(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	marks := func() map[string]int {
		var summary struct {
			Marks map[string]int `json:"marks"`
		}
		get(t, srv, "/_mock/live").want(t, http.StatusOK).data(t, &summary)
		return summary.Marks
	}
	before := marks()
	do(t, srv, http.MethodPatch, "/_mock/assumptions", `{"assumptions":{"LastPageNull":true}}`).want(t, http.StatusOK)
	do(t, srv, http.MethodPatch, "/_mock/assumptions", `{"assumptions":{"LastPageNull":null}}`).want(t, http.StatusOK)
	if after := marks(); after["assumptions"] == before["assumptions"] {
		t.Error("the mark of the assumptions is the same after two changes")
	}
	before = marks()
	srv.Reset()
	after := marks()
	for _, part := range []string{"assumptions", "ledger", "regulatory_requests", "deliveries", "inbox", "webhooks"} {
		if after[part] == before[part] {
			t.Errorf("the mark %s is the same after a reset", part)
		}
	}
}

func TestLive_IsForSoManyPagesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, mockserver.WithoutListener())
		var open []*stream
		for range 64 {
			s := follow(t, srv.World, "")
			s.next()
			open = append(open, s)
		}
		do(t, srv, http.MethodGet, "/_mock/live", "", "Accept", "text/event-stream").refusal(t, http.StatusServiceUnavailable, "close one")
		for _, s := range open {
			s.leave()
		}
		synctest.Wait()
		s := follow(t, srv.World, "")
		s.next()
		s.leave()
	})
}
