package lists_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

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
		rest, err := collect(walkRates(t.Context(), s.client(t), 0, pageSize, shipping.Walk{Resume: token}))
		if err != nil || len(rest) < c.rest || len(rest) > c.rest+40 || len(s.asked) > 32 {
			t.Errorf("%s: %d records and %v after %d requests, want %d and at most 40 of them twice",
				name, len(rest), err, len(s.asked), c.rest)
		}
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

// TestResume_AfterTheEndDeliversNothing.
func TestResume_AfterTheEndDeliversNothing(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{1, pageSize, 10*pageSize - 1, 10 * pageSize} {
		s := newRowService(rows)
		_, token := walkPart(t, s, 11)
		s.arrive(25)
		rest, err := collect(walkRates(t.Context(), s.client(t), 0, pageSize, shipping.Walk{Resume: token}))
		if err != nil || len(rest) > 0 {
			t.Errorf("%d rows: %v and %v, want nothing", rows, rest, err)
		}
	}
}

// TestResume_TokensOfOtherListsAreRefused before anything is sent.
func TestResume_TokensOfOtherListsAreRefused(t *testing.T) {
	t.Parallel()
	s := newRowService(10 * pageSize)
	_, token := walkPart(t, s, 2)
	c, ctx := s.client(t), t.Context()
	s.requests()
	resume := shipping.Walk{Resume: token}
	for name, walk := range map[string]func() ([]int, error){
		"another operation": func() ([]int, error) { return collect(walkWebhooks(ctx, c, 0, pageSize, resume)) },
		"a wallet's":        func() ([]int, error) { return collect(walkTransactions(ctx, c, 0, pageSize, resume)) },
		"not a token of a": func() ([]int, error) {
			return collect(walkRates(ctx, c, 0, pageSize,
				shipping.Walk{Resume: "what?"}))
		},
		"other pages": func() ([]int, error) { return collect(walkRates(ctx, c, 0, pageSize+1, resume)) },
		"another filter": func() ([]int, error) {
			return collect(walkRates(ctx, c, 0, pageSize, resume, shipping.WithQuery("flow", "out")))
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
		shippingtest.NoError(t, decoder.Decode(&numbers))
		numbers["c"], numbers["p"], numbers["t"], numbers["n"] = covered, perPage, total, items
		if alone {
			numbers["i"] = []uint64{marker}
		}
		tampered := shippingtest.Must(json.Marshal(numbers))(t)
		s := newRowService(9 * pageSize)
		rows, err := collect(walkRates(t.Context(), s.client(t), 0, pageSize,
			shipping.Walk{Resume: base64.RawURLEncoding.EncodeToString(tampered)}))
		if err != nil && !errors.Is(err, shipping.ErrInvalidRequest) && !errors.Is(err, shipping.ErrIncomplete) {
			t.Errorf("%s: %v", tampered, err)
		}
		if err := judge(nil, nil, rows); err != nil || len(s.asked) > 100 {
			t.Errorf("%s: %v after %d requests", tampered, err, len(s.asked))
		}
	})
}
