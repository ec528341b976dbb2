package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/conformance"
)

// oldestFirst lists the transactions in the other order.
func oldestFirst(next http.Handler) http.Handler {
	type body struct {
		Status  bool   `json:"status"`
		Message string `json:"message"`
		Data    struct {
			Transactions []json.RawMessage          `json:"transactions"`
			Pagination   map[string]json.RawMessage `json:"pagination"`
		} `json:"data"`
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ask := func(query url.Values) (*httptest.ResponseRecorder, body) {
			page := r.Clone(r.Context())
			page.URL.RawQuery = query.Encode()
			recorded := httptest.NewRecorder()
			next.ServeHTTP(recorded, page)
			var b body
			_ = json.Unmarshal(recorded.Body.Bytes(), &b) // not a list: left unchanged
			return recorded, b
		}
		recorded, b := ask(r.URL.Query())
		if r.URL.Path != "/v1/transactions" || recorded.Code != http.StatusOK {
			w.WriteHeader(recorded.Code)
			_, _ = w.Write(recorded.Body.Bytes())
			return
		}
		number, _ := strconv.Atoi(string(b.Data.Pagination["page"]))
		size, _ := strconv.Atoi(string(b.Data.Pagination["perPage"]))
		total, _ := strconv.Atoi(string(b.Data.Pagination["total"]))
		var all []json.RawMessage
		for page := 1; len(all) < total; page++ {
			query := r.URL.Query()
			query.Set("perPage", "100")
			query.Set("page", fmt.Sprint(page))
			_, part := ask(query)
			all = append(all, part.Data.Transactions...)
		}
		slices.Reverse(all)
		b.Data.Transactions = all[min((number-1)*size, total):min(number*size, total)]
		_ = json.NewEncoder(w).Encode(b)
	})
}

// bodyFirst refuses an empty body in the same way whether the key is right or not.
func bodyFirst(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // in memory: it never fails
		if r.Method == http.MethodPost && string(body) == "{}" || strings.HasSuffix(r.URL.Path, "/request/RD-0") {
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"status":false,"message":"incomplete"}`)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// A service that differs only in what the specification leaves open conforms.
func TestCheck_AServiceThatUsesWhatIsLeftOpenConforms(t *testing.T) {
	t.Parallel()
	minimal := func(next http.Handler) http.Handler {
		for _, name := range []string{"status", "source", "shipment_id", "wallet", "currency", "created_at", "updated_at"} {
			next = changed(documents+"/analyze", "data."+name, "")(next)
		}
		return next
	}
	for name, how := range map[string]breaking{
		"analyze responds with 201":                 recoded("/analyze", http.StatusCreated),
		"analyze and purchase respond with 202":     func(next http.Handler) http.Handler { return recoded("/purchase", 202)(recoded("/analyze", 202)(next)) },
		"the number of no page is 0 among webhooks": reworded("/v1/webhooks", `Page":null`, `Page":0`),
		"transactions come oldest first":            oldestFirst,
		"analyze returns only the required members": minimal,
		"a timestamp in the basic format":           changed("/v1/rates", "data.rates.0.created_at", `"20260105T093000Z"`),
		"a timestamp without seconds":               changed("/v1/rates", "data.rates.0.created_at", `"2026-01-05T09:30Z"`),
		"a country code in small letters":           changed("/v1/countries", "data.0.isoCode", `"ad"`),
		"the body is checked before the key":        bodyFirst,
		"a price in another member":                 reworded("/analyze", `"amount":`, `"price":`),
		"line items under another name":             reworded("/analyze", `"line_items":`, `"goods":`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t)
			report := conformance.Check(t.Context(), target(srv), whole(srv, through{how(srv)})...)
			for _, v := range []conformance.Verdict{conformance.Fail, conformance.NotRun} {
				if diff := cmp.Diff([]string(nil), verdicts(report, v)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", v, diff)
				}
			}
		})
	}
}
