package benchmarks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/test/benchmarks/raw"
)

// newServer returns a reference server without a socket, and without limits on what it holds.
func newServer(tb testing.TB, options ...mockserver.Option) *mockserver.Server {
	tb.Helper()
	srv := mockserver.New(append([]mockserver.Option{
		mockserver.WithoutListener(), mockserver.WithMaxMemory(1 << 40), mockserver.WithJournal(0, 0),
	}, options...)...)
	tb.Cleanup(srv.Close)
	if err := srv.Err(); err != nil {
		tb.Fatal(err)
	}
	return srv
}

// request returns the body of the response to a request in a world.
func request(tb testing.TB, srv *mockserver.Server, w *mockserver.World, method, path, body string) []byte {
	tb.Helper()
	r := httptest.NewRequest(method, "/v1/"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+w.SecretKey)
	r.Header.Set("Content-Type", "application/json")
	response := httptest.NewRecorder()
	if srv.ServeHTTP(response, r); response.Code != http.StatusOK {
		tb.Fatalf("%s %s: %d %s", method, path, response.Code, response.Body)
	}
	return response.Body.Bytes()
}

// get returns the response of a new reference server.
func get(tb testing.TB, path string) fixed {
	srv := newServer(tb)
	return request(tb, srv, srv.World, http.MethodGet, strings.ReplaceAll(path, "WALLET", srv.Wallets()[0]), "")
}

// longDraft returns the draft of a shipment that needs many documents.
func longDraft(tb testing.TB) fixed {
	srv := newServer(tb)
	return analyze(tb, srv, srv.World, srv.Shipments()[0])
}

// shortDraft returns the draft of a shipment within one country.
func shortDraft(tb testing.TB) fixed {
	srv := newServer(tb)
	shipments := srv.Shipments()
	return analyze(tb, srv, srv.World, shipments[len(shipments)-1])
}

func analyze(tb testing.TB, srv *mockserver.Server, w *mockserver.World, shipment string) []byte {
	return request(tb, srv, w, http.MethodPost, "regulatory-documents/analyze", fmt.Sprintf(`{"shipment_id":%q}`, shipment))
}

// requestID returns the identifier in the response of a draft.
func requestID(body []byte) string {
	_, rest, _ := strings.Cut(string(body), `"request_id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// form is another way to write the same response.
type form struct {
	name    string
	rewrite func(tb testing.TB, body []byte) []byte
}

// forms are those that services are known to send. encoding/json into plain structs rejects the first one.
func forms() []form {
	return []form{{"odd-scalars", odd}, {"indented", indented}, {"spaces", spaced}, {"shuffled-members", shuffled}}
}

// odd writes numbers as strings, a boolean as a number, and dates without a zone, as seconds and empty.
func odd(tb testing.TB, body []byte) []byte {
	dates := regexp.MustCompile(`"(delivery_date|created_at|updated_at)":"([^"]*)"`)
	body = dates.ReplaceAllFunc(body, func(member []byte) []byte {
		found := dates.FindSubmatch(member)
		at, err := time.Parse(time.RFC3339, string(found[2]))
		if err != nil {
			tb.Fatal(err)
		}
		value := map[string]string{"delivery_date": fmt.Sprint(at.Unix()), "created_at": at.Format(`"2006-01-02 15:04:05"`), "updated_at": `""`}
		return fmt.Appendf(nil, `"%s":%s`, found[1], value[string(found[1])])
	})
	body = regexp.MustCompile(`"(delivery_eta|pickup_eta|insurance_fee)":([0-9.]+)`).ReplaceAll(body, []byte(`"$1":"$2"`))
	return bytes.ReplaceAll(bytes.ReplaceAll(body, []byte(`"used":true`), []byte(`"used":1`)), []byte(`"used":false`), []byte(`"used":0`))
}

func indented(tb testing.TB, body []byte) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", "  "); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// spaced writes a space behind each comma and colon, as Python does.
func spaced(tb testing.TB, body []byte) []byte {
	body = regexp.MustCompile(`,\n *`).ReplaceAll(indented(tb, body), []byte(", "))
	return regexp.MustCompile(`\n *`).ReplaceAll(body, nil)
}

// shuffled writes the members of each rate in an order of its own.
func shuffled(tb testing.TB, body []byte) []byte {
	var page raw.Envelope[struct {
		Rates      []map[string]json.RawMessage `json:"rates"`
		Pagination json.RawMessage              `json:"pagination"`
	}]
	if err := json.Unmarshal(body, &page); err != nil {
		tb.Fatal(err)
	}
	var rates []string
	for i, rate := range page.Data.Rates {
		names := slices.Sorted(maps.Keys(rate))
		var members []string
		for j := range names {
			name := names[(j*7+i)%len(names)] // 7 has no common divisor with the 25 members of a rate
			members = append(members, fmt.Sprintf("%q:%s", name, rate[name]))
		}
		rates = append(rates, "{"+strings.Join(members, ",")+"}")
	}
	return fmt.Appendf(nil, `{"status":true,"message":"OK","data":{"rates":[%s],"pagination":%s}}`, strings.Join(rates, ","), page.Data.Pagination)
}
