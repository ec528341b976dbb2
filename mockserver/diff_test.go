package mockserver_test

import (
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/mockserver"
)

// wantDiff fails the test unless the diff has the wanted changes. The clock is compared only if a wanted time is given.
func wantDiff(t *testing.T, got, want mockserver.Diff) {
	t.Helper()
	options := cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b shipping.Amount) bool { return a.Known() == b.Known() && a.Equal(b) })}
	if want.Before.IsZero() {
		options = append(options, cmpopts.IgnoreFields(mockserver.Diff{}, "Before", "After"))
	}
	if diff := cmp.Diff(want, got, options); diff != "" {
		t.Errorf("the changes are (-want +got):\n%s\nas text:\n%s", diff, got)
	}
	if empty := got.String() == "nothing changed"; got.Empty() != empty {
		t.Errorf("Empty() = %t, String() = %q", got.Empty(), got)
	}
}

func TestDiff_OfAPurchase(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	wallet := srv.Wallets()[0]
	held, _ := srv.Balance(wallet)
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	drafted := srv.Snapshot()
	receipt := purchase(t, srv, draft.ID, "CUSTOMS").want(t, http.StatusOK)
	left, _ := srv.Balance(wallet)
	price, err := held.Sub(left)
	if err != nil || price.Sign() <= 0 {
		t.Fatalf("the purchase cost %s (%v)", price, err)
	}
	paid := mockserver.Diff{
		Wallets: []mockserver.WalletDiff{{Wallet: wallet, Currency: "NGN", Before: held, After: left}},
		Entries: []mockserver.LedgerEntry{{
			ID: receipt.text(t, "transaction_id"), Kind: "debit", Wallet: wallet, Currency: "NGN", Amount: price, Reference: draft.ID,
			Memo: srv.Diff(drafted).Entries[0].Memo, At: srv.Now(), Balance: left,
		}},
		Requests: []mockserver.RequestDiff{{
			RequestID: draft.ID, Before: shipping.StatusDraft, After: shipping.StatusProcessing, Charged: price, Currency: "NGN",
			Documents: []mockserver.DocumentDiff{{DocumentType: shipping.DocumentCustoms, After: "generating", Attempts: 1}},
		}},
	}
	wantDiff(t, srv.Diff(drafted), paid)

	purchased := srv.Snapshot()
	advance(t, srv, time.Hour)
	wantDiff(t, srv.Diff(purchased), mockserver.Diff{
		Requests: []mockserver.RequestDiff{{
			RequestID: draft.ID, Before: shipping.StatusProcessing, After: shipping.StatusCompleted, Currency: "NGN",
			Documents: []mockserver.DocumentDiff{{DocumentType: shipping.DocumentCustoms, Before: "generating", After: "generated", Attempts: 1}},
		}},
		Before: purchased.At(), After: purchased.At().Add(time.Hour),
	})

	// A restored request is due later than it was, and has not changed.
	completed := srv.Snapshot()
	srv.Restore(purchased)
	wantDiff(t, srv.Diff(purchased), mockserver.Diff{Before: purchased.At(), After: purchased.At().Add(time.Hour)})
	srv.Restore(completed)

	// Without a snapshot, it is the whole of it.
	began := srv.Diff(nil)
	if len(began.Entries) != 1 || len(began.Requests) != 1 || began.Requests[0].Before != "" || began.Requests[0].After != shipping.StatusCompleted {
		t.Errorf("since the world began:\n%s", began)
	}

	// Restoring an older snapshot removes the changes.
	srv.Restore(drafted)
	undone := mockserver.Diff{
		Wallets: []mockserver.WalletDiff{{Wallet: wallet, Currency: "NGN", Before: left, After: held}}, RemovedEntries: paid.Entries,
		Requests: []mockserver.RequestDiff{{
			RequestID: draft.ID, Before: shipping.StatusCompleted, After: shipping.StatusDraft, Currency: "NGN",
			Documents: []mockserver.DocumentDiff{{DocumentType: shipping.DocumentCustoms, Before: "generated"}},
		}},
	}
	wantDiff(t, srv.Diff(completed), undone)
	wantDiff(t, srv.Diff(drafted), mockserver.Diff{})
	srv.Reset()
	undone.Requests[0] = mockserver.RequestDiff{
		RequestID: draft.ID, Before: shipping.StatusCompleted, Currency: "NGN", Documents: undone.Requests[0].Documents,
	}
	wantDiff(t, srv.Diff(completed), undone)
	wantDiff(t, srv.Diff(nil), mockserver.Diff{})
}

func TestDiff_OfARefusedPurchaseIsEmpty(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual(), mockserver.WithScenario("lowfunds"))
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	before := srv.Snapshot()
	purchase(t, srv, draft.ID, "CUSTOMS").want(t, http.StatusBadRequest)
	purchase(t, srv, draft.ID, "MSDS", "MSDS").want(t, http.StatusBadRequest)
	advance(t, srv, time.Hour)
	wantDiff(t, srv.Diff(before), mockserver.Diff{Before: before.At(), After: before.At().Add(time.Hour)})
}

func TestDiff_OfAnEditedDraft(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	before := srv.Snapshot()
	do(t, srv, http.MethodPut, regulatoryPath+"/request/"+draft.ID+"/profiles/CUSTOMS", `{"incoterm":"DDP"}`).want(t, http.StatusOK)
	wantDiff(t, srv.Diff(before), mockserver.Diff{
		Requests: []mockserver.RequestDiff{{RequestID: draft.ID, Before: shipping.StatusDraft, After: shipping.StatusDraft, Currency: "NGN", Edited: true}},
	})
}

func TestDiff_OfWebhooksAndDeliveries(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	changed, removed := srv.Webhooks()[0], srv.Webhooks()[1]
	id, err := srv.AddWebhook(mockserver.Webhook{Name: "Mine", URL: "http://127.0.0.1:9/", Events: []string{"order.paid"}})
	if err != nil {
		t.Fatal(err)
	}
	before := srv.Snapshot()
	seeded := srv.Deliveries()[0]
	post(t, srv, replayPath, replayBody(t, "delivery_id", seeded.ID, "webhook_id", seeded.WebhookID)).want(t, http.StatusOK) // its receiver is refused
	queued, err := srv.Emit(mockserver.Event{Kind: "order.paid", Data: []byte(`{}`)})                                        // nothing listens there
	if err != nil || len(queued) != 1 {
		t.Fatalf("queued %v (%v)", queued, err)
	}
	advance(t, srv, time.Millisecond)
	replayed := srv.Deliveries()[1]
	added := func(state string, attempts int) mockserver.DeliveryDiff {
		return mockserver.DeliveryDiff{ID: queued[0].ID, WebhookID: id, Event: "order.paid", ShipmentID: queued[0].ShipmentID, After: state, Attempts: attempts}
	}
	replay := mockserver.DeliveryDiff{ID: replayed.ID, WebhookID: seeded.WebhookID, Event: seeded.Event, ShipmentID: seeded.ShipmentID, After: "refused"}
	wantDiff(t, srv.Diff(before), mockserver.Diff{Deliveries: []mockserver.DeliveryDiff{replay, added("queued", 1)}})

	name, inactive := "Renamed", false
	if err := srv.ChangeWebhook(changed, mockserver.WebhookChange{Name: &name, Active: &inactive}); err != nil {
		t.Fatal(err)
	}
	if err := srv.RemoveWebhook(removed); err != nil {
		t.Fatal(err)
	}
	middle := srv.Snapshot()
	advance(t, srv, time.Hour)
	ended := added("failed", 3)
	ended.Before = "queued"
	wantDiff(t, srv.Diff(middle), mockserver.Diff{Deliveries: []mockserver.DeliveryDiff{ended}, Before: middle.At(), After: srv.Now()})

	got := srv.Diff(before)
	kinds := []string{"shipment.created", "shipment.updated", "shipment.delivered"}
	wantDiff(t, got, mockserver.Diff{
		Deliveries: []mockserver.DeliveryDiff{replay, added("failed", 3)},
		Webhooks: []mockserver.WebhookDiff{
			{WebhookID: removed, Before: got.Webhooks[0].Before},
			{
				WebhookID: changed, Before: &mockserver.WebhookSettings{Name: "All shipment events", URL: got.Webhooks[1].Before.URL, Events: kinds, Active: true},
				After: &mockserver.WebhookSettings{Name: "Renamed", URL: got.Webhooks[1].Before.URL, Events: kinds},
			},
		},
	})
	for _, line := range []string{
		"webhook " + removed + ": removed ", "webhook " + changed + `: "All shipment events" `, ` → "Renamed" `,
		"delivery " + queued[0].ID + " of order.paid to " + id + ": added failed, attempts: 3", "clock: moved by 1h0m0.001s",
	} {
		if !strings.Contains(got.String(), line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
}

func TestDiff_OfRatesAndMoney(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	before := srv.Snapshot()
	if err := srv.SetExchangeRate("NGN", amount(t, "1600")); err != nil {
		t.Fatal(err)
	}
	if err := srv.Fund(srv.Wallets()[1], amount(t, "7.5")); err != nil {
		t.Fatal(err)
	}
	post(t, srv, "/_mock/faults", `{"rules":[{"operation":"rates.list","first":1,"fault":{"kind":"insert-rows","rows":2}}]}`).want(t, http.StatusOK)
	get(t, srv, "/v1/rates").want(t, http.StatusOK)
	got := srv.Diff(before)
	if len(got.Wallets) != 1 || len(got.Entries) != 1 || got.Entries[0].Kind != "funding" || !got.Entries[0].Amount.Equal(amount(t, "7.5")) {
		t.Errorf("the money:\n%s", got)
	}
	if len(got.ExchangeRates) != 1 || got.ExchangeRates[0].Currency != "NGN" || !got.ExchangeRates[0].After.Equal(amount(t, "1600")) {
		t.Errorf("the exchange rates: %v", got.ExchangeRates)
	}
	if got.RatesAdded != 2 || got.RatesRemoved != 0 {
		t.Errorf("%d rates added, %d removed", got.RatesAdded, got.RatesRemoved)
	}
	after := srv.Snapshot()
	srv.Restore(before)
	if got := srv.Diff(after); got.RatesAdded != 0 || got.RatesRemoved != 2 || len(got.RemovedEntries) != 1 {
		t.Errorf("%d rates added, %d removed:\n%s", got.RatesAdded, got.RatesRemoved, got)
	}
}

// A snapshot of another world is compared by its contents, however much the two worlds share.
func TestDiff_OfOtherWorlds(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	drafted := analyzeShipment(t, srv, srv.Shipments()[0])
	fork, err := srv.Fork("other")
	if err != nil {
		t.Fatal(err)
	}
	parent := srv.Snapshot()
	wantDiff(t, fork.Diff(parent), mockserver.Diff{})
	wantDiff(t, fork.Diff(nil), mockserver.Diff{})

	// Both continue with the same identifiers, for different entries.
	for w, money := range map[*mockserver.World]string{srv.World: "1", fork: "2"} {
		if err := w.Fund(w.Wallets()[0], amount(t, money)); err != nil {
			t.Fatal(err)
		}
	}
	got := fork.Diff(srv.Snapshot())
	if len(got.Entries) != 1 || len(got.RemovedEntries) != 1 || got.Entries[0].ID != got.RemovedEntries[0].ID {
		t.Errorf("the fork and its parent:\n%s", got)
	}

	// A file shares nothing in memory.
	path := filepath.Join(t.TempDir(), "snapshot")
	if err := srv.Snapshot().Save(path); err != nil {
		t.Fatal(err)
	}
	loaded, err := mockserver.LoadSnapshot(path)
	if err != nil {
		t.Fatal(err)
	}
	wantDiff(t, srv.Diff(loaded), mockserver.Diff{})
	analyzeShipment(t, srv, srv.Shipments()[0])
	if got := srv.Diff(loaded); len(got.Requests) != 1 || got.Requests[0].RequestID == drafted.ID || got.Requests[0].After != shipping.StatusDraft {
		t.Errorf("since the file:\n%s", got)
	}

	another := srv.NewWorld(t, "seed9")
	if got := another.Diff(loaded); len(got.Wallets) == 0 || len(got.Entries) == 0 || len(got.RemovedEntries) == 0 || got.RatesAdded != got.RatesRemoved {
		t.Errorf("a world of another seed:\n%.1000s", got)
	}
}

// However a world and a snapshot came about, what the comparison skips because the two share it is the same.
func TestDiff_IsThatOfWhatSharesNothing(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual(), realistic())
	p := &player{T: t, srv: srv, world: srv.World, random: randomtest.Random(t)}
	p.began = p.look()
	p.now = p.began.copy()
	path := filepath.Join(t.TempDir(), "snapshot")
	for range 8 {
		taken := srv.Snapshot()
		if err := taken.Save(path); err != nil {
			t.Fatal(err)
		}
		loaded, err := mockserver.LoadSnapshot(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			moves()[p.random.IntN(len(moves()))](p)
		}
		got, want := srv.Diff(taken), srv.Diff(loaded)
		if got.String() != want.String() || got.Empty() != want.Empty() {
			t.Errorf("since the snapshot:\n%s\nsince the same from a file:\n%s", got, want)
		}
	}
}

// A snapshot is compared by many at once, while the world changes.
func TestDiff_ByManyAtOnce(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	analyzeShipment(t, srv, srv.Shipments()[0])
	before := srv.Snapshot()
	one := amount(t, "1")
	var running sync.WaitGroup
	for range 10 {
		running.Go(func() {
			for range 20 {
				if err := srv.Fund(srv.Wallets()[0], one); err != nil {
					t.Error(err)
				}
				diff := srv.Diff(before)
				added, err := diff.Wallets[0].After.Sub(diff.Wallets[0].Before)
				if err != nil || added.String() != strconv.Itoa(len(diff.Entries)) {
					t.Errorf("%d entries have added %s (%v)", len(diff.Entries), added, err)
				}
			}
		})
	}
	running.Wait()
	if entries := len(srv.Diff(before).Entries); entries != 200 {
		t.Errorf("%d entries, want 200", entries)
	}
}

// Over HTTP a snapshot goes by its name.
func TestAdminDiff_ReturnsWhatHasChangedSinceASnapshot(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	get(t, srv, "/_mock/worlds/home/diff?since=before").refusal(t, http.StatusNotFound, `no snapshot "before", and no other: POST /_mock/worlds/home/snapshot`)
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	post(t, srv, "/_mock/worlds/home/snapshot", `{"snapshot":"before"}`).want(t, http.StatusOK)
	post(t, srv, "/_mock/worlds/home/snapshot", `{"snapshot":"again"}`).want(t, http.StatusOK)
	get(t, srv, "/_mock/worlds/home/diff?since=befor").refusal(t, http.StatusNotFound, `no snapshot "befor": it has again, before`)
	get(t, srv, "/_mock/worlds/nowhere/diff").refusal(t, http.StatusNotFound, `no world "nowhere"`)

	type diff struct {
		Empty    bool
		Requests []mockserver.RequestDiff
		Entries  []mockserver.LedgerEntry
		Elapsed  string
	}
	var none, bought, all diff
	get(t, srv, "/_mock/worlds/home/diff?since=before").want(t, http.StatusOK).data(t, &none)
	if !none.Empty || none.Requests == nil || none.Entries == nil {
		t.Errorf("nothing has happened, and the diff is %+v", none)
	}
	purchase(t, srv, draft.ID, "CUSTOMS").want(t, http.StatusOK)
	advance(t, srv, time.Minute)
	get(t, srv, "/_mock/worlds/home/diff?since=before").want(t, http.StatusOK).data(t, &bought)
	if bought.Empty || len(bought.Requests) != 1 || bought.Requests[0].Before != shipping.StatusDraft || bought.Requests[0].After != shipping.StatusCompleted ||
		len(bought.Entries) != 1 || !bought.Entries[0].Amount.Equal(bought.Requests[0].Charged) || bought.Elapsed != "1m0s" {
		t.Errorf("after the purchase the diff is %+v", bought)
	}
	get(t, srv, "/_mock/worlds/home/diff").want(t, http.StatusOK).data(t, &all)
	if len(all.Requests) != 1 || all.Requests[0].Before != "" {
		t.Errorf("since the beginning the diff is %+v", all)
	}
}
