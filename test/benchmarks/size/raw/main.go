// Command raw lists rates by hand: what the other programs' sizes are compared with.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/shipping-go/shipping/test/benchmarks/raw"
)

func main() {
	address, key := os.Getenv("SHIPPING_BASE_URL"), os.Getenv("SHIPPING_SECRET_KEY")
	page, err := raw.Get[raw.Rates](context.Background(), &http.Client{}, address+"/v1/rates", key)
	if err != nil {
		log.Fatal(err)
	}
	for _, rate := range page.Data.Rates {
		fmt.Println(rate.RateID, rate.Amount, rate.Currency)
	}
}
