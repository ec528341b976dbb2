package mockserver_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver"
)

func TestLimits_NameTheFlagThatRaisesThem(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithMaxHeader(500), mockserver.WithMaxBody(100), mockserver.WithMaxWorlds(1), mockserver.WithMaxRows(0))
	do(t, srv, http.MethodGet, "/v1/rates", "", "X-Long", strings.Repeat("x", 600)).refusal(t, http.StatusRequestHeaderFieldsTooLarge, "-max-header")
	post(t, srv, "/v1/webhooks/replay", `{"event":"`+strings.Repeat("x", 100)+`"}`).refusal(t, http.StatusRequestEntityTooLarge, "-max-body")
	do(t, srv, http.MethodGet, "/v1/rates", "", "Authorization", "Bearer sk_test_default_another").refusal(t, http.StatusServiceUnavailable, "-max-worlds")
	post(t, srv, "/v1/regulatory-documents/analyze", analyzeFirst(srv.World)).refusal(t, http.StatusBadRequest, "-max-rows")
	post(t, srv, "/_mock/webhooks", `{"url":"http://127.0.0.1:9/"}`).refusal(t, http.StatusBadRequest, "-max-rows")
	get(t, srv, "/v1/rates").want(t, http.StatusOK)
}

func analyzeFirst(w *mockserver.World) string { return `{"shipment_id":"` + w.Shipments()[0] + `"}` }

// A test that runs away makes records of every kind until it is refused, in its own world only, and goes on
// once there is room again.
func TestLimits_StopATestThatRunsAway(t *testing.T) {
	t.Parallel()
	const most = 200
	srv := start(t, mockserver.WithMaxRows(most), mockserver.WithoutListener())
	makes := map[string]func(w *mockserver.World) error{
		"webhooks": func(w *mockserver.World) error {
			_, err := w.AddWebhook(mockserver.Webhook{URL: "http://127.0.0.1:9/"})
			return err
		},
		"money": func(w *mockserver.World) error { return w.Fund(w.Wallets()[0], amount(t, "1")) },
		"requests": func(w *mockserver.World) error {
			if a := doWith(t, &http.Client{Transport: w.Transport()}, srv, http.MethodPost, "/v1/regulatory-documents/analyze", analyzeFirst(w), "Authorization", "Bearer "+w.SecretKey); a.status != http.StatusOK {
				return fmt.Errorf("%w: %s", mockserver.ErrTooManyRows, a.body)
			}
			return nil
		},
	}
	for name, makeOne := range makes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := srv.NewWorld(t)
			made, err := 0, error(nil)
			for ; err == nil && made <= most; made++ {
				err = makeOne(w)
			}
			if made != most+1 || !errors.Is(err, mockserver.ErrTooManyRows) || !strings.Contains(err.Error(), "-max-rows") || !strings.Contains(err.Error(), w.Name()+"/restore") {
				t.Fatalf("refused at %d with %v", made, err)
			}
			fork, err := w.Fork("of-" + name)
			if err != nil {
				t.Fatal(err)
			}
			defer fork.Close()
			if err := makeOne(fork); err != nil {
				t.Errorf("a fork shares the records of its parent and has its own limit: %v", err)
			}
			w.Reset()
			if err := makeOne(w); err != nil {
				t.Errorf("after a reset: %v", err)
			}
			w.CheckInvariants(t)
		})
	}
}

// Records of a scenario do not count against the limit.
func TestLimits_LeaveOutWhatAWorldBeganWith(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithMaxRows(1), mockserver.WithoutListener())
	for _, scenario := range []string{"history1000", "rows10000000", "empty"} {
		w := srv.NewWorld(t, scenario)
		add := func() error {
			_, err := w.AddWebhook(mockserver.Webhook{URL: "http://127.0.0.1:9/"})
			return err
		}
		if err := add(); err != nil {
			t.Errorf("%s: %v", scenario, err)
		}
		if err := add(); !errors.Is(err, mockserver.ErrTooManyRows) {
			t.Errorf("%s takes a second one: %v", scenario, err)
		}
	}
}

// The journals of all worlds together stay within their limit of memory; each world still has its latest calls, and
// reports that its journal was shortened.
func TestLimits_BoundTheJournalsOfAllWorldsTogether(t *testing.T) {
	t.Parallel()
	const most = 256 << 10
	srv := start(t, mockserver.WithMaxJournal(most), mockserver.WithoutListener())
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
	// A ring grows by more than a call at a time, and a short one grows to its shortened length.
	if used := mockserver.JournalBytes(srv); used < most || used > most*5/4 {
		t.Errorf("the journals take %d bytes, and may take %d", used, most)
	}
	last := worlds[len(worlds)-1]
	journal := last.Journal()
	if len(journal) == 0 || len(journal) >= 80 || journal[len(journal)-1].Status != http.StatusNotFound || journal[len(journal)-1].RequestID != "req-80" {
		t.Fatalf("the last world remembers %d calls, the latest %+v", len(journal), journal[max(0, len(journal)-1):])
	}
	if told := string(get(t, srv, "/_mock/journal?world="+last.Name()).body); !strings.Contains(told, "-max-journal") {
		t.Errorf("nothing is said about it: %.200s", told)
	}
	for _, w := range worlds {
		w.Reset()
	}
	if used := mockserver.JournalBytes(srv); used != 0 {
		t.Errorf("%d bytes are still taken", used)
	}
	for range 50 {
		call(last, "/v1/rates?perPage=1")
	}
	if got := len(last.Journal()); got != 50 {
		t.Errorf("after the reset %d of 50 calls are remembered", got)
	}
	last.Close()
	if used := mockserver.JournalBytes(srv); used != 0 {
		t.Errorf("a closed world keeps %d bytes", used)
	}
}

// Limits are in bytes, because a few large records can take as much memory as many small ones.
func TestLimits_BoundBytes(t *testing.T) {
	t.Parallel()
	const most = 4 << 20
	long := strings.Repeat("x", 300_000)
	items := `{"line_items":[` + strings.TrimSuffix(strings.Repeat(`{"description":"Paperback novel","hs_code":"490199","quantity":1,"unit_price":1,"currency":"USD"},`, 1000), ",") + `]}`
	changes := map[string]func(t *testing.T, srv *mockserver.Server) answer{
		"drafts of many items": func(t *testing.T, srv *mockserver.Server) answer {
			draft := post(t, srv, regulatoryPath+"/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`)
			if draft.status != 200 {
				return draft
			}
			id := draft.text(t, "request_id")
			return do(t, srv, "PUT", regulatoryPath+"/request/"+id+"/items", items)
		},
		"failed analyses": func(t *testing.T, srv *mockserver.Server) answer {
			got := post(t, srv, regulatoryPath+"/analyze", `{"file_url":"https://invoices.example/`+long+`"}`)
			if got.status == 400 && strings.Contains(string(got.body), "analysis_failed") {
				got.status = 200
			}
			return got
		},
		"webhooks": func(t *testing.T, srv *mockserver.Server) answer {
			events := `["` + strings.Repeat(long[:200]+`","`, 90) + `test"]`
			return post(t, srv, "/_mock/webhooks", `{"url":"http://127.0.0.1:9/","events":`+events+`}`)
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithMaxBytes(most), mockserver.WithoutListener())
			made := 0
			for ; made < 1000; made++ {
				if got := change(t, srv); got.status != 200 {
					got.refusal(t, 400, "-max-bytes")
					break
				}
			}
			if made < 2 || made == 1000 {
				t.Fatalf("%d were taken", made)
			}
			get(t, srv, "/v1/rates").want(t, 200)
			srv.Reset()
			if got := change(t, srv); got.status != 200 {
				t.Errorf("after a reset: %s", got.body)
			}
		})
	}
	t.Run("labels", func(t *testing.T) {
		t.Parallel()
		srv := start(t, mockserver.WithoutListener())
		id := srv.Webhooks()[0]
		for _, body := range []string{`{"name":"` + long + `"`, `{"url":"http://127.0.0.1/` + long + `"`, `{"events":["` + long + `"]`, `{"events":[` + strings.Repeat(`"x",`, 200) + `"x"]`} {
			add := body + "}"
			if !strings.Contains(body, "url") {
				add = body + `,"url":"http://127.0.0.1:9/"}`
			}
			post(t, srv, "/_mock/webhooks", add).refusal(t, 400, "use at most")
			do(t, srv, "PATCH", "/_mock/webhooks/"+id, body+"}").refusal(t, 400, "use at most")
		}
		rule := `{"rules":[{"nth":5,"fault":{"kind":"status","status":503,"header":{"X":"` + long + `"}}}]}`
		for range 3 {
			post(t, srv, "/_mock/faults", rule).want(t, 200)
		}
		post(t, srv, "/_mock/faults", rule).refusal(t, 400, "at most")
	})
}
