package promises_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// The record that an error carries does not contain the key, in whichever member the service sent it.
func TestSecrets_NoRecordOfAnErrorShowsTheKey(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"draft", "reviewing", "failed"} {
		for _, member := range []string{
			`"failure_reason":"` + shippingtest.Key + `"`, `"line_items":[{"description":"` + shippingtest.Key + `"}]`, `"x":{"` + shippingtest.Key + `":1}`,
			`"wallet":"` + shippingtest.Key + `"`, `"profiles":{"FDA":{"key":"` + shippingtest.Key + `"}}`,
		} {
			synctest.Test(t, func(t *testing.T) {
				read := shippingtest.Record(status, member)
				client := shippingtest.NewClient(t, shippingtest.NewRequestService([]httpmock.Responder{shippingtest.Refusal(400, "no")}, []httpmock.Responder{read}))
				_, purchase := shippingtest.Purchase(t.Context(), client, true)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, resume := client.Regulatory.Resume(ctx, "RD-1", &shipping.AnalyzeAndPollOptions{
					Select: func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) { return nil, errors.New("no") },
				})
				_, wait := shippingtest.NewClient(t, shippingtest.NewRequestService(nil, []httpmock.Responder{read, shippingtest.Refusal(400, "no")})).Regulatory.Wait(t.Context(), "RD-1", nil)
				for name, err := range map[string]error{"purchase": purchase, "resume": resume, "wait": wait} {
					if err == nil {
						continue
					}
					encoded, _ := json.Marshal(err)
					text := fmt.Sprintf("%v %+v %#v %s", err, err, err, encoded)
					for _, carried := range carriedRecords(err) {
						text += fmt.Sprintf("%+v", *carried)
						if carried.RequestID != "RD-1" || string(carried.Status) != status {
							t.Errorf("%s: the error carries %+v", name, carried)
						}
					}
					if strings.Contains(text, shippingtest.Key) {
						t.Errorf("%s, %s, %s: the key is shown", name, status, member)
					}
				}
			})
		}
	}
}

// carriedRecords returns the records in an error.
func carriedRecords(err error) []*shipping.RegulatoryRequest {
	var all []*shipping.RegulatoryRequest
	if e, ok := errors.AsType[*shipping.PurchaseError](err); ok && e.Request != nil {
		all = append(all, e.Request)
	}
	if e, ok := errors.AsType[*shipping.StepError](err); ok && e.Request != nil {
		all = append(all, e.Request)
	}
	if e, ok := errors.AsType[*shipping.FailedError](err); ok {
		all = append(all, e.Request)
	}
	return all
}
