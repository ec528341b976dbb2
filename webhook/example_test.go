package webhook_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shipping-go/shipping/webhook"
)

// deliver sends a notification as the service does, and returns the status.
func deliver(receiver http.Handler, id, body, signature string) int {
	request := httptest.NewRequest(http.MethodPost, "/hooks/shipping", strings.NewReader(body))
	request.Header.Set(webhook.DefaultIDHeader, id)
	request.Header.Set(webhook.DefaultSignatureHeader, signature)
	answer := httptest.NewRecorder()
	receiver.ServeHTTP(answer, request)
	return answer.Code
}

// A receiver is an http.Handler. It refuses unsigned deliveries, and handles each delivery once.
func ExampleNewReceiver() {
	receiver, err := webhook.NewReceiver(func(_ context.Context, n *webhook.Notification) error {
		shipment, err := n.Shipment()
		if err != nil {
			return err // the notification is handled again
		}
		fmt.Println(n.Event, shipment.ShipmentID, shipment.Status)
		return nil
	}, webhook.WithKeys("sk_test_present"))
	if err != nil {
		log.Fatal(err)
	}
	defer receiver.Close(context.Background())

	body := `{"event":"shipment.updated","data":{"shipment_id":"SH-1","status":"in-transit"}}`
	fmt.Println(deliver(receiver, "WD-1", body, "forged"))
	fmt.Println(deliver(receiver, "WD-1", body, webhook.Sign("sk_test_present", []byte(body))))
	fmt.Println(deliver(receiver, "WD-1", body, webhook.Sign("sk_test_present", []byte(body))))
	// Output:
	// 401
	// shipment.updated SH-1 in-transit
	// 200
	// 200
}

// A signature is checked over the bytes as they came, under any of the keys that are valid now.
func ExampleVerify() {
	body := []byte(`{"event":"shipment.updated","data":{"amount":136.0}}`)
	signature := webhook.Sign("sk_test_old", body)

	fmt.Println(webhook.Verify(signature, body, "sk_test_new", "sk_test_old"))
	fmt.Println(webhook.Verify(signature, []byte(`{"event":"shipment.updated","data":{"amount":136}}`), "sk_test_old"))
	// Output:
	// <nil>
	// webhook: the signature is missing or wrong
}

// A notification that arrives after a newer one is late.
func ExampleTracker() {
	var seen webhook.Tracker
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	delivered := &webhook.Shipment{ShipmentID: "SH-1", Status: webhook.ShipmentDelivered, UpdatedAt: noon}
	inTransit := &webhook.Shipment{ShipmentID: "SH-1", Status: webhook.ShipmentInTransit, UpdatedAt: noon.Add(-time.Hour)}

	fmt.Println(seen.Late(delivered), seen.Late(inTransit))
	// Output: false true
}

// A receiver with a store in a file handles a delivery once, although it is restarted in between.
func ExampleOpenFileStore() {
	folder, err := os.MkdirTemp("", "webhooks")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "deliveries")
	body := `{"event":"shipment.updated","data":{"shipment_id":"SH-1"}}`
	serve := func() {
		store, err := webhook.OpenFileStore(path, webhook.StoreOptions{})
		if err != nil {
			log.Fatal(err)
		}
		defer store.Close()
		receiver, err := webhook.NewReceiver(func(_ context.Context, n *webhook.Notification) error {
			fmt.Println("handled", n.ID)
			return nil
		}, webhook.WithKeys("sk_test_present"), webhook.WithStore(store))
		if err != nil {
			log.Fatal(err)
		}
		defer receiver.Close(context.Background())
		fmt.Println(deliver(receiver, "WD-1", body, webhook.Sign("sk_test_present", []byte(body))))
	}
	serve()
	serve()
	// Output:
	// handled WD-1
	// 200
	// 200
}
