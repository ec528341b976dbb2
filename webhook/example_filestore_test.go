package webhook_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/shipping-go/shipping/webhook"
)

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
