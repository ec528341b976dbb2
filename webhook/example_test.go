package webhook_test

import (
	"fmt"
	"time"

	"github.com/shipping-go/shipping/webhook"
)

// A signature is checked over the bytes as they came, under any of the keys that are valid now.
func ExampleVerify() {
	body := []byte(`{"event":"shipment.updated","data":{"amount":136.0}}`)
	signature := webhook.Sign("sk_test_old", body)

	fmt.Println(webhook.Verify(signature, body, "sk_test_new", "sk_test_old"))
	fmt.Println(webhook.Verify(signature, []byte(`{"event":"shipment.updated","data":{"amount":136}}`), "sk_test_old"))
	// Output:
	// <nil>
	// webhook: the signature is missing or wrong
}

// Older news that comes late is told from newer.
func ExampleTracker() {
	var seen webhook.Tracker
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	delivered := &webhook.Shipment{ShipmentID: "SH-1", Status: webhook.ShipmentDelivered, UpdatedAt: noon}
	inTransit := &webhook.Shipment{ShipmentID: "SH-1", Status: webhook.ShipmentInTransit, UpdatedAt: noon.Add(-time.Hour)}

	fmt.Println(seen.Late(delivered), seen.Late(inTransit))
	// Output: false true
}
