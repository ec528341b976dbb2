package shipping_test

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// flow is the whole regulatory flow against the reference server in a bubble, provisional operations
// included.
func flow(t *testing.T, tell func(t *testing.T, server *mockserver.Server, client *shipping.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := mockserver.New(mockserver.WithoutListener())
		defer server.Close()
		client, err := shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL),
			shipping.WithHTTPClient(&http.Client{Transport: server.Transport()}), shipping.WithProvisionalRoutes())
		if err != nil {
			t.Fatal(err)
		}
		tell(t, server, client)
		if err := server.Check(); err != nil {
			t.Error(err)
		}
	})
}

func offers(request *shipping.RegulatoryRequest, document shipping.DocumentType) bool {
	_, offered := request.Offer(document)
	return offered
}

func TestEditing_AWristwatchBringsWATCHAndTakesItAway(t *testing.T) {
	flow(t, func(t *testing.T, server *mockserver.Server, client *shipping.Client) {
		draft := shippingtest.Draft(t, client, "SH-MAGICCUSTOMSONLY")
		if offers(draft, shipping.DocumentWatch) || !offers(draft, shipping.DocumentCustoms) {
			t.Fatalf("offers %v", draft.AvailableDocuments)
		}
		watch := shipping.LineItem{Description: "Wristwatch", HSCode: "9102.11", Quantity: 1, UnitPrice: shippingtest.Amount(t, "120"), Currency: "USD"}
		edited, err := client.Regulatory.UpdateItems(t.Context(), draft.RequestID, append(slices.Clone(draft.LineItems), watch))
		if err != nil {
			t.Fatal(err)
		}
		document, offered := edited.Offer(shipping.DocumentWatch)
		if !offered || !document.Amount.Known() || document.Amount.Sign() <= 0 || document.Currency != edited.Currency {
			t.Errorf("WATCH is offered: %v, %+v", offered, document)
		}
		back, err := client.Regulatory.UpdateItems(t.Context(), draft.RequestID, draft.LineItems)
		if err != nil || offers(back, shipping.DocumentWatch) {
			t.Errorf("without the watch: %v, %v", back, err)
		}
	})
}

func TestEditing_EveryProblemIsNamedAtOnce(t *testing.T) {
	flow(t, func(t *testing.T, server *mockserver.Server, client *shipping.Client) {
		draft := shippingtest.Draft(t, client, server.Shipments()[0])
		_, err := client.Regulatory.UpdateProfile(t.Context(), draft.RequestID, shipping.DocumentWatch,
			map[string]any{"jewels": "many", "movement": "steam", "battery": 7, "no_such_field": 1})
		if !errors.Is(err, shipping.ErrInvalidRequest) {
			t.Fatal(err)
		}
		for _, field := range []string{"jewels", "movement", "battery", "no_such_field"} {
			if !strings.Contains(err.Error(), field) {
				t.Errorf("%s is not named: %v", field, err)
			}
		}
	})
}

// Specification: "draft: analyzed, not yet purchased, editable"; shipping is edited in the invoice flow
// only.
func TestEditing_IsRefusedOutsideDraftAndOutsideTheFlow(t *testing.T) {
	flow(t, func(t *testing.T, server *mockserver.Server, client *shipping.Client) {
		ctx := t.Context()
		draft := shippingtest.Draft(t, client, server.Shipments()[0])
		if _, err := client.Regulatory.UpdateShipping(ctx, draft.RequestID, shipping.ShippingDetails{Incoterm: "DAP"}); !errors.Is(err, shipping.ErrInvalidRequest) {
			t.Errorf("shipping in the shipment flow: %v", err)
		}
		invoice, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{FileURL: server.Invoices()[0]})
		if err != nil {
			t.Fatal(err)
		}
		edited, err := client.Regulatory.UpdateShipping(ctx, invoice.RequestID, shipping.ShippingDetails{Incoterm: "DAP"})
		if err != nil || edited.Shipping == nil || edited.Shipping.Incoterm != "DAP" {
			t.Errorf("shipping in the invoice flow: %+v, %v", edited, err)
		}
		if _, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{shipping.DocumentCustoms}, Draft: shippingtest.DraftRecord(draft.RequestID)}); err != nil {
			t.Fatal(err)
		}
		for name, edit := range map[string]func() (*shipping.RegulatoryRequest, error){
			"items": func() (*shipping.RegulatoryRequest, error) {
				return client.Regulatory.UpdateItems(ctx, draft.RequestID, draft.LineItems)
			},
			"addresses": func() (*shipping.RegulatoryRequest, error) {
				return client.Regulatory.UpdateAddresses(ctx, draft.RequestID, shipping.Addresses{Origin: draft.Addresses.Origin})
			},
			"profile": func() (*shipping.RegulatoryRequest, error) {
				return client.Regulatory.UpdateProfile(ctx, draft.RequestID, shipping.DocumentCustoms, map[string]any{"incoterm": "DAP"})
			},
			"retry": func() (*shipping.RegulatoryRequest, error) { return client.Regulatory.Retry(ctx, draft.RequestID) },
		} {
			if _, err := edit(); !errors.Is(err, shipping.ErrInvalidRequest) {
				t.Errorf("%s after the purchase: %v", name, err)
			}
		}
	})
}

// Specification: "Purchase charges the amounts already stored on the draft in available_documents. It
// does not recompute them."
func TestPurchase_ChargesTheStoredAmountThoughTheExchangeRateMoved(t *testing.T) {
	flow(t, func(t *testing.T, server *mockserver.Server, client *shipping.Client) {
		draft := shippingtest.Draft(t, client, server.Shipments()[0])
		stored, currency, err := draft.Price(shipping.DocumentCustoms, shipping.DocumentFDA)
		if err != nil {
			t.Fatal(err)
		}
		if err := server.SetExchangeRate(currency, shippingtest.Amount(t, "99999")); err != nil {
			t.Fatal(err)
		}
		bought, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{shipping.DocumentCustoms, shipping.DocumentFDA}, Draft: shippingtest.DraftRecord(draft.RequestID)})
		if err != nil || bought.ChargedAmount != stored {
			t.Errorf("charged %v, stored %v, %v", bought, stored, err)
		}
		if sum, _ := shippingtest.Debits(t, client, server.Wallets()[0]); sum != stored {
			t.Errorf("the wallet paid %s", sum)
		}
	})
}

func TestGeneration_FailsIsRetriedWithoutCostAndCompletes(t *testing.T) {
	flow(t, func(t *testing.T, server *mockserver.Server, client *shipping.Client) {
		ctx := t.Context()
		request, err := client.Regulatory.AnalyzeAndPoll(ctx, &shipping.AnalyzeRequest{ShipmentID: "SH-MAGICFAILONCE"},
			&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAutomated})
		failed, ok := errors.AsType[*shipping.FailedError](err)
		if !ok || request.Status != shipping.StatusFailed || failed.Request != request || !strings.Contains(err.Error(), request.RequestID) {
			t.Fatalf("%+v, %v", request, err)
		}
		paid, _ := shippingtest.Debits(t, client, server.Wallets()[0])
		retried, err := client.Regulatory.Retry(ctx, request.RequestID)
		if err != nil || retried.Status != shipping.StatusProcessing {
			t.Fatalf("%+v, %v", retried, err)
		}
		done, err := client.Regulatory.Wait(ctx, request.RequestID, nil)
		if err != nil || done.Status != shipping.StatusCompleted {
			t.Fatalf("%+v, %v", done, err)
		}
		for i, document := range done.Documents {
			if again := request.Documents[i].Status == "failed"; (document.Attempts == 2) != again {
				t.Errorf("%s: %d attempts, failed before: %v", document.DocumentType, document.Attempts, again)
			}
			pdf, err := client.Regulatory.PDF(ctx, done.RequestID, document.DocumentType)
			if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) {
				t.Errorf("%s: %d bytes, %v", document.DocumentType, len(pdf), err)
			}
		}
		if after, _ := shippingtest.Debits(t, client, server.Wallets()[0]); after != paid {
			t.Errorf("the retry cost %s more than %s", after, paid)
		}
	})
}

func TestGeneration_AManualDocumentWaitsForEvidence(t *testing.T) {
	flow(t, func(t *testing.T, server *mockserver.Server, client *shipping.Client) {
		const form = shipping.DocumentMSDS
		awaiting := 0
		request, err := client.Regulatory.AnalyzeAndPoll(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-MAGICNEEDEVIDENCE"},
			&shipping.AnalyzeAndPollOptions{
				Select: func(*shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
					return []shipping.DocumentType{form}, nil
				},
				Progress: func(event shipping.PollEvent) {
					if event.Step != shipping.StepPolled || event.Request.Documents[0].Status != "awaiting_evidence" {
						return
					}
					if awaiting++; awaiting == 5 {
						if err := server.SubmitEvidence(event.RequestID, form); err != nil {
							t.Error(err)
						}
					}
				},
			})
		if err != nil || awaiting != 5 || request.Status != shipping.StatusCompleted {
			t.Errorf("%+v after %d polls, %v", request, awaiting, err)
		}
	})
}

func TestPurchase_RefusalsChargeNothing(t *testing.T) {
	flow(t, func(t *testing.T, server *mockserver.Server, client *shipping.Client) {
		ctx := t.Context()
		draft := shippingtest.Draft(t, client, server.Shipments()[0])
		for name, documents := range map[string][]shipping.DocumentType{
			"not offered":    {shipping.DocumentSteel},
			"one of several": {shipping.DocumentCustoms, shipping.DocumentSteel},
		} {
			_, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: documents, Draft: shippingtest.DraftRecord(draft.RequestID)})
			refused, ok := errors.AsType[*shipping.PurchaseError](err)
			if !ok || refused.Outcome != shipping.OutcomeNotCharged || refused.Purchase.RequestID != draft.RequestID {
				t.Errorf("%s: %v", name, err)
			}
		}
		if sum, _ := shippingtest.Debits(t, client, server.Wallets()[0]); sum.Sign() != 0 {
			t.Errorf("refusals cost %s", sum)
		}
		if _, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{shipping.DocumentCustoms}, Draft: shippingtest.DraftRecord(draft.RequestID)}); err != nil {
			t.Fatal(err)
		}
		_, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{shipping.DocumentCustoms}, Draft: shippingtest.DraftRecord(draft.RequestID)})
		again, ok := errors.AsType[*shipping.PurchaseError](err)
		if !ok || again.Outcome != shipping.OutcomePurchasedBefore || !strings.Contains(err.Error(), "purchased before") {
			t.Errorf("purchased again: %v", err)
		}
		if _, count := shippingtest.Debits(t, client, server.Wallets()[0]); count[draft.RequestID] != 1 {
			t.Errorf("debited %d times", count[draft.RequestID])
		}
	})
}

func TestWait_AnHourOfPollingTakesNoTime(t *testing.T) {
	flow(t, func(t *testing.T, server *mockserver.Server, client *shipping.Client) {
		draft := shippingtest.Draft(t, client, "SH-MAGICHANGINPURCHASING")
		if _, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{shipping.DocumentCustoms}, Draft: shippingtest.DraftRecord(draft.RequestID)}); err != nil {
			t.Fatal(err)
		}
		started, polls := time.Now(), 0
		_, err := client.Regulatory.Wait(t.Context(), draft.RequestID, &shipping.PollOptions{
			Progress: func(event shipping.PollEvent) {
				if polls = event.Polls; event.Elapsed < time.Hour {
					return
				}
				server.Close() // an hour is enough
			},
			MaxFailures: 1,
		})
		if waited, ok := errors.AsType[*shipping.StepError](err); !ok || waited.Request.Status != shipping.StatusPurchasing {
			t.Errorf("%v", err)
		}
		if took := time.Since(started); took < time.Hour || polls < 100 || polls > 300 {
			t.Errorf("%d polls in %s", polls, took)
		}
	})
}
