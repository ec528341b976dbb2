package batch_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/batchtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// A batch that runs again remembers that the service refused a purchase. It took the record of another client's purchase
// for its own, and reported the item as completed with money that the ledger did not show.
func TestBatch_ARefusedPurchaseIsNeverCompletedLater(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]string{
		"refused":      `{"status":false,"message":"not a draft"}`,
		"contradicted": `{"status":false,"message":"not a draft","data":{"request_id":"RD-1","status":"completed"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				status := "draft"
				service := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
					if strings.HasSuffix(r.URL.Path, "/purchase") {
						status = "completed" // another client was faster, with other documents, and the record lists none
						return httpmock.NewStringResponse(400, refusal), nil
					}
					return shippingtest.Record(status, `"available_documents":[{"document_type":"FDA","amount":100,"currency":"NGN"}]`)(r)
				})
				journal := newMemoryJournal(t)
				options := batch.Options{Select: shipping.SelectAll, Budget: nairaBudget(t, "250"), Journal: journal}
				for run := range 3 {
					report, err := batch.Run(t.Context(), shippingtest.NewClient(t, service), []batch.Item{{Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-1"}}}, &options)
					if err != nil {
						t.Fatal(err)
					}
					if got := report.Results[0]; got.State != batch.StateUnknown || report.Committed != shippingtest.Amount(t, "100") {
						t.Errorf("run %d: %+v, %s committed", run+1, got, report.Committed)
					}
				}
				if last := journal.last("SH-1"); last.Purchase == nil || !last.Purchase.Refused || last.Purchase.Contradicted != (name == "contradicted") {
					t.Errorf("the journal holds %+v", last)
				}
				if n := service.Count(http.MethodPost); n != 2 {
					t.Errorf("%d requests that change something, want the analysis and the purchase", n)
				}
			})
		})
	}
}

// A draft that shows a charge is not purchased by a new item, nor by one that an earlier run analyzed: it may have been
// purchased already.
func TestBatch_ADraftThatShowsAPurchaseIsNotPurchased(t *testing.T) {
	t.Parallel()
	for name, members := range map[string]string{"a transaction": `"transaction_id":"TX-1"`, "a charge": `"charged_amount":100`} {
		for which, records := range map[string][]batch.Record{
			"a new item":       nil,
			"an analyzed item": {{Key: "SH-1", Step: batch.StepAnalyzed, RequestID: "RD-1"}},
		} {
			synctest.Test(t, func(t *testing.T) {
				service := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
					if strings.HasSuffix(r.URL.Path, "/purchase") {
						t.Error("a purchase was sent")
					}
					return shippingtest.Record("draft", members, `"available_documents":[{"document_type":"FDA","amount":100,"currency":"NGN"}]`)(r)
				})
				report, err := batch.Run(t.Context(), shippingtest.NewClient(t, service), []batch.Item{{Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-1"}}},
					&batch.Options{Select: shipping.SelectAll, Budget: nairaBudget(t, "250"), Journal: newMemoryJournal(t, records...)})
				if err != nil {
					t.Fatal(err)
				}
				got := report.Results[0]
				if failed, ok := errors.AsType[*shipping.PurchaseError](got.Err); got.State != batch.StateError || !ok || failed.Outcome != shipping.OutcomeNotCharged || report.Committed.Sign() != 0 {
					t.Errorf("%s, %s: %+v, %s committed", which, name, got, report.Committed)
				}
			})
		}
	}
}

// A record of an earlier version, which holds only that the request was a draft, is read, and proves nothing about what
// the draft listed.
func TestRecord_OfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	var record batch.Record
	text := `{"key":"k","step":"purchasing","request_id":"RD-1","documents":["FDA"],"was_draft":true,"at":"2026-01-05T09:30:00Z"}`
	if err := json.Unmarshal([]byte(text), &record); err != nil || record.Purchase != nil || record.RequestID != "RD-1" {
		t.Errorf("%+v, %v", record, err)
	}
	if err := json.Unmarshal([]byte(strings.Replace(text, "was_draft", "were_draft", 1)), &record); err == nil {
		t.Error("a member that is not known is accepted")
	}
}

// A charge whose currency no journal can keep was never recorded: the item stayed "purchasing", in every run.
func TestBatch_AChargeInACurrencyThatCannotBeKeptIsRecorded(t *testing.T) {
	t.Parallel()
	for _, currency := range []string{`NGN\u0000`, strings.Repeat("N", 5000)} {
		synctest.Test(t, func(t *testing.T) {
			service := &walletService{purchase: func(int) purchaseFault {
				return purchaseFault{Charge: "300", Report: `"charged_amount":300,"currency":"` + currency + `"`}
			}}
			report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(1), &batch.Options{
				Select: shipping.SelectAll, Budget: nairaBudget(t, "1000"),
			})
			if err != nil || report.Count(batch.StateCompleted) != 1 || report.Committed.String() != "300" {
				t.Errorf("%.40s: committed %s, %v, %v", currency, report.Committed, report.Results[0].Err, err)
			}
		})
	}
}

// A refused purchase is settled in the run that sent it, also if the lease of its claim is too short to read the request for
// QuietFor: it stayed unknown, held the budget, and was sent once more in every run.
func TestBatch_ARefusalUnderALeaseIsSettled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/purchase") {
				return httpmock.NewStringResponse(402, `{"status":false,"message":"the wallet is empty"}`), nil
			}
			return shippingtest.Record("draft", `"available_documents":[{"document_type":"FDA","amount":100,"currency":"NGN"}]`)(r)
		})
		report, err := batch.Run(t.Context(), shippingtest.NewClient(t, service), []batch.Item{{Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-1"}}},
			&batch.Options{Select: shipping.SelectAll, Budget: nairaBudget(t, "250"), Journal: batchtest.NewJournal(108 * time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		got := report.Results[0]
		failed, ok := errors.AsType[*shipping.PurchaseError](got.Err)
		if got.State != batch.StateError || !ok || failed.Outcome != shipping.OutcomeNotCharged || !errors.Is(got.Err, shipping.ErrInsufficientFunds) || report.Committed.Sign() != 0 {
			t.Errorf("%+v, %s committed", got, report.Committed)
		}
		if n := service.Count(http.MethodPost); n != 2 {
			t.Errorf("%d requests that change something, want the analysis and the purchase", n)
		}
	})
}
