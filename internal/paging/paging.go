// Package paging reads a list page by page while rows arrive in it and vanish from it.
//
// Rows are ordered newest first. A row that arrives at the head pushes the others back, and a row that vanishes pulls
// those behind it forward, so that a page number means other rows than before. [Walk] explains how it copes.
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
	Total, PerPage, PageCount int
	HasNext                   bool
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
}

// Progress is how far a walk is.
type Progress struct {
	Items           int // records returned
	Total           int // rows in the list now
	Page, PageCount int
	Repeated        int // records that came again
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

// Hash is stable across processes (FNV-1a).
func Hash(text string) uint64 { return extend(14695981039346656037, text) }

// ID stands for a record. Records are the same if both identifiers are, because some services repeat one of
// them. 0 stands for a record that has neither.
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
