package batch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

// brokenJournal is a journal that cannot write the records of one item before its purchase, after a delay.
type brokenJournal struct {
	batch.Journal
	key   string
	after time.Duration
}

var errDisk = errors.New("the disk is broken")

func (j brokenJournal) Claim(ctx context.Context, key string) (batch.Claim, error) {
	claim, err := j.Journal.Claim(ctx, key)
	return brokenClaim{claim, j}, err
}

type brokenClaim struct {
	batch.Claim
	journal brokenJournal
}

func (c brokenClaim) Append(ctx context.Context, record batch.Record, budget *shipping.Budget) (shipping.Amount, error) {
	if record.Key == c.journal.key && record.Step == batch.StepPurchasing {
		time.Sleep(c.journal.after)
		return shipping.Amount{}, errDisk
	}
	return c.Claim.Append(ctx, record, budget)
}

// A *StepError names the step before the purchase that failed. The errors of the purchase and of the journal have other types.
func TestBatch_ErrorsNameTheStepThatFailed(t *testing.T) {
	t.Parallel()
	errOwn := errors.New("not this one")
	fails := func(context.Context, *shipping.RegulatoryRequest) error { return errOwn }
	for name, test := range map[string]struct {
		options batch.Options
		fault   purchaseFault
		step    string
		err     error
	}{
		"edit":               {batch.Options{Edit: fails, Select: shipping.SelectAll}, purchaseFault{}, "edited", errOwn},
		"edit, nothing else": {batch.Options{Edit: fails}, purchaseFault{}, "edited", errOwn},
		"select": {batch.Options{Select: func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) { return nil, errOwn }},
			purchaseFault{}, "selected", errOwn},
		"budget":   {batch.Options{Select: shipping.SelectAll, Budget: nairaBudget(t, "99")}, purchaseFault{}, "selected", shipping.ErrOverBudget},
		"journal":  {batch.Options{Select: shipping.SelectAll, Journal: brokenJournal{batch.Memory(), "SH-1", 0}}, purchaseFault{}, "", errDisk},
		"purchase": {batch.Options{Select: shipping.SelectAll}, purchaseFault{Refuse: true}, "", shipping.ErrInvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := &walletService{purchase: func(int) purchaseFault { return test.fault }}
				report, _ := batch.Run(t.Context(), walletClient(t, service), walletItems(1), &test.options)
				err := report.Results[0].Err
				if !errors.Is(err, test.err) {
					t.Fatalf("%v, want %v", err, test.err)
				}
				step := string("")
				if failed, ok := errors.AsType[*shipping.StepError](err); ok {
					step = failed.Step
				}
				if step != test.step {
					t.Errorf("the step is %q, want %q: %v", step, test.step, err)
				}
			})
		})
	}
}

// A purchase that succeeds after the journal has failed for another item is not reported as an item that was stopped before its purchase.
func TestBatch_APurchaseSurvivesTheFailureOfTheJournalForAnotherItem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := &walletService{purchase: func(int) purchaseFault { return purchaseFault{Takes: 10 * time.Second} }}
		journal := brokenJournal{batch.Memory(), "SH-2", 5 * time.Second}
		report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(2), &batch.Options{Concurrency: 2, Select: shipping.SelectAll, Journal: journal})
		if !errors.Is(err, errDisk) {
			t.Errorf("the batch ends with %v", err)
		}
		if got := report.Results[0]; got.Err != nil || got.State != batch.StateCompleted {
			t.Errorf("%s, %v", got.State, got.Err)
		}
		if _, purchases := service.total(); purchases != 1 {
			t.Errorf("%d purchases", purchases)
		}
	})
}

// The error of a request that was purchased while the batch edited it stated that nothing was purchased.
func TestBatch_AnItemThatWasPurchasedDuringItsEdit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := walletClient(t, &walletService{})
		report, err := batch.Run(t.Context(), client, walletItems(1), &batch.Options{
			Select: shipping.SelectAll,
			Edit: func(ctx context.Context, draft *shipping.RegulatoryRequest) error {
				_, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{"CUSTOMS"}})
				return err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(report.Results[0].Err); strings.Contains(text, "nothing was purchased") || !strings.Contains(text, "purchased outside this batch") {
			t.Error(text)
		}
	})
}
