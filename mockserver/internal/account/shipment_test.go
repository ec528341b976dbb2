package account

import (
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
)

func TestPayload_StatesWhatTheEventReports(t *testing.T) {
	t.Parallel()
	for event, status := range map[string]string{"shipment.delivered": "delivered", "shipment.updated": "confirmed"} {
		shipment := &Shipment{ShipmentID: "SH-1", Status: "confirmed"}
		shippingtest.Contains(t, event, shippingtest.Must(shipment.Payload(event))(t), `"status":"`+status+`"`)
	}
}
