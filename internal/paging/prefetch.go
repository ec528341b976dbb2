package paging

import (
	"context"

	"github.com/shipping-go/shipping/internal/workgroup"
)

// prefetcher fetches pages ahead of a consumer, a bounded number at a time, each on its own goroutine.
//
// User code runs on these goroutines. If it panics, or ends the goroutine, the other fetches are cancelled, and
// the consumer's next call panics with the same value or ends the consumer's goroutine.
type prefetcher struct {
	parent  context.Context
	ctx     context.Context
	cancel  context.CancelFunc
	fetch   func(ctx context.Context, number int) (*Page, error)
	pending map[int]chan fetched
	running workgroup.Group
}

type fetched struct {
	page *Page
	err  error
}

func newPrefetcher(ctx context.Context, fetch func(context.Context, int) (*Page, error)) *prefetcher {
	p := &prefetcher{parent: ctx, fetch: fetch, pending: map[int]chan fetched{}}
	p.ctx, p.cancel = context.WithCancel(ctx)
	p.running.Crashed = func() { p.cancel() }
	return p
}

// ahead starts fetching the pages from first to last that are not under way yet.
func (p *prefetcher) ahead(first, last int) {
	for number := first; number <= last; number++ {
		if p.pending[number] != nil {
			continue
		}
		result := make(chan fetched, 1)
		p.pending[number] = result
		p.running.Go(func() {
			defer close(result)
			page, err := p.fetch(p.ctx, number)
			result <- fetched{page, err}
		})
	}
}

// take waits for a page, and starts fetching it if that has not happened yet. A page that failed when it was fetched
// ahead, perhaps long ago, is requested once more.
func (p *prefetcher) take(number int, early bool) (*Page, error) {
	got := p.wait(number)
	if got.err != nil && early && p.parent.Err() == nil {
		got = p.wait(number)
	}
	return got.page, got.err
}

func (p *prefetcher) wait(number int) fetched {
	p.ahead(number, number)
	got, returned := <-p.pending[number]
	delete(p.pending, number)
	if !returned || p.ctx.Err() != nil && p.parent.Err() == nil { // a fetch has crashed: this one or another
		p.stop()
		p.running.Repanic()
	}
	return got
}

// forget drops all pages that are under way.
func (p *prefetcher) forget() {
	if len(p.pending) == 0 {
		return
	}
	p.stop()
	p.running.Repanic()
	p.ctx, p.cancel = context.WithCancel(p.parent)
	clear(p.pending)
}

// stop cancels all fetches and returns when no goroutine is left.
func (p *prefetcher) stop() {
	p.cancel()
	p.running.Wait()
}

// Stop cancels all requests and returns when no goroutine is left. It must be called.
func (w *Walk) Stop() { w.pages.stop() }

// Repanic ends the caller's goroutine as Fetch ended its own, if that was by a panic or by runtime.Goexit. It is
// called after Stop.
func (w *Walk) Repanic() { w.pages.running.Repanic() }
