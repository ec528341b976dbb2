package paging

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// tokenVersion is written into tokens. Tokens of version 0 have no version and the same meaning.
const tokenVersion = 1

// token is a position that survives the process. It holds numbers and hashes, nothing of the client.
type token struct {
	Version int      `json:"v,omitempty"`
	List    uint64   `json:"l"`
	Covered int      `json:"c"` // as in place
	PerPage int      `json:"p"`
	Total   int      `json:"t"`           // as in place
	Items   int      `json:"n"`           // records returned, for progress
	Missing int      `json:"m,omitempty"` // as in place
	Slack   int      `json:"s,omitempty"` // as in place
	Last    []uint64 `json:"i"`           // the records returned last, newest last
	// Complete is the last position before which no record is missing; nil if it is this one.
	Complete *token `json:"b,omitempty"`
}

// markers is how many records a token knows. One would do to find the place again; more survive rows that vanish.
const markers = 32

// position returns the token of the current place.
func (w *Walk) position() token {
	return token{
		Version: tokenVersion, List: w.config.List, PerPage: max(w.perPage, 1), Items: w.progress.Items, Last: w.seen.last(markers),
		Covered: w.place.covered, Total: w.place.total, Missing: w.place.missing, Slack: w.place.slack,
	}
}

// Token continues the walk behind the page that Next returned last.
func (w *Walk) Token() string {
	t := w.position()
	t.Complete = w.complete
	return t.text()
}

// completeToken continues the walk at the last position before which no record is missing.
func (w *Walk) completeToken() string {
	if w.complete != nil {
		return w.complete.text()
	}
	return w.position().text()
}

func (t token) text() string {
	data, err := json.Marshal(t)
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
		return nil, fmt.Errorf("is a resume token of version %d, but this client reads up to version %d: update the client, or start the walk again", t.Version, tokenVersion)
	case !t.plausible():
		return nil, errors.New("is a damaged resume token: pass the Resume of a ListError, Page or ListProgress unchanged")
	case t.List != list:
		return nil, errors.New("belongs to another list: resume with the same operation, options (Wallet, PerPage) and WithQuery")
	}
	return &t, nil
}

func (t *token) plausible() bool {
	for _, n := range []int{t.Covered, t.PerPage - 1, t.Total, t.Items, t.Missing, t.Slack} {
		if n < 0 || n > math.MaxInt32 {
			return false
		}
	}
	return len(t.Last) <= markers && (t.Complete == nil || t.Complete.Complete == nil && t.Complete.plausible())
}

// resume puts the walk at the position of a token.
func (w *Walk) resume(t *token) {
	w.complete = t.Complete
	if t.Items == 0 { // nothing was returned: from the start
		return
	}
	w.started, w.perPage, w.progress.Items = true, t.PerPage, t.Items
	w.place = place{covered: t.Covered, total: t.Total, missing: t.Missing, slack: t.Slack}
	for _, id := range t.Last {
		w.seen.add(id)
	}
	w.number = w.pageOf(w.place.covered)
	if len(w.seen.ring) > 0 {
		w.number, w.search = w.pageOf(w.place.covered-1), &search{}
	}
}
