package shipping_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
)

// C24: the record that an error carries does not show the key, in whichever member the service sent it.
func TestSecrets_NoRecordOfAnErrorShowsTheKey(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"draft", "reviewing", "failed"} {
		for _, member := range []string{
			`"failure_reason":"` + testKey + `"`, `"line_items":[{"description":"` + testKey + `"}]`, `"x":{"` + testKey + `":1}`,
			`"wallet":"` + testKey + `"`, `"profiles":{"FDA":{"key":"` + testKey + `"}}`,
		} {
			synctest.Test(t, func(t *testing.T) {
				read := record(status, member)
				client := connect(t, newCounter([]canned{refusal(400, "no")}, []canned{read}))
				_, purchase := buyFDA(t.Context(), client, true)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, resume := client.Regulatory.ResumePoll(ctx, "RD-1", &shipping.AnalyzeAndPollOptions{
					Select: func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) { return nil, errors.New("no") },
				})
				_, wait := connect(t, newCounter(nil, []canned{read, refusal(400, "no")})).Regulatory.Wait(t.Context(), "RD-1", nil)
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
					if strings.Contains(text, testKey) {
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

// The texts of errors hold what the service sent on one line, and not all of it.
func TestErrors_TextsOfTheServiceAreOnOneLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		long := `a\nb` + strings.Repeat("x", 5000)
		unknown := newCounter([]canned{refusal(400, "no")}, []canned{record(long)})
		_, purchase := buyFDA(t.Context(), connect(t, unknown), false)
		_, wait := connect(t, newCounter(nil, []canned{record(long), refusal(400, "no")})).Regulatory.Wait(t.Context(), "RD-1", nil)
		priced := answering(ok(`{"request_id":"RD-1","status":"draft","available_documents":[{"document_type":"FDA","amount":1,"currency":"` + long + `"}]}`))
		budget := buyWithin(t.Context(), t, connect(t, priced), func(*shipping.RegulatoryRequest) {})
		for name, err := range map[string]error{"purchase": purchase, "wait": wait, "budget": budget} {
			if err == nil || strings.Contains(err.Error(), "\n") || len(err.Error()) > 1000 {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
