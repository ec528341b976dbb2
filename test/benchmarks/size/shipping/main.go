// Command shipping lists rates with this project's client.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/shipping-go/shipping"
)

func main() {
	client, err := shipping.NewClientFromEnv()
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
