// First is the program that README shows. It buys the documents of a shipment within a budget.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/shipping-go/shipping"
)

func buy(ctx context.Context, client *shipping.Client, shipment string) (*shipping.RegulatoryRequest, error) {
	budget, err := shipping.ParseBudget("250000.00 NGN")
	if err != nil {
		return nil, err
	}
	return client.Regulatory.AnalyzeAndPoll(ctx, &shipping.AnalyzeRequest{ShipmentID: shipment},
		&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAutomated, Budget: budget})
}

func main() {
	client, err := shipping.NewClientFromEnv() // reads SHIPPING_BASE_URL and SHIPPING_SECRET_KEY
	if err != nil {
		log.Fatal(err)
	}
	request, err := buy(context.Background(), client, os.Getenv("SHIPPING_SHIPMENT"))
	if err != nil {
		log.Fatal(err)
	}
	for _, document := range request.Documents {
		fmt.Printf("%-14s %s\n", document.DocumentType, document.Status)
	}
	switch {
	case request.Status == shipping.StatusDraft:
		fmt.Println("nothing to purchase:", request.RequestID, "is a draft")
	case !request.ChargedAmount.Known(): // not every service shows it
		fmt.Println("the transactions of the wallet show what", request.RequestID, "cost")
	default:
		fmt.Println("charged", request.ChargedAmount.StringFixed(2), request.Currency, "for", request.RequestID)
	}
}
