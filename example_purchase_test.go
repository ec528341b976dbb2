package shipping_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// From a shipment to its documents, within a budget.
func ExampleRegulatoryService_AnalyzeAndPoll() {
	client, server := account()
	defer server.Close()
	ctx, shipmentID := context.Background(), server.Shipments()[0]
	limit, err := shipping.ParseBudget("250000.00 NGN")
	if err != nil {
		log.Fatal(err)
	}

	request, err := client.Regulatory.AnalyzeAndPoll(ctx,
		&shipping.AnalyzeRequest{ShipmentID: shipmentID},
		&shipping.AnalyzeAndPollOptions{
			Select: shipping.SelectAutomated, // without Select nothing is bought
			Budget: limit,                    // checked against the most that the draft can cost
		})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(request.Status, request.Documents[0].DocumentType, request.Documents[0].Status)
	// Output: completed CUSTOMS generated
}

// Documents that cost more than the budget are not purchased. The draft is returned with the error.
func ExampleBudget() {
	client, server := account()
	defer server.Close()
	limit, err := shipping.ParseBudget("1.00 NGN")
	if err != nil {
		log.Fatal(err)
	}

	draft, err := client.Regulatory.AnalyzeAndPoll(context.Background(),
		&shipping.AnalyzeRequest{ShipmentID: server.Shipments()[0]},
		&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAutomated, Budget: limit})
	fmt.Println(draft.Status, errors.Is(err, shipping.ErrOverBudget), "purchases:", server.Requests(shipping.OpPurchase))
	// Output: draft true purchases: 0
}

// The documents that a shipment needs, with prices and reasons. Nothing is charged.
func ExampleRegulatoryService_Analyze() {
	client, server := account()
	defer server.Close()

	draft, err := client.Regulatory.Analyze(context.Background(), &shipping.AnalyzeRequest{ShipmentID: "SH-MAGICFAILONCE"})
	if err != nil {
		log.Fatal(err)
	}
	for _, document := range draft.AvailableDocuments {
		reason := document.Reasons[0]
		fmt.Println(document.DocumentType, document.Amount.Known(), reason.Rule, reason.Match)
	}
	// Output:
	// CUSTOMS true cross_border CN-US
	// LITHIUM-BATTERY true hs_prefix 850760
	// WATCH true hs_prefix 9102
}

// The connection breaks after the wallet was charged: the client reads the request back and reports
// the charge. The purchase is never sent twice.
func ExampleRegulatoryService_Purchase() {
	client, server := account()
	defer server.Close()
	ctx := context.Background()
	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: server.Shipments()[0]})
	if err != nil {
		log.Fatal(err)
	}
	lost := fault.Rule{Operation: shipping.OpPurchase, Committed: true, Fault: fault.Drop()}
	if err := server.Inject(lost); err != nil {
		log.Fatal(err)
	}

	bought, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
		RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{"CUSTOMS"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("charged, found by reading back:", bought.ReadBack)
	fmt.Println("purchases that reached the server:", server.Requests(shipping.OpPurchase))
	// Output:
	// charged, found by reading back: true
	// purchases that reached the server: 1
}

// One error answers every question about a regulatory request: was the wallet charged, at which step did it end, what is to
// be stored, and why. A program that handles every outcome:
func ExampleRegulatoryError() {
	client, server := account()
	defer server.Close()
	ctx := context.Background()
	buy := func(shipmentID string) {
		_, err := client.Regulatory.AnalyzeAndPoll(ctx, &shipping.AnalyzeRequest{ShipmentID: shipmentID},
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
	buy(server.Shipments()[0])
	buy("SH-MAGICFAILANALYSIS")
	buy("SH-MAGICFAILALWAYS")
	buy("SH-UNKNOWN")
	// Output:
	// done
	// not charged, ended at analyzed true
	// charged, and the generation failed: failed
	// nothing was created: true
}

// If the evidence does not show whether the wallet was charged, the error reports an unknown outcome. SettlePurchase
// settles it later, and only reads. The example is not run: the purchase is read for 10 seconds, and then for a minute.
func ExampleRegulatoryError_settle() {
	client, server := account()
	defer server.Close()
	ctx := context.Background()
	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: server.Shipments()[0]})
	if err != nil {
		log.Fatal(err)
	}
	if err := server.Inject(fault.Rule{Operation: shipping.OpPurchase, Fault: fault.Drop()}); err != nil {
		log.Fatal(err)
	}

	_, err = client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
		RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{"CUSTOMS"},
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
	client, server := account()
	defer server.Close()
	ctx := context.Background()
	options := &shipping.AnalyzeAndPollOptions{Select: shipping.SelectAutomated}
	poll := fault.Rule{Operation: shipping.OpGetRequest, First: 1, Fault: fault.Status(404, nil)}
	if err := server.Inject(poll); err != nil {
		log.Fatal(err)
	}

	_, err := client.Regulatory.AnalyzeAndPoll(ctx, &shipping.AnalyzeRequest{ShipmentID: server.Shipments()[0]}, options)
	failure, ok := errors.AsType[*shipping.RegulatoryError](err)
	if !ok {
		log.Fatal(err)
	}
	fmt.Println("after", failure.Step)
	request, err := client.Regulatory.Resume(ctx, failure.RequestID, options)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(request.Status, "purchases:", server.Requests(shipping.OpPurchase))
	// Output:
	// after polled
	// completed purchases: 1
}

// A generation that failed: the record is there together with the error.
func ExampleRegulatoryService_Wait() {
	client, server := account()
	defer server.Close()
	ctx := context.Background()
	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: "SH-MAGICFAILALWAYS"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{"WATCH"}}); err != nil {
		log.Fatal(err)
	}

	request, err := client.Regulatory.Wait(ctx, draft.RequestID, nil)
	fmt.Println(request.Status, errors.Is(err, shipping.ErrRequestFailed))
	for _, document := range request.Documents {
		fmt.Println(document.DocumentType, document.Status, document.Failure != "")
	}
	// Output:
	// failed true
	// WATCH failed true
}

// Operations without a documented path send nothing until they are enabled, on the routes of a
// dialect.
func ExampleWithDialect() {
	plain, server := account()
	defer server.Close()
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

// If a wristwatch is added to the items, the draft offers the document WATCH, with a price and a profile to fill in.
func ExampleRegulatoryService_UpdateItems() {
	client, server := account(shipping.WithDialect(&dialect.Dialect{Routes: dialect.Reference().Routes}))
	defer server.Close()
	ctx := context.Background()
	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: "SH-MAGICCUSTOMSONLY"})
	if err != nil {
		log.Fatal(err)
	}
	_, offered := draft.Offer("WATCH")
	fmt.Println("WATCH before:", offered)

	price, err := shipping.ParseAmount("89.50")
	if err != nil {
		log.Fatal(err)
	}
	items := append(draft.LineItems, shipping.LineItem{Description: "Quartz wristwatch", HSCode: "910211", Quantity: 1, UnitPrice: price, Currency: "USD"})
	draft, err = client.Regulatory.UpdateItems(ctx, draft.RequestID, items)
	if err != nil {
		log.Fatal(err)
	}
	watch, offered := draft.Offer("WATCH")
	fmt.Println("WATCH after:", offered, watch.ProfileFields[0].Name, watch.ProfileFields[0].Type)
	// Output:
	// WATCH before: false
	// WATCH after: true case_material string
}

// The profile of a document holds the fields that a shipment does not have.
func ExampleRegulatoryService_UpdateProfile() {
	client, server := account(shipping.WithDialect(&dialect.Dialect{Routes: dialect.Reference().Routes}))
	defer server.Close()
	ctx := context.Background()
	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: server.Shipments()[0]})
	if err != nil {
		log.Fatal(err)
	}
	draft, err = client.Regulatory.UpdateProfile(ctx, draft.RequestID, "CUSTOMS",
		map[string]string{"incoterm": "DAP", "reason_for_export": "sale"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(draft.Profiles["CUSTOMS"].Get("incoterm").Text())
	// Output: DAP
}

// Retry generates failed documents again. It costs nothing.
func ExampleRegulatoryService_Retry() {
	client, server := account(shipping.WithDialect(&dialect.Dialect{Routes: dialect.Reference().Routes}))
	defer server.Close()
	ctx := context.Background()
	request, err := client.Regulatory.AnalyzeAndPoll(ctx, &shipping.AnalyzeRequest{ShipmentID: "SH-MAGICFAILONCE"},
		&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAutomated})
	if !errors.Is(err, shipping.ErrRequestFailed) {
		log.Fatal(err)
	}

	if _, err := client.Regulatory.Retry(ctx, request.RequestID); err != nil {
		log.Fatal(err)
	}
	if request, err = client.Regulatory.Wait(ctx, request.RequestID, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(request.Status)
	// Output: completed
}

// The PDF of a generated document. The operation has no documented path, so it has to be enabled.
func ExampleRegulatoryService_PDF() {
	client, server := account(shipping.WithDialect(&dialect.Dialect{Routes: dialect.Reference().Routes}))
	defer server.Close()
	ctx := context.Background()

	request, err := client.Regulatory.AnalyzeAndPoll(ctx, &shipping.AnalyzeRequest{ShipmentID: server.Shipments()[0]},
		&shipping.AnalyzeAndPollOptions{Select: shipping.SelectOnly("CUSTOMS")})
	if err != nil {
		log.Fatal(err)
	}
	pdf, err := client.Regulatory.PDF(ctx, request.RequestID, "CUSTOMS")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(pdf[:5]), len(pdf) > 1000) // write it with os.WriteFile
	// Output: %PDF- true
}

// The state of a regulatory request, and its documents.
func ExampleRegulatoryService_Get() {
	client, server := account()
	defer server.Close()
	ctx := context.Background()

	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: server.Shipments()[3]})
	if err != nil {
		log.Fatal(err)
	}
	request, err := client.Regulatory.Get(ctx, draft.RequestID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(request.Status)
	for _, offer := range request.AvailableDocuments {
		fmt.Println(offer.DocumentType, offer.Amount.StringFixed(2), offer.Currency)
	}
	// Output:
	// draft
	// CUSTOMS 5904.16 NGN
	// FDA 17712.48 NGN
}
