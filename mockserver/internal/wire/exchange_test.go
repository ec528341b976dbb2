package wire

import (
	"net/http"
	"net/url"
	"testing"
)

// A fault changes the query that the handler receives, and not the request that the journal records.
func TestExchange_QueryIsTheExchangesOwn(t *testing.T) {
	t.Parallel()
	x := Exchange{Request: &http.Request{URL: &url.URL{RawQuery: "page=2&perPage=%zz"}}}
	x.Query().Set("page", "7")
	if got := x.Query().Get("page"); got != "7" || x.Query().Has("perPage") || x.URL.RawQuery != "page=2&perPage=%zz" {
		t.Errorf("page is %q, and the query of the request %q", got, x.URL.RawQuery)
	}
}
