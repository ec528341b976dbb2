package redisstore_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/shipping-go/shipping/stores/redisstore"
	"github.com/shipping-go/shipping/webhook"
)

// Every machine has a receiver with this store; a notification is handled by one of them.
func ExampleNew() {
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: os.Getenv(socketVariable)})
	defer client.Close()

	receiver, err := webhook.NewReceiver(func(_ context.Context, n *webhook.Notification) error {
		return nil // do something about it
	}, webhook.WithKeys("sk_test_present"),
		webhook.WithStore(redisstore.New(client, "orders", redisstore.Options{})))
	fmt.Println(receiver != nil, err)

	// A receiver claims each notification:
	store := redisstore.New(client, "invoices", redisstore.Options{})
	for _, machine := range []string{"first", "second"} {
		state, err := store.Claim(context.Background(), "WD-1", machine)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(machine, state == webhook.Claimed)
	}
	// Output:
	// true <nil>
	// first true
	// second false
}
