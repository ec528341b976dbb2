package mockserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
)

func TestBody_RefusedBeforeAnyRule(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithAssumptions(func(a *assumption.Set) { a.MaxBody = 2000 }))
	tests := []struct {
		name, body, contentType string
		status                  int
		want                    string
	}{
		{"too long", `{"delivery_id":"` + strings.Repeat("x", 2000) + `"}`, "application/json", 413, "longer than 2000 bytes"},
		{"a form", "delivery_id=WD-1", "application/x-www-form-urlencoded", 415, "Content-Type: application/json"},
		{"malformed type", "{}", "json;;", 415, "Content-Type: application/json"},
		{"syntax", `{"delivery_id":}`, "application/json", 400, "at byte"},
		{"cut off", `{"delivery_id":"WD`, "application/json", 400, "byte"},
		{"an array", `[]`, "application/json", 400, "not a JSON object"},
		{"null", `null`, "application/json", 400, "not a JSON object"},
		{"another type", `{"delivery_id":7}`, "application/json", 400, "delivery_id"},
		{"two objects", `{} {}`, "application/json", 400, "unexpected text after"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			do(t, srv, http.MethodPost, "/v1/webhooks/replay", test.body, "Content-Type", test.contentType).
				refusal(t, test.status, test.want)
		})
	}
}
