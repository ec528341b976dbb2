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
		"analyze returns only the required members": minimal,
		"the number of no page is 0 among webhooks": reworded("/v1/webhooks", `Page":null`, `Page":0`),
		"a timestamp in the basic format":           changed("/v1/rates", "data.rates.0.created_at", `"20260105T093000Z"`),
		"a timestamp without seconds":               changed("/v1/rates", "data.rates.0.created_at", `"2026-01-05T09:30Z"`),
		"numbers of pages with a fraction of zeros": pointZero,
		"a country code in small letters":           changed("/v1/countries", "data.0.isoCode", `"ad"`),
		"the body is checked before the key":        bodyFirst,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t)
			report := check(t, srv, how(srv), whole()...)
			none(t, report, conformance.Fail, conformance.NotRun)
		})
	}
}
