package sweep_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

// program is a program that buys the documents of a shipment, with the expected findings of a sweep.
type program struct {
	name   string
	buy    func(ctx context.Context, s *job, shipment string) error
	config sweep.Config
	// found are schedules that must find a verdict; other schedules may find it, too. The sweep finds no other verdict.
	found map[sweep.Verdict][]string
}

func named(t *testing.T, name string) program {
	t.Helper()
	all := slices.DeleteFunc(programs(t), func(p program) bool { return p.name != name })
	shippingtest.Diff(t, "programs that are "+name, 1, len(all))
	return all[0]
}

func programs(t *testing.T) []program {
	return slices.Concat(paysTwice(), otherMistakes(), notFound(), careful(t))
}

// purchaseBy returns the schedules with one of some faults at the first purchase.
func purchaseBy(faults ...string) []string {
	var schedules []string
	for _, name := range faults {
		schedules = append(schedules, "regulatory.purchase#1:"+name)
	}
	return schedules
}

// paysTwice are programs that can pay twice, and are found.
func paysTwice() []program {
	twice := func(schedules ...string) map[sweep.Verdict][]string {
		return map[sweep.Verdict][]string{sweep.PaidTwice: schedules}
	}
	return []program{
		{"starts over after any error", func(ctx context.Context, s *job, shipment string) error {
			return retry(func() error { return analyzeAndPurchase(ctx, s, shipment) })
		}, sweep.Config{},
			twice(purchaseBy("lost-after", "truncated", "empty", "html", "500-after", "late-after", "arrives-late", "504")...)},
		{"reads the request for a minute, and starts over if it stays a draft", startsOverAfterReading(time.Minute),
			sweep.Config{}, twice(purchaseBy("504")...)},
		{"reads the request once, and starts over if it is a draft",
			startsOver(func(ctx context.Context, s *job, r record, _ error) (bool, error) {
				bought, err := s.buys(ctx, r.ID)
				return !bought && err == nil, err
			}), sweep.Config{}, twice(purchaseBy("arrives-late")...)},
		{"writes its note after the purchase", func(ctx context.Context, s *job, shipment string) error {
			if s.files["note"] != "" {
				return nil
			}
			r, err := s.analyze(ctx, shipment)
			if err != nil {
				return err
			}
			if err := purchaseAndRead(ctx, s, r); err != nil {
				return err
			}
			s.files["note"] = r.ID
			return nil
		}, sweep.Config{Restart: true}, twice(purchaseBy(sweep.Kill)...)},
		{"has a transport that repeats requests, and starts over after a refusal",
			func(ctx context.Context, s *job, shipment string) error {
				s.Transport = insisting{s.Transport}
				return retry(func() error { return analyzeAndPurchase(ctx, s, shipment) })
			}, sweep.Config{}, map[sweep.Verdict][]string{
				sweep.PaidTwice: purchaseBy("lost-after"),
				sweep.SentAgain: purchaseBy("lost-before", "lost-after"),
				sweep.Lint:      purchaseBy("503"),
			}},
		{"starts over after its own timeout", func(ctx context.Context, s *job, shipment string) error {
			return retry(func() error {
				r, err := s.analyze(ctx, shipment)
				if err != nil {
					return err
				}
				limited, cancel := context.WithTimeout(ctx, 5*time.Second)
				defer cancel()
				if err = s.purchase(limited, r); limited.Err() != nil {
					return err
				}
				if err != nil {
					return errors.Join(err, settled(ctx, s, r.ID, err))
				}
				return nil
			})
		}, sweep.Config{Patience: 5 * time.Second, Faults: []string{"late", "late-after"}},
			twice(purchaseBy("late-after")...)},
		{"starts over after a refusal, which answers a request that a proxy repeated",
			startsOverAfter(http.StatusBadRequest), sweep.Config{}, twice(purchaseBy("repeated")...)},
		{"starts over after 503, which it takes for a refusal", startsOverAfter(http.StatusServiceUnavailable),
			sweep.Config{}, twice(purchaseBy("503-after")...)},
		{"starts over if the request cannot be read after the purchase",
			startsOverUnread(func(err error) bool { return err != nil }),
			sweep.Config{Pairs: true, Faults: []string{"lost-after", "500"}},
			twice("regulatory.purchase#1:lost-after,regulatory.get#1:500")},
		{"takes 404 for a request that was not purchased",
			startsOverUnread(func(err error) bool { return errors.Is(err, refused(http.StatusNotFound)) }),
			sweep.Config{Pairs: true, Faults: []string{"lost-after", "404"}},
			twice("regulatory.purchase#1:lost-after,regulatory.get#1:404")},
		{"is careful with the first purchase only", func(ctx context.Context, s *job, shipment string) error {
			r, err := s.analyze(ctx, shipment)
			if err != nil {
				return err
			}
			if err = s.purchase(ctx, r); err == nil {
				return nil
			}
			if bought, unread := readsFor(ctx, s, r.ID, 3*time.Minute); bought || unread != nil {
				return unread
			}
			return retry(func() error { return analyzeAndPurchase(ctx, s, shipment) })
		}, sweep.Config{Pairs: true, Faults: []string{"lost-before", "lost-after"}},
			twice("regulatory.purchase#1:lost-before,regulatory.purchase#2:lost-after")},
		{"starts over if a document fails to generate", startsOverIfFailed, sweep.Config{}, twice(purchaseBy("failed")...)},
	}
}

// otherMistakes are programs that cannot pay twice, and fail in another way.
func otherMistakes() []program {
	return []program{
		{"repeats the same purchase", drafting(func(ctx context.Context, s *job, r record) error {
			return retry(func() error { return s.purchase(ctx, r) })
		}), sweep.Config{},
			map[sweep.Verdict][]string{sweep.SentAgain: purchaseBy("lost-before", "lost-after", "arrives-late"),
				sweep.Lint: purchaseBy("lost-after")}},
		{"gives up after the purchase", analyzeAndPurchase, sweep.Config{},
			map[sweep.Verdict][]string{sweep.Unsettled: purchaseBy("lost-after", "late-after", "arrives-late")}},
		{"ignores errors", func(ctx context.Context, s *job, shipment string) error {
			_ = analyzeAndPurchase(ctx, s, shipment)
			return nil
		}, sweep.Config{}, map[sweep.Verdict][]string{sweep.Missing: {"regulatory.analyze#1:lost-before",
			"regulatory.purchase#1:lost-before"}}},
		{"does not wait for Retry-After", func(ctx context.Context, s *job, shipment string) error {
			var r record
			var err error
			for range 3 {
				if r, err = s.analyze(ctx, shipment); err == nil {
					break
				}
			}
			if err != nil {
				return err
			}
			if err = s.purchase(ctx, r); err != nil {
				_, _ = s.get(ctx, r.ID)
			}
			return err
		}, sweep.Config{},
			map[sweep.Verdict][]string{sweep.Lint: {"regulatory.analyze#1:503", "regulatory.analyze#1:429"}}},
		{"takes any response with 200 for a purchase", drafting(func(ctx context.Context, s *job, r record) error {
			err := s.purchase(ctx, r)
			if _, notJSON := errors.AsType[*json.SyntaxError](err); notJSON || errors.Is(err, refused(http.StatusOK)) {
				return nil
			}
			return settled(ctx, s, r.ID, err)
		}), sweep.Config{}, map[sweep.Verdict][]string{sweep.Missing: purchaseBy("empty-before", "html-before", "refused")}},
		{"hangs after an error", func(ctx context.Context, s *job, shipment string) error {
			_, err := s.analyze(ctx, shipment)
			if err != nil {
				<-ctx.Done()
			}
			return err
		}, sweep.Config{Faults: []string{"500"}, Timeout: time.Minute},
			map[sweep.Verdict][]string{sweep.TimedOut: {"regulatory.analyze#1:500"}}},
	}
}

// notFound are programs that can pay twice, and are not found. docs/sweep.md states why.
func notFound() []program {
	return []program{
		// A request takes effect within two minutes, if at all: see PurchaseOptions.QuietFor of package shipping.
		{"reads the request for three minutes, and starts over if it stays a draft",
			startsOverAfterReading(3 * time.Minute), sweep.Config{}, nil},
	}
}

// careful are programs without a mistake.
func careful(t *testing.T) []program {
	quoting := mockserver.WithDialect(shippingtest.Dialect(t, "purchase.quoted=true"))
	return []program{
		{"reads the request after any error, and leaves it unknown", drafting(purchaseAndRead), sweep.Config{}, nil},
		{"reads the request again if a reading fails", drafting(purchaseAndRead),
			sweep.Config{Pairs: true, Faults: []string{"lost-after", "500", "404", "arrives-late"}}, nil},
		{"downloads a document again after 404", drafting(func(ctx context.Context, s *job, r record) error {
			if err := purchaseAndRead(ctx, s, r); err != nil {
				return err
			}
			time.Sleep(time.Minute) // until the documents are generated
			var err error
			for range 2 {
				err = s.call(ctx, "GET", "/v1/regulatory-documents/request/"+r.ID+"/documents/CUSTOMS/pdf", struct{}{}, nil)
				if _, isPDF := errors.AsType[*json.SyntaxError](err); isPDF {
					return nil
				}
			}
			return err
		}), sweep.Config{Faults: []string{"404"}}, nil},
		{"sends the same purchase again once it has read a draft",
			drafting(func(ctx context.Context, s *job, r record) error {
				if s.purchase(ctx, r) == nil {
					return nil
				}
				time.Sleep(2 * time.Second) // longer than Retry-After
				if bought, unread := readsFor(ctx, s, r.ID, 0); bought || unread != nil {
					return unread
				}
				return purchaseAndRead(ctx, s, r)
			}), sweep.Config{}, nil},
		{"writes the request down before the purchase, and continues with it", continuesFromNote,
			sweep.Config{Restart: true}, nil},
		// The outcome is wrong only if the program could have known better.
		{"waits for less than the faults of latency assume, and reads the request",
			drafting(func(ctx context.Context, s *job, r record) error {
				s.Timeout = 5 * time.Second
				err := s.purchase(ctx, r)
				_, _ = s.get(ctx, r.ID)
				return err
			}), sweep.Config{Faults: []string{"late", "late-after"}}, nil},
		// The server journals the purchase later than the reading.
		{"reads the request while the purchase hangs", drafting(func(ctx context.Context, s *job, r record) error {
			s.Timeout = 0
			purchased := make(chan error, 1)
			go func() { purchased <- s.purchase(context.WithoutCancel(ctx), r) }()
			select {
			case err := <-purchased:
				return err
			case <-time.After(30 * time.Second):
				_, err := s.get(ctx, r.ID)
				return fmt.Errorf("gave up, then read: %w", err)
			}
		}), sweep.Config{Only: sweep.Schedule{{Operation: shipping.OpPurchase, Nth: 1, Fault: "late-after"}}}, nil},
		{"leaves a draft that shows its price as its charge", drafting(purchaseAndRead),
			sweep.Config{Options: []mockserver.Option{quoting}}, nil},
		{"replays a notification again when it is started again, because nothing shows that it did",
			func(ctx context.Context, s *job, shipment string) error {
				return s.call(ctx, "POST", "/v1/webhooks/replay",
					map[string]string{"shipment_id": shipment, "event": "shipment.created"}, &record{})
			}, sweep.Config{Restart: true, Faults: []string{sweep.Kill}}, nil},
	}
}

// retry does something up to three times, a second apart.
func retry(do func() error) (err error) {
	for range 3 {
		if err = do(); err == nil {
			return nil
		}
		time.Sleep(time.Second)
	}
	return err
}

func analyzeAndPurchase(ctx context.Context, s *job, shipment string) error {
	return drafting(func(ctx context.Context, s *job, r record) error { return s.purchase(ctx, r) })(ctx, s, shipment)
}

// drafting returns a program that analyzes a shipment, and continues with the draft.
func drafting(then func(ctx context.Context, s *job, r record) error) func(context.Context, *job, string) error {
	return func(ctx context.Context, s *job, shipment string) error {
		r, err := s.analyze(ctx, shipment)
		if err != nil {
			return err
		}
		return then(ctx, s, r)
	}
}

// continuesFromNote notes the request before it purchases it, and continues with a request that it has noted.
func continuesFromNote(ctx context.Context, s *job, shipment string) (err error) {
	var r record
	if id := s.files["note"]; id != "" {
		r, err = s.get(ctx, id)
	} else if r, err = s.analyze(ctx, shipment); err == nil {
		s.files["note"] = r.ID
	}
	if err != nil || r.Status != "draft" {
		return err
	}
	return purchaseAndRead(ctx, s, r)
}

// purchaseAndRead purchases a draft, and after an error reads it.
func purchaseAndRead(ctx context.Context, s *job, r record) error {
	return settled(ctx, s, r.ID, s.purchase(ctx, r))
}

// settled reads a request after the error of its purchase. It returns the error if the request stays a draft.
func settled(ctx context.Context, s *job, id string, err error) error {
	if err == nil {
		return nil
	}
	var bought bool
	if unread := retry(func() (unread error) { bought, unread = s.buys(ctx, id); return unread }); unread != nil {
		return unread
	}
	if !bought {
		return fmt.Errorf("the purchase of %s is unknown: %w", id, err)
	}
	return nil
}

// readsFor reads a request until it is no longer a draft or a time has passed. The error is that of the last reading.
func readsFor(ctx context.Context, s *job, id string, d time.Duration) (bought bool, err error) {
	for until := time.Now().Add(d); ; time.Sleep(time.Second) {
		bought, err = s.buys(ctx, id)
		if bought && err == nil || !time.Now().Before(until) {
			return bought, err
		}
	}
}

// startsOver returns a program that asks a function after the error of a purchase whether to start over. If not, the
// program ends with the error of the function.
func startsOver(after func(ctx context.Context, s *job, r record,
	lost error) (over bool, err error)) func(context.Context, *job, string) error {
	return func(ctx context.Context, s *job, shipment string) (err error) {
		for range 3 {
			var r record
			if r, err = s.analyze(ctx, shipment); err == nil {
				if err = s.purchase(ctx, r); err == nil {
					return nil
				}
				over, ended := after(ctx, s, r, err)
				if !over {
					return ended
				}
			}
			time.Sleep(time.Second)
		}
		return err
	}
}

// startsOverAfterReading returns a program that starts over if the request has been a draft for d.
func startsOverAfterReading(d time.Duration) func(context.Context, *job, string) error {
	return startsOver(func(ctx context.Context, s *job, r record, _ error) (bool, error) {
		bought, err := readsFor(ctx, s, r.ID, d)
		return !bought && err == nil, err
	})
}

// startsOverAfter returns a program that starts over after one status, and otherwise reads the request.
func startsOverAfter(status int) func(context.Context, *job, string) error {
	return startsOver(func(ctx context.Context, s *job, r record, lost error) (bool, error) {
		if errors.Is(lost, refused(status)) {
			return true, nil
		}
		return false, settled(ctx, s, r.ID, lost)
	})
}

// startsOverUnread returns a program that starts over if the request cannot be read, and otherwise reads it again.
func startsOverUnread(unread func(error) bool) func(context.Context, *job, string) error {
	return startsOver(func(ctx context.Context, s *job, r record, lost error) (bool, error) {
		if _, err := s.get(ctx, r.ID); unread(err) {
			return true, nil
		}
		return false, settled(ctx, s, r.ID, lost)
	})
}

// startsOverIfFailed purchases until no document has failed.
func startsOverIfFailed(ctx context.Context, s *job, shipment string) error {
	for range 2 {
		r, err := s.analyze(ctx, shipment)
		if err != nil {
			return err
		}
		if err := purchaseAndRead(ctx, s, r); err != nil {
			return err
		}
		for r.Status != "completed" && r.Status != "failed" {
			time.Sleep(time.Second)
			if r, err = s.get(ctx, r.ID); err != nil {
				return err
			}
		}
		if r.Status == "completed" {
			return nil
		}
	}
	return nil
}

// insisting is a transport that sends a request up to three times, until it has a response below 500.
type insisting struct{ base http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (r insisting) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	for range 3 {
		again := req.Clone(req.Context())
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
		if resp, err = r.base.RoundTrip(again); err == nil && resp.StatusCode < http.StatusInternalServerError {
			return resp, nil
		}
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			err = refused(resp.StatusCode)
		}
	}
	return nil, err
}
