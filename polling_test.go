package shipping_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
)

// states is a service whose request is in each of these states in turn, and stays in the last.
func states(answers ...canned) *service { return desk([]canned{confirmed}, answers) }

func TestWait_UntilCompletedOrFailed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers []canned
		polls   int
		status  shipping.RequestStatus
		want    error
	}{
		"completed at once":          {[]canned{state("completed")}, 1, shipping.StatusCompleted, nil},
		"through all states":         {[]canned{state("purchasing"), state("processing"), state("processing"), state("completed")}, 4, shipping.StatusCompleted, nil},
		"states nobody knows":        {[]canned{state("queued"), state("under review"), state("completed")}, 3, shipping.StatusCompleted, nil},
		"a draft for a moment":       {[]canned{state("draft"), state("draft"), state("processing"), state("completed")}, 4, shipping.StatusCompleted, nil},
		"failed":                     {[]canned{state("processing"), state("failed")}, 2, shipping.StatusFailed, shipping.ErrRequestFailed},
		"a request that vanishes":    {[]canned{state("processing"), refusal(404, "x")}, 2, shipping.StatusProcessing, shipping.ErrNotFound},
		"a key that is revoked":      {[]canned{state("processing"), refusal(401, "no")}, 2, shipping.StatusProcessing, shipping.ErrUnauthorized},
		"a proxy's page":             {[]canned{state("processing"), {status: 200, body: "<html>"}}, 2, shipping.StatusProcessing, shipping.ErrUnexpectedBody},
		"an answer without a record": {[]canned{state("processing"), ok(`{}`)}, 2, shipping.StatusProcessing, shipping.ErrUnexpectedBody},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := states(test.answers...)
				record, err := connect(t, service).Regulatory.Wait(t.Context(), "RD-1", nil)
				if !errors.Is(err, test.want) || test.want == nil && err != nil {
					t.Errorf("error %v, want %v", err, test.want)
				}
				if record == nil || record.Status != test.status {
					t.Errorf("record %+v, want status %s", record, test.status)
				}
				if got := service.count(""); got != test.polls {
					t.Errorf("%d polls, want %d", got, test.polls)
				}
			})
		})
	}
}

func TestWait_AFailedRequestIsReturnedWithTheReason(t *testing.T) {
	t.Parallel()
	record, err := connect(t, serveGolden(t, "request.json")).Regulatory.Wait(t.Context(), requestID, nil)
	const want = "shipping: generation failed for request " + requestID +
		": a document could not be generated; TEXTILE: no fibre percentages"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	failed, _ := errors.AsType[*shipping.FailedError](err)
	if failed == nil || failed.Request != record || failed.Operation != shipping.OpGetRequest {
		t.Errorf("%+v", failed)
	}
}

func TestWait_ADraftThatStaysIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ set, want time.Duration }{
		"default": {0, time.Minute}, "set": {10 * time.Minute, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				started := time.Now()
				record, err := connect(t, states(state("draft"))).Regulatory.Wait(t.Context(), "RD-1", &shipping.PollOptions{DraftFor: test.set})
				wantError(t, "wait", err, shipping.ErrNotPurchased)
				if took := time.Since(started); took < test.want || took > test.want+time.Minute {
					t.Errorf("it took %s, want %s", took, test.want)
				}
				const text = "shipping: request RD-1 (last seen draft): wait: the regulatory request is still a draft: purchase it first"
				if record == nil || err.Error() != text {
					t.Errorf("record %v, error %v", record, err)
				}
			})
		})
	}
}

func TestWait_PollsGrowFartherApartAndAreSpread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := make([]canned, 30, 31)
		for i := range answers {
			answers[i] = state("processing")
		}
		service := states(append(answers, state("completed"))...)
		options := &shipping.PollOptions{MinInterval: 2 * time.Second, MaxInterval: 20 * time.Second}
		if _, err := connect(t, service).Regulatory.Wait(t.Context(), "RD-1", options); err != nil {
			t.Fatal(err)
		}
		got, interval, different := service.requests(), 2*time.Second, map[time.Duration]bool{}
		for i := range got[1:] {
			between := got[i+1].At.Sub(got[i].At)
			if between < interval*8/10 || between > interval*12/10 {
				t.Errorf("poll %d followed after %s, want %s and a fifth more or less", i+2, between, interval)
			}
			different[between] = true
			interval = min(interval*3/2, 20*time.Second)
		}
		if len(different) < 20 {
			t.Errorf("30 waits have %d different lengths", len(different))
		}
	})
}

func TestWait_AnHourOfPolling(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		service := &service{script: func(int, received) canned {
			if time.Since(started) >= time.Hour {
				return state("completed")
			}
			return state("processing")
		}}
		record, err := connect(t, service).Regulatory.Wait(t.Context(), "RD-1", nil)
		if err != nil || record.Status != shipping.StatusCompleted {
			t.Errorf("%+v, %v", record, err)
		}
		if polls := service.count(""); polls < 100 || polls > 160 {
			t.Errorf("%d polls in an hour at most 30 s apart", polls)
		}
	})
}

func TestWait_FailuresThatPassAreTolerated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		once := shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1})
		passing := []canned{
			state("processing"), refusal(503, "busy"), lost, {status: 502, body: "<html>"}, refusal(429, "slow down"), refusal(500, "oops"),
			{after: time.Hour, status: 200}, state("processing"), refusal(503, "busy"), state("completed"),
		}
		var failed int
		options := &shipping.PollOptions{Progress: func(event shipping.PollEvent) {
			if event.Step == shipping.StepPollFailed {
				failed++
				if event.Err == nil || event.Request == nil || event.Next == 0 {
					t.Errorf("%+v", event)
				}
			}
		}}
		record, err := connect(t, states(passing...), once).Regulatory.Wait(t.Context(), "RD-1", options)
		if err != nil || record.Status != shipping.StatusCompleted || failed != 7 {
			t.Errorf("%+v, %v, %d failed polls", record, err, failed)
		}
	})
}

func TestWait_GivesUpAfterSoManyFailuresInARow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		once := shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1})
		service := states(state("processing"), refusal(503, "busy"))
		record, err := connect(t, service, once).Regulatory.Wait(t.Context(), "RD-1", &shipping.PollOptions{MaxFailures: 3})
		wantError(t, "wait", err, shipping.ErrServer)
		if polls := service.count(""); polls != 1+3+1 || record == nil {
			t.Errorf("%d polls, record %v", polls, record)
		}
		failure, _ := errors.AsType[*shipping.StepError](err)
		if failure == nil || failure.RequestID != "RD-1" || failure.Step != shipping.StepPolled || failure.Request.Status != shipping.StatusProcessing {
			t.Errorf("%+v", failure)
		}
	})
}

func TestWait_HonoursRetryAfterAlsoNearTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		once := shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1})
		service := states(refusal(503, "busy").with("Retry-After", "40"), state("completed"))
		if _, err := connect(t, service, once).Regulatory.Wait(t.Context(), "RD-1", nil); err != nil {
			t.Fatal(err)
		}
		got := service.requests()
		if between := got[1].At.Sub(got[0].At); between < 40*time.Second {
			t.Errorf("the next poll followed after %s, the service asked for 40 s", between)
		}

		near := states(refusal(503, "busy").with("Retry-After", "40"), state("completed"))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		started := time.Now()
		_, err := connect(t, near, once).Regulatory.Wait(ctx, "RD-1", nil)
		wantError(t, "wait", err, context.DeadlineExceeded, shipping.ErrServer)
		if time.Since(started) != 0 || near.count("") != 1 {
			t.Errorf("%d polls and %s, although the service's wait outlasts the deadline", near.count(""), time.Since(started))
		}
	})
}

func TestWait_UsesTheTimeUpToItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := states(state("processing"))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		started := time.Now()
		record, err := connect(t, service).Regulatory.Wait(ctx, "RD-1", nil)
		wantError(t, "wait", err, context.DeadlineExceeded)
		if record == nil || record.Status != shipping.StatusProcessing {
			t.Errorf("the last record is lost: %+v", record)
		}
		got := service.requests()
		if left := 5*time.Minute - got[len(got)-1].At.Sub(started); left > 2*time.Second {
			t.Errorf("the last poll was made %s before the deadline", left)
		}
	})
}

func TestWait_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("shutting down")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Second, func() { cancel(stop) })
		started := time.Now()
		_, err := connect(t, states(state("processing"))).Regulatory.Wait(ctx, "RD-1", nil)
		wantError(t, "wait", err, context.Canceled, stop)
		if took := time.Since(started); took != 10*time.Second {
			t.Errorf("it ended after %s", took)
		}
	})
}

func TestWait_TellsProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []string
		var next time.Duration
		started := time.Now()
		service := states(state("processing"), refusal(503, "busy"), state("processing"), state("completed"))
		options := &shipping.PollOptions{Progress: func(event shipping.PollEvent) {
			status := shipping.RequestStatus("none")
			if event.Request != nil {
				status = event.Request.Status
			}
			told = append(told, fmt.Sprintf("%s %s %s %d %t", event.Step, event.RequestID, status, event.Polls, event.Err != nil))
			if event.Elapsed != time.Since(started) {
				t.Errorf("Elapsed is %s after %s", event.Elapsed, time.Since(started))
			}
			next = event.Next
		}}
		client := connect(t, service, shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1}))
		if _, err := client.Regulatory.Wait(t.Context(), "RD-1", options); err != nil {
			t.Fatal(err)
		}
		diff(t, "progress", []string{
			"polled RD-1 processing 1 false", "poll failed RD-1 processing 2 true", "polled RD-1 processing 3 false", "ended RD-1 completed 4 false",
		}, told)
		if next != 0 {
			t.Errorf("after the last poll another one is announced in %s", next)
		}
	})
}

func TestWait_WhatIsAnnouncedIsWhatHappens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := states(state("processing"))
		var announced []time.Duration
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := connect(t, service).Regulatory.Wait(ctx, "RD-1", &shipping.PollOptions{Progress: func(event shipping.PollEvent) {
			announced = append(announced, event.Next)
		}})
		wantError(t, "wait", err, context.DeadlineExceeded)
		got := service.requests()
		for i := range got[1:] {
			if between := got[i+1].At.Sub(got[i].At); between != announced[i] {
				t.Errorf("poll %d was announced in %s and followed after %s", i+2, announced[i], between)
			}
		}
	})
}

func TestAnalyze_AFailedAnalysisCarriesItsRequest(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]canned{
		"in an error":  {status: 400, body: `{"status":false,"message":"unreadable invoice","data":{"request_id":"RD-1","status":"failed","error_code":"analysis_failed"}}`},
		"in a success": ok(`{"request_id":"RD-1","status":"failed","failure_reason":"unreadable invoice"}`),
	} {
		record, err := connect(t, answering(answer)).Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
		failed, _ := errors.AsType[*shipping.FailedError](err)
		if record != nil || failed == nil || failed.Request.RequestID != "RD-1" || failed.Operation != shipping.OpAnalyze || !errors.Is(err, shipping.ErrRequestFailed) {
			t.Errorf("%s: %v, %v", name, record, err)
		}
	}
	_, err := connect(t, answering(canned{status: 400, body: `{"status":false,"message":"m","data":{"request_id":"RD-1","status":"failed"}}`})).
		Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
	const want = "shipping: analysis failed for request RD-1: regulatory.analyze: 400 Bad Request: m"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	wantError(t, "analysis", err, shipping.ErrInvalidRequest)
}

func TestGet_AsksOnce(t *testing.T) {
	t.Parallel()
	service := states(state("processing"))
	record, err := connect(t, service).Regulatory.Get(t.Context(), "RD-1")
	if err != nil || record.Status.Final() || service.count(http.MethodGet) != 1 {
		t.Errorf("%+v, %v", record, err)
	}
}
