package shipping_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// states is a service whose request is in each of these states in turn, and stays in the last.
func states(answers ...httpmock.Responder) *shippingtest.Service {
	return shippingtest.NewRequestService([]httpmock.Responder{shippingtest.Confirmation()}, answers)
}

func TestWait_UntilCompletedOrFailed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers []httpmock.Responder
		polls   int
		status  shipping.RequestStatus
		want    error
	}{
		"completed at once":           {[]httpmock.Responder{shippingtest.Record("completed")}, 1, shipping.StatusCompleted, nil},
		"through all states":          {[]httpmock.Responder{shippingtest.Record("purchasing"), shippingtest.Record("processing"), shippingtest.Record("processing"), shippingtest.Record("completed")}, 4, shipping.StatusCompleted, nil},
		"states nobody knows":         {[]httpmock.Responder{shippingtest.Record("queued"), shippingtest.Record("under review"), shippingtest.Record("completed")}, 3, shipping.StatusCompleted, nil},
		"a draft for a moment":        {[]httpmock.Responder{shippingtest.Record("draft"), shippingtest.Record("draft"), shippingtest.Record("processing"), shippingtest.Record("completed")}, 4, shipping.StatusCompleted, nil},
		"failed":                      {[]httpmock.Responder{shippingtest.Record("processing"), shippingtest.Record("failed")}, 2, shipping.StatusFailed, shipping.ErrRequestFailed},
		"a request that vanishes":     {[]httpmock.Responder{shippingtest.Record("processing"), shippingtest.Refusal(404, "x")}, 2, shipping.StatusProcessing, shipping.ErrNotFound},
		"a key that is revoked":       {[]httpmock.Responder{shippingtest.Record("processing"), shippingtest.Refusal(401, "no")}, 2, shipping.StatusProcessing, shipping.ErrUnauthorized},
		"a proxy's page":              {[]httpmock.Responder{shippingtest.Record("processing"), httpmock.NewStringResponder(200, "<html>")}, 2, shipping.StatusProcessing, shipping.ErrUnexpectedBody},
		"a response without a record": {[]httpmock.Responder{shippingtest.Record("processing"), shippingtest.OK(`{}`)}, 2, shipping.StatusProcessing, shipping.ErrUnexpectedBody},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := states(test.answers...)
				record, err := shippingtest.NewClient(t, service).Regulatory.Wait(t.Context(), "RD-1", nil)
				if !errors.Is(err, test.want) || test.want == nil && err != nil {
					t.Errorf("error %v, want %v", err, test.want)
				}
				if record == nil || record.Status != test.status {
					t.Errorf("record %+v, want status %s", record, test.status)
				}
				if got := service.Count(""); got != test.polls {
					t.Errorf("%d polls, want %d", got, test.polls)
				}
			})
		})
	}
}

func TestWait_AFailedRequestIsReturnedWithTheReason(t *testing.T) {
	t.Parallel()
	record, err := shippingtest.NewClient(t, shippingtest.NewGoldenService(t, "request.json")).Regulatory.Wait(t.Context(), shippingtest.RequestID, nil)
	const want = "shipping: generation failed for request " + shippingtest.RequestID +
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
				record, err := shippingtest.NewClient(t, states(shippingtest.Record("draft"))).Regulatory.Wait(t.Context(), "RD-1", &shipping.PollOptions{DraftFor: test.set})
				shippingtest.WantError(t, "wait", err, shipping.ErrNotPurchased)
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

func TestWait_FailuresThatPassAreTolerated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		once := shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1})
		passing := []httpmock.Responder{
			shippingtest.Record("processing"), shippingtest.Refusal(503, "busy"), shippingtest.NoResponse(), httpmock.NewStringResponder(502, "<html>"), shippingtest.Refusal(429, "slow down"), shippingtest.Refusal(500, "oops"),
			httpmock.NewStringResponder(200, "").Delay(time.Hour), shippingtest.Record("processing"), shippingtest.Refusal(503, "busy"), shippingtest.Record("completed"),
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
		record, err := shippingtest.NewClient(t, states(passing...), once).Regulatory.Wait(t.Context(), "RD-1", options)
		if err != nil || record.Status != shipping.StatusCompleted || failed != 7 {
			t.Errorf("%+v, %v, %d failed polls", record, err, failed)
		}
	})
}

func TestWait_GivesUpAfterSoManyFailuresInARow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		once := shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1})
		service := states(shippingtest.Record("processing"), shippingtest.Refusal(503, "busy"))
		record, err := shippingtest.NewClient(t, service, once).Regulatory.Wait(t.Context(), "RD-1", &shipping.PollOptions{MaxFailures: 3})
		shippingtest.WantError(t, "wait", err, shipping.ErrServer)
		if polls := service.Count(""); polls != 1+3+1 || record == nil {
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
		service := states(shippingtest.Refusal(503, "busy").HeaderSet(http.Header{"Retry-After": {"40"}}), shippingtest.Record("completed"))
		if _, err := shippingtest.NewClient(t, service, once).Regulatory.Wait(t.Context(), "RD-1", nil); err != nil {
			t.Fatal(err)
		}
		got := service.Requests()
		if between := got[1].At.Sub(got[0].At); between < 40*time.Second {
			t.Errorf("the next poll followed after %s, the service asked for 40 s", between)
		}

		near := states(shippingtest.Refusal(503, "busy").HeaderSet(http.Header{"Retry-After": {"40"}}), shippingtest.Record("completed"))
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		started := time.Now()
		_, err := shippingtest.NewClient(t, near, once).Regulatory.Wait(ctx, "RD-1", nil)
		shippingtest.WantError(t, "wait", err, context.DeadlineExceeded, shipping.ErrServer)
		if time.Since(started) != 0 || near.Count("") != 1 {
			t.Errorf("%d polls and %s, although the service's wait outlasts the deadline", near.Count(""), time.Since(started))
		}
	})
}

func TestWait_TellsProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []string
		var next time.Duration
		started := time.Now()
		service := states(shippingtest.Record("processing"), shippingtest.Refusal(503, "busy"), shippingtest.Record("processing"), shippingtest.Record("completed"))
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
		client := shippingtest.NewClient(t, service, shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1}))
		if _, err := client.Regulatory.Wait(t.Context(), "RD-1", options); err != nil {
			t.Fatal(err)
		}
		shippingtest.Diff(t, "progress", []string{
			"polled RD-1 processing 1 false", "poll failed RD-1 processing 2 true", "polled RD-1 processing 3 false", "ended RD-1 completed 4 false",
		}, told)
		if next != 0 {
			t.Errorf("after the last poll another one is announced in %s", next)
		}
	})
}

func TestAnalyze_AFailedAnalysisCarriesItsRequest(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]httpmock.Responder{
		"in an error":  httpmock.NewStringResponder(400, `{"status":false,"message":"unreadable invoice","data":{"request_id":"RD-1","status":"failed","error_code":"analysis_failed"}}`),
		"in a success": shippingtest.OK(`{"request_id":"RD-1","status":"failed","failure_reason":"unreadable invoice"}`),
	} {
		record, err := shippingtest.NewClient(t, shippingtest.NewService(answer)).Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
		failed, _ := errors.AsType[*shipping.FailedError](err)
		if record != nil || failed == nil || failed.Request.RequestID != "RD-1" || failed.Operation != shipping.OpAnalyze || !errors.Is(err, shipping.ErrRequestFailed) {
			t.Errorf("%s: %v, %v", name, record, err)
		}
	}
	_, err := shippingtest.NewClient(t, shippingtest.NewService(httpmock.NewStringResponder(400, `{"status":false,"message":"m","data":{"request_id":"RD-1","status":"failed"}}`))).
		Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"})
	const want = "shipping: analysis failed for request RD-1: regulatory.analyze: 400 Bad Request: m"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	shippingtest.WantError(t, "analysis", err, shipping.ErrInvalidRequest)
}
