package shipping

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// prefetch fetches pages ahead of a consumer, a bounded number at a time, each on a goroutine of its own.
//
// The code of users runs there: transport, limiter, observer, drift report. If it panics, or ends the
// goroutine, the other fetches are cancelled, and the consumer's next call panics with the same value or
// ends the consumer's goroutine.
type prefetch[P any] struct {
	parent  context.Context
	ctx     context.Context
	cancel  context.CancelFunc
	fetch   func(ctx context.Context, page int) (P, error)
	pending map[int]chan fetched[P]
	running sync.WaitGroup
	aborted atomic.Pointer[abort] // the first one
}

type fetched[P any] struct {
	page P
	err  error
}

// abort is how a fetch ended that did not return: by a panic with a value, or, if that is nil, by
// [runtime.Goexit].
type abort struct{ value any }

func newPrefetch[P any](ctx context.Context, fetch func(context.Context, int) (P, error)) *prefetch[P] {
	p := &prefetch[P]{parent: ctx, fetch: fetch, pending: map[int]chan fetched[P]{}}
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
		p.running.Go(func() { p.run(number, result) })
	}
}

// run fetches a page and delivers it, however the fetch ends.
func (p *prefetch[P]) run(number int, result chan<- fetched[P]) {
	var got fetched[P]
	returned := false
	defer func() {
		if !returned {
			p.aborted.CompareAndSwap(nil, &abort{recover()})
			p.cancel()
		}
		result <- got
	}()
	got.page, got.err = p.fetch(p.ctx, number)
	returned = true
}

// take waits for a page, and starts fetching it where that has not happened yet. A page that failed
// when it was fetched ahead, perhaps long ago, is asked for once more now that its turn has come.
func (p *prefetch[P]) take(number int) (P, error) {
	early := p.pending[number] != nil
	got := p.wait(number)
	if got.err != nil && early && p.parent.Err() == nil {
		got = p.wait(number)
	}
	return got.page, got.err
}

func (p *prefetch[P]) wait(number int) fetched[P] {
	p.ahead(number, number)
	got := <-p.pending[number]
	delete(p.pending, number)
	p.rethrow()
	return got
}

// forget drops every page that is under way.
func (p *prefetch[P]) forget() {
	if len(p.pending) == 0 {
		return
	}
	p.close()
	p.rethrow()
	p.ctx, p.cancel = context.WithCancel(p.parent)
	clear(p.pending)
}

// rethrow ends the consumer as a fetch has ended, once no other fetch is running.
func (p *prefetch[P]) rethrow() {
	aborted := p.aborted.Load()
	if aborted == nil {
		return
	}
	p.close()
	if aborted.value == nil {
		runtime.Goexit()
	}
	panic(aborted.value)
}

// close ends what is under way and returns when no goroutine is left.
func (p *prefetch[P]) close() {
	p.cancel()
	p.running.Wait()
}
