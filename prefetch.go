package shipping

import (
	"context"
	"sync"
)

// prefetch fetches pages ahead of a consumer, a bounded number at a time.
type prefetch[P any] struct {
	ctx     context.Context
	cancel  context.CancelFunc
	fetch   func(ctx context.Context, page int) (P, error)
	pending map[int]chan fetched[P]
	running sync.WaitGroup
}

type fetched[P any] struct {
	page P
	err  error
}

func newPrefetch[P any](ctx context.Context, fetch func(context.Context, int) (P, error)) *prefetch[P] {
	p := &prefetch[P]{fetch: fetch, pending: map[int]chan fetched[P]{}}
	p.ctx, p.cancel = context.WithCancel(ctx)
	return p
}

// ahead starts fetching the pages from first to last that are not under way yet.
func (p *prefetch[P]) ahead(first, last int) {
	for number := first; number <= last; number++ {
		if p.pending[number] != nil {
			continue
		}
		result := make(chan fetched[P], 1)
		p.pending[number] = result
		p.running.Go(func() {
			page, err := p.fetch(p.ctx, number)
			result <- fetched[P]{page, err}
		})
	}
}

// has reports whether a page is under way or waiting to be taken.
func (p *prefetch[P]) has(number int) bool { return p.pending[number] != nil }

// take waits for a page, and starts fetching it where that has not happened yet.
func (p *prefetch[P]) take(number int) (P, error) {
	p.ahead(number, number)
	got := <-p.pending[number]
	delete(p.pending, number)
	return got.page, got.err
}

// forget drops every page that is under way.
func (p *prefetch[P]) forget(parent context.Context) {
	p.close()
	p.ctx, p.cancel = context.WithCancel(parent)
	clear(p.pending)
}

// close ends what is under way and returns when no goroutine is left.
func (p *prefetch[P]) close() {
	p.cancel()
	p.running.Wait()
}
