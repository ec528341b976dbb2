package signature_test

import (
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/signature"
)

// Interoperability: the signatures of a known payload were computed with other programs
// (openssl dgst -sha512 -hmac, and hmac of Python).
func TestSign_OfOtherPrograms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		dialect, secret, sign, timestamp string
	}{
		{"", "sk_test_key", "c388077c8cc0634cd0d560a65fe67e119277e6d50feaa7342ad96348ba11f2ba" +
			"8d9f4c24a5df885d7ea3d61b0f210bc9519ec9444f4226c3dac12398876bd6b9", ""},
		{"standard-webhooks", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
			"v1,OMJUMaqVBp8lv/VAG7GCAtqOQMhVmmDKIr2jAdqUjoQ=", "1614265330"},
	} {
		scheme := signature.Of(shippingtest.Dialect(t, test.dialect))
		key := shippingtest.Must(scheme.Decode(test.secret))(t)
		sign, timestamp := scheme.Sign(key, "WD-1", time.Unix(1614265330, 0), []byte(`{"event":"shipment.created"}`))
		if sign != test.sign || timestamp != test.timestamp {
			t.Errorf("got %s at %q, want %s at %q", sign, timestamp, test.sign, test.timestamp)
		}
	}
}
