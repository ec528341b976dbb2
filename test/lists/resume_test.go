package lists_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/paging"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// TestResume_FindsThePlaceInAFewRequests, also by its number alone if the records have no identifiers.
func TestResume_FindsThePlaceInAFewRequests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change          func(l *list)
		unnamed         bool // the records have no identifiers
		beside, repeats int  // at most: requests beside those of the pages that are left, and records that come again
	}{
		"nothing happened":                    {func(*list) {}, false, 1, 0},
		"a few came":                          {func(l *list) { l.arrive(3) }, false, 2, 0},
		"a thousand pages came":               {func(l *list) { l.arrive(1000 * pageSize) }, false, 3, 0},
		"a thousand pages and a row came":     {func(l *list) { l.arrive(1000*pageSize + 1) }, false, 2, 0},
		"some vanished that were delivered":   {func(l *list) { l.vanish(10, 7) }, false, 3, 0},
		"many vanished that were delivered":   {func(l *list) { l.vanish(10, 60) }, false, 3, 0},
		"some vanished that were not":         {func(l *list) { l.vanish(300, 60) }, false, 3, 60},
		"many vanished on both sides":         {func(l *list) { l.vanish(300, 40); l.vanish(10, 60) }, false, 3, 40},
		"the last ones delivered vanished":    {func(l *list) { l.vanish(230, 20) }, false, 3, 0},
		"as many came as vanished at the end": {func(l *list) { l.vanish(440, 60); l.arrive(60) }, false, 28, 60},
		"nothing happened, no identifiers":    {func(*list) {}, true, 1, 0},
		"rows came first, no identifiers":     {func(l *list) { l.arrive(30) }, true, 7, 40},
		"rows vanished, no identifiers":       {func(l *list) { l.vanish(10, 30) }, true, 7, 40},
	} {
		l := newList(500)
		if c.unnamed {
			l.change = func(p *page) { p.id = anonymous }
		}
		token := walkPart(t, l, 25)
		c.change(l)
		l.asked = nil
		rest, err := l.walk(t, shipping.Walk{Resume: token})
		read := func(row int) bool { return row > 250 }
		repeats := len(slices.DeleteFunc(slices.Clone(rest), func(row int) bool { return !read(row) }))
		unread, missing := slices.DeleteFunc(l.rows, read), slices.DeleteFunc(rest, read)
		if err != nil || repeats > c.repeats || len(l.asked) > 25+c.beside || !slices.Equal(unread, missing) {
			t.Errorf("%s: %v, %d records came again, asked for %v", name, err, repeats, l.asked)
		}
	}
}

// walkPart walks the first pages, and returns the token after them.
func walkPart(t testing.TB, s *list, pages int) (token string) {
	t.Helper()
	for page, err := range s.client(t).Transactions.Pages(t.Context(), options(shipping.Walk{})) {
		if shippingtest.NoError(t, err); pages <= 0 {
			break
		}
		token = page.Resume
		pages--
	}
	return token
}

// TestResume_TokensOfOtherListsAreRefused before anything is sent.
func TestResume_TokensOfOtherListsAreRefused(t *testing.T) {
	t.Parallel()
	s := newList(10 * pageSize)
	token := walkPart(t, s, 2)
	s.asked = nil
	c, ctx, resume := s.client(t), t.Context(), shipping.Walk{Resume: token}
	wallet, pages := options(resume), options(resume)
	wallet.Wallet, pages.PerPage = "VA-1", pageSize+1
	for name, err := range map[string]error{
		"another operation": failure(c.Rates.All(ctx, &shipping.RateListOptions{PerPage: pageSize, Walk: resume})),
		"another wallet's":  failure(c.Transactions.All(ctx, wallet)),
		"not a token of a":  failure(c.Transactions.All(ctx, options(shipping.Walk{Resume: "what?"}))),
		"other pages":       failure(c.Transactions.All(ctx, pages)),
		"another filter":    failure(c.Transactions.All(ctx, options(resume), shipping.WithQuery("flow", "out"))),
	} {
		shippingtest.WantError(t, name+" list", err, shipping.ErrInvalidRequest)
	}
	if n := len(s.asked); n > 0 {
		t.Errorf("sent %d requests", n)
	}
}

// failure returns the error of a walk that delivers nothing.
func failure[T any](records iter.Seq2[*T, error]) error {
	for record, err := range records {
		if record == nil {
			return err
		}
	}
	return nil
}

// TestResume_TokensCarryNoSecret: neither the key, nor the wallet, nor an identifier.
func TestResume_TokensCarryNoSecret(t *testing.T) {
	t.Parallel()
	s := newList(10 * pageSize)
	token := walkPart(t, s, 2)
	plain := shippingtest.Must(base64.RawURLEncoding.DecodeString(token))(t)
	for _, secret := range []string{shippingtest.Key, shippingtest.Key[:12], shippingtest.Key[12:], "VA-", "ROW-",
		"service.test"} {
		if strings.Contains(token+string(plain), secret) {
			t.Errorf("%q is in the token %s", secret, plain)
		}
	}
	if len(token) > 2048 {
		t.Errorf("a token of %d bytes", len(token))
	}
}

// FuzzResume_AnyNumbers: a token of the right list whose numbers were tampered with is refused, or leads
// to records of the list, after a bounded number of requests.
func FuzzResume_AnyNumbers(f *testing.F) {
	token := walkPart(f, newList(9*pageSize), 4)
	plain := shippingtest.Must(base64.RawURLEncoding.DecodeString(token))(f)
	f.Add(40, 10, 90, 40, uint64(0), false)
	f.Add(0, 1, 0, 1, uint64(1), true)
	f.Add(1<<31-1, 1, 1<<31-1, 1<<31-1, uint64(7), false)
	f.Add(1<<31-1, 1<<31-1, 1, 1, uint64(7), true)
	f.Add(-1, 0, -1, -1, uint64(0), true)
	f.Add(math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt, uint64(1<<63), false)
	f.Fuzz(func(t *testing.T, covered, perPage, total, items int, marker uint64, alone bool) {
		var numbers map[string]any
		decoder := json.NewDecoder(strings.NewReader(string(plain)))
		decoder.UseNumber()
		shippingtest.NoError(t, decoder.Decode(&numbers))
		numbers["c"], numbers["p"], numbers["t"], numbers["n"] = covered, perPage, total, items
		if alone {
			numbers["i"] = []uint64{marker}
		}
		tampered := shippingtest.Must(json.Marshal(numbers))(t)
		s := newList(9 * pageSize)
		rows, err := s.walk(t, shipping.Walk{Resume: base64.RawURLEncoding.EncodeToString(tampered)})
		if err != nil && !errors.Is(err, shipping.ErrInvalidRequest) && !errors.Is(err, shipping.ErrIncomplete) {
			t.Errorf("%s: %v", tampered, err)
		}
		if isRepeated(rows) || len(s.asked) > 100 {
			t.Errorf("%s: %v after %d requests", tampered, rows, len(s.asked))
		}
	})
}

// The records of a token vanished, and the pages are larger, so that the first two pages are empty. The second one once
// confirmed the place because it had the total of the first one, 0, and all other rows were lost.
func TestResume_ATokenWithoutATotal(t *testing.T) {
	t.Parallel()
	l, config := restingList(30, 4, func(p *page) { p.Total = 0 })
	_, token, err := l.take(t.Context(), config, 3)
	shippingtest.NoError(t, err)
	l.rows, l.size, config.Token = l.rows[20:], 11, token
	if rows, _, err := l.take(t.Context(), config, math.MaxInt); err != nil || !slices.Equal(rows, l.rows) {
		t.Errorf("%v, %v", rows, err)
	}
}

// A token without a version is read, even if it names a place before which no record is missing. A token of a later
// version, or of another list, is refused.
func TestResume_TokensOfEarlierVersions(t *testing.T) {
	t.Parallel()
	type token = map[string]any
	last := []uint64{paging.ID(rowID(31))}
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
		l, config := restingList(50, 10, nil)
		text := shippingtest.Must(json.Marshal(test.token))(t)
		config.Token = base64.RawURLEncoding.EncodeToString(text)
		rows, _, err := l.take(t.Context(), config, math.MaxInt)
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

// The list changes three times, one of them while the walk reads it again because rows vanished. That reading cannot
// count all rows, and brings nothing new. The walk once ended in Incomplete, although the list did not change any more.
func TestWalk_ChangesInALaterReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for seed := range uint64(60) {
			random, events := rand.New(rand.NewPCG(seed, 0)), 3
			l, config := restingList(90, 17, nil)
			config.Window = 2
			l.latency = func(number, _ int) time.Duration { // each second page comes before the one in front of it
				return time.Duration(number%2) * time.Second
			}
			l.before = func(n int) {
				if n > 1 && events > 0 && random.IntN(4) == 0 {
					events--
					l.arrive(random.IntN(6))
					l.vanish(random.IntN(len(l.rows)), random.IntN(6))
				}
			}
			if rows, _, err := l.take(t.Context(), config, math.MaxInt); err != nil {
				t.Errorf("seed %d: %d records of %d and %v", seed, len(rows), len(l.rows), err)
			}
		}
	})
}

// Records of the earlier walk come again in place of unread ones, although the list does not change. They were taken
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
		l, config := restingList(24, 8, nil)
		_, token, err := l.take(t.Context(), config, 1)
		shippingtest.NoError(t, err)
		config.Token, l.asked = token, nil
		l.change = func(p *page) {
			if rows := test.wrong[len(l.asked)]; rows != nil {
				p.rows = rows
			}
		}
		rows, _, err := l.take(t.Context(), config, math.MaxInt)
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

// An empty page without numbers ends a list, but not one whose total an earlier walk has seen.
func TestResume_AnEmptyPageWithoutNumbers(t *testing.T) {
	t.Parallel()
	l, config := restingList(30, 10, func(p *page) {
		if p.rows = nil; p.list.responses > 1 {
			p.Numbers = paging.Numbers{}
		}
	})
	for range 2 {
		_, token, err := l.take(t.Context(), config, math.MaxInt)
		if failure, ok := errors.AsType[*paging.Error](err); !ok || failure.Kind != paging.Empty {
			t.Fatalf("%v after %d responses", err, l.responses)
		}
		config.Token = token
	}
}

// No page of the resumed walk reports a number. The page behind the place of the token comes with its records before
// the page in front of it confirms the place, and empty from then on. The walk once ended without an error.
func TestResume_APageThatIsEmptyLater(t *testing.T) {
	t.Parallel()
	l, config := restingList(30, 10, nil)
	_, token, err := l.take(t.Context(), config, 1)
	shippingtest.NoError(t, err)
	l.change = func(p *page) {
		if p.Numbers = (paging.Numbers{}); p.number == 2 && p.list.times[2] > 1 {
			p.rows = nil
		}
	}
	config.Token = token
	_, token, err = l.take(t.Context(), config, math.MaxInt)
	failure, ok := errors.AsType[*paging.Error](err)
	if !ok || failure.Kind != paging.Incomplete || failure.Missing != 10 {
		t.Errorf("%v, asked for %v", err, l.asked)
	}
	l.change, config.Token = nil, token
	if rows, _, err := l.take(t.Context(), config, math.MaxInt); err != nil || !slices.Equal(rows, l.rows[10:]) {
		t.Errorf("%v, %v, asked for %v", rows, err, l.asked)
	}
}

// No page of the resumed walk reports a number, and some pages are empty when they are first requested. The second
// reading ended at such a page without an error, because the total of the token no longer counted.
func TestResume_ReadingsThatDiffer(t *testing.T) {
	t.Parallel()
	l, config := restingList(50, 10, nil)
	_, token, err := l.take(t.Context(), config, 1)
	shippingtest.NoError(t, err)
	l.change = func(p *page) {
		if p.Numbers = (paging.Numbers{}); p.number > 2 && p.list.times[p.number] == 1 {
			p.rows = nil
		}
	}
	config.Token = token
	if rows, _, err := l.take(t.Context(), config, math.MaxInt); err != nil || !slices.Equal(rows, l.rows[10:]) {
		t.Errorf("%v, %v, asked for %v", rows, err, l.asked)
	}
}

// Three totals in a row that grow by a page are believed: the list is read once.
func TestWalk_PagesThatArrive(t *testing.T) {
	t.Parallel()
	l, config := restingList(60, 10, nil)
	want := l.rows
	l.before = func(n int) {
		if n > 1 && n < 5 {
			l.arrive(10)
		}
	}
	rows, _, err := l.take(t.Context(), config, math.MaxInt)
	if err != nil || !slices.Equal(rows, want) || len(l.asked) > 9 {
		t.Errorf("%v, %v, asked for %v", rows, err, l.asked)
	}
}

// restingList returns a list that does not change, and a walk of it.
func restingList(rows, perPage int, change change) (*list, paging.Config) {
	l := newList(rows)
	l.size, l.change = perPage, change
	return l, paging.Config{Fetch: l.fetch, List: 7, PerPage: perPage, Window: 1}
}
