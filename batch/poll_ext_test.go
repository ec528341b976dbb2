package batch_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/wait"
)

// polledService is a service with one request, whose reads after the purchase are answered in turn, the last one again and
// again: with a status of the request, or with a status code.
func polledService(reads ...any) (service http.RoundTripper, count func() int) {
	const record = `{"request_id":"RD-1","source":"shipment","line_items":[],"available_documents":[{"document_type":"CUSTOMS","amount":100,"currency":"NGN"}],"status":`
	n := 0
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/analyze"):
			return reply(200, record+`"draft"}`)
		case strings.HasSuffix(r.URL.Path, "/purchase"):
			return reply(200, `{"request_id":"RD-1","status":"processing"}`)
		}
		read := reads[min(n, len(reads)-1)]
		n++
		if status, ok := read.(int); ok {
			return reply(status, "")
		}
		return reply(200, record+`"`+read.(string)+`"}`)
	}), func() int { return n }
}

func TestBatch_ReportsEachPoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service, _ := polledService("processing", 503, 503, "completed") // the client sends a read that fails once more
		var polls, steps []string
		report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(1), &batch.Options{
			Select:   shipping.SelectAll,
			Poll:     shipping.PollOptions{Progress: func(event shipping.PollEvent) { polls = append(polls, string(event.Step)) }},
			Progress: func(event batch.Event) { steps = append(steps, string(event.Step)) },
		})
		if err != nil || report.Count(batch.StateCompleted) != 1 {
			t.Fatalf("%+v, %v", report, err)
		}
		shippingtest.Diff(t, "the polls", "polled, poll failed, ended", strings.Join(polls, ", "))
		shippingtest.Diff(t, "the steps", "analyzed, selected, purchased, polled, poll failed, ended", strings.Join(steps, ", "))
	})
}

// Only a failure that may pass is polled again; the item is not lost in either case.
func TestBatch_APollThatFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reads  []any
		state  batch.State
		err    error
		counts int
	}{
		"for good":      {[]any{404}, batch.StateWaiting, shipping.ErrNotFound, 1},
		"for a while":   {[]any{503, 503, "completed"}, batch.StateCompleted, nil, 3},
		"as a draft":    {[]any{"draft"}, batch.StateWaiting, wait.ErrStale, 0},
		"as failed":     {[]any{"failed"}, batch.StateFailed, shipping.ErrRequestFailed, 1},
		"in the middle": {[]any{"processing", 401}, batch.StateWaiting, shipping.ErrUnauthorized, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service, count := polledService(test.reads...)
				report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(1), &batch.Options{Select: shipping.SelectAll})
				if err != nil {
					t.Fatal(err)
				}
				got := report.Results[0]
				if got.State != test.state || !errors.Is(got.Err, test.err) || test.counts > 0 && count() != test.counts {
					t.Errorf("%s, %v after %d reads, want %s, %v after %d", got.State, got.Err, count(), test.state, test.err, test.counts)
				}
			})
		})
	}
}
