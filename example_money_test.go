package shipping_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"github.com/shipping-go/shipping"
)

// Money is exact.
func ExampleAmount() {
	price, err := shipping.NewAmount(1999, 2) // 19.99
	if err != nil {
		log.Fatal(err)
	}
	quantity, err := shipping.ParseAmount("3")
	if err != nil {
		log.Fatal(err)
	}
	total, err := price.Mul(quantity)
	if err != nil {
		log.Fatal(err)
	}
	flat, err := total.Flat()
	fmt.Println(total, flat, err)
	// Output: 59.97 5997 <nil>
}

// A missing or an unreadable amount is not 0, and arithmetic on an unreadable one is an error.
func ExampleAmount_Known() {
	var rate struct{ Amount, InsuranceFee, Fee shipping.Amount }
	if err := json.Unmarshal([]byte(`{"Amount":"1,234.50","InsuranceFee":"on request"}`), &rate); err != nil {
		log.Fatal(err)
	}
	fmt.Println(rate.Amount, rate.Amount.Known())
	fmt.Println(rate.InsuranceFee, rate.InsuranceFee.Known())
	fmt.Println(rate.Fee, rate.Fee.Known())
	_, err := rate.Amount.Add(rate.InsuranceFee)
	fmt.Println(errors.Is(err, shipping.ErrAmountUnreadable))
	// Output:
	// 1234.5 true
	// unreadable false
	// 0 false
	// true
}

// A transaction with its sign, and the reasons to check it by hand.
func ExampleTransaction_Signed() {
	amount, err := shipping.ParseAmount("250.75")
	if err != nil {
		log.Fatal(err)
	}
	for _, transaction := range []shipping.Transaction{
		{TransactionID: "TR-1", Amount: amount, FlatAmount: 25075, Flow: "out", Status: "success"},
		{TransactionID: "TR-2", Amount: amount, FlatAmount: 25075, Flow: "in", Status: "pending"},
		{TransactionID: "TR-3", Amount: amount, FlatAmount: 25074, Flow: "out", Status: "success"},
	} {
		signed, err := transaction.Signed()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %s, doubt: %q\n", transaction.TransactionID, signed, transaction.Doubt())
	}
	// Output:
	// TR-1 -250.75, doubt: ""
	// TR-2 250.75, doubt: ""
	// TR-3 -250.75, doubt: "flat_amount is 25074, not the amount 250.75 times 100"
}

// Fields whose shape the specification leaves open stay as they came.
func ExampleRawJSON() {
	rate := shipping.Rate{Metadata: `{"productCode":"P","weights":[1.50,2]}`}
	var weights []shipping.Amount
	if err := rate.Metadata.Get("weights").Decode(&weights); err != nil {
		log.Fatal(err)
	}
	fmt.Println(rate.Metadata.Get("productCode").Text(), weights, rate.Breakdown.IsNull())
	// Output: P [1.5 2] true
}
