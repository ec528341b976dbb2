package shipping_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/shipping-go/shipping"
)

// Operations without a documented path send nothing until they are enabled, on the assumed routes or
// on those that your service has.
func ExampleWithRoute() {
	plain, server := account()
	defer server.Close()
	_, err := plain.Regulatory.Retry(context.Background(), "RD-1")
	fmt.Println(errors.Is(err, shipping.ErrInvalidRequest))

	_, err = shipping.NewClient("sk_test_1", shipping.WithBaseURL("https://api.example.com"),
		shipping.WithRoute("regulatory.retry", "POST /v1/regulatory-documents/{request_id}/again"))
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

// If a wristwatch is added to the items, the draft offers the document WATCH, with a price and a profile to fill in.
func ExampleRegulatoryService_UpdateItems() {
	client, server := account(shipping.WithProvisionalRoutes())
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
	client, server := account(shipping.WithProvisionalRoutes())
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
	client, server := account(shipping.WithProvisionalRoutes())
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
	client, server := account(shipping.WithProvisionalRoutes())
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
