// Package paging reads a list page by page while rows arrive in it and vanish from it.
//
// Rows are ordered newest first. A row that arrives pushes the others back, and a row that vanishes pulls those
// behind it forward, so that a page number means other rows than before. A [Walk] guarantees:
//
//   - A record that is in the list from the first read to the last is returned once.
//   - A walk that has returned fewer records than the total promises reads the total once more, and then ends
//     with an [Error] of kind [Incomplete]. Rows that vanished are not counted, because the total shrinks with
//     them.
//   - A walk ends. It gives up a list that brings nothing new with an Error of kind [Loop], after a number of
//     requests that depends only on the records returned so far and on the rows that arrived.
//   - Each Error has a token that leads to all records that the walk has not returned. A walk over a list that
//     may have left out records before the last one goes back to the place before the first such page.
//   - The numbers of a page count, not those of the request, and its rows count more than its numbers. A page
//     size is believed if the page has as many rows as that size implies.
//   - At most [Config.Window] pages are held or requested at once. A walk that ends at its first page has
//     requested at most one more. Nothing is fetched ahead if the service reports no total.
//
// A walk does not cover:
//
//   - A row can be lost if rows vanish from a list without totals; if rows arrive elsewhere than at the head while
//     others vanish; if the list changes between the moments when the service counts the rows and when it reads
//     them; or if all rows returned so far are replaced between two reads in flight.
//   - While a list changes, a row that is missing from a faulty page (a row left out, one that comes again, no
//     total) can be taken for one that vanished. In a list that does not change, no such row is lost in silence,
//     except as follows.
//   - A record that one page contains twice is returned twice, and if another was left out for it, that one is lost:
//     a service may give several records one identifier.
//   - A first page with an empty list and no numbers is an empty list.
//   - A complete walk can end with Incomplete if as many rows arrive as unread ones vanish between two reads, or
//     if rows vanish while the page size changes.
//   - A row can be returned twice if more rows than are remembered (16,384) arrive between two reads while as many
//     vanish. A resumed walk remembers only the 32 rows of its token and those that it has read since: if all of
//     them vanish, or if the list changes faster than the walk can search it for them, rows are returned again.
//   - Records without an identifier are all returned, also those that a change of the list shows again.
package paging

import (
	"context"
	"fmt"
)

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
	Total, PerPage, Page, PageCount int
	HasNext                         bool
}

// Page is one page.
type Page struct {
	Numbers
	// IDs are those of the page's records; see [ID].
	IDs []uint64
	// Listed reports whether the response contains a list, even an empty one.
	Listed bool
	// Content is a hash of the records if none of them has an ID.
	Content uint64
	// Value belongs to the caller.
	Value any

	// Fresh is how many records were not returned before, and Skip marks the others; nil for none.
	Fresh int
	Skip  []bool

	requested int  // the page that was requested
	change    int  // of the total since the page before
	bare      bool // no numbers at all
}

// Progress is how far a walk is.
type Progress struct {
	Items           int // records returned
	Total           int // rows in the list now
	Page, PageCount int
	Repeated        int // records that came again
	Vanished        int // by how many rows the total shrank
}

// Kind is a reason for the end of a walk.
type Kind int

const (
	Failed     Kind = iota // Fetch returned an error
	Empty                  // a page had neither records nor the numbers of a page without any
	Loop                   // the list brought nothing new for too long
	Incomplete             // fewer records came than the total promised
)

// Error ends a walk.
type Error struct {
	Kind    Kind
	Page    int    // the page that failed
	Missing int    // how many records did not come, for Incomplete
	Token   string // continues the walk
	Fetched *Page  // the page that Fetch returned last, also with an error
	Err     error
}

func (e *Error) Error() string { return fmt.Sprintf("page %d: %v", e.Page, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
