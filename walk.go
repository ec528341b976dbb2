package shipping

import (
	"context"
	"fmt"
	"slices"
)

// walk goes through the pages of a list whose rows may change meanwhile. It keeps these promises:
//
//   - Rows that arrive at the head push others to later pages, where they are met again: dropped.
//   - A page that was fetched ahead, before rows arrived that an earlier page already shows, has a
//     smaller total than that page: it is fetched again, because a row has slipped between the two.
//   - Rows that vanish pull others to earlier pages: when the total shrinks, the walk steps back by as
//     many rows and reads on from there.
//   - The page's own numbers count, never what was asked for.
//
// Not noticed are rows that arrive and rows that vanish in equal number between two reads.
type walk[T any] struct {
	ctx      context.Context
	settings callSettings
	id       func(*T) string
	list     uint64 // which list this is, for the token
	pages    *prefetch[*Page[T]]
	window   int

	number    int // the page to take next
	covered   int // rows of the list, from its head, that were delivered
	perPage   int // as the service says
	pageCount int
	total     int
	started   bool
	ended     bool
	recent    recentIDs
	resumed   *resumeToken

	previous []uint64 // the ids of the page before, to notice a loop
	progress ListProgress
}

func (l lister[T, L]) start(ctx context.Context, options []CallOption) (*walk[T], error) {
	settings, err := newCallSettings(options)
	if err == nil {
		err = l.validate()
	}
	if err != nil {
		return nil, err
	}
	w := &walk[T]{
		ctx: ctx, settings: settings, id: l.id, window: settings.window,
		number: max(l.page, 1), list: listHash(l.operation, l.query(0)),
	}
	if w.window == 0 {
		w.window = DefaultWindow
	}
	if settings.resume != "" {
		if w.resumed, err = parseResumeToken(settings.resume, w.list); err != nil {
			return nil, invalidRequest(l.operation, "WithResume", err.Error())
		}
		w.number, w.covered = w.resumed.Covered/w.resumed.PerPage+1, w.resumed.Covered
		w.perPage, w.total = w.resumed.PerPage, w.resumed.Total
		w.progress.Items = w.resumed.Items
		for _, id := range w.resumed.Last {
			w.recent.add(id)
		}
	}
	w.pages = newPrefetch(ctx, func(ctx context.Context, number int) (*Page[T], error) {
		own := settings // each fetch fills a response of its own
		if settings.response != nil {
			own.response = &Response{}
		}
		page, err := l.fetch(ctx, number, &own)
		if page != nil && settings.response != nil {
			page.Response = own.response
		}
		return page, err
	})
	return w, nil
}

func (w *walk[T]) close() { w.pages.close() }

// next returns the next page with the records that were not delivered before, or nil at the end.
func (w *walk[T]) next() (*Page[T], error) {
	for !w.ended {
		page, err := w.take()
		if err == nil && page != nil {
			err = w.accept(page)
		}
		if err != nil {
			return nil, &ListError{Resume: w.token(), Page: w.number, Err: err}
		}
		if page != nil && len(page.Items) > 0 {
			return page, nil
		}
	}
	return nil, nil
}

// take fetches the page whose turn it is, and others ahead of it. It returns nil when what came
// cannot be used and the walk has to go on from elsewhere.
func (w *walk[T]) take() (*Page[T], error) {
	early := w.pages.has(w.number) // read, perhaps, before the page that was delivered last
	if w.started && w.window > 1 {
		w.pages.ahead(w.number, min(w.number+w.window-1, w.pageCount))
	}
	page, err := w.pages.take(w.number)
	if err != nil {
		return nil, err
	}
	own := page.Pagination
	if w.settings.response != nil && page.Response != nil {
		*w.settings.response = *page.Response
	}
	if own.Page > 0 && own.Page != w.number && len(page.Items) > 0 {
		return nil, fmt.Errorf("%w: asked for page %d, received page %d", ErrPageLoop, w.number, own.Page)
	}
	if w.total > 0 && own.Total > 0 && own.Total < w.total {
		w.pages.forget(w.ctx)
		if !early {
			w.stepBack(own)
		}
		return nil, nil
	}
	if w.perPage > 0 && own.PerPage > 0 && own.PerPage != w.perPage && w.started && own.Page < own.PageCount {
		if number := w.covered/own.PerPage + 1; number != w.number {
			w.pages.forget(w.ctx)
			w.perPage, w.number = own.PerPage, number
			return nil, nil
		}
	}
	return page, nil
}

// stepBack goes back by as many rows as vanished, since those behind them have moved up.
func (w *walk[T]) stepBack(own Pagination) {
	vanished := w.total - own.Total
	w.progress.Vanished += vanished
	w.total, w.pageCount, w.previous = own.Total, max(own.PageCount, 0), nil
	w.covered = max(w.covered-vanished, 0)
	w.number = w.covered/max(w.perPage, 1) + 1
}

// accept takes a page's numbers for the truth, drops the records that were delivered before, and
// decides which page comes next. It leaves no items where the walk has to go on elsewhere.
func (w *walk[T]) accept(page *Page[T]) error {
	own, received := page.Pagination, len(page.Items)
	ids := make([]uint64, received)
	for i := range page.Items {
		ids[i] = idHash(w.id(&page.Items[i]))
	}
	grown := own.Total - w.total
	if received > 0 && w.previous != nil && grown < received && slices.Equal(ids, w.previous) {
		return fmt.Errorf("%w: page %d is page %d again", ErrPageLoop, w.number, w.number-1)
	}
	w.previous = ids
	if own.PerPage > 0 {
		w.perPage = own.PerPage
	} else if w.perPage == 0 {
		w.perPage = max(received, 1)
	}
	if w.resumed != nil && !w.findPlace(ids, grown) {
		page.Items = nil
		return nil
	}
	page.Items, ids = w.fresh(page.Items, ids)
	w.recent.resize(4 * w.window * w.perPage)
	for _, id := range ids {
		w.recent.add(id)
	}
	w.started, w.total = true, max(own.Total, 0)
	if w.pageCount = max(own.PageCount, 0); w.pageCount == 0 && w.total > 0 {
		w.pageCount = (w.total + w.perPage - 1) / w.perPage
	}
	w.covered = (w.number-1)*w.perPage + received
	w.progress.Items += len(page.Items)
	w.progress.Repeated += received - len(page.Items)
	w.progress.Page, w.progress.PageCount, w.progress.Total = w.number, own.PageCount, own.Total
	w.ended = !w.more(own, received)
	w.number++
	page.Resume = w.token()
	return nil
}

// more reports whether a page follows. Whatever says so is believed; an empty page ends the walk.
func (w *walk[T]) more(own Pagination, received int) bool {
	switch {
	case received == 0:
		return false
	case own.HasNextPage || own.PageCount > w.number || own.Total > w.covered:
		return true
	case own.PageCount > 0 || own.Total > 0:
		return false
	default: // the page says nothing: a full one may be followed by another
		return received >= w.perPage
	}
}

// fresh keeps the records that were not delivered before. Records without an id are always kept.
func (w *walk[T]) fresh(items []T, ids []uint64) ([]T, []uint64) {
	kept := 0
	for i, id := range ids {
		if id != 0 && w.recent.has(id) {
			continue
		}
		items[kept], ids[kept] = items[i], id
		kept++
	}
	clear(items[kept:])
	return items[:kept], ids[:kept]
}

func (w *walk[T]) consumed() {
	if w.settings.progress != nil {
		w.progress.Resume = w.token()
		w.settings.progress(w.progress)
	}
}
