package mockserver_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/journal"
)

func TestJournal_HasWhatWasCalled(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	ids := []string{
		get(t, srv, "/v1/rates?perPage=1").header.Get("X-Request-Id"),
		get(t, srv, "/v1/nothing").header.Get("X-Request-Id"),
		post(t, srv, "/v1/webhooks/replay", "{}").header.Get("X-Request-Id"),
	}
	get(t, srv, "/_mock/journal").want(t, 200) // is not journaled
	want := []journal.Entry{
		{RequestID: ids[0], Operation: shipping.OpListRates, Method: "GET", Path: "/v1/rates", Query: "perPage=1", Status: 200},
		{RequestID: ids[1], Method: "GET", Path: "/v1/nothing", Status: 404, ErrorCode: "not_found"},
		{RequestID: ids[2], Operation: shipping.OpReplayWebhook, Method: "POST", Path: "/v1/webhooks/replay", Status: 400,
			ContentType: "application/json", RequestBody: "{}", RequestBytes: 2, ErrorCode: "invalid_request"},
	}
	ignored := cmpopts.IgnoreFields(journal.Entry{}, "At", "Key", "Message", "ResponseBody", "ResponseBytes")
	if diff := cmp.Diff(want, srv.Journal(), ignored); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	if got := srv.Requests(shipping.OpListRates); got != 1 {
		t.Errorf("Calls counts %d, want 1", got)
	}
}

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
