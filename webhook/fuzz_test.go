package webhook_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/webhook"
)

// FuzzVerify: a signature is good for the body and the key that it was made with, and for no other. It is
// worked out here for itself.
func FuzzVerify(f *testing.F) {
	randomtest.AddInputs(f, "testdata/FuzzVerify.txt", "", []byte(nil), "")
	f.Fuzz(func(t *testing.T, signature string, body []byte, key string) {
		mac := hmac.New(sha512.New, []byte(key))
		mac.Write(body)
		made := hex.EncodeToString(mac.Sum(nil))
		if got := webhook.Sign(key, body); got != made {
			t.Errorf("signed %s, want %s", got, made)
		}
		want := key != "" && strings.EqualFold(strings.TrimSpace(signature), made)
		if err := webhook.Verify(signature, body, key); (err == nil) != want || err != nil &&
			!errors.Is(err, webhook.ErrSignature) {
			t.Errorf("%q for the signature %s under %q: %v", signature, made, key, err)
		}
		if err := webhook.Verify(" "+strings.ToUpper(made)+"\n", body, "another "+key, key, ""); (err == nil) != (key != "") {
			t.Errorf("a true signature under the second of three keys: %v", err)
		}
		for _, forged := range []error{
			webhook.Verify(made, append(bytes.Clone(body), 0), key), webhook.Verify(made, body, key+"x"),
			webhook.Verify(made, body),
			webhook.Verify(made[1:], body, key), webhook.Verify(made+made, body, key), webhook.Verify("", body, key),
		} {
			if !errors.Is(forged, webhook.ErrSignature) {
				t.Errorf("another body, key or signature is accepted: %v", forged)
			}
		}
	})
}

// FuzzReceiver: an unsigned body, or one that is not a notification, is refused; any other reaches
// the handler once, byte for byte.
func FuzzReceiver(f *testing.F) {
	randomtest.AddInputs(f, "testdata/FuzzReceiver.txt", "", "")
	f.Add(body, webhook.Sign(key, []byte(body)))
	f.Fuzz(func(t *testing.T, body, signature string) {
		var got []*webhook.Notification
		receiver := shippingtest.Must(webhook.NewReceiver(func(_ context.Context, n *webhook.Notification) error {
			got = append(got, n)
			if shipment, err := n.Shipment(); err == nil && shipment.ShipmentID == "" || err != nil &&
				!errors.Is(err, webhook.ErrNoShipment) {
				t.Errorf("the shipment is %+v, %v", shipment, err)
			}
			return nil
		}, webhook.WithKeys(key)))(t)
		genuine := webhook.Sign(key, []byte(body))
		if !strings.EqualFold(strings.TrimSpace(signature), genuine) {
			if answer := post(receiver, body, signature); answer.Code != http.StatusUnauthorized || len(got) > 0 {
				t.Fatalf("%q without its signature is answered %d and handled %d times", body, answer.Code, len(got))
			}
		}
		first, second := post(receiver, body, genuine).Code, post(receiver, body, genuine).Code
		if first != second || (first == http.StatusOK) != (len(got) == 1) || first != http.StatusOK &&
			first != http.StatusBadRequest {
			t.Fatalf("%q is answered %d, then %d, and handled %d times", body, first, second, len(got))
		}
		if len(got) == 1 && (string(got[0].Body) != body || got[0].Event == "" ||
			!strings.HasPrefix(got[0].ID, "sha256:") || !json.Valid(got[0].Body)) {
			t.Errorf("%q is handed over as %q of event %q", body, got[0].Body, got[0].Event)
		}
	})
}
