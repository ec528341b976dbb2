// First is the program that README shows.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/shipping-go/shipping"
)

func main() {
	ctx := context.Background()
	client, err := shipping.NewClientFromEnv() // SHIPPING_SECRET_KEY, SHIPPING_BASE_URL
	if err != nil {
		log.Fatal(err)
	}

	for rate, err := range client.Rates.All(ctx, nil) { // pages are fetched ahead
		if errors.Is(err, shipping.ErrUnauthorized) {
			log.Fatal("wrong key: ", err)
		} else if err != nil {
			log.Fatal(err)
		}
		fmt.Println(rate.CarrierName, rate.Amount, rate.Currency)
	}
}
