package shipping

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"net/url"

	"github.com/google/go-querystring/query"
)

// resumeToken says where a walk was. It survives the process: it holds positions and hashes of the
// last ids, nothing of the client.
type resumeToken struct {
	List    uint64   `json:"l"` // which list; see lister.hash
	Covered int      `json:"c"` // rows delivered, from the head
	PerPage int      `json:"p"`
	Total   int      `json:"t"`
	Items   int      `json:"n"`           // records delivered, for progress
	Missing int      `json:"m,omitempty"` // records that did not come though their rows were passed
	Last    []uint64 `json:"i"`           // ids of the last records delivered, newest last
	// Complete is the last place before which no record is missing; nil if it is this one.
	Complete *resumeToken `json:"b,omitempty"`
}

// markers is how many ids a token carries. One would do to find the place again; more survive rows
// that vanish.
const markers = 32

// position returns the place behind the page that was accepted last.
func (w *walk[T]) position() resumeToken {
	return resumeToken{
		List: w.list, Covered: w.covered, PerPage: max(w.perPage, 1), Total: w.total,
		Items: w.progress.Items, Missing: w.missing(), Last: w.recent.last(markers),
	}
}

// token returns the position, and the one to go back to if records turn out to be missing.
func (w *walk[T]) token() resumeToken {
	token := w.position()
	if w.irregular {
		token.Complete = &w.complete
	}
	return token
}

// String is the token's text, as callers see it.
func (t resumeToken) String() string {
	data, err := json.Marshal(t)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

func parseResumeToken(text string, list uint64) (*resumeToken, error) {
	var t resumeToken
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(data, &t) != nil || !t.plausible() {
		return nil, errors.New("is not a resume token: pass the Resume of a ListError, Page or ListProgress unchanged")
	}
	if t.List != list {
		return nil, errors.New("belongs to another list: resume with the same operation, options (Wallet, PerPage) and WithQuery")
	}
	return &t, nil
}

func (t *resumeToken) plausible() bool {
	for _, n := range []int{t.Covered, t.PerPage - 1, t.Total, t.Items, t.Missing} {
		if n < 0 || n > math.MaxInt32 {
			return false
		}
	}
	return len(t.Last) <= markers && (t.Complete == nil || t.Complete.Complete == nil && t.Complete.plausible())
}

// resume puts the walk where the token says.
func (w *walk[T]) resume(t *resumeToken) {
	w.complete = *t
	if w.irregular = t.Complete != nil; w.irregular {
		w.complete = *t.Complete
	}
	if t.Items == 0 { // nothing was delivered: from the start
		return
	}
	w.started, w.lost, w.untold = true, !w.irregular, w.irregular
	w.covered, w.total, w.remaining = t.Covered, t.Total, max(t.Total-t.Covered, 0)+t.Missing
	w.perPage, w.progress.Items = t.PerPage, t.Items
	for _, id := range t.Last {
		w.recent.add(id)
	}
	w.number = w.pageAt(w.covered)
	if len(w.recent.known) > 0 {
		w.number, w.search = w.pageAt(w.covered-1), &search{}
	}
}

// search looks for the place of a walk in a list that has changed: behind the record that was delivered
// last, or if that one has vanished, behind the last of those before it that is left.
type search struct {
	guesses int    // likely pages looked at
	scanned int    // pages read one after the other, if those did not show the place
	first   uint64 // the first record of the page scanned last
	again   int    // how many pages in a row began with it
}

const (
	furthest = 10_000 // pages that a search reads before it gives up
	maxAgain = 16     // pages that a search reads in a row without a step forward
)

// locate looks for the place on a page, and returns how many of its rows are before it. It returns 0
// if another page has to be looked at. The place cannot be nearer to the head than where it was less
// the rows that the list lost; it can be anywhere behind, if as many rows arrived as vanished.
func (w *walk[T]) locate(own Pagination, ids []uint64) int {
	if w.resized(own, len(ids)) {
		w.perPage = own.PerPage
	}
	for i := len(ids) - 1; i >= 0; i-- {
		if w.recent.has(ids[i]) {
			if !w.remembersAll() {
				w.recent.addOlder(ids[:i]) // a token knows few: these may be pushed on as well
			}
			w.search = nil
			if (w.number-1)*w.perPage+i+1 == w.covered {
				w.stall.unmoved++
			}
			return i + 1
		}
	}
	s, change := w.search, w.change(own)
	likely := w.pageAt(w.covered - 1 + max(change, 0))
	switch {
	case len(w.recent.known) == 0: // nothing to recognise the place by
	case s.scanned == 0 && s.guesses < 2 && likely != w.number:
		s.guesses++
		w.moveTo(likely)
		return 0
	case s.scanned == 0:
		s.scanned = 1
		w.moveTo(w.pageAt(w.covered - 1 + min(change, 0)))
		return 0
	case s.advances(ids) && w.more(own, len(ids)):
		s.scanned++
		w.moveTo(w.number + 1)
		return 0
	}
	// All of them have vanished. A record twice is better than one lost.
	w.search, w.lost = nil, true
	w.moveTo(w.pageAt(w.covered + min(change, 0)))
	w.follow(own, (w.number-1)*w.perPage, true)
	w.covered = (w.number - 1) * w.perPage
	return 0
}

// advances reports whether it makes sense to read on behind a page. The same page can come several
// times in a row if a page of rows arrives between two reads, or if the service ignores the page number.
func (s *search) advances(ids []uint64) bool {
	if len(ids) == 0 || s.scanned >= furthest {
		return false
	}
	if ids[0] == s.first {
		s.again++
	} else {
		s.first, s.again = ids[0], 0
	}
	return s.again < maxAgain
}

// hash tells lists apart: the operation and what it is asked for, but for the page.
func (l lister[T, L]) hash(added url.Values) uint64 {
	values, err := query.Values(l.query(0))
	if err != nil {
		values = url.Values{}
	}
	return textHash(l.operation + " " + values.Encode() + " " + added.Encode())
}

// textHash is stable across processes (FNV-1a).
func textHash(text string) uint64 { return extendHash(14695981039346656037, text) }

func extendHash(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

// recordHash stands for a record. Records are the same if both identifiers are, because stubs are seen
// to repeat one of them. 0 stands for a record that has neither.
func recordHash(id, storage string) uint64 {
	if id == "" && storage == "" {
		return 0
	}
	return max(extendHash(extendHash(textHash(id), "/"), storage), 1)
}

// recentIDs remembers the ids delivered last, in bounded memory however long the walk.
type recentIDs struct {
	ring  []uint64
	next  int // where the next id goes, once the ring is full
	known map[uint64]struct{}
}

// remembered is how many rows can arrive between two reads without one being delivered twice.
const remembered = 1 << 14

func (r *recentIDs) has(id uint64) bool {
	_, ok := r.known[id]
	return ok
}

// enter reports whether an id is new.
func (r *recentIDs) enter(id uint64) bool {
	if id == 0 || r.has(id) {
		return false
	}
	if r.known == nil {
		r.known = map[uint64]struct{}{}
	}
	r.known[id] = struct{}{}
	return true
}

func (r *recentIDs) add(id uint64) {
	if !r.enter(id) {
		return
	}
	if len(r.ring) < remembered {
		r.ring = append(r.ring, id)
		return
	}
	delete(r.known, r.ring[r.next])
	r.ring[r.next] = id
	r.next = (r.next + 1) % remembered
}

// unknown returns how many of the ids are not remembered.
func (r *recentIDs) unknown(ids []uint64) (n int) {
	for _, id := range ids {
		if !r.has(id) {
			n++
		}
	}
	return n
}

// addOlder remembers ids that were delivered before all others, while there is room.
func (r *recentIDs) addOlder(ids []uint64) {
	var older []uint64
	for _, id := range ids {
		if len(r.ring)+len(older) < remembered && r.enter(id) {
			older = append(older, id)
		}
	}
	r.ring = append(older, r.ring...)
}

// last returns up to n ids, newest last.
func (r *recentIDs) last(n int) []uint64 {
	n = min(n, len(r.ring))
	out := make([]uint64, n)
	for i := range out {
		out[i] = r.ring[(r.next+len(r.ring)-n+i)%len(r.ring)]
	}
	return out
}
