// Package fasthttp holds the test of a webhook receiver behind a fasthttp server, which reuses the memory of a request
// for the next one. It is a separate module because it imports that server.
package fasthttp

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"
	"github.com/valyala/fasthttp/fasthttputil"

	"github.com/shipping-go/shipping/webhook"
)

const (
	deliveries = 20_000
	senders    = 8
	key        = "sk_test_present"
)

// The receiver kept header strings of requests as the ids of deliveries. Behind a fasthttp server their memory holds
// the next request, so that new deliveries were taken for duplicates and dropped, and duplicates were handled again.
func TestReceiver_BehindAFasthttpServer(t *testing.T) {
	var mu sync.Mutex
	handled, wrong := map[string]int{}, 0
	receiver, err := webhook.NewReceiver(func(_ context.Context, n *webhook.Notification) error {
		shipment, err := n.Shipment()
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		handled[n.ID]++
		if "WD-"+shipment.ShipmentID != n.ID || "WE-"+shipment.ShipmentID != n.EventID {
			wrong++
		}
		return nil
	}, webhook.WithKeys(key), webhook.WithWorkers(4, 1024), webhook.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	listener := fasthttputil.NewInmemoryListener()
	server := fasthttp.Server{Handler: fasthttpadaptor.NewFastHTTPHandler(receiver)}
	serving := make(chan error, 1)
	go func() { serving <- server.Serve(listener) }()
	for range 2 { // all are new, then all are duplicates
		deliver(t, listener)
	}
	if err := receiver.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := server.Shutdown(); err != nil {
		t.Error(err)
	}
	if err := <-serving; err != nil {
		t.Error(err)
	}
	again := 0
	for _, times := range handled {
		again += times - 1
	}
	if lost := deliveries - len(handled); lost != 0 || again != 0 || wrong != 0 {
		t.Errorf("of %d deliveries and their duplicates %d are lost, %d handled again, %d with wrong ids", deliveries, lost,
			again, wrong)
	}
}

// deliver sends all deliveries once, each until it is accepted.
func deliver(t *testing.T, listener *fasthttputil.InmemoryListener) {
	t.Helper()
	transport := &http.Transport{
		DialContext:         func(context.Context, string, string) (net.Conn, error) { return listener.Dial() },
		MaxIdleConnsPerHost: senders,
	}
	defer transport.CloseIdleConnections()
	var next atomic.Int64
	var sending sync.WaitGroup
	for range senders {
		sending.Go(func() {
			for n := next.Add(1); n <= deliveries; n = next.Add(1) {
				status, err := http.StatusServiceUnavailable, error(nil)
				for status == http.StatusServiceUnavailable && err == nil {
					status, err = post(t.Context(), transport, fmt.Sprintf("%06d", n))
				}
				if status != http.StatusOK || err != nil {
					t.Errorf("delivery %d: %d, %v", n, status, err)
					return
				}
			}
		})
	}
	sending.Wait()
}

func post(ctx context.Context, transport *http.Transport, shipment string) (status int, err error) {
	body := fmt.Sprintf(`{"event":"shipment.updated","data":{"shipment_id":%q}}`, shipment)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://receiver/", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set(webhook.DefaultIDHeader, "WD-"+shipment)
	request.Header.Set(webhook.DefaultEventIDHeader, "WE-"+shipment)
	request.Header.Set(webhook.DefaultSignatureHeader, webhook.Sign(key, []byte(body)))
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}
