// Package paging reads a list page by page while rows arrive in it and vanish from it.
//
// Rows are ordered newest first. A row that arrives at the head pushes the others back, and a row that vanishes pulls
// those behind it forward, so that a page number then means other rows. [Walk] explains how it copes.
//
// The walk remembers each record, in 20 to 40 bytes. Its limits besides those in docs/lists.md:
//
//   - A page of another size is not recognized if the total is wrong, or if there is neither pageCount nor hasNextPage.
//   - If the total changes with nearly every page of two readings, and few pages have new records, the walk can end
//     in [Incomplete] although nothing is missing.
//   - If a page contains the records of another page while rows vanish, or of the page before in a list without totals,
//     its own records can count as vanished, or as read.
//   - If a page of a resumed walk is wrong in the same way twice, unread records can be missed.
//   - A list whose first page has neither records nor numbers counts as empty, unless the token has a total.
//   - If at least a page of rows arrives with each request for long, the walk ends in [Loop].
package paging

import (
	"context"
	"fmt"
)

// limit is the largest number of rows or pages. Calculations with such numbers fit into 32 bits.
const limit = 1 << 30

// Config describes a list and a walk over it.
type Config struct {
	// Fetch reads a page. It is called on separate goroutines. The page can be nil if there is an error.
	Fetch func(ctx context.Context, number int) (*Page, error)
	// List identifies the list in tokens; see [Hash].
	List uint64
	// First is the page to begin at, from 1.
	First int
	// PerPage is the page size that Fetch requests.
	PerPage int
	// Window is how many pages are held or requested at once.
	Window int
	// Token continues an earlier walk, if it is not empty.
	Token string
}

// Numbers are the numbers that a page reports about itself; 0 if it does not report one.
type Numbers struct {
	Total, PerPage, PageCount int
	HasNext                   bool
}

type Page struct {
	Numbers
	// Number is the page number that the page reports; 0 if it reports none.
	Number int
	// IDs are the IDs of the page's records; see [ID].
	IDs []uint64
	// Listed reports whether the response contains a list, even an empty one.
	Listed bool
	// Content is a hash of the records if none of them has an ID.
	Content uint64
	// Refused reports whether the service refused the page, perhaps because it is behind the last one. Fetch also returns
	// an error.
	Refused bool
	// Value belongs to the caller.
	Value any

	// Fresh is how many records were not returned before, and Skip marks the others; nil for none.
	Fresh int
	Skip  []bool

	counted bool // the page itself reports its total
	last    bool // it is the last page, because a page behind it was asked for
}

// normalize replaces numbers that no list has, so that calculations with them stay in range. A total of 0 counts only
// if nothing on the page contradicts it. A total below the number of rows up to the end of the page does not count:
// some services report how many rows are on the page, or are left.
func (w *Walk) normalize(p *Page) {
	const most = 1 << 20 // records on a page
	p.Total, p.PageCount = min(max(p.Total, 0), limit), min(max(p.PageCount, 0), limit)
	if p.PerPage < 0 || p.PerPage > most {
		p.PerPage = 0
	}
	if w.size > 0 && p.isLastInPlaceOf(w.number, max(p.PerPage, w.size)) {
		w.number, p.last = p.PageCount, true
	}
	empty, none := len(p.IDs) == 0, p.Total == 0
	if w.distrust || none && (!empty || p.PerPage == 0 || p.PageCount > 1 || p.PageCount == 0 && p.HasNext) {
		p.Total = unknown
	}
	end := rows(w.number-1, p.size(w.number, w.size)) + len(p.IDs)
	switch {
	case !empty && p.Total >= 0 && p.Total < end, empty && none && p.PageCount > 1 && w.number > p.PageCount:
		p.Total = contradicted
	}
	p.counted = p.Total > 0 || p.Total == 0 && (!w.began || w.total >= 0)
	p.last = p.last || w.refused > 0 && p.endsAt(w.number, w.size)
}

// isLastInPlaceOf reports whether the page reports that it is the last one, although a later one was requested. Some
// services count pages from 0.
func (p *Page) isLastInPlaceOf(number, size int) bool {
	itself := p.Number > 0 && (p.Number == p.PageCount || p.Number == p.PageCount-1)
	return len(p.IDs) > 0 && itself && number > p.PageCount && !p.HasNext && p.Total <= rows(number-1, size)
}

// endsAt reports whether at least one number of the page shows that it is the last page, and none shows the opposite.
func (p *Page) endsAt(number, size int) bool {
	return (p.PageCount > 0 || p.Total >= 0) && p.PageCount <= number && !p.HasNext && p.Total <= rows(number, size)
}

// totalAt returns how many rows the list had when the page was read, if known. If pages with rows report no total, 0 at
// the end does not count.
func (w *Walk) totalAt(page *Page) int {
	switch {
	case page.Total == contradicted:
		return unknown
	case !page.counted:
		return w.memory()
	}
	return page.Total
}

// memory returns the last total, perhaps the token's.
func (w *Walk) memory() int {
	if w.total < 0 && !w.began && w.reading == 1 {
		return w.complete.Total
	}
	return w.total
}

// size returns how many rows a page of the list has. number is this page's number, and known the size so far. The
// size that a page reports counts only if the page has as many rows as this size implies. Some services report the
// number of rows of their last page as the size.
func (p *Page) size(number, known int) int {
	received, size := len(p.IDs), p.PerPage
	before := rows(number-1, size)
	due := received == size || received < size && number >= p.PageCount
	switch {
	case p.Total > 0 && received == 0:
		due = before >= p.Total && (p.PageCount == 0 || p.PageCount == (p.Total+max(size, 1)-1)/max(size, 1))
	case p.Total > 0:
		due = received == min(max(p.Total-before, 0), size)
	}
	last := number >= p.PageCount && !p.HasNext && (p.Total < 0 || p.Total == rows(number-1, known)+received)
	if size > 0 && due && (size > known || !last) {
		return size
	}
	return max(known, received, 1)
}

// isOdd reports whether the numbers of the page are consistent, but the page has fewer or more rows than they imply.
func (p *Page) isOdd(number int) bool {
	if p.Total < 0 || p.PerPage == 0 || p.PageCount != (p.Total+p.PerPage-1)/p.PerPage {
		return false
	}
	return len(p.IDs) != min(max(p.Total-rows(number-1, p.PerPage), 0), p.PerPage)
}

// rows returns how many rows so many pages have.
func rows(pages, size int) int { return int(min(int64(pages)*int64(size), limit)) }

// Progress is how far a walk is.
type Progress struct {
	Items           int // records returned
	Total           int // rows in the list now
	Page, PageCount int
	Repeated        int // records that came again
	Resume          string
}

// Progress returns the progress up to the page that Next returned last, and the token.
func (w *Walk) Progress() Progress {
	progress := w.progress
	progress.Resume = w.Token()
	return progress
}

// Kind is a reason for the end of a walk.
type Kind int

const (
	Failed     Kind = iota // Fetch returned an error
	Behind                 // the page to begin at is behind the last one
	Empty                  // a page had no records, and no numbers that explain this
	Loop                   // the list brought nothing new for too long
	Incomplete             // the walk returned fewer records than the total
)

// Error ends a walk.
type Error struct {
	Kind    Kind
	Page    int    // the page that failed
	Missing int    // how many records are missing, for Incomplete
	Token   string // continues the walk
	Fetched *Page  // the page that Fetch returned last, even with an error
	Err     error
}

func (e *Error) Error() string { return fmt.Sprintf("page %d: %v", e.Page, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// Hash is stable across processes (FNV-1a).
func Hash(text string) uint64 { return extend(14695981039346656037, text) }

// ID returns a number for a record. Records are the same if both identifiers are, because some services repeat one of
// them. A record with neither has the ID 0.
func ID(id, storage string) uint64 {
	if id == "" && storage == "" {
		return 0
	}
	return max(extend(extend(Hash(id), "/"), storage), 1)
}

func extend(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}
