package doctor

import "fmt"

// shipmentID is the identifier of the shipment of an examination.
func shipmentID(number int) string { return fmt.Sprintf("SH-DOCTOR%010d", number) }

// notification returns the body of a delivery: an event and the shipment at that time.
//
// Assumption: its shape is that of the reference server's deliveries.
func notification(event string, number int) []byte {
	status, day := "in-transit", 2
	switch event {
	case "shipment.created":
		status, day = "pending", 1
	case "shipment.delivered":
		status, day = "delivered", 3
	}
	updated := fmt.Sprintf("2026-01-%02dT09:30:00.000Z", day)
	return fmt.Appendf(nil, `{"event":%q,"data":{"shipment_id":%q,"status":%q,"amount":136,"currency":"USD",`+
		`"address_from":{"city":"Lagos","country":"NG"},"address_to":{"city":"Houston","country":"US"},`+
		`"events":[{"created_at":%[4]q,"description":"Examined by the doctor","location":"Lagos","status":%[3]q}],`+
		`"created_at":"2026-01-01T09:30:00.000Z","updated_at":%[4]q}}`, event, shipmentID(number), status, updated)
}
