package paging

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// tokenVersion is written into tokens. Tokens of version 0 have no version, but the same meaning.
const tokenVersion = 1

// token is a place that another process can continue from. It holds numbers and hashes, and no data of the client.
type token struct {
	Version int    `json:"v"`
	List    uint64 `json:"l"`
	Covered int    `json:"c"` // as in Walk
	PerPage int    `json:"p"` // the size of pages
	Total   int    `json:"t"` // as in Walk
	Items   int    `json:"n"` // records returned, for progress
	// Last identifies the records that were returned last, by which the walk recognizes its place.
	Last []uint64 `json:"i,omitempty"`
}

// resumed is the state of a walk that began at a token.
type resumed struct {
	unconfirmed bool            // no page has shown yet where the place of the token is; see confirms
	earlier     map[uint64]bool // the records of the token
	bound       int             // how many rows can be in front of its place, by the totals
	seen        int             // rows up to the end of a page read while unconfirmed
	older       int             // how many of its records this reading has found behind base
	stray       int             // how many the first reading found
	moved       int             // rows that arrived and vanished since base was set
}

// anchors is how many records a token remembers. One suffices to recognize the place, unless its row vanishes.
const anchors = 16

// position returns the token of the place.
func (w *Walk) position() token {
	return token{
		Version: tokenVersion, List: w.config.List, Covered: w.covered, PerPage: w.size, Total: w.total,
		Items: w.progress.Items, Last: slices.Clone(w.last),
	}
}

// Token returns a text with which another walk continues behind the page that Next returned last, or further in front
// if a record before that page may be missing. It is empty if all records were returned.
func (w *Walk) Token() string {
	if w.done() {
		return ""
	}
	place := w.complete
	if place.Items == 0 {
		place.Total = w.memory() // so that an empty page without numbers does not end the list
	}
	data, err := json.Marshal(place)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

func parseToken(text string, list uint64) (*token, error) {
	var t token
	data, err := base64.RawURLEncoding.DecodeString(text)
	switch {
	case err != nil || json.Unmarshal(data, &t) != nil:
		return nil, errors.New("is not a resume token: pass the Resume of a ListError, Page or ListProgress unchanged")
	case t.Version < 0 || t.Version > tokenVersion:
		return nil, fmt.Errorf("is a resume token of version %d, but this client reads up to version %d: update the "+
			"client, or start the walk again", t.Version, tokenVersion)
	case !t.plausible():
		return nil, errors.New("is a damaged resume token: pass the Resume of a ListError, Page or ListProgress unchanged")
	case t.List != list:
		return nil, errors.New("belongs to another list: resume with the same operation, options (Wallet, PerPage) and " +
			"WithQuery")
	}
	return &t, nil
}

func (t *token) plausible() bool {
	for _, n := range []int{t.Covered, t.PerPage, max(t.Total, 0), t.Items} {
		if n < 0 || n > limit {
			return false
		}
	}
	return t.Total >= unknown && len(t.Last) <= 32 && (t.Items == 0 || t.PerPage > 0)
}

// resume puts the walk at the place of a token.
func (w *Walk) resume(t *token) {
	if t.Items == 0 { // nothing was returned: from the start
		w.complete.Total = t.Total
		return
	}
	w.complete, w.progress.Items, w.bound = *t, t.Items, t.Covered
	w.covered, w.size = t.Covered, t.PerPage
	w.base, w.number, w.last, w.unconfirmed = t.Covered, w.pageOf(t.Covered), t.Last, len(t.Last) > 0
	if w.unconfirmed && t.Total < 0 {
		w.number = w.pageOf(t.Covered - 1) // the page with the last record of the token
	}
	w.earlier = map[uint64]bool{}
	for _, id := range t.Last {
		w.earlier[id] = true
	}
}

// confirms reports whether a page has confirmed the place of the token; shown means that this page does. If none has,
// rows may have vanished in front of it: the previous page is read next, and then the whole list.
func (w *Walk) confirms(page *Page, shown bool) bool {
	if shown {
		w.unconfirmed = false
	}
	if !w.unconfirmed {
		return true
	}
	w.total = unknown // the total of a page that was not accepted confirms nothing
	if len(page.IDs) > 0 {
		w.seen = max(w.seen, w.start()+len(page.IDs))
	}
	number := w.pageOf(w.covered - 1)
	if number >= w.number {
		number, w.covered, w.base, w.unconfirmed = 1, 0, 0, false
	}
	w.moveTo(number)
	return false
}

// promised returns how many rows the list has: the total of the first page of a reading or, without a total, the number
// of rows read before the place of the token was confirmed.
func (w *Walk) promised(page *Page) int {
	if page.Total < 0 {
		return w.seen
	}
	return page.Total
}
