package main

import (
	"os"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver"
)

// On a service that does not show the charge, and for a shipment that needs no document, the program must not print
// that the charge was 0.
func Example_unknownCharge() {
	server := mockserver.New(mockserver.WithDialect(&dialect.Dialect{
		Record: dialect.RecordMembers{Absent: []string{"charged_amount"}}, Time: dialect.Time{Generation: -1},
	}))
	defer server.Close()
	os.Setenv("SHIPPING_BASE_URL", server.URL)
	os.Setenv("SHIPPING_SECRET_KEY", server.SecretKey)
	os.Setenv("SHIPPING_SHIPMENT", server.Shipments()[0])
	main()
	os.Setenv("SHIPPING_SHIPMENT", "SH-MAGICMATCHNOTHING")
	main()
	// Output:
	// CUSTOMS        generated
	// FDA            generated
	// FISH-WILDLIFE  generated
	// TEXTILE        generated
	// WATCH          generated
	// the transactions of the wallet show what RD-CZUEJYRRMAIQMUZS cost
	// nothing to purchase: RD-UCOLB6KLNQMLSDJ5 is a draft
}
