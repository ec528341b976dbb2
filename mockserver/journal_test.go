package mockserver_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
)

func TestJournal_IsBoundedAndCountsOn(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	const calls = 1024 + 10
	for range calls {
		get(t, srv, "/v1/rates?perPage=1")
	}
	journal := srv.Journal()
	if len(journal) != 1024 || journal[0].RequestID != "req-11" || journal[1023].RequestID != "req-1034" {
		t.Errorf("%d calls from %s to %s", len(journal), journal[0].RequestID, journal[len(journal)-1].RequestID)
	}
	if got := srv.Requests(shipping.OpListRates); got != calls {
		t.Errorf("Calls counts %d, want %d", got, calls)
	}
}

// A refused request is found behind more good ones than the journal has entries, and so is one that a fault struck.
func TestJournal_KeepsFailedRequestsLonger(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithJournal(16, 100))
	get(t, srv, "/v1/transactions?first")
	inject(t, srv, fault.Rule{First: 1, Fault: fault.Empty()})
	get(t, srv, "/v1/countries")
	ids := func(q journal.Query) []string {
		var found []string
		for _, e := range srv.Find(q) {
			found = append(found, e.RequestID)
		}
		return found
	}
	for range 50 {
		get(t, srv, "/v1/rates?perPage=1")
	}
	if diff := cmp.Diff([]string{"req-1"}, ids(journal.Query{Refused: true})); diff != "" {
		t.Errorf("refused requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"req-1", "req-2", "req-37"}, ids(journal.Query{Before: "req-38"})); diff != "" {
		t.Errorf("oldest requests (-want +got):\n%s", diff)
	}
	if got := get(t, srv, "/_mock/journal/req-1").want(t, 200).text(t, "query"); got != "first" {
		t.Errorf("the entry of the refused request has the query %q", got)
	}
	get(t, srv, "/_mock/journal/req-36").refusal(t, 404, "has dropped")
	for range 5 { // of which the journal keeps the latest 4
		get(t, srv, "/v1/transactions")
	}
	for range 50 {
		get(t, srv, "/v1/rates?perPage=1")
	}
	if diff := cmp.Diff([]string{"req-54", "req-55", "req-56", "req-57"}, ids(journal.Query{Refused: true})); diff != "" {
		t.Errorf("refused requests (-want +got):\n%s", diff)
	}
	if entries := srv.Journal(); len(entries) != 20 || entries[4].RequestID != "req-92" {
		t.Errorf("%d entries, the fifth is %s", len(entries), entries[4].RequestID)
	}
	srv.Reset()
	if entries := srv.Journal(); len(entries) != 0 {
		t.Errorf("%d entries after Reset", len(entries))
	}
}

// Duration is measured by the clock of the world.
func TestJournal_HasDurations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := mockserver.New(mockserver.WithoutListener())
		defer srv.Close()
		inject(t, srv, fault.Rule{First: 1, Fault: fault.Latency(90 * time.Millisecond)})
		get(t, srv, "/v1/rates?perPage=1")
		get(t, srv, "/v1/rates?perPage=1")
		entries := srv.Journal()
		if entries[0].Duration != fault.Duration(90*time.Millisecond) || entries[1].Duration != 0 {
			t.Errorf("durations %v and %v, want 90ms and none", entries[0].Duration, entries[1].Duration)
		}
		if got := get(t, srv, "/_mock/journal/req-1").text(t, "duration"); got != "90ms" {
			t.Errorf("duration is %q in JSON", got)
		}
	})
}

// A filtered journal is exported as JSON lines, as an HTTP archive and as curl commands, without the key.
func TestJournal_IsExported(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	get(t, srv, "/v1/rates?perPage=1&from=a%20b")
	post(t, srv, "/v1/webhooks/replay", `{"event":"shipment.created"}`)
	export := func(as string) string {
		reply := get(t, srv, "/_mock/journal?refused=true&as="+as).want(t, 200)
		if !strings.HasPrefix(reply.header.Get("Content-Disposition"), "attachment; filename=") || strings.Contains(string(reply.body), srv.SecretKey) {
			t.Errorf("%s: %v\n%s", as, reply.header, reply.body)
		}
		return string(reply.body)
	}
	var entry journal.Entry
	if err := json.Unmarshal([]byte(export("jsonl")), &entry); err != nil || entry.RequestID != "req-2" {
		t.Errorf("%v, request %q", err, entry.RequestID)
	}
	if got := export("curl"); !strings.HasPrefix(got, "curl -i -X POST ") || strings.Count(got, "curl ") != 1 {
		t.Errorf("%s", got)
	}
	var archive struct {
		Log struct {
			Entries []struct {
				Comment string
				Request struct {
					Method, URL string
					QueryString []struct{ Name, Value string }
					PostData    struct{ MimeType, Text string }
				}
				Response struct{ Status int }
			}
		}
	}
	if err := json.Unmarshal([]byte(export("har")), &archive); err != nil || len(archive.Log.Entries) != 1 {
		t.Fatalf("%v, %d entries", err, len(archive.Log.Entries))
	}
	got := archive.Log.Entries[0]
	if got.Request.URL != srv.URL+"/v1/webhooks/replay" || got.Request.PostData.Text != `{"event":"shipment.created"}` ||
		got.Request.PostData.MimeType != "application/json" || got.Response.Status != 400 || got.Comment == "" {
		t.Errorf("the archive has %+v", got)
	}
	if err := json.Unmarshal(get(t, srv, "/_mock/journal?status=200&as=har").body, &archive); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("b", strings.TrimPrefix(archive.Log.Entries[0].Request.QueryString[1].Value, "a ")); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
}
