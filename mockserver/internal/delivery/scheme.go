package delivery

import (
	"crypto/fips140"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/internal/signature"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// headers returns the headers of a delivery. The timestamp is the time of the machine, because a receiver compares it
// with its own clock. If the dialect has keys in base64, a receiver needs the secret's bytes in base64.
func headers(s signature.Scheme, secret string, out *notify.Delivery) http.Header {
	header := http.Header{"Content-Type": {"application/json"}}
	var sum, timestamp string
	id := out.ID
	if s.DeliveryID == s.EventID { // a delivery is identified by its event
		id = out.EventID
	}
	// The keys of worlds can be short.
	fips140.WithoutEnforcement(func() { sum, timestamp = s.Sign([]byte(secret), id, time.Now(), out.Payload) })
	for name, value := range map[string]string{
		s.Header: sum, s.TimestampHeader: timestamp, s.EventID: out.EventID, s.DeliveryID: id,
		signature.WebhookID: out.WebhookID,
	} {
		if name != "" && value != "" {
			header.Set(name, value)
		}
	}
	return header
}
