package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

const queuedReplay = `{"shipment_id":"SH-1","event":"shipment.created","webhook_event_id":"WE-1","delivery_id":"WD-9"}`

// replays makes a request for each delivery id.
func replays(ids ...string) []shipping.ReplayRequest {
	requests := make([]shipping.ReplayRequest, len(ids))
	for i, id := range ids {
		requests[i].DeliveryID = id
	}
	return requests
}

func replayStates(report *batch.ReplayReport) string {
	texts := make([]string, len(report.Outcomes))
	for i, outcome := range report.Outcomes {
		texts[i] = outcome.Key + ": " + string(outcome.State)
	}
	return strings.Join(texts, ", ")
}

// Two replays had the same key if an id contained a space, and one of them was left out.
func TestReplayKey_IsAnotherOneForEveryReplay(t *testing.T) {
	t.Parallel()
	for key, request := range map[string]shipping.ReplayRequest{
		"WD-1":                    {DeliveryID: "WD-1"},
		"WD-1 to WA-1":            {DeliveryID: "WD-1", WebhookID: "WA-1"},
		`"WD-1 to WA-1"`:          {DeliveryID: "WD-1 to WA-1"},
		`"\"WD-1\""`:              {DeliveryID: `"WD-1"`},
		`"\xff"`:                  {DeliveryID: "\xff"},
		"SH-1 shipment.created":   {ShipmentID: "SH-1", Event: shipping.EventShipmentCreated},
		"SH-1 shipment.x to WA-1": {ShipmentID: "SH-1", Event: "shipment.x", WebhookID: "WA-1"},
		`"a b" c`:                 {ShipmentID: "a b", Event: "c"},
		`a "b c"`:                 {ShipmentID: "a", Event: "b c"},
		`SH-1 ""`:                 {ShipmentID: "SH-1"},
	} {
		shippingtest.Diff(t, "key", key, batch.ReplayKey(request))
	}
}

func TestReplayAll_OneThatFailsDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	service := shippingtest.NewService(shippingtest.OK(queuedReplay))
	for delivery, responder := range map[string]httpmock.Responder{
		"WD-REFUSED": shippingtest.Refusal(http.StatusBadRequest, "no"),
		"WD-CRASH":   shippingtest.Refusal(http.StatusInternalServerError, "no"),
		"WD-LOST":    shippingtest.NoResponse(),
	} {
		service.RegisterMatcherResponder(http.MethodPost, shippingtest.BaseURL+"/v1/webhooks/replay",
			httpmock.BodyContainsString(delivery), responder)
	}
	requests := append(replays("WD-1", "WD-REFUSED", "WD-CRASH", "WD-LOST", "WD-1"),
		shipping.ReplayRequest{ShipmentID: "SH-1"},
		shipping.ReplayRequest{ShipmentID: "SH-1", Event: shipping.EventShipmentCreated, WebhookID: "WA-1"})
	told := 0
	report := shippingtest.Must(batch.Replay(t.Context(), walletClient(t, service), requests, &batch.ReplayOptions{
		Progress: func(outcome batch.ReplayOutcome, ended, total int) {
			told++
			if ended != told || total != len(requests) || outcome.State == batch.ReplayNotSent {
				t.Errorf("reported %d of %d as number %d: %+v", ended, total, told, outcome)
			}
		},
	}))(t)
	shippingtest.Diff(t, "outcomes in the order given",
		"WD-1: queued, WD-REFUSED: failed, WD-CRASH: unknown, WD-LOST: unknown, "+
			"WD-1: skipped, SH-1 \"\": failed, SH-1 shipment.created to WA-1: queued", replayStates(report))
	shippingtest.Diff(t, "outcomes that were reported", len(requests), told)
	if result := report.Outcomes[0].Result; result == nil || result.WebhookEventID != "WE-1" {
		t.Errorf("the result: %+v", result)
	}
	line := shippingtest.Must(json.Marshal(report.Outcomes[1]))(t)
	shippingtest.Contains(t, "the line of a failure", line, `"error":"shipping: webhooks.replay`)
	shippingtest.Diff(t, "requests", 5, len(service.Requests()))
	unreachable := walletClient(t, shippingtest.Unreachable())
	report = shippingtest.Must(batch.Replay(t.Context(), unreachable, replays("WD-1"), nil))(t)
	shippingtest.Diff(t, "failed without a connection", 1, report.Count(batch.ReplayFailed))
}

func TestReplayAll_WhatStopsIt(t *testing.T) {
	t.Parallel()
	interrupted := errors.New("interrupted by the user")
	for reason, status := range map[error]int{shipping.ErrUnauthorized: 401, interrupted: 400} {
		ctx, interrupt := context.WithCancelCause(t.Context())
		service := shippingtest.NewService(shippingtest.OK(queuedReplay), shippingtest.Refusal(status, "no"))
		requests := replays("WD-1", "WD-2", "WD-3", "WD-4", "WD-5")
		report, err := batch.Replay(ctx, walletClient(t, service), requests, &batch.ReplayOptions{
			Concurrency: 1,
			Progress: func(_ batch.ReplayOutcome, ended, _ int) {
				if ended == 2 && reason == interrupted {
					interrupt(interrupted)
				}
			},
		})
		if text := fmt.Sprint(err); !errors.Is(err, reason) ||
			status == 401 && !(strings.Contains(text, "stopped") && strings.Contains(text, "secret key")) {
			t.Errorf("%v: %v", reason, err)
		}
		if n := len(service.Requests()); n > 3 { // one may have its turn before the response is known
			t.Errorf("%v: %d requests", reason, n)
		}
		const begin, end = "WD-1: queued, WD-2: failed", "WD-5: not sent"
		if got := replayStates(report); !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, end) {
			t.Errorf("%v: %s", reason, got)
		}
	}
}

func TestReplayAll_RefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	client := walletClient(t, shippingtest.NewService())
	_, none := batch.Replay(t.Context(), &shipping.Client{}, nil, nil)
	_, negative := batch.Replay(t.Context(), client, nil, &batch.ReplayOptions{Concurrency: -1})
	// Without a context, each of these functions panicked.
	var noContext context.Context
	_, replay := batch.Replay(noContext, client, nil, nil)
	_, run := batch.Run(noContext, client, nil, nil)
	resolve := batch.Resolve(noContext, batch.Memory(), "SH-1", shipping.OutcomeCharged, "seen")
	for _, err := range []error{none, negative, replay, run, resolve} {
		if !errors.Is(err, shipping.ErrInvalidRequest) {
			t.Error(err)
		}
	}
	shippingtest.Diff(t, "nothing to replay", 0,
		len(shippingtest.Must(batch.Replay(t.Context(), client, nil, nil))(t).Outcomes))
}

// The line number in an error counts lines, blank ones included, and not JSON values.
func TestQueuedReplays_CountsLines(t *testing.T) {
	t.Parallel()
	const queued, failed = `{"key":"WD-1","state":"queued"}`, `{"key":"WD-2","state":"failed"}`
	for report, line := range map[string]string{
		"\n\n" + queued + "\n\nrubbish\n" + queued + "\n": "line 5 of",
		queued + "\r\n\r\n{\"key\":\r\n":                  "line 3 of",
		queued + queued + "\n":                            "line 1 of",
		"\n\n\n[]":                                        "line 4 of",
	} {
		shippingtest.Contains(t, report, shippingtest.Err(batch.QueuedReplays(strings.NewReader(report))), line)
	}
	// Names match byte for byte: KEY is not the member key.
	const other = `{"key":"WD-3","KEY":"WD-4","State":"queued","state":"failed"}`
	shippingtest.WantError(t, "without a report", shippingtest.Err(batch.QueuedReplays(nil)), shipping.ErrInvalidRequest)
	keys, err := batch.QueuedReplays(strings.NewReader(other + "\n" + queued + "\r\n \n" + failed + "\n" + failed))
	shippingtest.NoError(t, err)
	shippingtest.Diff(t, "keys", map[string]bool{"WD-1": true}, keys)
}

// A dry run sends nothing. If its context ends at the last outcome, nothing was left out.
func TestReplayAll_DryRunSendsNothing(t *testing.T) {
	t.Parallel()
	service := shippingtest.NewService(shippingtest.OK(queuedReplay))
	requests := append(replays("WD-1", "WD-2"), shipping.ReplayRequest{Event: shipping.EventShipmentUpdated})
	for n, want := range map[int]error{2: nil, 3: context.Canceled} {
		ctx, cancel := context.WithCancel(t.Context())
		report, err := batch.Replay(ctx, walletClient(t, service), requests[:n], &batch.ReplayOptions{
			DryRun: true, Skip: map[string]bool{"WD-2": true},
			Progress: func(_ batch.ReplayOutcome, ended, total int) {
				if ended == total {
					cancel()
				}
			},
		})
		if !errors.Is(err, want) || len(service.Requests()) != 0 {
			t.Errorf("%d requests, %v", len(service.Requests()), err)
		}
		if n == 2 {
			shippingtest.Diff(t, "outcomes", "WD-1: checked, WD-2: skipped", replayStates(report))
		} else if wrong := report.Outcomes[2]; wrong.State != batch.ReplayFailed ||
			!errors.Is(wrong.Err, shipping.ErrInvalidRequest) {
			t.Errorf("a request without a shipment: %+v", wrong)
		}
	}
}
