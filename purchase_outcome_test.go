package shipping_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
)

// desk is a service with one request: purchases are answered in turn, reads show the states in turn.
// The last of each goes on for ever.
func desk(purchases, states []canned) *service {
	posts, reads := 0, 0
	next := func(answers []canned, n *int) canned {
		*n++
		return answers[min(*n, len(answers))-1]
	}
	return &service{script: func(_ int, got received) canned {
		if got.Method == http.MethodPost {
			return next(purchases, &posts)
		}
		return next(states, &reads)
	}}
}

func state(status string) canned {
	return ok(`{"request_id":"RD-1","status":"` + status + `"}`)
}

var (
	lost      = canned{err: io.ErrUnexpectedEOF}
	confirmed = ok(`{"request_id":"RD-1","status":"processing","charged_amount":5,"currency":"NGN","transaction_id":"TR-1"}`)
	neverSent = canned{err: refused}
	noFunds   = refusal(400, "insufficient funds")
)

func TestPurchase_OutcomeByWhatIsReadBack(t *testing.T) {
	t.Parallel()
	type money = shipping.Outcome
	for name, test := range map[string]struct {
		purchases, states []canned
		want              money
		sent              int
	}{
		"confirmed":                                {[]canned{confirmed}, []canned{state("draft")}, shipping.OutcomeCharged, 1},
		"lost, purchasing":                         {[]canned{lost}, []canned{state("purchasing")}, shipping.OutcomeCharged, 1},
		"lost, processing":                         {[]canned{lost}, []canned{state("processing")}, shipping.OutcomeCharged, 1},
		"lost, completed":                          {[]canned{lost}, []canned{state("completed")}, shipping.OutcomeCharged, 1},
		"lost, generation failed":                  {[]canned{lost}, []canned{state("failed")}, shipping.OutcomeCharged, 1},
		"lost, draft for a while, then processing": {[]canned{lost}, []canned{state("draft"), state("draft"), state("processing")}, shipping.OutcomeCharged, 1},
		"lost, reads fail for a while":             {[]canned{lost}, []canned{refusal(503, "busy"), lost, state("processing")}, shipping.OutcomeCharged, 1},
		"lost, still a draft":                      {[]canned{lost}, []canned{state("draft")}, shipping.OutcomeUnknown, 1},
		"lost, unknown state":                      {[]canned{lost}, []canned{state("reviewing")}, shipping.OutcomeUnknown, 1},
		"lost, cannot be read":                     {[]canned{lost}, []canned{refusal(503, "busy")}, shipping.OutcomeUnknown, 1},
		"lost, vanished":                           {[]canned{lost}, []canned{refusal(404, "gone")}, shipping.OutcomeUnknown, 1},
		"never sent":                               {[]canned{neverSent}, []canned{state("processing")}, shipping.OutcomeNotCharged, 1},
		"refused, draft":                           {[]canned{noFunds}, []canned{state("draft")}, shipping.OutcomeNotCharged, 1},
		"refused, cannot be read":                  {[]canned{noFunds}, []canned{refusal(503, "busy")}, shipping.OutcomeNotCharged, 1},
		"refused, purchased before":                {[]canned{refusal(400, "not a draft")}, []canned{state("completed")}, shipping.OutcomeCharged, 1},
		"refused, its analysis had failed":         {[]canned{refusal(400, "not a draft")}, []canned{state("failed")}, shipping.OutcomeNotCharged, 1},
		"refused, its generation had failed":       {[]canned{refusal(400, "not a draft")}, []canned{ok(`{"request_id":"RD-1","status":"failed","transaction_id":"TR-1"}`)}, shipping.OutcomeCharged, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := desk(test.purchases, test.states)
				result, err := connect(t, service).Regulatory.PurchaseWith(t.Context(), &shipping.PurchaseRequest{
					RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA},
				})
				if got := outcome(result, err); got != test.want {
					t.Errorf("outcome %q, want %q (%v)", got, test.want, err)
				}
				if got := service.count(http.MethodPost); test.sent != 0 && got != test.sent {
					t.Errorf("the purchase was sent %d times, want %d", got, test.sent)
				}
				if failure, ok := errors.AsType[*shipping.PurchaseError](err); ok {
					if failure.RequestID != "RD-1" || len(failure.DocumentTypes) != 1 || failure.Err == nil {
						t.Errorf("the error does not carry what is needed: %+v", failure)
					}
				}
			})
		})
	}
}

func TestPurchase_TextsSayWhatIsKnownAndWhatToDo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for want, service := range map[string]*service{
			"shipping: purchase of request RD-1: outcome not charged: shipping: regulatory.purchase: 400 Bad Request: insufficient funds (request RD-1)":                                                                                                                                                         desk([]canned{noFunds}, []canned{state("draft")}),
			"shipping: purchase of request RD-1: outcome not charged: shipping: regulatory.purchase: no answer (request RD-1): dial tcp: connection refused; nothing was sent: check host, port and network":                                                                                                     desk([]canned{neverSent}, []canned{state("draft")}),
			"shipping: purchase of request RD-1: outcome charged: shipping: regulatory.purchase: 400 Bad Request: not a draft (request RD-1); the request was purchased before: call Regulatory.Wait to go on":                                                                                                   desk([]canned{refusal(400, "not a draft")}, []canned{state("processing")}),
			`shipping: purchase of request RD-1: outcome unknown: shipping: regulatory.purchase: no answer (request RD-1): unexpected EOF; do not purchase again: call Regulatory.SettlePurchase(ctx, "RD-1", nil) when the service answers`:                                                                     desk([]canned{lost}, []canned{state("draft")}),
			`shipping: purchase of request RD-1: outcome unknown: shipping: regulatory.purchase: 500 Internal Server Error: oops (request RD-1); shipping: regulatory.get: 404 Not Found: gone (request RD-1); do not purchase again: call Regulatory.SettlePurchase(ctx, "RD-1", nil) when the service answers`: desk([]canned{refusal(500, "oops")}, []canned{refusal(404, "gone")}),
		} {
			_, err := connect(t, service).Regulatory.Purchase(t.Context(), "RD-1", shipping.DocumentFDA)
			if err == nil || err.Error() != want {
				t.Errorf("\n got %v\nwant %s", err, want)
			}
		}
	})
}

func TestPurchase_TheDeadlineLeavesTimeToReadBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		deadline, settle, least, most time.Duration // when the purchase itself ends
	}{
		"at least three quarters for the purchase": {20 * time.Second, 10 * time.Second, 15 * time.Second, 15 * time.Second},
		"no more than the settling time is kept":   {20 * time.Second, time.Second, 19 * time.Second, 19 * time.Second},
		"an attempt's own bound":                   {10 * time.Minute, 10 * time.Second, 30 * time.Second, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := desk([]canned{{after: time.Hour, status: 200}}, []canned{state("processing")})
				ctx, cancel := context.WithTimeout(t.Context(), test.deadline)
				defer cancel()
				started := time.Now()
				result, err := connect(t, service).Regulatory.PurchaseWith(ctx, &shipping.PurchaseRequest{
					RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA}, SettleFor: test.settle,
				})
				took := time.Since(started)
				if err != nil || !result.ReadBack || took < test.least || took > test.most {
					t.Errorf("%+v, %v after %s", result, err, took)
				}
			})
		})
	}
}

func TestPurchase_AContextThatHadEndedSendsNothingAndChargesNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	service := desk([]canned{confirmed}, []canned{state("draft")})
	result, err := connect(t, service).Regulatory.Purchase(ctx, "RD-1", shipping.DocumentFDA)
	if got := outcome(result, err); got != shipping.OutcomeNotCharged || service.count("") != 0 {
		t.Errorf("outcome %q after %d requests (%v)", got, service.count(""), err)
	}
	wantError(t, "purchase", err, context.Canceled)
}

func TestPurchase_AContextThatEndsDuringThePurchaseIsUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		service := desk([]canned{{after: time.Hour, status: 200}}, []canned{state("processing")})
		result, err := connect(t, service).Regulatory.Purchase(ctx, "RD-1", shipping.DocumentFDA)
		if got := outcome(result, err); got != shipping.OutcomeUnknown {
			t.Errorf("outcome %q (%v)", got, err)
		}
		wantError(t, "purchase", err, context.Canceled)
	})
}

func TestPurchase_TheCallersDocumentsAreNotShared(t *testing.T) {
	t.Parallel()
	documents := []shipping.DocumentType{shipping.DocumentFDA}
	_, err := connect(t, desk([]canned{noFunds}, []canned{state("draft")})).Regulatory.Purchase(t.Context(), "RD-1", documents...)
	documents[0] = "changed"
	if failure, _ := errors.AsType[*shipping.PurchaseError](err); failure == nil || failure.DocumentTypes[0] != shipping.DocumentFDA {
		t.Errorf("%v", err)
	}
}

func TestSettlePurchase_OnlyReads(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		states []canned
		want   shipping.Outcome
		least  time.Duration
	}{
		"processing":            {[]canned{state("processing")}, shipping.OutcomeCharged, 0},
		"failed":                {[]canned{state("failed")}, shipping.OutcomeCharged, 0},
		"a draft that turns":    {[]canned{state("draft"), state("draft"), state("purchasing")}, shipping.OutcomeCharged, 0},
		"a draft that stays":    {[]canned{state("draft")}, shipping.OutcomeNotCharged, time.Minute},
		"unknown state":         {[]canned{state("reviewing")}, shipping.OutcomeUnknown, time.Minute},
		"a service that is out": {[]canned{refusal(503, "busy")}, shipping.OutcomeUnknown, time.Minute},
		"a draft, then outage":  {[]canned{state("draft"), refusal(503, "busy")}, shipping.OutcomeUnknown, time.Minute},
		"vanished":              {[]canned{refusal(404, "gone")}, shipping.OutcomeUnknown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := desk([]canned{confirmed}, test.states)
				started := time.Now()
				result, err := connect(t, service).Regulatory.SettlePurchase(t.Context(), "RD-1", nil)
				if got := outcome(result, err); got != test.want {
					t.Errorf("outcome %q, want %q (%v)", got, test.want, err)
				}
				if took := time.Since(started); took < test.least {
					t.Errorf("decided after %s, want at least %s", took, test.least)
				}
				if service.count(http.MethodPost) != 0 {
					t.Error("settling purchased")
				}
			})
		})
	}
}

func TestSettlePurchase_HowLongADraftMustStayCanBeSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := desk([]canned{confirmed}, []canned{state("draft")})
		started := time.Now()
		_, err := connect(t, service).Regulatory.SettlePurchase(t.Context(), "RD-1", &shipping.SettleOptions{QuietFor: time.Hour})
		const want = "shipping: purchase of request RD-1: outcome not charged: the request has stayed a draft for 1h0m0s: it can be purchased"
		if err == nil || err.Error() != want || time.Since(started) < time.Hour {
			t.Errorf("after %s: %v", time.Since(started), err)
		}
		if n := service.count(http.MethodGet); n > 100 {
			t.Errorf("%d reads in an hour", n)
		}
	})
}

func TestPurchaseWith_TheResponseIsThePurchasesAndNotTheReadBacks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var response shipping.Response
		client := connect(t, desk([]canned{refusal(503, "busy")}, []canned{state("processing")}))
		result, err := client.Regulatory.PurchaseWith(t.Context(),
			&shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA}}, shipping.WithResponse(&response))
		if err != nil || !result.ReadBack || response.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%+v, %d, %v", result, response.StatusCode, err)
		}
	})
}
