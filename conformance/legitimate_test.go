package conformance_test

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// bodyFirst refuses an empty body in the same way whether the key is right or not.
func bodyFirst(next http.Handler) http.Handler {
	return responds(http.StatusUnprocessableEntity, `{"status":false,"message":"incomplete"}`,
		func(r *http.Request, body string) bool {
			return r.Method == http.MethodPost && body == "{}" || strings.HasSuffix(r.URL.Path, "/request/RD-0")
		})(next)
}

// pointZero writes the numbers of pagination objects as a language without integers: 1.0.
func pointZero(next http.Handler) http.Handler {
	return answers(func(_ *http.Request, status int, body []byte) (int, []byte) {
		return status, pageNumber.ReplaceAll(body, []byte("$0.0"))
	})(next)
}

var pageNumber = regexp.MustCompile(`"(page|perPage|currentPage|total|pageCount|pagingCounter|prevPage|nextPage)":\d+`)

// answering replaces the responses of a path that contain a text.
func answering(path, holding string, status int, answer string) breaking {
	return answers(func(r *http.Request, old int, body []byte) (int, []byte) {
		if r.URL.Path == path && strings.Contains(string(body), holding) {
			return status, []byte(answer)
		}
		return old, body
	})
}

// A service that differs only in what the specification leaves open conforms, and each check of it reports a difference
// in one of the rows. The choices that the reference server can make have their own test.
func TestCheck_AServiceThatUsesWhatIsLeftOpenConforms(t *testing.T) {
	t.Parallel()
	minimal := func(next http.Handler) http.Handler {
		for _, name := range []string{"status", "source", "shipment_id", "wallet", "currency", "created_at", "updated_at"} {
			next = changed(analyze, "data."+name, "")(next)
		}
		return next
	}
	services := map[string]breaking{
		"analyze returns only required members":  minimal,
		"a request that is read in each state":   showing("purchasing", "processing", "completed"),
		"the number of no page of webhooks is 0": reworded("/v1/webhooks", `Page":null`, `Page":0`),
		"a timestamp in basic format":            changed("/v1/rates", "data.rates.last.created_at", `"20260105T093000Z"`),
		"a timestamp without seconds":            changed("/v1/rates", "data.rates.last.created_at", `"2026-01-05T09:30Z"`),
		"page numbers with a fraction of zeros":  pointZero,
		"a country code in small letters":        changed("/v1/countries", "data.last.isoCode", `"zw"`),
		"the body is checked before the key":     bodyFirst,
		"further fields of countries":            changed("/v1/countries", "data.last.further", "1"),
		"further fields of rates":                changed("/v1/rates", "data.rates.last.further", "1"),
		"further fields of webhooks":             changed("/v1/webhooks", "data.webhooks.last.further", "1"),
		"further fields of transactions":         changed("/v1/transactions", "data.transactions.last.further", "1"),
		"pagingCounter is always 1":              changed("/v1/webhooks", "data.pagination.pagingCounter", "1"),
		"another mode of replays":                changed(replay, "data.replay_mode", `"rebuilt_payload"`),
		"the purchase of a purchased request succeeds": answering(purchase, "already_purchased", http.StatusOK,
			`{"status":true,"message":"as before","data":{}}`),
		"an unknown path gets another status": answering("/v1/no-such-operation", "", http.StatusMethodNotAllowed,
			`{"status":false,"message":"no"}`),
	}
	var mu sync.Mutex
	ran, seen := 0, map[string]bool{}
	t.Cleanup(func() {
		for check, differs := range seen {
			if !differs && ran == len(services) {
				t.Errorf("no service differs in %q: add a row that does", check)
			}
		}
	})
	for name, how := range services {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t)
			report := check(t, srv, how(srv), whole()...)
			none(t, report, conformance.Fail, conformance.NotRun)
			mu.Lock()
			defer mu.Unlock()
			ran++
			for _, r := range report.Results {
				// The others are points of a dialect.
				if r.Verdict == conformance.Assumption && !strings.Contains(r.Heading, ".") {
					seen[r.Heading+": "+r.Check] = seen[r.Heading+": "+r.Check] || r.Detail != ""
				}
			}
		})
	}
}

// A check of records without the verdict of its list passed if there were none.
func TestCheck_AListWithoutRecordsPassesNoCheckOfRecords(t *testing.T) {
	t.Parallel()
	for heading, at := range map[string][2]string{
		"Country": {"/v1/countries", "data"}, "Rate": {"/v1/rates", "data.rates"},
		"Webhook": {"/v1/webhooks", "data.webhooks"}, "Transaction": {"/v1/transactions", "data.transactions"},
	} {
		srv := serve(t)
		unmade := 0
		for _, r := range check(t, srv, changed(at[0], at[1], "[]")(srv)).Results {
			switch {
			case r.Heading != heading:
			case r.Verdict == conformance.NotRun, r.Verdict == conformance.Unseen:
				unmade++
			default:
				t.Errorf("%s, %s: %s", heading, r.Check, r.Verdict)
			}
		}
		shippingtest.Diff(t, heading+": has checks", true, unmade > 0)
	}
}
