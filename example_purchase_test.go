package shipping_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// From a shipment to its documents, within a budget.
func ExampleRegulatoryService_AnalyzeAndPoll() {
	client, _ := account()
	budget, err := shipping.ParseBudget("250000.00 NGN")
	if err != nil {
		log.Fatal(err)
	}

	request, err := client.Regulatory.AnalyzeAndPoll(context.Background(),
		&shipping.AnalyzeRequest{ShipmentID: shipment},
		&shipping.AnalyzeAndPollOptions{
			Select: shipping.SelectAutomated, // without Select nothing is bought
			Budget: budget,                   // checked against the most that the draft can cost
		})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(request.Status, request.Documents[0].DocumentType, request.Documents[0].Status)
	// Output: completed FDA generated
}

// The documents that a shipment needs, with prices and reasons. Nothing is charged.
func ExampleRegulatoryService_Analyze() {
	client, _ := account()

	draft, err := client.Regulatory.Analyze(context.Background(), &shipping.AnalyzeRequest{ShipmentID: shipment})
	if err != nil {
		log.Fatal(err)
	}
	for _, document := range draft.AvailableDocuments {
		reason := document.Reasons[0]
		fmt.Println(document.DocumentType, document.Amount, document.Currency, reason.Rule, reason.Match)
	}
	// Output:
	// FDA 18450.5 NGN hs_prefix 2106
	// CUSTOMS 0 NGN cross_border CN-US
}

// The connection breaks after the wallet was charged: the client reads the request back and reports
// the charge. The purchase is never sent twice.
func ExampleRegulatoryService_Purchase() {
	client, service := account()
	service.LosesPurchase = true
	ctx := context.Background()
	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: shipment})
	if err != nil {
		log.Fatal(err)
	}

	bought, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
		RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{"FDA", "CUSTOMS"}, Draft: draft,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("charged, found by reading back:", bought.ReadBack)
	// Output: charged, found by reading back: true
}

// One error answers every question about a regulatory request: was the wallet charged, at which step did it end, what
// is to be stored, and why. A program that handles every outcome:
func ExampleRegulatoryError() {
	buy := func(client *shipping.Client) {
		_, err := client.Regulatory.AnalyzeAndPoll(context.Background(), &shipping.AnalyzeRequest{ShipmentID: shipment},
			&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAutomated})
		failed, ok := errors.AsType[*shipping.RegulatoryError](err)
		switch {
		case err == nil:
			fmt.Println("done")
		case !ok:
			fmt.Println("nothing was created:", errors.Is(err, shipping.ErrNotFound))
		case failed.Outcome == shipping.OutcomeUnknown:
			fmt.Println("store, and settle later:", failed.Purchase.RequestID)
		case failed.Outcome == shipping.OutcomeNotCharged:
			fmt.Println("not charged, ended at", failed.Step, errors.Is(err, shipping.ErrRequestFailed))
		case errors.Is(err, shipping.ErrRequestFailed):
			fmt.Println("charged, and the generation failed:", failed.Request.Status)
		default: // charged, or purchased before
			fmt.Println("wait for the documents of", failed.RequestID)
		}
	}
	draft := shippingtest.Record("draft",
		`"available_documents":[{"document_type":"FDA","mode":"automated","amount":5,"currency":"NGN"}]`)
	failed := shippingtest.Record("failed")
	buy(clientOf(shippingtest.NewAccount()))
	buy(clientOf(shippingtest.NewService(failed)))
	buy(clientOf(shippingtest.NewService(draft, shippingtest.Confirmation(), failed)))
	buy(clientOf(shippingtest.NewService(shippingtest.Refusal(404, "unknown shipment"))))
	// Output:
	// done
	// not charged, ended at analyzed true
	// charged, and the generation failed: failed
	// nothing was created: true
}

// If the evidence does not show whether the wallet was charged, the error reports an unknown outcome. SettlePurchase
// settles it later, and only reads. The example is not run: the purchase is read for 10 seconds, and then for a minute.
func ExampleRegulatoryService_SettlePurchase() {
	client, _ := account()
	ctx := context.Background()

	_, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
		RequestID: "RD-A1B2C3D4E5F6G7H8", DocumentTypes: []shipping.DocumentType{"CUSTOMS"},
	})
	unclear, ok := errors.AsType[*shipping.RegulatoryError](err)
	if !ok || unclear.Outcome != shipping.OutcomeUnknown {
		log.Fatal(err)
	}

	bought, err := client.Regulatory.SettlePurchase(ctx, unclear.Purchase)
	if verdict, ok := errors.AsType[*shipping.RegulatoryError](err); ok {
		fmt.Println("settled:", verdict.Outcome)
	} else if err == nil {
		fmt.Println("settled: charged", bought.TransactionID)
	}
}

// Another process continues from the request's id alone.
func ExampleRegulatoryService_Resume() {
	client, _ := account()
	ctx := context.Background()
	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: shipment})
	if err != nil {
		log.Fatal(err)
	}

	request, err := client.Regulatory.Resume(ctx, draft.RequestID,
		&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAutomated})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(request.Status)
	// Output: completed
}

// A generation that failed: the record is there together with the error.
func ExampleRegulatoryService_Wait() {
	failed := shippingtest.Record("failed",
		`"documents":[{"document_type":"TEXTILE","status":"failed","failure":"no fibre percentages"}]`)
	client := clientOf(shippingtest.NewService(failed))

	request, err := client.Regulatory.Wait(context.Background(), "RD-1", nil)
	fmt.Println(request.Status, errors.Is(err, shipping.ErrRequestFailed))
	for _, document := range request.Documents {
		fmt.Println(document.DocumentType, document.Status, document.Failure)
	}
	// Output:
	// failed true
	// TEXTILE failed no fibre percentages
}

// Operations without a documented path send nothing until they are enabled, on the routes of a
// dialect.
func ExampleWithDialect() {
	plain, _ := account()
	_, err := plain.Regulatory.Retry(context.Background(), "RD-1")
	fmt.Println(errors.Is(err, shipping.ErrInvalidRequest))

	_, err = shipping.NewClient("sk_test_1", shipping.WithBaseURL("https://api.example.com"),
		shipping.WithDialect(&dialect.Dialect{Routes: map[string]string{
			"regulatory.retry": "POST /v1/regulatory-documents/{request_id}/again",
		}}))
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

// An item is added to those of a draft. The response has the documents that the items need now.
func ExampleRegulatoryService_UpdateItems() {
	client, _ := account(shippingtest.WithRoutes())
	ctx := context.Background()
	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: shipment})
	if err != nil {
		log.Fatal(err)
	}
	price, err := shipping.ParseAmount("89.50")
	if err != nil {
		log.Fatal(err)
	}

	draft, err = client.Regulatory.UpdateItems(ctx, draft.RequestID, append(draft.LineItems, shipping.LineItem{
		Description: "Quartz wristwatch", HSCode: "910211", Quantity: 1, UnitPrice: price, Currency: "USD",
	}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(draft.Status, len(draft.AvailableDocuments), "documents")
	// Output: draft 2 documents
}
