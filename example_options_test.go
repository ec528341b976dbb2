package shipping_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
)

// Proxy, certificates and timeouts are those of an http.Client. This one reaches the reference server
// without a socket, and gives up an attempt that takes ten seconds; what may be repeated is.
func ExampleWithHTTPClient() {
	server := mockserver.New(mockserver.WithoutListener())
	defer server.Close()

	client, err := shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL), shipping.WithHTTPClient(&http.Client{
		Transport: server.Transport(), // or &http.Transport{Proxy: …, TLSClientConfig: …}
		Timeout:   10 * time.Second,
	}))
	if err != nil {
		log.Fatal(err)
	}
	page, err := client.Rates.List(context.Background(), &shipping.RateListOptions{PerPage: 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(page.Items))
	// Output: 2
}

// pace is a Limiter that lets a request go with each tick; *rate.Limiter of golang.org/x/time/rate also
// knows bursts.
type pace <-chan time.Time

func (p pace) Wait(ctx context.Context) error {
	select {
	case <-p:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Every attempt waits its turn, repeats too. Who has no time to wait sends nothing.
func ExampleWithLimiter() {
	client, server := account(shipping.WithLimiter(pace(time.Tick(10 * time.Millisecond))))
	defer server.Close()

	for range 3 {
		if _, err := client.Rates.List(context.Background(), nil); err != nil {
			log.Fatal(err)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := client.Rates.List(ended, nil)
	fmt.Println(errors.Is(err, context.Canceled), "calls:", server.Calls(shipping.OpListRates))
	// Output: true calls: 3
}
