package promises_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/internal/redact"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/webhook"
)

var secretKey = redact.New(shippingtest.Key)

// leaks reports whether a text shows the key, or a part of it, in any notation.
func leaks(text string) bool { return secretKey.In(text) }

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

// keyHolders are values of each exported type that can hold a key, by package and name: the key is shippingtest.Key or,
// of the reference server, its own.
func keyHolders(t *testing.T) (holders map[string]any, keys []redact.Key) {
	t.Helper()
	client := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(`{}`)))
	receiver := shippingtest.Must(webhook.NewReceiver(func(context.Context, *webhook.Notification) error { return nil },
		webhook.WithKeys(shippingtest.Key, shippingtest.Key+"2")))(t)
	t.Cleanup(func() { _ = receiver.Close(context.WithoutCancel(t.Context())) })
	server := mockserver.New(mockserver.WithoutListener(), mockserver.WithScenario("empty"))
	t.Cleanup(server.Close)
	serverClient := server.Client(t)
	if err := serverClient.Do(t.Context(), "GET", "/v1/"+server.SecretKey, nil, nil, nil); err == nil {
		t.Fatal("a path that is a key exists")
	}
	for range serverClient.Rates.All(t.Context(), nil) {
		break
	}
	refusing := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.Refusal(401, shippingtest.Key)))
	echoed := shippingtest.ErrorIn(t, shippingtest.Err(refusing.Rates.List(t.Context(), nil)))
	holders = map[string]any{
		"shipping.Client":     client,
		"shipping.Option":     []shipping.Option{shipping.WithBaseURL(shippingtest.BaseURL), shipping.WithHTTPClient(nil)},
		"shipping.CallOption": shipping.WithHeader("X-Key", shippingtest.Key),
		"shipping.Error":      echoed,
		"webhook.Receiver":    receiver,
		"webhook.Option":      webhook.WithKeys(shippingtest.Key),
		"webhook.Handler":     webhook.Handler(func(context.Context, *webhook.Notification) error { return nil }),
		"mockserver.Server":   server,
		"mockserver.World":    server.World,
		"mockserver.Option":   mockserver.WithSeed(1),
		"journal.Entry":       server.Journal(),
		"conformance.Option":  conformance.WithSecretKey(shippingtest.Key),
	}
	maps.Copy(holders, services(client))
	return holders, []redact.Key{secretKey, redact.New(server.SecretKey)}
}

// services returns the services of a client, by package and name of their types.
func services(client *shipping.Client) map[string]any {
	found := map[string]any{}
	for field, value := range reflect.ValueOf(client).Elem().Fields() {
		if field.IsExported() {
			found[field.Type.String()] = value.Interface()
		}
	}
	return found
}

// placesOf puts a holder where a program may have one.
func placesOf(holder any) map[string]any {
	return map[string]any{
		"itself":                  holder,
		"in a pointer":            &holder,
		"in an exported field":    struct{ Holder any }{holder},
		"in an unexported field":  struct{ holder any }{holder},
		"in a slice":              []any{holder},
		"in a map":                map[string]any{"holder": holder},
		"in a pointer to a slice": &[]any{holder},
		"in a panic":              panicOf(holder),
		"in a panic of a struct":  panicOf(&struct{ holder any }{holder}),
	}
}

// No verb, encoder or log shows the key of a type that holds one, wherever a value of the type stands.
func TestSecrets_NoPrintedTypeShowsItsKey(t *testing.T) {
	t.Parallel()
	holders, keys := keyHolders(t)
	for name, holder := range holders {
		for where, value := range placesOf(holder) {
			texts := printed(value)
			for how, text := range texts {
				if slices.ContainsFunc(keys, func(key redact.Key) bool { return key.In(text) }) {
					t.Errorf("%s %s, with %s, shows its key: %.300s", name, where, how, text)
				}
			}
		}
	}
}

var printVerbs = []string{
	"%v", "%+v", "%#v", "%s", "%+s", "%q", "%+q", "%#q", "%x", "%X", "% " +
		"x", "%#x", "%d", "%b", "%o", "%c", "%U", "%e", "%g", "%t", "%T", "%p", "%w", "%10.3v",
}

// printed is a value under all verbs, in logs and as JSON.
func printed(value any) map[string]string {
	texts := map[string]string{"Sprint": fmt.Sprint(value)}
	for _, verb := range printVerbs {
		texts[verb] = fmt.Sprintf(verb, value)
	}
	if data, err := json.Marshal(value); err == nil {
		texts["JSON"] = string(data)
	} else {
		texts["JSON"] = err.Error()
	}
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"slog text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"slog JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var out bytes.Buffer
		slog.New(handler(&out)).With("with", value).Info("m", "holder", value, slog.Group("g", "holder", value))
		texts[name] = out.String()
	}
	return texts
}
