package batch_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/batchtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// cancelling is a transport that cancels a context while a request to a route is under way: after the service
// received it, if it is reached.
type cancelling struct {
	next    http.RoundTripper
	route   string
	reached bool
	cancel  context.CancelCauseFunc
	cause   error
}

func (c *cancelling) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.cancel == nil || !strings.HasSuffix(r.URL.Path, c.route) {
		return c.next.RoundTrip(r)
	}
	if c.reached {
		response, err := c.next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		_ = response.Body.Close()
	}
	c.cancel(c.cause)
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// A batch that is cancelled with the error of another call, as errgroup does, takes nothing in it for news about its
// items: neither that nothing was sent, nor that an analysis failed.
func TestBatch_TheCauseOfItsContextIsNoEvidence(t *testing.T) {
	t.Parallel()
	unreached, err := shipping.NewClient(shippingtest.Key, shipping.WithBaseURL("http://shipping.test"),
		shipping.WithHTTPClient(&http.Client{Transport: unreachable()}), shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1}))
	if err != nil {
		t.Fatal(err)
	}
	_, unsent := unreached.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-other", DocumentTypes: []shipping.DocumentType{"FDA"}})
	failed := &shipping.FailedError{Request: &shipping.RegulatoryRequest{RequestID: "RD-other"}, Operation: shipping.OpAnalyze}
	for name, cause := range map[string]error{
		"an unsent purchase": unsent, "a failed analysis": failed, "a budget": shipping.ErrOverBudget,
		"a refused option": &shipping.ValidationError{Problem: "odd"},
	} {
		for _, route := range []string{"/analyze", "/purchase"} {
			synctest.Test(t, func(t *testing.T) {
				wallet := &walletService{}
				service := &cancelling{next: wallet, route: route, reached: route == "/purchase", cause: cause}
				journal := newMemoryJournal(t)
				options := batch.Options{Select: shipping.SelectAll, Budget: nairaBudget(t, "150"), Journal: journal}
				ctx, cancel := context.WithCancelCause(t.Context())
				service.cancel = cancel
				report, err := batch.Run(ctx, walletClient(t, service), walletItems(1), &options)
				if !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
					t.Errorf("%s, %s: %v", name, route, err)
				}
				state, committed, step := batch.StateWaiting, shipping.Amount{}, batch.Step("")
				if service.reached {
					state, committed, step = batch.StateUnknown, shippingtest.Amount(t, "100"), batch.StepPurchasing
				}
				if got := report.Results[0]; got.State != state || got.RequestID == "RD-other" || report.Committed.Cmp(committed) != 0 || journal.last("SH-1").Step != step {
					t.Errorf("%s, %s: %+v, %s committed, journal %+v", name, route, got, report.Committed, journal.last("SH-1"))
				}
				service.cancel = nil
				report, err = batch.Run(t.Context(), walletClient(t, service), walletItems(1), &options)
				if _, purchases := wallet.total(); err != nil || report.Results[0].State != batch.StateCompleted || purchases != 1 {
					t.Errorf("%s, %s: %+v after %d purchases, %v", name, route, report, purchases, err)
				}
			})
		}
	}
}

// Options that no call accepts, or that several calls at the same time cannot share, are refused before the first
// item.
func TestBatch_RefusesCallOptionsThatCannotWork(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]shipping.CallOption{
		"WithResponse": shipping.WithResponse(&shipping.Response{}), "WithHeader": shipping.WithHeader("Authorization", "Bearer x"),
	} {
		service := &walletService{}
		client := walletClient(t, service)
		report, err := batch.Run(t.Context(), client, walletItems(2), &batch.Options{Select: shipping.SelectAll}, option)
		replayed, replayErr := batch.Replay(t.Context(), client, replays("WD-1", "WD-2"), nil, option)
		checked, checkErr := batch.Replay(t.Context(), client, replays("WD-1", "WD-2"), &batch.ReplayOptions{DryRun: true}, option)
		if report != nil || replayed != nil || checked != nil {
			t.Errorf("%s: %v, %v, %v", name, report, replayed, checked)
		}
		for _, err := range []error{err, replayErr, checkErr} {
			if refused, ok := errors.AsType[*shipping.ValidationError](err); !ok || refused.Field != name {
				t.Errorf("%s: %v", name, err)
			}
		}
		if len(service.requests) > 0 {
			t.Errorf("%s: something was sent", name)
		}
	}
	service := &walletService{}
	report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(2), nil, nil, shipping.WithResponse(nil), shipping.WithHeader("X-Run", "7"))
	if err != nil || report.Count(batch.StateDraft) != 2 {
		t.Errorf("options that work: %+v, %v", report, err)
	}
}

// Without Select too, a request that Edit left as something else than a draft is not reported as one.
func TestBatch_ReportsNoDraftThatIsNone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := &walletService{}
		client := walletClient(t, service)
		report, err := batch.Run(t.Context(), client, walletItems(1), &batch.Options{
			Edit: func(_ context.Context, draft *shipping.RegulatoryRequest) error {
				service.put(draft.RequestID, "processing")
				return nil
			},
		})
		if err != nil || report.Results[0].State != batch.StateError || report.Results[0].Err == nil {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// The priced documents are purchased, even if the caller changes the slice that Select returned.
func TestBatch_PurchasesWhatItReserved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shared := []shipping.DocumentType{"CUSTOMS"}
		change := func(event shipping.PollEvent) {
			if event.Step == "selected" {
				shared[0] = "MSDS"
			}
		}
		journal := newMemoryJournal(t)
		report, err := batch.Run(t.Context(), walletClient(t, &walletService{}), walletItems(1), &batch.Options{
			Select:  func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) { return shared, nil },
			Journal: journal, Budget: nairaBudget(t, "150"),
			Progress: func(event batch.Event) { change(event.PollEvent) },
		})
		if err != nil || report.Results[0].State != batch.StateCompleted || report.Results[0].Documents[0] != "CUSTOMS" {
			t.Errorf("%+v, %v", report, err)
		}
		if documents := journal.last("SH-1").Documents; len(documents) != 1 || documents[0] != "CUSTOMS" {
			t.Errorf("the journal holds %v", documents)
		}
	})
}

// panicJar is a cookie jar that panics once a response to a purchase came.
type panicJar struct{ route string }

func (panicJar) Cookies(*url.URL) []*http.Cookie { return nil }
func (j panicJar) SetCookies(u *url.URL, _ []*http.Cookie) {
	if strings.HasSuffix(u.Path, j.route) {
		panic("jar")
	}
}

// A panic between the charge and its record, of a cookie jar or an observer, reaches the caller. The journal keeps
// the reservation, and the next run finds the charge.
func TestBatch_APanicAfterTheChargeKeepsTheReservation(t *testing.T) {
	t.Parallel()
	wallet := &walletService{}
	withCookie := roundTrip(func(r *http.Request) (*http.Response, error) {
		response, err := wallet.RoundTrip(r)
		if err == nil {
			response.Header = http.Header{"Set-Cookie": {"a=b"}}
		}
		return response, err
	})
	for want, option := range map[string][]shipping.Option{
		"jar": {shipping.WithHTTPClient(&http.Client{Transport: withCookie, Jar: panicJar{"/purchase"}})},
		"Done": {shipping.WithHTTPClient(&http.Client{Transport: wallet}), shipping.WithObserver(shipping.Observer{
			Done: func(_ context.Context, operation string, _ []shipping.Attempt, _ time.Duration, _ error) {
				if operation == shipping.OpPurchase {
					panic("Done")
				}
			},
		})},
	} {
		synctest.Test(t, func(t *testing.T) {
			*wallet = walletService{}
			client, err := shipping.NewClient(shippingtest.Key, append(option, shipping.WithBaseURL(shippingtest.BaseURL))...)
			if err != nil {
				t.Fatal(err)
			}
			journal := newMemoryJournal(t)
			options := batch.Options{Select: shipping.SelectAll, Budget: nairaBudget(t, "150"), Journal: journal}
			func() {
				defer func() {
					if got := recover(); got != want {
						t.Errorf("recovered %v, want %s", got, want)
					}
				}()
				_, _ = batch.Run(t.Context(), client, walletItems(2), &options)
			}()
			if step := journal.last("SH-1").Step; step != batch.StepPurchasing && journal.last("SH-2").Step != batch.StepPurchasing {
				t.Errorf("%s: the journal holds %s", want, step)
			}
			report, err := batch.Run(t.Context(), walletClient(t, wallet), walletItems(2), &options)
			spent, purchases := wallet.total()
			if err != nil || purchases != 1 || spent.Cmp(report.Committed) != 0 || report.Count(batch.StateCompleted) != 1 || report.Count(batch.StateOverBudget) != 1 {
				t.Errorf("%s: %d purchases for %s, %+v, %v", want, purchases, spent, report, err)
			}
		})
	}
}

// unreachableJournal is a journal of several processes that does not respond any more once its context is cut off.
type unreachableJournal struct {
	batch.Journal
	cut context.Context
}

type unreachableClaim struct {
	batch.Claim
	journal unreachableJournal
}

// respond returns an error if the journal does not respond before ctx ends.
func (j unreachableJournal) respond(ctx context.Context) error {
	if j.cut.Err() == nil {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (j unreachableJournal) Claim(ctx context.Context, key string) (batch.Claim, error) {
	if err := j.respond(ctx); err != nil {
		return nil, err
	}
	claim, err := j.Journal.Claim(ctx, key)
	return unreachableClaim{claim, j}, err
}

func (j unreachableJournal) Committed(ctx context.Context, budget shipping.Budget) (shipping.Amount, error) {
	if err := j.respond(ctx); err != nil {
		return shipping.Amount{}, err
	}
	return j.Journal.Committed(ctx, budget)
}

func (c unreachableClaim) Append(ctx context.Context, record batch.Record, budget *shipping.Budget) (shipping.Amount, error) {
	if err := c.journal.respond(ctx); err != nil {
		return shipping.Amount{}, err
	}
	return c.Claim.Append(ctx, record, budget)
}

func (c unreachableClaim) Release(ctx context.Context) error {
	if err := c.journal.respond(ctx); err != nil {
		return err
	}
	return c.Claim.Release(ctx)
}

// A batch whose context ended while its journal was out of reach returned a minute later: each record, each release
// and the last sum waited as long again.
func TestBatch_ReturnsSoonAfterItsContextEndsWithoutAJournal(t *testing.T) {
	for _, at := range []string{"analyzed", "selected", "purchased"} {
		synctest.Test(t, func(t *testing.T) {
			cut, out := context.WithCancel(t.Context())
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			start := time.Now()
			report, err := batch.Run(ctx, walletClient(t, &walletService{}), walletItems(20), &batch.Options{
				Select: shipping.SelectAll, Budget: nairaBudget(t, "5000"), Journal: unreachableJournal{batchtest.NewJournal(time.Hour), cut},
				Progress: func(event batch.Event) {
					if event.Step == at {
						out()
					}
				},
			})
			failed, ok := errors.AsType[*batch.JournalError](err)
			if !ok || !strings.Contains(failed.Error(), "did not respond") || len(report.Results) != 20 {
				t.Errorf("%s: %+v, %v", at, report, err)
			}
			if took := time.Since(start); took != 25*time.Second {
				t.Errorf("%s: the batch returned after %s", at, took)
			}
		})
	}
}
