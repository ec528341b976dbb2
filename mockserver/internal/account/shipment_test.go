package account

import (
	"strings"
	"testing"
)

func TestPayload_StatesWhatTheEventReports(t *testing.T) {
	t.Parallel()
	for event, status := range map[string]string{"shipment.delivered": "delivered", "shipment.updated": "confirmed"} {
		shipment := &Shipment{ShipmentID: "SH-1", Status: "confirmed"}
		if body, err := shipment.Payload(event); err != nil || !strings.Contains(string(body), `"status":"`+status+`"`) {
			t.Errorf("%s: %s, %v", event, body, err)
		}
	}
}
