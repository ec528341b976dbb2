package conformance_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/conformance"
)

// bodyFirst refuses an empty body in the same way whether the key is right or not.
func bodyFirst(next http.Handler) http.Handler {
	return responds(http.StatusUnprocessableEntity, `{"status":false,"message":"incomplete"}`,
		func(r *http.Request, body string) bool {
			return r.Method == http.MethodPost && body == "{}" || strings.HasSuffix(r.URL.Path, "/request/RD-0")
		})(next)
}

// pointZero writes the numbers of pagination objects as a language without integers does.
func pointZero(next http.Handler) http.Handler {
	return answers(func(_ *http.Request, status int, body []byte) (int, []byte) {
		return status, pageNumber.ReplaceAll(body, []byte("$0.0"))
	})(next)
}

var pageNumber = regexp.MustCompile(`"(page|perPage|currentPage|total|pageCount|pagingCounter|prevPage|nextPage)":\d+`)

// A service that differs only in what the specification leaves open conforms. The choices that the reference server can
// make have their own test.
func TestCheck_AServiceThatUsesWhatIsLeftOpenConforms(t *testing.T) {
	t.Parallel()
	minimal := func(next http.Handler) http.Handler {
		for _, name := range []string{"status", "source", "shipment_id", "wallet", "currency", "created_at", "updated_at"} {
			next = changed(analyze, "data."+name, "")(next)
		}
		return next
	}
	for name, how := range map[string]breaking{
		"analyze returns only required members":  minimal,
		"the number of no page of webhooks is 0": reworded("/v1/webhooks", `Page":null`, `Page":0`),
		"a timestamp in basic format":            changed("/v1/rates", "data.rates.last.created_at", `"20260105T093000Z"`),
		"a timestamp without seconds":            changed("/v1/rates", "data.rates.last.created_at", `"2026-01-05T09:30Z"`),
		"page numbers with a fraction of zeros":  pointZero,
		"a country code in small letters":        changed("/v1/countries", "data.last.isoCode", `"zw"`),
		"the body is checked before the key":     bodyFirst,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t)
			report := check(t, srv, how(srv), whole()...)
			none(t, report, conformance.Fail, conformance.NotRun)
		})
	}
}
