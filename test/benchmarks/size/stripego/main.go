// Command stripego lists customers with stripe-go.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/stripe/stripe-go/v85"
)

func main() {
	client := stripe.NewClient(os.Getenv("STRIPE_KEY"))
	for customer, err := range client.V1Customers.List(context.Background(), nil).All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(customer.ID, customer.Balance, customer.Currency)
	}
}
