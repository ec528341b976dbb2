// Package benchmarks compares the client with hand-written code and with clients of other services, and the reference
// server with a bare handler. run.sh runs all of it and prints the ratios.
//
// The part "by" of a benchmark's name is the side of the comparison, so that benchstat -col /by shows the sides next to
// each other. The metric cpu-ns/op is processor time, the garbage collector included: other programs on the machine
// hardly change it.
package benchmarks

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/test/benchmarks/processor"
	"github.com/shipping-go/shipping/test/benchmarks/raw"
	"github.com/shipping-go/shipping/test/benchmarks/service"
)

const (
	address = "https://api.shipping.example"
	key     = "sk_test_benchmark"
)

// comparison is the same work, done by hand-written code and by a client. Both sides receive the same bytes, unless the
// comparison states otherwise.
type comparison struct {
	name        string
	records     int // that each call must return
	raw, client call
}

// call does the work once and returns the number of records that it received.
type call func(ctx context.Context) (records int, err error)

func compare(b *testing.B, comparisons []comparison) {
	for _, c := range comparisons {
		b.Run("of="+c.name+"/by=raw", func(b *testing.B) { measure(b, c.records, c.raw) })
		b.Run("of="+c.name+"/by=client", func(b *testing.B) { measure(b, c.records, c.client) })
	}
}

func measure(b *testing.B, records int, do call) {
	ctx := b.Context()
	b.ReportAllocs()
	before := time.Duration(-1)
	for b.Loop() {
		if before < 0 {
			before = processor.Time()
		}
		received, err := do(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if received != records {
			b.Fatalf("received %d records, want %d", received, records)
		}
	}
	b.ReportMetric(float64(processor.Time()-before)/float64(b.N), "cpu-ns/op")
}

// byHand returns hand-written code that reads url and counts the records of the response.
func byHand[T any](through http.RoundTripper, url string, count func(*T) int) call {
	client := &http.Client{Transport: through}
	return func(ctx context.Context) (int, error) {
		response, err := raw.Get[T](ctx, client, url, key)
		return count(&response), err
	}
}

// newClient returns this project's client with its defaults.
func newClient(tb testing.TB, through http.RoundTripper, options ...shipping.Option) *shipping.Client {
	tb.Helper()
	client, err := shipping.NewClient(key, append([]shipping.Option{
		shipping.WithBaseURL(address), shipping.WithHTTPClient(&http.Client{Transport: through}),
	}, options...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return client
}

// record returns the responses of the reference server.
func record(tb testing.TB) service.Responses {
	tb.Helper()
	responses, err := service.Record()
	if err != nil {
		tb.Fatal(err)
	}
	return responses
}
