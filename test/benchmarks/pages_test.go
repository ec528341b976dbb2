package benchmarks

import (
	"context"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipping-go/shipping/test/benchmarks/payload"
	"github.com/shipping-go/shipping/test/benchmarks/raw"
	"github.com/shipping-go/shipping/test/benchmarks/transport"
)

const pageLatency = 20 * time.Millisecond

// walk hands every page of a list, as its number of rates, to consume.
type walk func(ctx context.Context, consume func(rates int)) error

// pagesOf returns a service with so many pages of 100 rates, which takes 20 ms a page.
func pagesOf(n int) transport.Delayed {
	pages := make([][]byte, n)
	for i := range pages {
		pages[i] = payload.Rates(100, i+1, n)
	}
	return transport.Delayed{Pages: pages, Delay: pageLatency}
}

// BenchmarkPages reads 20 pages of 100 rates from a service that takes 20 ms a page, 200 pages, and one rate.
func BenchmarkPages(b *testing.B) {
	service := pagesOf(20)
	walkers := []struct {
		name string
		walk walk
	}{
		{"raw", pagesByHand(service)},
		{"shipping", pagesByClient(b, service)},
	}
	for _, consumer := range []struct {
		name string
		work time.Duration
	}{
		{"fast consumer", 0},
		{"slow consumer", 20 * time.Millisecond},
	} {
		for _, w := range walkers {
			b.Run(consumer.name+"/"+w.name, func(b *testing.B) { measurePages(b, 20, w.walk, consumer.work) })
		}
	}
	b.Run("200 pages/shipping", func(b *testing.B) { measurePages(b, 200, pagesByClient(b, pagesOf(200)), 0) })
	b.Run("first rate only/shipping", measureFirst)
}

// measurePages also reports the walk's time as a multiple of what the consumer spends on its own work.
func measurePages(b *testing.B, pages int, walk walk, work time.Duration) {
	var consumed time.Duration
	for b.Loop() {
		received := 0
		err := walk(b.Context(), func(rates int) {
			started := time.Now()
			if received += rates; work > 0 {
				<-time.After(work)
			}
			consumed += time.Since(started)
		})
		if err != nil {
			b.Fatal(err)
		}
		if want := pages * 100; received != want {
			b.Fatalf("received %d rates, want %d", received, want)
		}
	}
	if work > 0 {
		b.ReportMetric(float64(b.Elapsed())/float64(consumed), "x-consumer")
	}
}

// measureFirst ends a loop over 20 pages at the first rate, and reports how many requests that took.
func measureFirst(b *testing.B) {
	service := &counted{RoundTripper: pagesOf(20)}
	client := newClient(b, service)
	for b.Loop() {
		for _, err := range client.Rates.All(b.Context(), nil) {
			if err != nil {
				b.Fatal(err)
			}
			break
		}
	}
	b.ReportMetric(float64(service.requests.Load())/float64(b.N), "requests")
}

type counted struct {
	http.RoundTripper
	requests atomic.Int64
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	return c.RoundTripper.RoundTrip(r)
}

// pagesByHand reads a page when the one before it was consumed, as hand-written loops do.
func pagesByHand(through http.RoundTripper) walk {
	client := &http.Client{Transport: through}
	return func(ctx context.Context, consume func(int)) error {
		for page, pages := 1, 1; page <= pages; page++ {
			answer, err := raw.Get[rateAnswer](ctx, client, address+"/v1/rates?page="+strconv.Itoa(page), key)
			if err != nil {
				return err
			}
			pages = answer.Data.Pagination.PageCount
			consume(len(answer.Data.Rates))
		}
		return nil
	}
}

func pagesByClient(tb testing.TB, through http.RoundTripper) walk {
	client := newClient(tb, through)
	return func(ctx context.Context, consume func(int)) error {
		for page, err := range client.Rates.Pages(ctx, nil) {
			if err != nil {
				return err
			}
			consume(len(page.Items))
		}
		return nil
	}
}
