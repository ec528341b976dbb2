package lists_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/internal/paging"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// restingList returns a list that does not change, and a walk of it.
func restingList(rows, perPage int, report func(*drawnList, *paging.Page, int)) (*drawnList, paging.Config) {
	l := &drawnList{numbers: drawnNumbers{report: report}, perPage: perPage, window: 1, times: map[int]int{}}
	l.arrive(rows)
	return l, paging.Config{Fetch: l.fetch, List: 7, PerPage: perPage}
}

// An empty page does not end a list without totals: the records behind it come, and those that it should have held are
// reported.
func TestWalk_AnEmptyPageThatHasASuccessor(t *testing.T) {
	t.Parallel()
	empty := 20 // the rows before it
	l, config := restingList(60, 10, func(_ *drawnList, page *paging.Page, before int) {
		page.Total, page.PageCount = 0, 0
		if before == empty {
			page.IDs, page.Value = nil, []int(nil)
		}
	})
	rows, token, err := l.walk(t.Context(), config, math.MaxInt)
	failure, ok := errors.AsType[*paging.Error](err)
	if !ok || failure.Kind != paging.Incomplete || failure.Missing != 10 || len(rows) != 50 {
		t.Fatalf("%d records, %v", len(rows), err)
	}
	empty, config.Token = -1, token
	rest, _, err := l.walk(t.Context(), config, math.MaxInt)
	if rest = append(rows, rest...); err != nil || !slices.Contains(rest, 40) || !slices.Contains(rest, 31) {
		t.Errorf("resumed: %v, %v", rest, err)
	}
}

// The records of a token vanished, and the pages are larger, so that the first two pages are empty. The second one once
// confirmed the place because it had the total of the first one, 0, and all other rows were lost.
func TestResume_ATokenWithoutATotal(t *testing.T) {
	t.Parallel()
	l, config := restingList(30, 4, allDrawnNumbers["no total"].report)
	_, token, err := l.walk(t.Context(), config, 3)
	if err != nil {
		t.Fatal(err)
	}
	l.rows, l.perPage, config.Token = l.rows[20:], 11, token
	if rows, _, err := l.walk(t.Context(), config, math.MaxInt); err != nil || !slices.Equal(rows, l.rows) {
		t.Errorf("%v, %v", rows, err)
	}
}

// A token without a version is read, also if it names a place before which no record is missing; one of a later
// version, or of another list, is refused.
func TestResume_TokensOfEarlierVersions(t *testing.T) {
	t.Parallel()
	type token = map[string]any
	last := []uint64{paging.ID("31", "")}
	for name, test := range map[string]struct {
		token  token
		begins int // the first row that comes; 0 if the token is refused
		text   string
	}{
		"no version":   {token{"l": 7, "c": 20, "p": 10, "t": 50, "n": 20, "i": last}, 30, ""},
		"version 1":    {token{"v": 1, "l": 7, "c": 20, "p": 10, "t": 50, "n": 20, "i": last}, 30, ""},
		"version 2":    {token{"v": 2, "l": 7, "x": 20}, 0, "version 2"},
		"another list": {token{"v": 1, "l": 8, "p": 1}, 0, "another list"},
		"total of -2":  {token{"v": 1, "l": 7, "c": 20, "p": 10, "t": -2, "n": 20}, 0, "damaged"},
		"damaged":      {token{"v": 1, "l": 7, "c": -1, "p": 1}, 0, "damaged"},
	} {
		l, config := restingList(50, 10, allDrawnNumbers["right"].report)
		text := shippingtest.Must(json.Marshal(test.token))(t)
		config.Token = base64.RawURLEncoding.EncodeToString(text)
		rows, _, err := l.walk(t.Context(), config, math.MaxInt)
		if test.begins == 0 {
			if err == nil || !strings.Contains(err.Error(), test.text) || len(l.asked) > 0 {
				t.Errorf("%s: %v after %d requests, want an error with %q", name, err, len(l.asked), test.text)
			}
			continue
		}
		if diff := cmp.Diff(l.rows[slices.Index(l.rows, test.begins):], rows); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

// The list changes three times, also while the walk reads it again because rows vanished. That reading cannot count all
// rows, and brings nothing new. It once ended in Incomplete, although the list had come to rest.
func TestWalk_ChangesInALaterReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for seed := range uint64(60) {
			random := rand.New(rand.NewPCG(seed, 0))
			l, config := restingList(90, 17, allDrawnNumbers["right"].report)
			l.window = 2
			events := 3
			config.Fetch = func(ctx context.Context, number int) (*paging.Page, error) {
				time.Sleep(time.Duration(number%2) * time.Second) // each second page comes before the one in front of it
				l.mu.Lock()
				if len(l.asked) > 0 && events > 0 && random.IntN(4) == 0 {
					events--
					l.arrive(random.IntN(6))
					at := random.IntN(len(l.rows))
					l.rows = slices.Delete(l.rows, at, min(at+random.IntN(6), len(l.rows)))
				}
				l.mu.Unlock()
				return l.fetch(ctx, number)
			}
			if rows, _, err := l.walk(t.Context(), config, math.MaxInt); err != nil {
				t.Errorf("seed %d: %d records of %d and %v", seed, len(rows), len(l.rows), err)
			}
		}
	})
}

// TestResume_RecordsOfTheEarlierWalkComeAgain in place of unread ones. The list does not change. Once they were taken
// for rows that had been pushed back, or counted in place of the unread ones, which were lost without an error.
func TestResume_RecordsOfTheEarlierWalkComeAgain(t *testing.T) {
	t.Parallel()
	pages := [][]int{{24, 23, 22, 21, 20, 19, 18, 17}, {16, 15, 14, 13, 12, 11, 10, 9}, {8, 7, 6, 5, 4, 3, 2, 1}}
	for name, test := range map[string]struct {
		wrong   map[int][]int // the rows of some responses to the resumed walk
		missing int
	}{
		"the page before":              {map[int][]int{1: pages[0]}, 0},
		"a record":                     {map[int][]int{1: {16, 15, 14, 24, 12, 11, 10, 9}}, 0},
		"a record of a later page":     {map[int][]int{2: {8, 7, 6, 24, 4, 3, 2, 1}}, 0},
		"the page before, always":      {map[int][]int{1: pages[0], 3: pages[0], 5: pages[0], 7: pages[0], 9: pages[0]}, 8},
		"a page of the second reading": {map[int][]int{2: {8, 7}, 3: pages[0], 4: pages[1]}, 0},
	} {
		l, config := restingList(24, 8, allDrawnNumbers["right"].report)
		_, token, err := l.walk(t.Context(), config, 1)
		shippingtest.NoError(t, err)
		config.Token = token
		l.numbers.report = func(l *drawnList, page *paging.Page, _ int) {
			if rows := test.wrong[len(l.asked)]; rows != nil {
				page.Value, page.IDs = rows, idsOf(rows)
			}
		}
		rows, _, err := l.walk(t.Context(), config, math.MaxInt)
		if failure, ok := errors.AsType[*paging.Error](err); ok {
			if failure.Kind != paging.Incomplete || failure.Missing != test.missing {
				t.Errorf("%s: %v, asked for %v", name, err, l.asked)
			}
			continue
		}
		slices.Sort(rows)
		slices.Reverse(rows)
		if test.missing > 0 || !slices.Equal(rows, l.rows[8:]) {
			t.Errorf("%s: %v, asked for %v", name, rows, l.asked)
		}
	}
}

// Rows that arrived in the earlier walk can have pushed records of the token behind its place. They are in the total,
// and do not come again.
func TestResume_RecordsOfTheTokenBehindItsPlace(t *testing.T) {
	t.Parallel()
	l, config := restingList(50, 10, allDrawnNumbers["right"].report)
	text := shippingtest.Must(json.Marshal(map[string]any{
		"v": 1, "l": 7, "c": 20, "p": 10, "t": 50, "n": 23, "i": idsOf(l.rows[38:41]),
	}))(t)
	config.Token = base64.RawURLEncoding.EncodeToString(text)
	rows, _, err := l.walk(t.Context(), config, math.MaxInt)
	if want := slices.Concat(l.rows[20:38], l.rows[41:]); err != nil || !slices.Equal(rows, want) {
		t.Errorf("%v, %v", rows, err)
	}
}

// An empty page without numbers ends a list, but not one whose total an earlier walk has seen.
func TestResume_AnEmptyPageWithoutNumbers(t *testing.T) {
	t.Parallel()
	responses := 0
	l, config := restingList(30, 10, func(_ *drawnList, page *paging.Page, _ int) {
		responses++
		page.IDs, page.Value = nil, []int(nil)
		if responses > 1 {
			page.Numbers = paging.Numbers{}
		}
	})
	for range 2 {
		_, token, err := l.walk(t.Context(), config, math.MaxInt)
		if failure, ok := errors.AsType[*paging.Error](err); !ok || failure.Kind != paging.Empty {
			t.Fatalf("%v after %d responses", err, responses)
		}
		config.Token = token
	}
}
