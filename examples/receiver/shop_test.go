package main

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/freeport"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/webhook"
)

// The shop is killed at random requests, in both directions, before or after they take effect. Each shipment of which
// it was notified is bought, once, also if it is notified again, and if the service has given up the notification and
// is asked to replay it. A shop that records a shipment only after its response loses the first one.
// SHIPPING_SWEEP=all kills it 20 times.
func TestShop_Killed(t *testing.T) {
	if os.Getenv("SHOP_ADDR") != "" {
		serveShop(t)
		return
	}
	t.Parallel()
	kills, random := 5, randomtest.Random(t)
	if os.Getenv("SHIPPING_SWEEP") == "all" {
		kills = 20
	}
	n := newNetwork(t, kills+1)
	shipments := n.server.Shipments()[:kills+1]
	for round := range kills {
		again := slices.Collect(maps.Keys(n.finished))[:min(len(n.finished), 3)]
		n.start(t)
		// A notification is two points, and the analysis of a shipment two more.
		point := 1 + random.Int64N(int64(4+2*len(again)))
		if round == 0 {
			point = 2 // when it has responded
		}
		n.countdown.Store(point)
		n.notify(t, shipments[round])
		n.notify(t, again...)
		n.wait(t, nil) // until it is killed
	}
	n.notify(t, shipments[kills])
	if _, err := n.server.Advance(time.Hour); err != nil { // nothing listens
		t.Fatal(err)
	}
	n.start(t)
	n.reconcile(t)
	n.wait(t, shipments)
	n.end(t)
	purchases := n.server.Requests(shipping.OpPurchase)
	clear(n.finished)
	n.start(t)
	n.notify(t, shipments...)
	n.reconcile(t)
	n.wait(t, shipments)
	n.end(t)
	shippingtest.Diff(t, "purchases after a notification is repeated", purchases, n.server.Requests(shipping.OpPurchase))
	n.server.CheckInvariants(t)
	n.server.Lint(t) // nothing was bought twice
}

// Only an id that is the name of a file in the folder is recorded; "." and ".." were tried for ever.
func TestShop_RecordsIdsThatAreNamesOfFiles(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"SH-1": "", "..": "not the id", ".": "not the id", "../x": "not the id", "a/b": "not the id", ".hidden": "not the id",
	} {
		s := &shop{orders: t.TempDir(), wake: make(chan struct{}, 1)}
		err := s.record(t.Context(), &webhook.Notification{Event: shipping.EventShipmentCreated,
			Data: shipping.RawJSON(fmt.Sprintf(`{"shipment_id":%q}`, id))})
		if _, missing := os.Stat(filepath.Join(s.orders, id)); !strings.Contains(fmt.Sprint(err), want) ||
			want == "" && (err != nil || missing != nil) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// A charge above its cost ends the purchases until a person has closed it, also after a restart: the worker ran the
// batch again, and each run bought for up to eight shipments.
func TestShop_AChargeAboveItsCost(t *testing.T) {
	server := mockserver.New(mockserver.WithScenario("instant-shipments30"))
	t.Cleanup(server.Close)
	t.Setenv("SHIPPING_BASE_URL", server.URL)
	t.Setenv("SHIPPING_SECRET_KEY", server.SecretKey)
	charged := fault.Respond(200, nil, `{"status":true,"message":"","data":{"status":"processing","charged_amount":9e8}}`)
	shippingtest.NoError(t, server.Inject(fault.Rule{Operation: shipping.OpPurchase, Nth: 1, Committed: true,
		Fault: charged}))
	folder := t.TempDir()
	start := func(shipments ...string) {
		shop := shippingtest.Must(openShop(folder, "90000000 NGN", slog.New(slog.DiscardHandler)))(t)
		for _, shipment := range shipments {
			shippingtest.NoError(t, create(shop.orders, shipment))
		}
		shop.work(t.Context()) // returns
		shippingtest.NoError(t, shop.close())
	}
	start(server.Shipments()[0])
	start(server.Shipments()[1:]...)
	shippingtest.Diff(t, "purchases", 1, server.Requests(shipping.OpPurchase))
}

// serveShop is the process that is killed. It settles an open purchase soon, because no request is under way when it
// starts.
func serveShop(t *testing.T) {
	folder := os.Getenv("SHOP_FOLDER")
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	logger := slog.New(slog.NewTextHandler(os.Stdout, nil))
	shop := shippingtest.Must(openShop(folder, "90000000 NGN", logger))(t)
	shop.options.Purchase.QuietFor = time.Second
	store, err := webhook.OpenFileStore(filepath.Join(folder, "deliveries"), webhook.StoreOptions{})
	shippingtest.NoError(t, err)
	receiver, err := newReceiver(shop.record, logger, store, os.Getenv("SHIPPING_SECRET_KEY"))
	shippingtest.NoError(t, err)
	end := shop.start(ctx)
	ready := func(url string) error {
		fmt.Println("Listening on", url)
		return nil
	}
	if err := listen(ctx, os.Getenv("SHOP_ADDR"), receiver, ready); err != nil {
		t.Error(err)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

// network connects the server and the shop, and kills the process of the shop at one of their requests.
type network struct {
	server    *mockserver.Server
	env       []string
	countdown atomic.Int64 // the number of points until the kill; 0 or less: none

	process    *exec.Cmd
	lines      *bufio.Scanner
	finished   map[string]bool // shipments
	deliveries []string        // ids
}

func newNetwork(t *testing.T, shipments int) *network {
	n := &network{finished: map[string]bool{}}
	n.server = mockserver.New(mockserver.WithScenario(fmt.Sprintf("instant-shipments%d", shipments)),
		mockserver.WithDeliveryTransport(n), mockserver.WithVirtualClock(time.Time{}))
	t.Cleanup(n.server.Close)
	proxy := httptest.NewServer(n)
	t.Cleanup(proxy.Close)
	port := shippingtest.Must(freeport.New().Next())(t)
	addr := "127.0.0.1:" + port
	shippingtest.Must(n.server.AddWebhook(notify.Webhook{URL: "http://" + addr + path}))(t)
	n.env = append(os.Environ(), "SHOP_ADDR="+addr, "SHOP_FOLDER="+t.TempDir(), "SHIPPING_BASE_URL="+proxy.URL,
		"SHIPPING_SECRET_KEY="+n.server.SecretKey)
	return n
}

// ServeHTTP passes a request of the shop to the server. Each takes a millisecond, in which documents are generated.
func (n *network) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.point()
	n.server.ServeHTTP(w, r)
	_, _ = n.server.Advance(time.Millisecond)
	n.point()
}

// RoundTrip passes a notification to the shop.
func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	n.point()
	defer n.point()
	return http.DefaultTransport.RoundTrip(r)
}

func (n *network) point() {
	if n.countdown.Add(-1) == 0 {
		_ = n.process.Process.Kill()
	}
}

// start starts the shop, and returns when it listens.
func (n *network) start(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute) // a shipment that is forgotten never finishes
	t.Cleanup(stop)
	n.process = exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$")
	n.process.Env, n.process.Stderr = n.env, os.Stderr
	out, err := n.process.StdoutPipe()
	if err == nil {
		err = n.process.Start()
	}
	shippingtest.NoError(t, err)
	n.lines = bufio.NewScanner(out)
	for n.read() && !strings.HasPrefix(n.lines.Text(), "Listening") {
	}
}

// read reads a line of the output of the shop. The shop can finish a shipment before it listens.
func (n *network) read() bool {
	more := n.lines.Scan()
	for word := range strings.FieldsSeq(n.lines.Text()) {
		if shipment, found := strings.CutPrefix(word, "shipment="); found {
			n.finished[shipment] = true
		}
	}
	return more
}

// end ends the shop, so that it has no open order.
func (n *network) end(t *testing.T) {
	_ = n.process.Process.Signal(os.Interrupt)
	n.wait(t, nil)
	if !n.process.ProcessState.Success() {
		t.Error(n.process.ProcessState)
	}
}

// notify notifies the shop of shipments.
func (n *network) notify(t *testing.T, shipments ...string) {
	for _, shipment := range shipments {
		sent := shippingtest.Must(n.server.Emit(notify.Event{Kind: shipping.EventShipmentCreated, ShipmentID: shipment}))(t)
		n.deliveries = append(n.deliveries, sent[0].ID)
	}
}

// reconcile waits until each notification was delivered or given up, and asks for a replay of those that were given up.
func (n *network) reconcile(t *testing.T) {
	shippingtest.Must(n.server.Advance(time.Hour))(t)
	for _, id := range n.deliveries {
		delivery, err := n.server.WaitDelivery(t.Context(), id)
		if err == nil && delivery.State == notify.Failed {
			var replay *shipping.ReplayResult
			replay, err = n.server.Client(t).Webhooks.Replay(t.Context(), &shipping.ReplayRequest{
				ShipmentID: delivery.ShipmentID, Event: shipping.EventShipmentCreated})
			if err == nil {
				delivery, err = n.server.WaitDelivery(t.Context(), replay.DeliveryID)
			}
		}
		if err != nil || delivery.State != notify.Delivered {
			t.Fatal(delivery, err)
		}
	}
	n.deliveries = nil
}

// wait reads the output of the shop until shipments are finished, or without shipments until the process has ended.
func (n *network) wait(t *testing.T, shipments []string) {
	open := func(shipment string) bool { return !n.finished[shipment] }
	for shipments == nil || slices.ContainsFunc(shipments, open) {
		if !n.read() {
			_ = n.process.Wait()
			if shipments != nil {
				t.Fatalf("finished are %v of %v", n.finished, shipments)
			}
			return
		}
	}
}
