package shipping_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
)

// Proxy, certificates and timeouts are those of an http.Client. This one reaches the reference server
// without a socket, and ends an attempt after ten seconds. The client then retries, if the operation is safe to retry.
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

// pace is a Limiter that allows a request with each tick. *rate.Limiter of golang.org/x/time/rate is a Limiter too, and
// allows bursts.
type pace <-chan time.Time

func (p pace) Wait(ctx context.Context) error {
	select {
	case <-p:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Every attempt waits for the limiter, retries too. If the context ends first, nothing is sent.
func ExampleWithLimiter() {
	client, server := account(shipping.WithLimiter(pace(time.Tick(10 * time.Millisecond))))
	defer server.Close()

	for range 3 {
		if _, err := client.Rates.List(context.Background(), nil); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("requests:", server.Requests(shipping.OpListRates))
	// Output: requests: 3
}

// An observer is called for each call, for example to export metrics. An operation has a route, which can label a metric: it
// contains no identifier, key or query.
func ExampleWithObserver() {
	client, server := account(shipping.WithObserver(shipping.Observer{
		Done: func(_ context.Context, operation string, attempts []shipping.Attempt, _ time.Duration, err error) {
			fmt.Println(operation, len(attempts), err != nil)
		},
	}))
	defer server.Close()

	if _, err := client.Regulatory.Get(context.Background(), "RD-UNKNOWN"); err == nil {
		log.Fatal("it was found")
	}
	// Output: regulatory.get 1 true
}

// Attempts are logged at the level debug, retries as warnings.
func ExampleWithLogger() {
	plain := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "took" {
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: plain}))
	client, server := account(shipping.WithLogger(logger))
	defer server.Close()

	if _, err := client.Countries.List(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output: level=DEBUG msg="shipping attempt" operation=countries.list attempt=1 status=200
}

// Differences between a service's responses and the specification.
func ExampleWithDriftReport() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"status":true,"message":"","data":[{"isoCode":"KE","name":"Kenya","phonecode":254,"flag":"🇰🇪",
			"currency":"KES","latitude":"1.0","longitude":"38.0","continent":"Africa"}]}`)
	}))
	defer service.Close()
	client, err := shipping.NewClient("sk_test_1", shipping.WithBaseURL(service.URL), shipping.WithDriftReport(func(operation string, found []shipping.Drift) {
		for _, drift := range found {
			fmt.Println(operation, drift)
		}
	}))
	if err != nil {
		log.Fatal(err)
	}
	countries, err := client.Countries.List(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(countries[0].Name, countries[0].PhoneCode) // read despite the difference
	// Output:
	// countries.list unknown data[].continent: string
	// countries.list type data[].phonecode: number instead of string
	// countries.list missing data[].timezones
	// Kenya 254
}
