package shipping_test

import (
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
