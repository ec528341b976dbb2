package shipping

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
)

// resumeToken says where a walk was. It survives the process: it holds positions and hashes of the
// last ids, nothing of the client.
type resumeToken struct {
	List    uint64   `json:"l"` // which list; see listHash
	Covered int      `json:"c"` // rows delivered, from the head
	PerPage int      `json:"p"`
	Total   int      `json:"t"`
	Items   int      `json:"n"` // records delivered, for progress
	Last    []uint64 `json:"i"` // ids of the last records delivered, newest last
}

// markers is how many ids a token carries. One would do to find the place again; more survive rows
// that vanish.
const markers = 32

// token describes the position after the page that was accepted last.
func (w *walk[T]) token() string {
	data, err := json.Marshal(resumeToken{
		List: w.list, Covered: w.covered, PerPage: max(w.perPage, 1), Total: w.total,
		Items: w.progress.Items, Last: w.recent.last(markers),
	})
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

func parseResumeToken(text string, list uint64) (*resumeToken, error) {
	var t resumeToken
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(data, &t) != nil || t.PerPage < 1 || t.Covered < 0 || t.Items < 0 || t.Total < 0 {
		return nil, errors.New("is not a resume token: pass the Resume of a ListError, Page or ListProgress unchanged")
	}
	if t.List != list {
		return nil, errors.New("belongs to another list: resume with the same operation and options (Wallet, PerPage)")
	}
	return &t, nil
}

// findPlace finds the place of a resumed walk again. Rows that arrived at the head since have moved
// everything by as many places, so the last delivered record is looked for there; everything up to it
// was delivered. It reports false when another page has to be looked at first.
func (w *walk[T]) findPlace(ids []uint64, grown int) bool {
	for i := len(ids) - 1; i >= 0; i-- {
		if ids[i] != 0 && w.recent.has(ids[i]) {
			for _, id := range ids[:i] {
				w.recent.add(id)
			}
			w.resumed = nil
			return true
		}
	}
	before := w.resumed.Covered/w.perPage + 1
	now := (w.resumed.Covered+max(grown, 0)-1)/w.perPage + 1
	switch {
	case w.number != before: // it is not there: better a record twice than one lost
		w.number, w.resumed = before, nil
	case now > before:
		w.number = now
	default:
		w.resumed = nil
		return true
	}
	w.previous = nil
	return false
}

// listHash tells lists apart: the operation and its options without the page.
func listHash(operation string, options any) uint64 {
	return idHash(fmt.Sprintf("%s %+v", operation, options))
}

// idHash is stable across processes. 0 stands for "no id".
func idHash(id string) uint64 {
	if id == "" {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return max(h.Sum64(), 1)
}

// recentIDs remembers the ids delivered last, in bounded memory however long the walk.
type recentIDs struct {
	ring  []uint64
	next  int
	known map[uint64]int
	size  int
}

const leastRemembered = 4096

// resize sets how many ids are remembered; it never shrinks.
func (r *recentIDs) resize(n int) { r.size = max(r.size, min(n, 1<<20), leastRemembered) }

func (r *recentIDs) has(id uint64) bool { return r.known[id] > 0 }

func (r *recentIDs) add(id uint64) {
	if r.known == nil {
		r.resize(0)
		r.known = map[uint64]int{}
	}
	r.known[id]++
	if len(r.ring) < r.size {
		if r.next != 0 { // the ring grows at its end, so put the oldest id first
			slices.Reverse(r.ring[:r.next])
			slices.Reverse(r.ring[r.next:])
			slices.Reverse(r.ring)
			r.next = 0
		}
		r.ring = append(r.ring, id)
		return
	}
	oldest := r.ring[r.next]
	if r.known[oldest]--; r.known[oldest] == 0 {
		delete(r.known, oldest)
	}
	r.ring[r.next] = id
	r.next = (r.next + 1) % len(r.ring)
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
