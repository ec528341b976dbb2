package delivery

import (
	"cmp"
	"crypto/fips140"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"net/http"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// Header names of a notification.
//
// Assumption: all four; the specification does not show delivery headers. A dialect has others.
const (
	HeaderSignature  = "X-Webhook-Signature"
	HeaderDeliveryID = "X-Webhook-Delivery-Id"
	HeaderEventID    = "X-Webhook-Event-Id"
	HeaderWebhookID  = "X-Webhook-Id"
)

type scheme struct {
	signature                      dialect.Signature
	deliveryID, eventID, webhookID string // names of headers; "" is one that is not sent
}

func schemeOf(n dialect.Notification) scheme {
	name := func(chosen, usual string) string {
		if chosen == "-" {
			return ""
		}
		return cmp.Or(chosen, usual)
	}
	s := scheme{n.Signature, name(n.DeliveryID, HeaderDeliveryID), name(n.EventID, HeaderEventID),
		name(n.WebhookID, HeaderWebhookID)}
	s.signature.Header = cmp.Or(s.signature.Header, HeaderSignature)
	return s
}

func (s scheme) sign(secret string, payload []byte) string {
	algorithm := sha512.New
	if s.signature.Hash == "sha256" {
		algorithm = sha256.New
	}
	return s.signature.Prefix + hexHMAC(algorithm, secret, payload)
}

func (s scheme) headers(secret string, out *notify.Delivery) http.Header {
	header := http.Header{"Content-Type": {"application/json"}}
	header.Set(s.signature.Header, s.sign(secret, out.Payload))
	for name, value := range map[string]string{s.deliveryID: out.ID, s.eventID: out.EventID, s.webhookID: out.WebhookID} {
		if name != "" {
			header.Set(name, value)
		}
	}
	return header
}

// Sign returns the signature of a payload without a dialect: HMAC-SHA512 of its bytes, in hexadecimal.
func Sign(secret string, payload []byte) string { return hexHMAC(sha512.New, secret, payload) }

func hexHMAC(algorithm func() hash.Hash, secret string, payload []byte) string {
	var mac hash.Hash
	fips140.WithoutEnforcement(func() { mac = hmac.New(algorithm, []byte(secret)) }) // the keys of worlds can be short
	mac.Write(payload)
	return hex.EncodeToString(mac.Sum(nil))
}
