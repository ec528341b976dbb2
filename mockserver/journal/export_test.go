package journal_test

import (
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/journal"
)

const base = "http://127.0.0.1:4010"

// The command has every part of the request in quotes, where a shell or curl would interpret it.
// TestQuote_InARealShell runs such quotes in a shell.
func TestEntry_CurlQuotesEveryPart(t *testing.T) {
	t.Parallel()
	for want, entry := range map[string]journal.Entry{
		`curl -i -H "Authorization: Bearer $SHIPPING_SECRET_KEY" 'http://127.0.0.1:4010/v1/rates?page=2&perPage=1'`: {
			Method: "GET", Path: "/v1/rates", Query: "page=2&perPage=1", Key: "sk_test_…",
		},
		`curl -I http://127.0.0.1:4010/v1/rates`: {
			Method: "HEAD", Path: "/v1/rates",
		},
		`curl -i -X GET -H Content-Type: --data-raw 'a body' http://127.0.0.1:4010/v1/rates`: {
			Method: "GET", Path: "/v1/rates", RequestBody: "a body",
		},
		`curl -i -X OPTIONS --request-target '*' http://127.0.0.1:4010`: {
			Method: "OPTIONS", Path: "*",
		},
		`curl -i --path-as-is http://127.0.0.1:4010/v1/../x`: {
			Method: "GET", Path: "/v1/../x",
		},
		"curl -i --globoff 'http://127.0.0.1:4010/a%27b%20$%28id%29%23f?x=[1-3]&z='\\''`id`'": {
			Method: "GET", Path: "/a'b $(id)#f", Query: "x=[1-3]&z='`id`",
		},
		`curl -i -X 'A|touch' -H 'Content-Type: text/$(id)' --data-raw 'it'\''s $(touch made)' http://127.0.0.1:4010/`: {
			Method: "A|touch", Path: "/", ContentType: "text/$(id)", RequestBody: "it's $(touch made)",
		},
		"# the body had 9 bytes, of which the journal kept 7\n" +
			`printf '@file\000\033' | curl -i -X POST -H 'Content-Type: text/plain' --data-binary @- http://127.0.0.1:4010/`: {
			Method: "POST", Path: "/", ContentType: "text/plain", RequestBody: "@file\x00\x1b", RequestBytes: 9,
		},
	} {
		shippingtest.Diff(t, "command", want+"\n", entry.Curl(base))
	}
}
