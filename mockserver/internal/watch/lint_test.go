package watch

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Lint knew the purchase by its name, so that no other operation that must not be repeated was watched.
func TestLint_WatchesEveryOperationThatMustNotBeRepeated(t *testing.T) {
	t.Parallel()
	const purchase, cancel = shipping.OpPurchase, "regulatory.cancel"
	type sent struct{ operation, method, path, body string }
	purchases := sent{purchase, http.MethodPost, "/purchase", `{"request_id":"RD-1"}`}
	cancels := sent{cancel, http.MethodPost, "/request/RD-1/cancel", ""}
	reads := sent{shipping.OpGetRequest, http.MethodGet, "/request/RD-1", ""}
	for name, test := range map[string]struct {
		sent []sent
		want string // the operation of the finding
	}{
		"the purchase twice":            {[]sent{purchases, purchases}, purchase},
		"another operation twice":       {[]sent{cancels, cancels}, cancel},
		"one of each":                   {[]sent{purchases, cancels}, ""},
		"twice, and read in between":    {[]sent{cancels, reads, cancels}, ""},
		"of another request":            {[]sent{cancels, {cancel, http.MethodPost, "/request/RD-2/cancel", ""}}, ""},
		"of an operation that may be":   {[]sent{{operations.RetryRequest, http.MethodPost, "/request/RD-1/retry", ""}, {operations.RetryRequest, http.MethodPost, "/request/RD-1/retry", ""}}, ""},
		"of one that names no request":  {[]sent{{cancel, http.MethodPost, "/cancel", ""}, {cancel, http.MethodPost, "/cancel", ""}}, ""},
		"the read before both of them":  {[]sent{reads, cancels, cancels}, cancel},
		"each once after a common read": {[]sent{purchases, cancels, reads, cancels}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			none := func(string) []string { return nil }
			lint := NewLint([]string{purchase, cancel}, none, none)
			at := time.Now()
			for _, one := range test.sent {
				at = at.Add(time.Second)
				r := httptest.NewRequest(one.method, one.path, nil)
				r.SetPathValue("request_id", "RD-1")
				r.Header.Set("Content-Type", "application/json")
				lint.See(&wire.Exchange{Operation: one.operation, Began: at, At: at, Request: r, Body: []byte(one.body)})
			}
			got := ""
			for _, f := range lint.All() {
				if f.Rule == journal.LintRepeatedPurchase {
					got += f.Operation
				}
			}
			if got != test.want {
				t.Errorf("the finding is about %q, want %q", got, test.want)
			}
		})
	}
}
