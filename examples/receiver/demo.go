package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// demonstrate starts a server that notifies this receiver about two shipments: once in the wrong order, and over a
// network that loses a response, so that the server sends again.
func (j *job) demonstrate(ctx context.Context, log io.Writer) error {
	network := &forgetful{RoundTripper: &http.Transport{}}
	server := mockserver.New(mockserver.WithDeliveryTransport(network))
	defer server.Close()
	if err := server.Err(); err != nil {
		return err
	}
	client, err := shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL))
	if err != nil {
		return err
	}
	j.addr = "127.0.0.1:0"
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	return j.listen(ctx, []string{server.SecretKey}, func(url string) error {
		defer stop()
		fmt.Fprintf(log, "A demonstration: the reference server notifies us at %s.\n\n", url)
		id, err := server.AddWebhook(notify.Webhook{Name: "Receiver", URL: url})
		if err != nil {
			return err
		}
		for _, shipment := range server.Shipments()[3:5] {
			for _, missed := range history(server, shipment) {
				result, err := client.Webhooks.Replay(ctx, &shipping.ReplayRequest{DeliveryID: missed, WebhookID: id})
				if err != nil {
					return err
				}
				if _, err := server.WaitDelivery(ctx, result.DeliveryID); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// history is the deliveries about a shipment, the last two in the wrong order.
func history(server *mockserver.Server, shipment string) []string {
	var ids []string
	for _, delivery := range slices.Backward(server.Deliveries()) { // the log is newest first
		if delivery.ShipmentID == shipment {
			ids = append(ids, delivery.ID)
		}
	}
	if n := len(ids); n > 1 {
		ids[n-1], ids[n-2] = ids[n-2], ids[n-1]
	}
	return ids
}

// forgetful loses the response to the second delivery.
type forgetful struct {
	http.RoundTripper
	sent atomic.Int64
}

var errLostAnswer = errors.New("the response was lost")

func (f *forgetful) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := f.RoundTripper.RoundTrip(r)
	if err == nil && f.sent.Add(1) == 2 {
		_, err = io.Copy(io.Discard, response.Body)
		return nil, errors.Join(err, response.Body.Close(), errLostAnswer)
	}
	return response, err
}
