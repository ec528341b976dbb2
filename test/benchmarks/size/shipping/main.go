// Command shipping lists rates with this project's client.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/shipping-go/shipping"
)

func main() {
	// NewClientFromEnv would also contain the reader of a dialect's file.
	client, err := shipping.NewClient(os.Getenv("SHIPPING_SECRET_KEY"),
		shipping.WithBaseURL(os.Getenv("SHIPPING_BASE_URL")))
	if err != nil {
		log.Fatal(err)
	}
	page, err := client.Rates.List(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, rate := range page.Items {
		fmt.Println(rate.RateID, rate.Amount, rate.Currency)
	}
}
