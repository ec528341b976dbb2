package regulatory_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

func TestGeneration_TimeIsScaled(t *testing.T) {
	t.Parallel()
	for scale, want := range map[float64]time.Duration{0: 350 * time.Millisecond, -1: 0, 0.5: 3500 * time.Millisecond,
		10: 70 * time.Second, 1e300: 1 << 62} {
		w := newWorld(t, func(c *regulatory.Config) { c.Time.Generation = scale })
		w.purchase(w.analyze(parcel), "WATCH")
		if got := w.clock.Pending(1)[0].Due.Sub(w.clock.Now()); got != want {
			t.Errorf("at scale %v WATCH takes %v, want %v", scale, got, want)
		}
	}
}

func TestGeneration_ManualDocumentAwaitsEvidence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.analyze(perfume)
	w.purchase(r, "CUSTOMS", "MSDS")
	w.advance(24 * time.Hour)
	if got := statusAndDocuments(w.get(r)); got != "processing: CUSTOMS generated, MSDS awaiting_evidence" {
		t.Errorf("a day later the request is %s", got)
	}
	_, err := w.SubmitEvidence(r.RequestID, "CUSTOMS")
	refusal(t, err, regulatory.CodeNoEvidenceAwaited, "CUSTOMS", "requires no evidence")
	_, err = w.SubmitEvidence(r.RequestID, "FDA")
	refusal(t, err, regulatory.CodeNotFound, "FDA")
	_, err = w.SubmitEvidence("RD-9", "MSDS")
	refusal(t, err, regulatory.CodeNotFound, "RD-9")
	r = must[*regulatory.Record](t)(w.SubmitEvidence(r.RequestID, "MSDS"))
	if got := statusAndDocuments(r); got != "processing: CUSTOMS generated, MSDS generating" {
		t.Errorf("with its evidence the request is %s", got)
	}
	_, err = w.SubmitEvidence(r.RequestID, "MSDS")
	refusal(t, err, regulatory.CodeNoEvidenceAwaited, "generating")
	w.advance(25 * time.Second)
	if got := statusAndDocuments(w.get(r)); got != "completed: CUSTOMS generated, MSDS generated" {
		t.Errorf("in the end the request is %s", got)
	}
	w.checkSound()
}

// A manual document is generated once its evidence has arrived, and is not retried if that fails.
func TestGeneration_EvidenceMayComeByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *regulatory.Config) { c.Time.Evidence = dialect.Duration(time.Hour) })
	early, late := w.analyze(perfume), w.analyze(perfume)
	w.purchase(early, "MSDS")
	w.purchase(late, "MSDS")
	must[*regulatory.Record](t)(w.SubmitEvidence(early.RequestID, "MSDS"))
	w.advance(25 * time.Second)
	if a, b := w.get(early).Status, w.get(late).Status; a != regulatory.StateCompleted || b != regulatory.StateProcessing {
		t.Errorf("with evidence given the request is %s, without %s", a, b)
	}
	w.hooks[fault.Generation] = func(string) error { return errors.New("illegible") }
	w.advance(time.Hour)
	if got := w.get(late); got.Status != regulatory.StateFailed || got.Documents[0].Attempts != 1 {
		t.Errorf("an hour later it is %s", got.JSON())
	}
	_, err := w.Retry(late.RequestID)
	refusal(t, err, regulatory.CodeNotRetryable, "only automated ones can be retried")
	w.checkSound()
}

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
	if got := statusAndDocuments(w.get(r)); got != "processing: FDA generating, WATCH failed" {
		t.Errorf("while FDA is generated the request is %s", got)
	}
	w.advance(5 * time.Second)
	got := w.get(r)
	if statusAndDocuments(got) != "failed: FDA generated, WATCH failed" ||
		got.FailureReason != "Generation failed: WATCH" ||
		got.Documents[1].Failure != "the printer is out of paper" {
		t.Errorf("in the end the request is %s", got.JSON())
	}
	w.checkSound()
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
	retried := must[*regulatory.Record](t)(w.Retry(r.RequestID))
	const want = "processing: CUSTOMS generating, FDA generated, WATCH generating"
	if got := statusAndDocuments(retried); got != want {
		t.Errorf("retried the request is %s, want %s", got, want)
	}
	if retried.FailureReason != "" || retried.Documents[0].Failure != "" || retried.Documents[0].Attempts != 2 {
		t.Errorf("retried the request is %s", retried.JSON())
	}
	w.advance(time.Minute)
	got := w.get(r)
	if statusAndDocuments(got) != "completed: CUSTOMS generated, FDA generated, WATCH generated" ||
		got.Documents[1].GeneratedAt != generated {
		t.Errorf("in the end the request is %s", got.JSON())
	}
	if failed.Documents[0].Status != regulatory.DocumentFailed {
		t.Errorf("the record before the retry has changed: %s", failed.JSON())
	}
	if w.balance(naira) != left {
		t.Errorf("the retry cost money: %s is left of %s", w.balance(naira), left)
	}
	w.checkSound()
}
