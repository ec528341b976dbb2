package regulatory_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// A scale of the dialect multiplies the time of a document, and a number that is too large for the clock ends in a time
// that it can reach: an overflow would generate the document at once.
func TestGeneration_TimeIsScaled(t *testing.T) {
	t.Parallel()
	for scale, want := range map[float64]time.Duration{-1: 0, 0.5: 3500 * time.Millisecond,
		10: 70 * time.Second, 1e300: 1 << 62} {
		w := newWorld(t, func(c *regulatory.Config) { c.Times.Generation = scale })
		w.purchase(w.analyze(parcel), "WATCH")
		shippingtest.Diff(t, fmt.Sprint("time at scale ", scale), want, w.clock.Pending(1)[0].Due.Sub(w.clock.Now()))
	}
}

// A manual document waits for its evidence however long that takes, and is generated after it: a timer of the purchase
// would generate it without.
func TestGeneration_ManualDocumentAwaitsEvidence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.analyze(perfume)
	w.purchase(r, "CUSTOMS", "MSDS")
	w.advance(24 * time.Hour)
	w.is(r, "processing: CUSTOMS generated, MSDS awaiting_evidence")
	w.refused(regulatory.CodeNoEvidenceAwaited, "CUSTOMS", "requires no evidence")(w.SubmitEvidence(r.RequestID, "CUSTOMS"))
	w.refused(regulatory.CodeNotFound, "FDA")(w.SubmitEvidence(r.RequestID, "FDA"))
	w.refused(regulatory.CodeNotFound, "RD-9")(w.SubmitEvidence("RD-9", "MSDS"))
	w.record(w.SubmitEvidence(r.RequestID, "MSDS"))
	w.is(r, "processing: CUSTOMS generated, MSDS generating")
	w.refused(regulatory.CodeNoEvidenceAwaited, "generating")(w.SubmitEvidence(r.RequestID, "MSDS"))
	w.advance(25 * time.Second)
	w.is(r, "completed: CUSTOMS generated, MSDS generated")
}

// A manual document is generated once its evidence has arrived, and is not retried if that fails. Evidence that is
// submitted before its timer must not count twice when the timer ends.
func TestGeneration_EvidenceMayComeByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *regulatory.Config) { c.Times.Evidence = time.Hour })
	early, late := w.analyze(perfume), w.analyze(perfume)
	w.purchase(early, "MSDS")
	w.purchase(late, "MSDS")
	w.record(w.SubmitEvidence(early.RequestID, "MSDS"))
	w.advance(25 * time.Second)
	w.is(early, "completed: MSDS generated")
	w.is(late, "processing: MSDS awaiting_evidence")
	w.hooks[fault.Generation] = func(string) error { return errors.New("illegible") }
	w.advance(time.Hour)
	if got := w.get(late); got.Status != regulatory.StateFailed || got.Documents[0].Attempts != 1 {
		t.Errorf("an hour later it is %s", got.JSON())
	}
	w.refused(regulatory.CodeNotRetryable, "only automated ones can be retried")(w.Retry(late.RequestID))
}

// The request does not end with the first document that ends: a client that stopped to poll then would miss the others.
func TestGeneration_OneFailedDocumentFailsTheRequestWhenAllHaveEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hooks[fault.Generation] = func(about string) error {
		if strings.HasSuffix(about, " WATCH") {
			return errors.New("the printer is out of paper")
		}
		return nil
	}
	r := w.analyze(parcel)
	w.purchase(r, "FDA", "WATCH")
	w.advance(7 * time.Second)
	w.is(r, "processing: FDA generating, WATCH failed")
	w.advance(5 * time.Second)
	w.is(r, "failed: FDA generated, WATCH failed")
	if got := w.get(r); got.FailureReason != "Generation failed: WATCH" ||
		got.Documents[1].Failure != "the printer is out of paper" {
		t.Errorf("in the end the request is %s", got.JSON())
	}
}

func TestRetry_GeneratesOnlyWhatFailedAndCostsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	failing := true
	w.hooks[fault.Generation] = func(about string) error {
		if failing && !strings.HasSuffix(about, " FDA") {
			return errors.New("not today")
		}
		return nil
	}
	r := w.analyze(parcel)
	w.purchase(r, "CUSTOMS", "FDA", "WATCH")
	w.advance(time.Minute)
	failed := w.get(r)
	left, generated := w.balance(naira), failed.Documents[1].GeneratedAt
	failing = false
	retried := w.record(w.Retry(r.RequestID))
	w.is(r, "processing: CUSTOMS generating, FDA generated, WATCH generating")
	if retried.FailureReason != "" || retried.Documents[0].Failure != "" || retried.Documents[0].Attempts != 2 {
		t.Errorf("retried the request is %s", retried.JSON())
	}
	w.advance(time.Minute)
	w.is(r, "completed: CUSTOMS generated, FDA generated, WATCH generated")
	shippingtest.Diff(t, "time of FDA", generated, w.get(r).Documents[1].GeneratedAt)
	shippingtest.Diff(t, "the record before the retry", regulatory.DocumentFailed, failed.Documents[0].Status)
	shippingtest.Diff(t, "balance after the retry", left, w.balance(naira))
}
