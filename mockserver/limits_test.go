package mockserver_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/notify"
)

func TestLimits_NameWhatRaisesThem(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithAssumptions(func(a *assumption.Set) { a.MaxBody = 100 }))
	srv.LeaveMemory(0)
	header := do(t, srv, http.MethodGet, "/v1/rates", "", "X-Long", strings.Repeat("x", 70_000)).refusal(t, http.StatusRequestHeaderFieldsTooLarge, "longer than 65536 bytes")
	post(t, srv, "/v1/webhooks/replay", `{"event":"`+strings.Repeat("x", 100)+`"}`).refusal(t, http.StatusRequestEntityTooLarge, "the assumption MaxBody")
	full := do(t, srv, http.MethodGet, "/v1/rates", "", "Authorization", "Bearer sk_test_default_another").refusal(t, http.StatusServiceUnavailable, "open worlds: 1, ").refusal(t, http.StatusServiceUnavailable, "WithMaxMemory")
	for heading, got := range map[string]answer{"header size limits": header, "the server is full": full} {
		why := whyAt(t, srv, got.header.Get("X-Mock-Why"))
		if why.ErrorCode == "" || got.text(t, "error_code") != why.ErrorCode || !strings.Contains(why.Specification, heading) {
			t.Errorf("%s: %+v", heading, why)
		}
	}
	post(t, srv, "/v1/regulatory-documents/analyze", analyzeFirst(srv.World)).refusal(t, http.StatusBadRequest, "WithMaxMemory")
	post(t, srv, "/_mock/webhooks", `{"url":"http://127.0.0.1:9/"}`).refusal(t, http.StatusBadRequest, "WithMaxMemory")
	get(t, srv, "/v1/rates").want(t, http.StatusOK)
}

func analyzeFirst(w *mockserver.World) string { return `{"shipment_id":"` + w.Shipments()[0] + `"}` }

// A test that runs away makes records of every kind, many small ones or a few large ones, until it is refused, and goes on
// once there is room again. A world that is reset or closed takes no memory for its former records.
func TestLimits_StopATestThatRunsAway(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300_000)
	items := `{"line_items":[` + strings.TrimSuffix(strings.Repeat(`{"description":"Paperback novel","hs_code":"490199","quantity":1,"unit_price":1,"currency":"USD"},`, 1000), ",") + `]}`
	call := func(srv *mockserver.Server, w *mockserver.World, method, path, body string) (answer, error) {
		a := doWith(t, &http.Client{Transport: w.Transport()}, srv, method, regulatoryPath+path, body, "Authorization", "Bearer "+w.SecretKey)
		if a.status != http.StatusOK && !strings.Contains(string(a.body), "analysis_failed") {
			return a, fmt.Errorf("%w: %s", mockserver.ErrTooManyRows, a.body)
		}
		return a, nil
	}
	makes := map[string]func(srv *mockserver.Server, w *mockserver.World) error{
		"webhooks": func(_ *mockserver.Server, w *mockserver.World) error {
			_, err := w.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:9/"})
			return err
		},
		"large webhooks": func(_ *mockserver.Server, w *mockserver.World) error {
			_, err := w.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:9/", Events: slices.Repeat([]string{long[:200]}, 90)})
			return err
		},
		"money": func(_ *mockserver.Server, w *mockserver.World) error { return w.Fund(w.Wallets()[0], amount(t, "1")) },
		"requests": func(srv *mockserver.Server, w *mockserver.World) error {
			_, err := call(srv, w, http.MethodPost, "/analyze", analyzeFirst(w))
			return err
		},
		"large requests": func(srv *mockserver.Server, w *mockserver.World) error {
			draft, err := call(srv, w, http.MethodPost, "/analyze", analyzeFirst(w))
			if err == nil {
				_, err = call(srv, w, http.MethodPut, "/request/"+draft.text(t, "request_id")+"/items", items)
			}
			return err
		},
		"large failed analyses": func(srv *mockserver.Server, w *mockserver.World) error {
			_, err := call(srv, w, http.MethodPost, "/analyze", `{"file_url":"https://invoices.example/`+long[:100_000]+`"}`)
			return err
		},
		"forks": func(srv *mockserver.Server, w *mockserver.World) error {
			_, err := w.Fork(fmt.Sprint("fork", srv.WorldMemory()))
			return err
		},
	}
	for name, makeOne := range makes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			most := 10_000
			if strings.HasPrefix(name, "large") {
				most = 50
			}
			srv := start(t, mockserver.WithoutListener())
			other := srv.NewWorld(t)
			before := srv.WorldMemory()
			w := srv.NewWorld(t)
			opened := srv.WorldMemory()
			srv.LeaveMemory(2 << 20)
			made, err := 0, error(nil)
			for ; err == nil && made < most; made++ {
				err = makeOne(srv, w)
			}
			full := mockserver.ErrTooManyRows
			if name == "forks" {
				full = mockserver.ErrTooManyWorlds
			}
			if made < 3 || !errors.Is(err, full) || !strings.Contains(err.Error(), "WithMaxMemory") {
				t.Fatalf("refused at %d with %v", made, err)
			}
			if err := makeOne(srv, other); name != "forks" && !errors.Is(err, full) {
				t.Errorf("another world does not have its own memory: %v", err)
			}
			other.Reset()
			for _, each := range srv.Worlds()[1:] {
				if each.Name() != other.Name() && each.Name() != w.Name() {
					each.Close()
				}
			}
			w.Reset()
			if got := srv.WorldMemory(); got != opened {
				t.Errorf("after a reset the worlds take %d bytes, and took %d", got, opened)
			}
			if err := makeOne(srv, w); err != nil {
				t.Errorf("after a reset: %v", err)
			}
			w.CheckInvariants(t)
			for _, each := range srv.Worlds() { // of which the home world stays
				if each.Name() != other.Name() {
					each.Close()
				}
			}
			if got := srv.WorldMemory(); got != before {
				t.Errorf("the worlds take %d bytes, and took %d before", got, before)
			}
		})
	}
}

// The initial records of worlds of one scenario are counted once, and those that are computed take no memory.
func TestLimits_CountSharedRecordsOnce(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	for _, scenario := range []string{"default", "history1000", "rows10000000", "empty"} {
		srv.NewWorld(t, scenario)
		before := srv.WorldMemory()
		srv.NewWorld(t, scenario)
		if got := srv.WorldMemory() - before; got <= 0 || got > 100_000 {
			t.Errorf("another world of %s takes %d bytes", scenario, got)
		}
	}
}

// The journals of all worlds together stay within their limit of memory; each world still has its latest calls, and
// reports that its journal was shortened.
func TestLimits_BoundTheJournalsOfAllWorldsTogether(t *testing.T) {
	t.Parallel()
	const most = 256 << 10
	srv := start(t, mockserver.WithMaxMemory(8*most), mockserver.WithoutListener())
	var worlds []*mockserver.World
	for range 8 {
		worlds = append(worlds, srv.NewWorld(t))
	}
	call := func(w *mockserver.World, path string) {
		t.Helper()
		doWith(t, &http.Client{Transport: w.Transport()}, srv, http.MethodGet, path, "", "Authorization", "Bearer "+w.SecretKey)
	}
	for _, w := range worlds {
		for range 40 {
			call(w, "/v1/rates?perPage=9") // its beginning fills the recorded part of a body
			call(w, "/v1/nothing/"+strings.Repeat("x", 2000))
		}
	}
	// Each world has at least eight entries, whatever the others take.
	if used := srv.JournalMemory(); used < most || used > most*5/4 {
		t.Errorf("the journals take %d bytes, and may take %d", used, most)
	}
	last := worlds[len(worlds)-1]
	journal := last.Journal()
	if len(journal) == 0 || len(journal) >= 80 || journal[len(journal)-1].Status != http.StatusNotFound || journal[len(journal)-1].ID != "req-80" {
		t.Fatalf("the last world remembers %d calls, the latest %+v", len(journal), journal[max(0, len(journal)-1):])
	}
	if told := string(get(t, srv, "/_mock/journal?world="+last.Name()).body); !strings.Contains(told, "WithMaxMemory") {
		t.Errorf("nothing is said about it: %.200s", told)
	}
	for _, w := range worlds {
		w.Reset()
	}
	if used := srv.JournalMemory(); used != 0 {
		t.Errorf("%d bytes are still taken", used)
	}
	for range 50 {
		call(last, "/v1/rates?perPage=1")
	}
	if got := len(last.Journal()); got != 50 {
		t.Errorf("after the reset %d of 50 calls are remembered", got)
	}
	last.Close()
	if used := srv.JournalMemory(); used != 0 {
		t.Errorf("a closed world keeps %d bytes", used)
	}
}

func TestLimits_BoundTheLabelsOfWebhooks(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	id, long := srv.Webhooks()[0], strings.Repeat("x", 300_000)
	for _, body := range []string{`{"name":"` + long + `"`, `{"url":"http://127.0.0.1/` + long + `"`, `{"events":["` + long + `"]`, `{"events":[` + strings.Repeat(`"x",`, 200) + `"x"]`} {
		add := body + "}"
		if !strings.Contains(body, "url") {
			add = body + `,"url":"http://127.0.0.1:9/"}`
		}
		post(t, srv, "/_mock/webhooks", add).refusal(t, 400, "use at most")
		do(t, srv, "PATCH", "/_mock/webhooks/"+id, body+"}").refusal(t, 400, "use at most")
	}
}
