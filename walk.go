package shipping

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// walk goes through the pages of a list whose rows may change meanwhile. Rows stand newest first: one
// that arrives pushes the others on, one that vanishes pulls those behind it up, and then a page
// number stands for other rows than before. Two signs tell: the total moves, or records come again.
//
//   - Rows that were pushed onto the next page are met again there, and dropped.
//   - While neither sign shows, the rows behind the last page are where they were, so that pages
//     fetched ahead follow on. At either sign they are thrown away: between a page that was read
//     before the move and one that was read after it, a row may have slipped through. A service that
//     tells no total hides one of the signs, so nothing is fetched ahead of it.
//   - When the total shrinks, rows may have been pulled up past the edge of the last page. The walk
//     then looks for the record that it delivered last, and goes on behind it; see search. So it does
//     after a leap of the total, a change of the page size, and a resume.
//   - A page's own numbers count, never what was asked for. Where they contradict each other, rather
//     a page is read too many than one too few. A total that keeps misleading the walk is ignored.
//
// What shows neither sign is not noticed, and may cost a row: rows that vanish from a list without
// (true) totals; rows that arrive elsewhere than at the head while others vanish; a change between
// the moments when the service counts the rows and when it reads them; and, between two reads that
// are under way together, the replacement of all rows delivered so far. A row may come twice when
// more rows than are remembered arrive between two reads while as many vanish.
type walk[T any] struct {
	settings callSettings
	id       func(*T) (id, storage string)
	list     uint64 // which list this is, for the token
	asked    int    // how many records a page was asked to hold
	pages    *prefetch[*Page[T]]
	window   int
	reach    int // how many pages may be fetched at once now: less than the window after a move

	number    int // the page to take next
	covered   int // rows of the list, from its head, that were delivered
	total     int // how many rows there were then; 0 where the service does not say
	owed      int // how many of the rows that were there at the start are to come, by the totals
	perPage   int // how many rows a page holds
	stated    int // the same, as the service says
	pageCount int
	started   bool
	ended     bool

	recent   recentIDs
	blank    uint64  // what the last page held, if its records have no ids
	search   *search // while the place is looked for
	deaf     bool    // to totals
	suspect  suspect
	patience patience
	progress ListProgress
}

// suspect is the last record that came again though the total stayed; see walk.verify.
type suspect struct {
	id   uint64
	page int
}

// patience counts what happened since a record was delivered, so that no list holds a walk for ever.
type patience struct {
	barren  int // pages without a sign of a move
	arrived int // rows by the totals, which push delivered ones onto so many pages more
	moves   int // signs of a move
	misled  int // searches that found the place where it had been
}

const (
	maxMoves  = 100
	maxMisled = 16
)

func (l lister[T, L]) start(ctx context.Context, options []CallOption) (*walk[T], error) {
	settings, err := newCallSettings(options)
	if err == nil {
		err = l.validate()
	}
	if err != nil {
		return nil, err
	}
	w := &walk[T]{
		settings: settings, id: l.id, list: l.hash(settings.query), asked: l.perPage, window: settings.window,
		number: max(l.page, 1),
	}
	setDefault(&w.asked, defaultPerPage)
	setDefault(&w.window, DefaultWindow)
	w.reach = w.window
	if settings.resume != "" {
		token, err := parseResumeToken(settings.resume, w.list)
		if err != nil {
			return nil, invalidRequest(l.operation, "WithResume", err.Error())
		}
		w.resume(token)
	}
	w.pages = newPrefetch(ctx, func(ctx context.Context, number int) (*Page[T], error) {
		if settings.response == nil {
			return l.fetch(ctx, number, &settings)
		}
		own := settings // each fetch fills a response of its own, also when it fails
		own.response = &Response{}
		page, err := l.fetch(ctx, number, &own)
		if page == nil {
			page = &Page[T]{}
		}
		page.Response = own.response
		return page, err
	})
	return w, nil
}

func (w *walk[T]) close() { w.pages.close() }

// run yields the pages up to the end of the walk. The error, if there is one, comes last.
func (w *walk[T]) run(yield func(*Page[T], error) bool) {
	for {
		page, err := w.next()
		if err != nil {
			yield(nil, err)
			return
		}
		if page == nil || !yield(page, nil) {
			return
		}
		w.consumed()
	}
}

// next returns the next page with the records that were not delivered before, or nil at the end.
func (w *walk[T]) next() (*Page[T], error) {
	for !w.ended {
		number := w.number
		page, err := w.take()
		usable := false
		if err == nil {
			usable, err = w.judge(page)
		}
		switch {
		case err != nil:
			return nil, &ListError{Resume: w.token(), Page: number, Err: err}
		case usable && len(page.Items) > 0:
			return page, nil
		case usable:
			w.consumed()
		}
	}
	if err := w.verify(); err != nil {
		return nil, &ListError{Resume: w.token(), Page: w.number, Err: err}
	}
	return nil, nil
}

// verify looks into a record that came again with no other sign of a move, on a list that owes some. In
// an honest list a row can be on a page, and on the one before it when that is read later, only if rows
// have vanished, which shows in the total.
func (w *walk[T]) verify() error {
	if w.owed <= 0 || w.suspect.page < 2 {
		return nil
	}
	var later Pagination
	for _, number := range []int{w.suspect.page, w.suspect.page - 1} {
		w.moveTo(number)
		page, err := w.take()
		if err != nil {
			return err
		}
		own := page.Pagination
		if !slices.Contains(w.identify(page.Items), w.suspect.id) || own.Total < later.Total || own.PerPage < later.PerPage {
			return nil
		}
		later = own
	}
	return fmt.Errorf("%w: pages %d and %d hold the same record, and %d of the total did not come: "+
		"the service repeats a page, or gives several records the same identifier", ErrPageLoop, w.suspect.page-1, w.suspect.page, w.owed)
}

// take fetches the page whose turn it is, and others ahead of it.
func (w *walk[T]) take() (*Page[T], error) {
	w.ahead(w.reach)
	page, err := w.pages.take(w.number)
	if w.settings.response != nil && page != nil {
		*w.settings.response = *page.Response
	}
	return page, err
}

// ahead fetches the next n pages, as far as there are any.
func (w *walk[T]) ahead(n int) {
	w.pages.ahead(w.number, min(w.number+n-1, w.pageCount))
}

// moveTo makes number the page to take next, and forgets what was fetched ahead.
func (w *walk[T]) moveTo(number int) {
	w.pages.forget()
	w.number, w.reach = number, 1
}

// pageAt is the number of the page that holds a row, counted from 0 at the head of the list.
func (w *walk[T]) pageAt(row int) int { return max(row, 0)/w.perPage + 1 }

// judge finds out where the page stands in the list. It reports false when the page cannot be used and
// the walk has to look elsewhere first; otherwise the page keeps the records that were not delivered
// before.
func (w *walk[T]) judge(page *Page[T]) (usable bool, err error) {
	own, ids := plausible(page.Pagination), w.identify(page.Items)
	beyond, err := w.checkNumber(own, ids)
	switch {
	case err != nil:
		return false, err
	case page.Items == nil && (own.Total > (w.number-1)*max(own.PerPage, w.perPage) || own.PageCount > w.number):
		return false, fmt.Errorf("%w: page %d has no list of records, though it says that it holds some; resume later", ErrUnexpectedBody, w.number)
	}
	delivered := 0 // of the page's first rows
	if w.search != nil {
		if delivered = w.locate(own, ids); delivered == 0 {
			return false, nil
		}
	} else if moved, err := w.moved(own); moved || err != nil {
		return false, err
	}
	return true, w.accept(page, own, ids, delivered, beyond)
}

// checkNumber compares the number that a page says it has with the one that was asked for. It reports
// true for a service that answers with its last page when asked for one beyond it.
func (w *walk[T]) checkNumber(own Pagination, ids []uint64) (beyond bool, err error) {
	switch {
	case own.Page == 0 || own.Page == w.number || len(ids) == 0:
		return false, nil
	case own.Page < w.number && own.Page == own.PageCount:
		w.number = own.Page
		return true, nil
	case w.search != nil || slices.ContainsFunc(ids, w.recent.has):
		return false, fmt.Errorf("%w: asked for page %d, received page %d: the service seems to ignore the page number", ErrPageLoop, w.number, own.Page)
	default: // a wrong number on the right page
		return false, nil
	}
}

// change is by how much the total has moved since the last page; 0 where that is not known.
func (w *walk[T]) change(own Pagination) int {
	if w.deaf || w.total == 0 || own.Total == 0 {
		return 0
	}
	return own.Total - w.total
}

// resized reports whether pages have another size than before. Some services say of their last page
// that its size is what happens to be on it.
func (w *walk[T]) resized(own Pagination) bool {
	return own.PerPage > 0 && own.PerPage != w.stated && (own.PerPage > w.stated || w.number < own.PageCount)
}

func (w *walk[T]) resize(own Pagination) {
	if w.resized(own) {
		w.stated, w.perPage = own.PerPage, own.PerPage
	}
}

// moved begins a search where the page may not follow on the one before.
func (w *walk[T]) moved(own Pagination) (bool, error) {
	change, resized := w.change(own), w.resized(own)
	switch {
	case !w.started || !resized && change >= 0 && change <= w.perPage:
		return false, nil
	case !resized && w.patience.misled >= maxMisled:
		w.deaf = true
		return false, nil
	}
	w.patience.moves++
	w.resize(own)
	w.search = &search{}
	w.moveTo(w.pageAt(w.covered - 1 + max(change, 0)))
	return true, w.lostPatience()
}

// lostPatience says why a list is given up that brings nothing new; nil while there is hope.
func (w *walk[T]) lostPatience() error {
	p := w.patience
	again := len(w.recent.known) + min(p.arrived, remembered) // rows that may come, and pages, with some to spare
	switch {
	case p.barren > 16+2*again/w.perPage:
		return fmt.Errorf("%w: %d pages in a row, up to page %d, brought nothing new: the service seems to ignore the page number",
			ErrPageLoop, p.barren, w.number)
	case p.moves > maxMoves:
		return fmt.Errorf("%w: its total or page size changed %d times before it brought something new: "+
			"set PerPage to a larger size that the service keeps, and resume", ErrPageLoop, p.moves)
	}
	return nil
}

// accept takes a page's numbers for the truth, drops the records that were delivered before, the first
// rows for certain, and decides which page comes next.
func (w *walk[T]) accept(page *Page[T], own Pagination, ids []uint64, delivered int, last bool) error {
	received, change := len(ids), w.change(own)
	w.measure(own, received)
	unpaged := own == Pagination{} && w.started && received < w.asked // all it has, every time
	switch blank := w.fingerprint(page.Items, ids); {
	case blank == 0 || blank != w.blank:
		w.blank = blank
	case unpaged:
		delivered = received
	default:
		return fmt.Errorf("%w: page %d is the page before it again: the service seems to ignore the page number", ErrPageLoop, w.number)
	}
	if i := slices.IndexFunc(ids[delivered:], w.recent.has); i >= 0 && change == 0 {
		w.suspect = suspect{ids[delivered+i], w.number}
	}
	fresh := w.fresh(page, ids, delivered)
	repeated := received - delivered - fresh

	w.note(own)
	w.covered = (w.number-1)*w.perPage + received
	w.owed -= fresh
	w.progress.Items += fresh
	w.progress.Repeated += repeated
	w.progress.Page, w.progress.PageCount, w.progress.Total = w.number, own.PageCount, own.Total

	switch {
	case fresh > 0:
		w.patience = patience{}
	case change != 0:
		w.patience.moves++
	case delivered == 0:
		w.patience.barren++
	}
	w.ended = last || unpaged && fresh == 0 || !w.more(own, received)
	if err := w.lostPatience(); err != nil && !w.ended {
		return err
	}

	w.number++
	switch {
	case own.Total == 0 || w.deaf || w.started && (change != 0 || repeated > 0):
		w.moveTo(w.number)
	case w.started:
		w.reach = min(2*w.reach, w.window)
	}
	w.started = true
	page.Resume = w.token()
	if !w.ended {
		w.ahead(w.reach - 1) // the consumer has one
	}
	return nil
}

// measure learns the size of pages, and how many there are.
func (w *walk[T]) measure(own Pagination, received int) {
	w.resize(own)
	short := received > 0 && received < w.perPage && own.Total > (w.number-1)*w.perPage+received
	switch {
	case w.stated == 0:
		w.perPage = max(w.perPage, received, 1)
	case short && !w.started: // it holds fewer rows than it says: trust the rows
		w.perPage = received
	}
	if w.pageCount = own.PageCount; w.pageCount == 0 {
		w.pageCount = (own.Total + w.perPage - 1) / w.perPage
	}
	if !w.started {
		w.owed = own.Total - (w.number-1)*w.perPage
	}
}

// note remembers the total, and by how much it shrank.
func (w *walk[T]) note(own Pagination) {
	if change := w.change(own); change < 0 {
		w.progress.Vanished -= change
		w.owed += change
	} else {
		w.patience.arrived += change
	}
	if own.Total > 0 {
		w.total = own.Total
	}
}

// more reports whether to ask for a page after this one. Whatever says so is believed, but not that
// there is a next page after one without rows.
func (w *walk[T]) more(own Pagination, received int) bool {
	switch {
	case own.PageCount > w.number:
		return true
	case received == 0:
		return false
	case own.HasNextPage || own.Total > w.covered || w.owed > 0:
		return true
	case own.PageCount > 0 || own.Total > 0:
		return false
	default: // the page says nothing: a full one may be followed by another
		return received >= w.perPage
	}
}

// fresh keeps the records behind the first ones that were not delivered before, remembers them, and
// says how many they are. Records without an id are kept.
func (w *walk[T]) fresh(page *Page[T], ids []uint64, first int) int {
	kept := 0
	for i := first; i < len(ids); i++ {
		if w.recent.has(ids[i]) {
			continue
		}
		page.Items[kept], ids[kept] = page.Items[i], ids[i]
		kept++
	}
	clear(page.Items[kept:])
	page.Items = page.Items[:kept]
	for _, id := range ids[:kept] { // only now: rows of one page are different rows, whatever their ids
		w.recent.add(id)
	}
	return kept
}

// identify returns the hashes of the records' ids.
func (w *walk[T]) identify(items []T) []uint64 {
	ids := make([]uint64, len(items))
	for i := range items {
		ids[i] = recordHash(w.id(&items[i]))
	}
	return ids
}

// fingerprint tells pages apart whose records have no ids; 0 where one has.
func (w *walk[T]) fingerprint(items []T, ids []uint64) uint64 {
	if len(items) == 0 || slices.ContainsFunc(ids, func(id uint64) bool { return id != 0 }) {
		return 0
	}
	return textHash(fmt.Sprintf("%+v", items))
}

func (w *walk[T]) consumed() {
	if w.settings.progress != nil {
		w.progress.Resume = w.token()
		w.settings.progress(w.progress)
	}
}

// plausible takes numbers that no list has for ones that were not told, so that what is calculated
// with them stays in range.
func plausible(own Pagination) Pagination {
	const most = 1 << 20 // records on a page
	for _, n := range []*int{&own.Total, &own.PageCount, &own.Page} {
		*n = min(max(*n, 0), math.MaxInt32)
	}
	if own.PerPage < 0 || own.PerPage > most {
		own.PerPage = 0
	}
	return own
}
