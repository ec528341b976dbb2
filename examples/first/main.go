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
	for rate, err := range client.Rates.All(context.Background(), nil) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%14s %s  %s\n", rate.Amount.StringFixed(2), rate.Currency, rate.CarrierName)
	}
}
