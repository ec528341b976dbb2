package promises_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/redact"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

var secretKey = redact.New(shippingtest.Key)

// leaks reports whether a text shows the key, or a part of it, in any notation.
func leaks(text string) bool { return secretKey.In(text) }

func second[T any](_ T, err error) error { return err }

// panicOf returns the text of a panic with a client.
func panicOf(value any) (recovered any) {
	defer func() { recovered = recover() }()
	panic(value)
}

func TestSecrets_AClientPrintsItsAddress(t *testing.T) {
	t.Parallel()
	client := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(`{}`)))
	const want = "shipping.Client(https://api.service.test)"
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "client", client)
	encoded, err := json.Marshal(client)
	for name, got := range map[string]string{
		"%v": fmt.Sprintf("%v", client), "%#v": fmt.Sprintf("%#v", client),
		"JSON": strings.Trim(string(encoded), `"`), "slog": log.String(),
	} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A header pasted whole as a name, or in the wrong order, is not repeated in the error.
func TestSecrets_NoMistakeIsRepeated(t *testing.T) {
	t.Parallel()
	client := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(`{}`)))
	for _, option := range []shipping.CallOption{
		shipping.WithHeader("Authorization: Bearer "+shippingtest.Key, ""),
		shipping.WithHeader(shippingtest.Key, "X-Tenant\n"),
		shipping.WithHeader("Authorization", "Bearer "+shippingtest.Key),
	} {
		_, err := client.Rates.List(t.Context(), nil, option)
		shippingtest.WantError(t, "header", err, shipping.ErrInvalidRequest)
		if leaks(fmt.Sprintf("%v %+v %#v", err, err, err)) {
			t.Error(err)
		}
	}
}
