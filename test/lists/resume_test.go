package lists_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shipping-go/shipping"
	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// TestResume_NothingIsLost kills walks at a random page, lets the list change, and goes on
// from the token with another client, until the list is through.
func TestResume_NothingIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		perPage := rapid.IntRange(1, 25).Draw(rt, "perPage")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		s := newRowService(rapid.IntRange(1, 400).Draw(rt, "rows"))
		walk := walkers()[rapid.SampledFrom([]string{"rates", "webhooks", "transactions"}).Draw(rt, "list")]
		ahead := withWindow(rapid.IntRange(1, 12).Draw(rt, "window"))
		began := slices.Clone(s.rows)
		var delivered []int
		token := ""
		for deaths := rapid.IntRange(1, 4).Draw(rt, "deaths"); deaths >= 0; deaths-- {
			dead := random.IntN(1+len(s.rows)/perPage) + 1
			s.status = func(page, _ int) int {
				if deaths > 0 && page >= dead {
					return 500
				}
				return 0
			}
			options := []walkOption{ahead}
			if token != "" {
				options = append(options, withResume(token))
			}
			more, err := collect(walk(t.Context(), s.client(t), 0, perPage, options...))
			delivered = append(delivered, more...)
			ended, failed := errors.AsType[*shipping.ListError](err)
			if errors.Is(err, shipping.ErrIncomplete) { // as many rows arrived as vanished
				break
			}
			if failed {
				token = ended.Resume
			} else if err != nil {
				rt.Fatal(err)
			} else {
				break
			}
			switch random.IntN(4) {
			case 0: // few
				s.arrive(random.IntN(5))
			case 1: // more than ten pages
				s.arrive(10*perPage + random.IntN(5*perPage))
			case 2: // anywhere, but not all of the 32 that a token knows
				s.vanish(random.IntN(len(s.rows)+1), random.IntN(8))
			case 3: // as many as came, of the oldest
				to, _ := slices.BinarySearchFunc(s.rows, slices.Min(append(delivered, s.newest+1)), func(a, b int) int { return b - a })
				n := random.IntN(min(40, len(s.rows)-to) + 1)
				s.vanish(len(s.rows)-n, n)
				s.arrive(n)
			}
		}
		if err := judgeResumed(began, s.rows, delivered); err != nil {
			rt.Fatalf("%v; began %v, ended %v, delivered %v, asked %v", err, began, s.rows, delivered, s.asked)
		}
	})
}

// TestResume_AfterTheRowsOfTheTokenVanished: the place cannot be found, so records may come twice, but
// none is lost.
func TestResume_AfterTheRowsOfTheTokenVanished(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *rowService){
		"and no others came": func(s *rowService) { s.vanish(150, 100) },
		"and as many came":   func(s *rowService) { s.vanish(150, 100); s.arrive(100) },
		"and many more came": func(s *rowService) { s.vanish(150, 100); s.arrive(333) },
		"with all others":    func(s *rowService) { s.vanish(0, 500); s.arrive(20) },
	} {
		s := newRowService(500)
		delivered, token := walkPart(t, s, 25)
		change(s)
		rest, err := collect(walkRates(t.Context(), s.client(t), 0, pageSize, withResume(token)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		all := slices.Concat(delivered, rest)
		for _, row := range s.rows {
			if row <= 500 && !slices.Contains(all, row) {
				t.Errorf("%s: row %d was lost", name, row)
			}
		}
	}
}

// TestResume_FindsThePlaceInAFewRequests, wherever rows came and went.
func TestResume_FindsThePlaceInAFewRequests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(s *rowService)
		most    int // requests beside those of the pages that are left
		repeats int // records that come again, at most
	}{
		"nothing happened":                    {func(*rowService) {}, 1, 0},
		"a few came":                          {func(s *rowService) { s.arrive(3) }, 2, 0},
		"a thousand pages came":               {func(s *rowService) { s.arrive(1000 * pageSize) }, 3, 0},
		"some vanished that were delivered":   {func(s *rowService) { s.vanish(10, 7) }, 3, 0},
		"many vanished that were delivered":   {func(s *rowService) { s.vanish(10, 60) }, 3, 0},
		"some vanished that were not":         {func(s *rowService) { s.vanish(300, 60) }, 3, 60},
		"many vanished on both sides":         {func(s *rowService) { s.vanish(300, 40); s.vanish(10, 60) }, 3, 40},
		"the last ones delivered vanished":    {func(s *rowService) { s.vanish(230, 20) }, 3, 0},
		"as many came as vanished at the end": {func(s *rowService) { s.vanish(440, 60); s.arrive(60) }, 3, 60},
	} {
		s := newRowService(500)
		began := slices.Clone(s.rows)
		delivered, token := walkPart(t, s, 25)
		c.change(s)
		s.requests()
		rest, err := collect(walkRates(t.Context(), s.client(t), 0, pageSize, withResume(token)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := repeats(delivered, rest); n > c.repeats {
			t.Errorf("%s: %d records came again, want at most %d", name, n, c.repeats)
		}
		if err := judgeResumed(began, s.rows, slices.Concat(delivered, rest)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n, most := len(s.asked), 25+c.most; n > most {
			t.Errorf("%s: %d requests, want at most %d: %v", name, n, most, s.asked)
		}
	}
}

// repeats returns how many records of a resumed walk had been delivered before.
func repeats(before, after []int) (n int) {
	for _, row := range after {
		if slices.Contains(before, row) {
			n++
		}
	}
	return n
}

// TestResume_RowsThatArriveLaterAreRecognisedToo: more are pushed onto the next page than the token knows.
func TestResume_RowsThatArriveLaterAreRecognisedToo(t *testing.T) {
	t.Parallel()
	s := newRowService(1000)
	began := slices.Clone(s.rows)
	var delivered []int
	token := ""
	for page, err := range s.client(t).Rates.Pages(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		for _, rate := range page.Items {
			delivered = append(delivered, rowOf(rate.RateID))
		}
		if token = page.Resume; page.Pagination.Page == 3 {
			break
		}
	}
	s.answers = 0
	s.before = func(s *rowService, _, n int) {
		if n == 2 { // the first showed the place
			s.arrive(70)
		}
	}
	rest, err := collect(walkRates(t.Context(), s.client(t), 0, 0, withResume(token), withWindow(1)))
	if err != nil {
		t.Fatal(err)
	}
	if err := judgeResumed(began, s.rows, slices.Concat(delivered, rest)); err != nil {
		t.Error(err)
	}
}

// TestResume_RecordsWithoutIdentifiers: the place is known by its number alone.
func TestResume_RecordsWithoutIdentifiers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(s *rowService)
		rest   int // at least
	}{
		"nothing happened": {func(*rowService) {}, 250},
		"rows came first":  {func(s *rowService) { s.arrive(30) }, 250},
		"rows vanished":    {func(s *rowService) { s.vanish(10, 30) }, 250},
	} {
		s := newRowService(500)
		s.change = func(_ int, a *rowAnswer) { a.Anonymous = true }
		_, token := walkPart(t, s, 25)
		c.change(s)
		s.requests()
		rest, err := collect(walkRates(t.Context(), s.client(t), 0, pageSize, withResume(token)))
		if err != nil || len(rest) < c.rest || len(rest) > c.rest+40 || len(s.asked) > 32 {
			t.Errorf("%s: %d records and %v after %d requests, want %d and at most 40 of them twice",
				name, len(rest), err, len(s.asked), c.rest)
		}
	}
}

// TestResume_BeforeAnythingWasDelivered begins at the page that the walk was to begin at.
func TestResume_BeforeAnythingWasDelivered(t *testing.T) {
	t.Parallel()
	s := newRowService(10 * pageSize)
	s.status = func(int, int) int { return 500 }
	_, err := collect(walkRates(t.Context(), s.client(t), 7, pageSize))
	ended, ok := errors.AsType[*shipping.ListError](err)
	if !ok {
		t.Fatal(err)
	}
	s.status = nil
	rest, err := collect(walkRates(t.Context(), s.client(t), 7, pageSize, withResume(ended.Resume)))
	if diff := cmp.Diff(s.rows[6*pageSize:], rest); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// TestResume_OnAServiceThatIgnoresThePageNumber ends.
func TestResume_OnAServiceThatIgnoresThePageNumber(t *testing.T) {
	t.Parallel()
	s := newRowService(50 * pageSize)
	_, token := walkPart(t, s, 25)
	s.requests()
	s.change = func(_ int, a *rowAnswer) { a.Rows, a.Pagination["page"] = s.rows[:pageSize], 1 }
	rest, err := collect(walkRates(t.Context(), s.client(t), 0, pageSize, withResume(token)))
	if !errors.Is(err, shipping.ErrPageLoop) || len(rest) > pageSize || len(s.asked) > 30 {
		t.Errorf("%v and %v after %d requests, want ErrPageLoop", rest, err, len(s.asked))
	}
}

// walkPart walks the first pages of the rates, and returns the delivered rates and the token after them.
func walkPart(t testing.TB, s *rowService, pages int) (delivered []int, token string) {
	t.Helper()
	for page, err := range s.client(t).Rates.Pages(t.Context(), &shipping.RateListOptions{PerPage: pageSize}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, rate := range page.Items {
			delivered = append(delivered, rowOf(rate.RateID))
		}
		if token = page.Resume; len(delivered) >= pages*pageSize {
			break
		}
	}
	return delivered, token
}

// TestResume_FromAPageAnErrorOrTheProgress: all three continue at the same place.
func TestResume_FromAPageAnErrorOrTheProgress(t *testing.T) {
	t.Parallel()
	s := newRowService(10 * pageSize)
	_, fromPage := walkPart(t, s, 4)
	fromProgress := map[int]string{}
	s.status = func(page, _ int) int {
		if page == 5 {
			return 500
		}
		return 0
	}
	_, err := collect(walkRates(t.Context(), s.client(t), 0, pageSize, withProgress(func(p shipping.ListProgress) {
		fromProgress[p.Page] = p.Resume
	})))
	ended, ok := errors.AsType[*shipping.ListError](err)
	if !ok {
		t.Fatal(err)
	}
	s.status = nil
	for name, token := range map[string]string{"Page": fromPage, "ListError": ended.Resume, "ListProgress": fromProgress[4]} {
		rest, err := collect(walkRates(t.Context(), s.client(t), 0, pageSize, withResume(token)))
		if diff := cmp.Diff(s.rows[4*pageSize:], rest); err != nil || diff != "" {
			t.Errorf("from a %s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

// TestResume_ProgressGoesOn: the counts are those of the whole walk.
func TestResume_ProgressGoesOn(t *testing.T) {
	t.Parallel()
	s := newRowService(10 * pageSize)
	_, token := walkPart(t, s, 4)
	s.arrive(3)
	var last shipping.ListProgress
	if _, err := collect(walkRates(t.Context(), s.client(t), 0, pageSize, withResume(token),
		withProgress(func(p shipping.ListProgress) { last = p }))); err != nil {
		t.Fatal(err)
	}
	last.Resume = ""
	want := shipping.ListProgress{Items: 10 * pageSize, Total: 10*pageSize + 3, Page: 11, PageCount: 11, Repeated: 3}
	if diff := cmp.Diff(want, last); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestResume_AfterTheEndDeliversNothing.
func TestResume_AfterTheEndDeliversNothing(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{1, pageSize, 10*pageSize - 1, 10 * pageSize} {
		s := newRowService(rows)
		_, token := walkPart(t, s, 11)
		s.arrive(25)
		rest, err := collect(walkRates(t.Context(), s.client(t), 0, pageSize, withResume(token)))
		if err != nil || len(rest) > 0 {
			t.Errorf("%d rows: %v and %v, want nothing", rows, rest, err)
		}
	}
}

// TestResume_ATokenWithoutAVersion was written before tokens had one, after 20 of 50 rates, 10 a page. It is read.
func TestResume_ATokenWithoutAVersion(t *testing.T) {
	t.Parallel()
	s := newRowService(5 * pageSize)
	const token = "eyJsIjoxNzEzMDczNTMwNzE0NDcxMDMzNiwiYyI6MjAsInAiOjEwLCJ0Ijo1MCwibiI6MjAsImkiOls3MjMwMDMwNTE3OTE2OTY2NDAwLDY1OD" +
		"M4OTQ4MTMxODYzNTI2OTgsNjU4MjkwOTY1MDc2NzY2NDg2Nyw2NTc4MTI0NTc2MTYyNjM2NzIwLDY1NzcyNDQ5NjY4NjAyNTcxNDUsNjU4MDA1" +
		"OTcxNjYyNzkwOTYzMCw2NTc5MTA5NzM4NTgxMzI0NTUxLDY1NzQzMjQ2NjM5NzYyOTY0MDQsNjU3MzQ0NTA1NDY3MzkxNjgyOSw2NTc2Mjk0OT" +
		"g4ODEzNjcyMDY2LDY1NzUyNzQ2NDIwMjI4ODE0ODMsMzQ2MTEyNjc1ODc1MTA0MjE0NywzNDYyMTExOTIxMTY5NzI5OTc4LDM0NTU0NjIwNzQ4" +
		"NDM2MzQ0MjUsMzQ1NjM0MTY4NDE0NjAxNDAwMCwzNDU3MzI2ODQ2NTY0NzAxODMxLDM0NTgyNzY4MjQ2MTEyODY5MTAsMzQ1MTY2MjE2MjY1Nz" +
		"I5NDEwOSwzNDUyNTQxNzcxOTU5NjczNjg0LDM0NTM0OTE3NTAwMDYyNTg3NjNdfQ"
	rest, err := collect(walkRates(t.Context(), s.client(t), 0, pageSize, withResume(token)))
	if diff := cmp.Diff(s.rows[2*pageSize:], rest); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// TestResume_TokensOfOtherListsAreRefused before anything is sent.
func TestResume_TokensOfOtherListsAreRefused(t *testing.T) {
	t.Parallel()
	s := newRowService(10 * pageSize)
	_, token := walkPart(t, s, 2)
	c, ctx := s.client(t), t.Context()
	s.requests()
	resume := withResume(token)
	for name, walk := range map[string]func() ([]int, error){
		"another operation": func() ([]int, error) { return collect(walkWebhooks(ctx, c, 0, pageSize, resume)) },
		"a wallet's":        func() ([]int, error) { return collect(walkTransactions(ctx, c, 0, pageSize, resume)) },
		"other pages":       func() ([]int, error) { return collect(walkRates(ctx, c, 0, pageSize+1, resume)) },
		"another filter": func() ([]int, error) {
			return collect(walkRates(ctx, c, 0, pageSize, resume, withCall(shipping.WithQuery("flow", "out"))))
		},
	} {
		if rows, err := walk(); !errors.Is(err, shipping.ErrInvalidRequest) || len(rows) > 0 {
			t.Errorf("%s list: %v and %v, want ErrInvalidRequest", name, rows, err)
		}
	}
	if n := s.requests(); n > 0 {
		t.Errorf("sent %d requests", n)
	}
}

// TestResume_TokensCarryNoSecret: neither the key, nor the wallet, nor an identifier.
func TestResume_TokensCarryNoSecret(t *testing.T) {
	t.Parallel()
	s := newRowService(10 * pageSize)
	_, token := walkPart(t, s, 2)
	plain, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{shippingtest.Key, shippingtest.Key[:12], shippingtest.Key[12:], "VA-", "ROW-", "service.test"} {
		if strings.Contains(token+string(plain), secret) {
			t.Errorf("%q is in the token %s", secret, plain)
		}
	}
	if len(token) > 2048 {
		t.Errorf("a token of %d bytes", len(token))
	}
}

// TestResume_AProcessThatIsKilled, by a signal it cannot catch, while it walks. Another process resumes
// from the last progress that was reported; what had been delivered after that comes again, and
// nothing else.
func TestResume_AProcessThatIsKilled(t *testing.T) {
	if address := os.Getenv(walkAddress); address != "" {
		walkAndReport(t, address, os.Getenv(walkToken))
		return
	}
	s := newRowService(40 * pageSize)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response, err := s.RoundTrip(r)
		if err != nil {
			return
		}
		defer func() { _ = response.Body.Close() }()
		w.WriteHeader(response.StatusCode)
		_, _ = io.Copy(w, response.Body)
	}))
	defer server.Close()
	began := slices.Clone(s.rows)
	var delivered []int
	token := ""
	for _, reports := range []int{3, 1, 9, 0} { // after how many a process is killed; 0 for never
		rows, last := runWalk(t, server.URL, token, reports)
		delivered = append(delivered, rows...)
		token = last
		s.mu.Lock()
		s.arrive(17)
		s.mu.Unlock()
	}
	if err := judgeResumed(began, s.rows, delivered); err != nil {
		t.Error(err)
	}
}

const (
	walkAddress = "SHIPPING_TEST_WALK_ADDRESS"
	walkToken   = "SHIPPING_TEST_WALK_TOKEN"
)

// walkAndReport is the process that is killed. It writes a line for each page that it is done with: its
// rows, and the token after it.
func walkAndReport(t *testing.T, address, token string) {
	c, err := shipping.NewClient(shippingtest.Key, shipping.WithBaseURL(address))
	if err != nil {
		t.Fatal(err)
	}
	var rows []int
	options := []walkOption{withProgress(func(p shipping.ListProgress) {
		fmt.Println("page", strings.ReplaceAll(strings.Trim(fmt.Sprint(rows), "[]"), " ", ","), p.Resume)
		rows = nil
		_, _ = bufio.NewReader(os.Stdin).ReadByte() // until the other process has read it
	})}
	if token != "" {
		options = append(options, withResume(token))
	}
	for row, err := range walkRates(t.Context(), c, 0, pageSize, options...) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
}

// runWalk runs that process, kills it after so many reports, and returns the rows and the last token
// reported.
func runWalk(t *testing.T, address, token string, reports int) (rows []int, last string) {
	t.Helper()
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestResume_AProcessThatIsKilled$")
	process.Env = append(os.Environ(), walkAddress+"="+address, walkToken+"="+token)
	process.Stderr = os.Stderr
	input, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		report := strings.Split(lines.Text(), " ")
		if len(report) != 3 || report[0] != "page" {
			continue
		}
		for text := range strings.SplitSeq(report[1], ",") {
			if row, err := strconv.Atoi(text); err == nil {
				rows = append(rows, row)
			}
		}
		last = report[2]
		if reports--; reports == 0 {
			if err := process.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			break
		}
		if _, err := input.Write([]byte{'\n'}); err != nil {
			t.Fatal(err)
		}
	}
	if err := process.Wait(); err != nil && reports != 0 {
		t.Fatal(err)
	}
	return rows, last
}

// FuzzResume_AnyText: an invalid token is refused before anything is sent.
func FuzzResume_AnyText(f *testing.F) {
	s := newRowService(3 * pageSize)
	_, token := walkPart(f, s, 2)
	plain, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{token, token[1:], token[:9], " " + token, token + "=", string(plain), "e30", "bnVsbA", "W10", "what?", "\x00\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := newRowService(3 * pageSize)
		rows, err := collect(walkRates(t.Context(), s.client(t), 0, pageSize, withResume(text)))
		switch {
		case text == token || text == "":
			if err != nil {
				t.Errorf("a good token is refused: %v", err)
			}
		case err != nil && (!errors.Is(err, shipping.ErrInvalidRequest) || len(s.asked) > 0):
			t.Errorf("%q gave %v after %d requests", text, err, len(s.asked))
		case len(rows) > len(s.rows):
			t.Errorf("%q gave %d records of %d", text, len(rows), len(s.rows))
		}
	})
}

// FuzzResume_AnyNumbers: a token of the right list whose numbers were tampered with is refused, or leads
// to records of the list, after a bounded number of requests.
func FuzzResume_AnyNumbers(f *testing.F) {
	_, token := walkPart(f, newRowService(9*pageSize), 4)
	plain, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		f.Fatal(err)
	}
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
		if err := decoder.Decode(&numbers); err != nil {
			t.Fatal(err)
		}
		numbers["c"], numbers["p"], numbers["t"], numbers["n"] = covered, perPage, total, items
		if alone {
			numbers["i"] = []uint64{marker}
		}
		tampered, err := json.Marshal(numbers)
		if err != nil {
			t.Fatal(err)
		}
		s := newRowService(9 * pageSize)
		rows, err := collect(walkRates(t.Context(), s.client(t), 0, pageSize,
			withResume(base64.RawURLEncoding.EncodeToString(tampered))))
		if err != nil && !errors.Is(err, shipping.ErrInvalidRequest) && !errors.Is(err, shipping.ErrIncomplete) {
			t.Errorf("%s: %v", tampered, err)
		}
		if err := judge(nil, nil, rows); err != nil || len(s.asked) > 100 {
			t.Errorf("%s: %v after %d requests", tampered, err, len(s.asked))
		}
	})
}
