package main

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"io"
	"net/http"

	"github.com/shipping-go/shipping"
)

// notification is a delivery as the receiver read it.
type notification struct {
	event   string
	bytes   int
	verdict string
}

// receive accepts notifications whose signature is right: the HMAC-SHA512 of the raw body under the
// account's key.
func receive(key string, accepted chan<- notification) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		sum := hmac.New(sha512.New, []byte(key))
		sum.Write(body)
		signature, decodeErr := hex.DecodeString(r.Header.Get("X-Webhook-Signature"))
		var payload struct {
			Event string `json:"event"`
		}
		if err != nil || decodeErr != nil || !hmac.Equal(signature, sum.Sum(nil)) || shipping.RawJSON(body).Decode(&payload) != nil {
			http.Error(w, "not accepted", http.StatusBadRequest)
			return
		}
		select {
		case accepted <- notification{payload.Event, len(body), "valid"}:
		default: // a second one is as good as the first
		}
	})
}
