// First is the program that README shows.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/shipping-go/shipping"
)

func main() {
	client, err := shipping.NewClientFromEnv() // reads SHIPPING_SECRET_KEY and SHIPPING_BASE_URL
	if err != nil {
		log.Fatal(err)
	}
	page, err := client.Rates.List(context.Background(), &shipping.RateListOptions{PerPage: 10})
	if err != nil {
		log.Fatal(err)
	}
	for _, rate := range page.Items {
		fmt.Printf("%10s %s  %s\n", rate.Amount.StringFixed(2), rate.Currency, rate.CarrierName)
	}
}
