package paging

import (
	"cmp"
	"context"
	"fmt"
)

// Walk is a walk over a list. It returns exactly once each record that is in the list from the first read to the
// last.
//
// Its place is the number of rows at the head of the list that need not be read any more. The next page to read is the
// one with the row behind them. The place moves as follows.
//
//   - Behind each page that was read. The place counts rows, so another page size changes nothing.
//   - Towards the head by n rows if the total shrank by n, because as many unread rows may have moved in front of it.
//   - Behind a page's last row that was already read: the rows before it were read too, or have arrived. If the total
//     grew by more than a page, the walk looks for that row as far behind the place as the total grew.
//
// A record that comes again is recognized, and not returned. Pages in flight can be read in any order. If a page is
// read before the previous one, a row that moved between them in the meantime can be missing on both. So pages in
// flight are fetched again if a page shows that rows vanished: its total shrank, or more rows were pushed onto it than
// the total grew by. A page that was fetched ahead is also fetched again if its total or its size shows that it is
// older than the previous page.
//
// A walk ends without an error only if its readings together found every record of the service's total, and the last
// reading saw no change. No record is missing in two cases. In the first, a reading found as many records as the total
// at its beginning, less the vanished ones, and each page had as many rows as its total implies. In the second, the
// readings together found all records of one moment; see settled. Records can be missing only if the numbers contradict
// the rows, rows changed places, or as many arrived as vanished between two pages. Then the walk reads the list again,
// and returns the records that it has not returned, until a reading sees no change and finds the same records as
// before. It also reads the list again if totals were ignored, or if the total shrank while pages were fetched ahead,
// because that may be the total of an earlier moment. From the fourth reading on, pages are not fetched ahead. If
// records are missing then, the error is [Incomplete].
type Walk struct {
	config Config
	pages  *prefetcher

	number  int // of the page to read next
	covered int // the place: rows at the head of the list that need not be read any more
	total   int // rows in the list, by the last page
	size    int // rows a page

	reading  int  // how many times the list has been read, with this one
	base     int  // rows at the head that are not part of the walk
	began    bool // a page of this reading was accepted
	expected int  // how many records this reading should find
	owed     int  // rows in the list by the first reading, for later readings whose pages have no total
	found    int  // how many it has found
	fresh    int  // how many records it has found that no reading had found before
	furthest int  // the last page with a record that no page of this reading had before
	hole     int  // rows that its pages lack: see lacking
	odd      bool // a page had fewer or more rows than its numbers imply
	shrank   bool // the total shrank while pages were fetched ahead
	ended    bool // all pages were read

	known     map[uint64]sighting // the records, by identifier
	totals    []int               // what the first page of each reading reported; unknown if it reported none
	anonymous bool                // there are records without an identifier
	content   uint64              // of the page before, if its records have no identifiers
	progress  Progress
	last      []uint64 // the identifiers of the records returned last
	complete  token    // the last place before which nothing is missing

	idle     int  // pages since a fresh record
	swing    int  // the last change of the total
	moves    int  // changes of the total or the page size since a fresh record
	refused  int  // the page that was refused last, since a fresh record
	pushed   int  // rows that arrived; they may have pushed returned records behind the place
	distrust bool // totals are ignored, because they or the page size changed too often; see maxMoves

	reach   int  // how many pages may be held or requested at once now
	opening bool // the consumer may want only one page
	held    bool // a fresh record was returned

	resumed
}

const (
	unknown      = -1 // a total that is not reported
	contradicted = -2 // a total of fewer rows than there are
	maxMoves     = 16 // changes of the total or the page size without a fresh record, after which totals are ignored
)

// Start begins a walk. An error is about the token.
func Start(ctx context.Context, config Config) (*Walk, error) {
	w := &Walk{
		config: config, pages: newPrefetcher(ctx, config.Fetch), number: min(max(config.First, 1), limit), reading: 1,
		total: unknown, known: map[uint64]sighting{}, reach: 1, opening: true,
	}
	w.complete = w.position()
	if config.Token != "" {
		t, err := parseToken(config.Token, config.List)
		if err != nil {
			return nil, err
		}
		w.resume(t)
	}
	return w, nil
}

// Next returns the next page, nil at the end, or an *Error. Each record of a page may have been returned before.
func (w *Walk) Next() (*Page, error) {
	if w.held && w.opening {
		w.reach, w.opening = w.config.Window, false
	}
	for {
		if w.ended {
			if !w.again() {
				return nil, w.end()
			}
			w.readAgain()
		}
		number := w.number
		page, err := w.take()
		if err != nil && page != nil && page.Refused && w.stepBack(number) {
			continue
		}
		if err != nil {
			return nil, &Error{Kind: Failed, Page: number, Token: w.Token(), Fetched: page, Err: err}
		}
		if failure := w.check(page); failure != nil {
			failure.Page, failure.Token, failure.Fetched = number, w.Token(), page
			return nil, failure
		}
		if w.follows(page) {
			w.accept(page)
			return page, nil
		}
	}
}

// take returns the page to read next. A page that was fetched ahead is fetched again if it may be older than the one
// before it.
func (w *Walk) take() (*Page, error) {
	early := w.pages.pending[w.number] != nil
	w.ahead(w.reach)
	for {
		page, err := w.pages.take(w.number, early)
		if err != nil {
			return page, err
		}
		w.normalize(page)
		if !early || page.Total >= w.total && page.size(w.number, w.size) == w.size {
			return page, nil
		}
		w.moveTo(w.number) // the same page, without the pages that were fetched ahead
		early = false
	}
}

// stepBack makes the page before a refused page the next one to read. The refusal is the end of the list only if that
// page reports that it is the last one. If it is refused, too, page 1 shows where to continue. stepBack returns false
// if no page can show that.
func (w *Walk) stepBack(number int) bool {
	if w.size == 0 || number == 1 || w.refused > 0 && number >= w.refused {
		return false
	}
	before := number - 1
	if number == w.refused-1 {
		before = 1
	}
	w.refused = number
	w.moveTo(before)
	return true
}

// check returns an error if the page has no data, if the walk begins behind the last page, or if nothing new has come
// for too long.
func (w *Walk) check(page *Page) *Error {
	behind := len(page.IDs) == 0 || page.isLastInPlaceOf(w.number, page.PerPage)
	if last := page.PageCount; w.size == 0 && behind && last > 0 && w.number > last {
		return &Error{Kind: Behind, Err: fmt.Errorf("page %d is past the last page, %d", w.number, last)}
	}
	bare := page.Numbers == Numbers{Total: unknown}
	total, pages := w.totalAt(page), max(page.PageCount, w.progress.PageCount)
	due := total > w.start() || total < 0 && (pages > 1 && pages >= w.number || bare && !page.Listed)
	if len(page.IDs) == 0 && due && (bare || !page.Listed) {
		return &Error{Kind: Empty, Err: fmt.Errorf("page %d has neither records nor numbers that explain why; "+
			"resume later", w.number)}
	}
	w.idle++
	if most := 16 + 2*min(w.moves, maxMoves) + 2*len(w.known)/max(w.size, 1); w.idle > most {
		return &Error{Kind: Loop, Err: fmt.Errorf("%d pages in a row, up to page %d, brought nothing new: "+
			"the service seems to ignore the page number, or to change the page size with each response", w.idle, w.number)}
	}
	return nil
}

// follows moves the place by what the page shows, and reports whether the page follows the place without unread rows in
// between. If there may be some, another page is read next.
func (w *Walk) follows(page *Page) bool {
	size, known := page.size(w.number, w.size), w.memory()
	if w.unconfirmed && page.Total == contradicted {
		w.complete.Total = unknown // the token's total confirms nothing
	}
	page.Total = w.totalAt(page)
	counted, change := w.size > 0 && known >= 0 && page.counted, 0
	switch {
	case counted:
		change = page.Total - known
	case page.counted:
		w.expected = max(page.Total-w.base, 0) // the first page with a total
	}
	if w.size == 0 {
		w.size = size
		w.covered, w.base = w.start(), w.start()
	}
	w.change(change, size)
	w.size = size
	if page.counted || w.began {
		w.total = page.Total
	}
	before, number := w.covered, w.number
	recognized := w.recognize(page)
	if w.number != number { // another page is the next one to read
		return false
	}
	if change < 0 || w.covered-before > max(change, 0) {
		w.moveTo(w.number) // rows vanished: a page in flight may have been read before them
	}
	place := max(w.covered, w.base)
	switch {
	case !w.confirms(page, counted || recognized):
		return false
	case w.start() > place:
		w.moveTo(w.pageOf(place))
		return false
	case !recognized && w.pushed >= w.size:
		w.search()
		return w.number == number
	}
	return true
}

// change records the page size, and that the total has grown by n rows, or shrunk if n is negative. If they change
// too often, totals are ignored.
func (w *Walk) change(n, size int) {
	by, shrunk := max(n, -n), min(n, 0)
	if n != 0 || size != w.size {
		w.refused = 0
		w.moves++
		if n == -w.swing && by == size && size > 1 { // the total may count the rows that are left
			w.moves += maxMoves / 3
		}
		w.swing = n
		w.distrust = w.distrust || w.moves > maxMoves
	}
	w.covered += shrunk
	w.base = max(w.base+shrunk, 0)
	w.expected += shrunk
	w.pushed += max(n, 0)
	w.moved += by
	w.bound = min(w.bound+by, limit)
	w.shrank = w.shrank || shrunk < 0 && w.began && w.config.Window > 1
}

// recognize moves the place behind the page's last row that was already read, and reports whether there is one. The
// walk begins behind the last row of the token. If more rows precede it than the totals explain, the page can be the
// wrong one. The walk then reads the previous page first. Otherwise it could skip unread records.
func (w *Walk) recognize(page *Page) bool {
	place, begin := 0, 0
	for i, id := range page.IDs {
		switch known := int(w.known[id].last); {
		case id == 0:
		case known == w.reading:
			place = w.start() + i + 1
		case known == 0 && w.earlier[id] && !w.held:
			place = w.start() + i + 1
			begin = place
		}
	}
	if page.Content != 0 && page.Content == w.content {
		place = w.start() + len(page.IDs)
	}
	w.covered = max(w.covered, place)
	switch {
	case begin > w.bound && page.Total >= 0 && w.number > 1 && !w.began:
		w.begin(min(w.start(), w.bound), page.Total)
		w.moveTo(w.number - 1)
	case begin > 0:
		w.begin(begin, page.Total)
	}
	return place > 0
}

// begin makes a row the first one of the walk.
func (w *Walk) begin(row, total int) {
	w.covered, w.base = row, row
	w.expected, w.found, w.older, w.moved = max(total-row, 0), 0, 0, 0
}

// search continues at the page with the last row in front of the place, if all new rows arrived at the head.
func (w *Walk) search() {
	w.moveTo(w.pageOf(min(w.covered+w.pushed, w.total) - 1))
	w.pushed = 0
}

// accept marks the records that were returned before, counts the others, and moves the place behind the page.
func (w *Walk) accept(page *Page) {
	if !w.began {
		w.began, w.odd, w.fresh, w.hole = true, false, 0, 0
		if page.Total >= 0 {
			w.owed = 0
		}
		w.expected, w.found, w.older = max(w.promised(page)-w.base, 0), 0, 0
		w.totals = append(w.totals, unknown)
		if page.counted {
			w.totals[w.reading-1] = page.Total
		}
	}
	again := page.Content != 0 && page.Content == w.content
	w.content = page.Content
	page.Skip = make([]bool, len(page.IDs))
	for i, id := range page.IDs {
		known, row := int(w.known[id].last), w.start()+i
		page.Skip[i] = known != 0 || w.earlier[id] || row < w.base || again
		if !page.Skip[i] {
			page.Fresh++
		}
		if known < w.reading && !again {
			w.furthest = max(w.furthest, w.number)
			w.find(id, row)
		}
	}
	for i, id := range page.IDs { // only now: rows of one page are different rows, whatever their identifiers
		w.anonymous = w.anonymous || id == 0
		if known := w.known[id]; id != 0 && (known.last > 0 || w.earlier[id] || w.start()+i >= w.base) {
			w.known[id] = sighting{cmp.Or(known.first, uint8(w.reading)), uint8(w.reading)}
		}
		if id != 0 {
			w.last = append(w.last[max(len(w.last)-anchors+1, 0):], id)
		}
	}
	w.fresh += page.Fresh
	w.progress = Progress{
		Items: w.progress.Items + page.Fresh, Total: max(page.Total, 0), Page: w.number, PageCount: page.PageCount,
		Repeated: w.progress.Repeated + len(page.IDs) - page.Fresh,
	}
	w.pushed = max(w.pushed-len(page.IDs), 0)
	if page.Fresh > 0 {
		w.idle, w.moves, w.swing, w.pushed, w.refused, w.held = 0, 0, 0, 0, 0, true
	}
	w.advance(page)
}

// find counts a record that is new in this reading, if it is not in front of the place.
func (w *Walk) find(id uint64, row int) {
	switch {
	case row < w.covered:
	case w.earlier[id] && w.base > 0:
		w.older++
	default:
		w.found++
	}
}

// advance moves the place behind an accepted page, chooses the next page, and fetches ahead.
func (w *Walk) advance(page *Page) {
	w.ended = page.last || w.refused == 0 && !w.more(page)
	if w.ended && w.reading == 1 {
		w.stray = w.older
	}
	w.odd = w.odd || page.isOdd(w.number)
	w.hole += w.lacking(page)
	if w.ended {
		w.covered = max(w.covered, w.start()+len(page.IDs))
	} else {
		w.covered = max(w.covered, w.start()+w.size)
		w.number = w.pageOf(w.covered)
	}
	if w.refused > 0 && page.PageCount > 0 {
		w.number = min(w.number, page.PageCount)
	}
	if page.Fresh > 0 && w.missing(0) <= 0 && !w.odd && !w.distrust {
		w.complete = w.position()
	}
	switch {
	case w.distrust:
		w.moveTo(w.number) // nothing is fetched ahead any more
	case w.pushed >= w.size && !w.ended:
		w.search()
	case w.opening:
		w.reach = min(2, w.config.Window)
	case page.Fresh > 0:
		w.reach = min(2*w.reach, w.config.Window)
	}
	if !w.ended {
		w.ahead(w.reach - 1) // one page is the consumer's
	}
}

// lacking returns how many rows the page lacks: by the total, or all rows if it is empty and other pages follow.
func (w *Walk) lacking(page *Page) int {
	switch {
	case w.total >= 0 && !w.distrust:
		return max(min(w.size, w.total-w.start())-len(page.IDs), 0)
	case len(page.IDs) == 0 && !w.ended:
		return w.size
	}
	return 0
}

// more reports whether to read a page behind this one. One number that implies such a page is enough, because others
// may be wrong.
func (w *Walk) more(page *Page) bool {
	received, promised := len(page.IDs), w.total > w.start()+w.size
	behind := w.number > page.PageCount && page.PageCount >= w.furthest
	if page.PageCount == 0 {
		behind = w.total >= 0 && w.start() >= w.total
	}
	switch {
	case page.Fresh == 0 && !promised && behind:
		return false
	case received == 0 && w.total >= 0:
		return promised && (page.PageCount == 0 || page.PageCount > w.number)
	case page.PageCount > w.number || page.HasNext || promised:
		return true
	case page.PageCount > 0 || w.total >= 0:
		return false
	default: // no numbers: a full page may be followed by another
		return received >= w.size && (w.furthest == w.number || received >= w.config.PerPage)
	}
}

// ahead fetches the next n pages, as far as there are any.
func (w *Walk) ahead(n int) {
	w.pages.ahead(w.number, min(w.number+n-1, w.pageOf(w.total-1)))
}

// moveTo makes number the page to read next, and drops pages that were fetched ahead.
func (w *Walk) moveTo(number int) {
	w.pages.forget()
	w.number, w.reach, w.opening = number, 1, false
}

// pageOf returns the number of the page that holds a row, counted from 0 at the head of the list.
func (w *Walk) pageOf(row int) int { return max(row, 0)/max(w.size, 1) + 1 }

// start returns how many rows are in front of the page to read next.
func (w *Walk) start() int { return rows(w.number-1, w.size) }
