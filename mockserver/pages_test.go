package mockserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// A page that was answered many times is another one as soon as its list has changed, whatever changed it.
func TestLists_AnswerNoPageThatIsOutOfDate(t *testing.T) {
	t.Parallel()
	const rates, webhooks = "/v1/rates?perPage=2", "/v1/webhooks?perPage=2"
	tests := []struct {
		name, path string
		change     func(t *testing.T, srv *mockserver.Server)
	}{
		{"a rate is inserted", rates, func(t *testing.T, srv *mockserver.Server) {
			rule := fault.Rule{Operation: shipping.OpListRates, Nth: 1, Fault: fault.InsertRows(1)}
			if err := srv.Inject(rule); err != nil {
				t.Fatal(err)
			}
		}},
		{"a webhook is added", webhooks, func(t *testing.T, srv *mockserver.Server) {
			if _, err := srv.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:9/"}); err != nil {
				t.Fatal(err)
			}
		}},
		{"a webhook is changed", webhooks, func(t *testing.T, srv *mockserver.Server) {
			name := "Another name"
			if err := srv.ChangeWebhook(srv.Webhooks()[0], notify.WebhookChange{Name: &name}); err != nil {
				t.Fatal(err)
			}
		}},
		{"a webhook is removed", webhooks, func(t *testing.T, srv *mockserver.Server) {
			if err := srv.RemoveWebhook(srv.Webhooks()[0]); err != nil {
				t.Fatal(err)
			}
		}},
		{"a wallet is funded", "wallet", func(t *testing.T, srv *mockserver.Server) {
			amount, err := shipping.ParseAmount("5")
			if err == nil {
				err = srv.Fund(srv.Wallets()[0], amount)
			}
			if err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithoutListener())
			path := strings.Replace(test.path, "wallet", "/v1/transactions?perPage=2&wallet="+srv.Wallets()[0], 1)
			began := srv.Snapshot()
			before := get(t, srv, path).want(t, http.StatusOK).body
			for range 3 {
				if diff := cmp.Diff(string(before), string(get(t, srv, path).body)); diff != "" {
					t.Fatalf("the list did not change (-before +after):\n%s", diff)
				}
			}
			test.change(t, srv)
			if after := get(t, srv, path).want(t, http.StatusOK).body; string(after) == string(before) {
				t.Error("the page is the one from before the change")
			}
			srv.Restore(began)
			if diff := cmp.Diff(string(before), string(get(t, srv, path).body)); diff != "" {
				t.Errorf("after going back (-before +after):\n%s", diff)
			}
		})
	}
}

// Worlds that began as the same may share a page, and never one that only one of them has.
func TestLists_OfWorldsStayApartUnderConcurrentChanges(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	var all sync.WaitGroup
	for i := range 4 {
		w, err := srv.Open(fmt.Sprintf("default_pages%d", i))
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			client := w.Client(t)
			for range 20 {
				id, err := w.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:9/"})
				if err != nil {
					t.Error(err)
				}
				for range 3 {
					page, err := client.Webhooks.List(t.Context(), &shipping.WebhookListOptions{PerPage: 1})
					if err != nil || page.Items[0].WebhookID != id {
						t.Errorf("the newest webhook is not %s (%v)", id, err)
						return
					}
				}
			}
		})
	}
	all.Wait()
}
