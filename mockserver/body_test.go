package mockserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/fault"
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

// foldings returns names, in JSON, that encoding/json takes for a name although they differ from it.
func foldings(name string) []string {
	upper := strings.ToUpper(name)
	folded := []string{strconv.Quote(upper), strconv.Quote(upper[:1] + name[1:]), fmt.Sprintf(`"\u%04X%s"`, upper[0], name[1:])}
	for letter, other := range map[string]string{"s": "ſ", "k": "\u212a"} {
		if strings.Contains(name, letter) {
			folded = append(folded, `"`+strings.ReplaceAll(name, letter, other)+`"`)
		}
	}
	return folded
}

// exactBody is a request with a body that the server takes.
type exactBody struct{ method, path, body string }

// exactBodies returns requests for every route that reads a body.
func exactBodies(t *testing.T, srv *mockserver.Server) map[string]exactBody {
	t.Helper()
	invoice := analyze(t, srv, `{"file_url":"`+srv.Invoices()[0]+`"}`)
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	delivery, hook := srv.Deliveries()[0], srv.Webhooks()[0]
	inject(t, srv, fault.Rule{Operation: shipping.OpListRates, Nth: 1000, Fault: fault.Drop()})
	var worlds []struct {
		Name string `json:"name"`
	}
	get(t, srv, "/_mock/worlds").want(t, 200).data(t, &worlds)
	world := "/_mock/worlds/" + worlds[0].Name
	post(t, srv, "/_mock/worlds", `{"from":"`+worlds[0].Name+`","name":"before"}`).want(t, 200)
	line := `{"item_id":"IT-1","description":"Coffee beans","hs_code":"090121","quantity":2,"unit_price":12.5,"currency":"USD","weight":0.5,"origin_country":"NG"}`
	address := `{"name":"A","company":"B","line1":"1 Quay Road","line2":"c","city":"Lagos","state":"LA","postal_code":"100001","country":"NG","phone":"+2341234567","email":"a@b.example"}`
	return map[string]exactBody{
		"analyze a shipment": {"POST", regulatoryPath + "/analyze", `{"shipment_id":"` + srv.Shipments()[1] + `","wallet":"` + srv.Wallets()[1] + `"}`},
		"analyze an invoice": {"POST", regulatoryPath + "/analyze", `{"file_url":"` + srv.Invoices()[0] + `"}`},
		"purchase":           {"POST", regulatoryPath + "/purchase", `{"request_id":"` + draft.ID + `","document_types":["` + draft.types()[0] + `"]}`},
		"replay a delivery":  {"POST", "/v1/webhooks/replay", `{"delivery_id":"` + delivery.ID + `","webhook_id":"` + delivery.WebhookID + `"}`},
		"replay an event":    {"POST", "/v1/webhooks/replay", `{"shipment_id":"` + delivery.ShipmentID + `","event":"` + delivery.Event + `"}`},
		"items":              {"PUT", regulatoryPath + "/request/" + draft.ID + "/items", `{"line_items":[` + line + `]}`},
		"addresses":          {"PUT", regulatoryPath + "/request/" + draft.ID + "/addresses", `{"origin":` + address + `,"destination":` + address + `}`},
		"shipping":           {"PUT", regulatoryPath + "/request/" + invoice.ID + "/shipping", `{"carrier_slug":"dhl","service":"express","incoterm":"DAP","reason_for_export":"sale","port_of_entry":"JFK","estimated_arrival":"2026-02-01"}`},
		"faults":             {"POST", "/_mock/faults", `{"rules":[{"operation":"rates.list","nth":500,"fault":{"kind":"status","status":503}}]}`},
		"change the ledger":  {"PATCH", "/_mock/ledger", `{"fund":[{"wallet":"` + srv.Wallets()[0] + `","amount":5}],"exchange_rates":{"NGN":1000}}`},
		"add a webhook":      {"POST", "/_mock/webhooks", `{"name":"n","url":"http://127.0.0.1:9/","events":["shipment.created"],"active":false}`},
		"change a webhook":   {"PATCH", "/_mock/webhooks/" + hook, `{"name":"n","url":"http://127.0.0.1:9/","events":["shipment.updated"],"active":false}`},
		"emit":               {"POST", "/_mock/events", `{"event":"shipment.updated","shipment_id":"` + srv.Shipments()[0] + `"}`},
		"advance":            {"POST", "/_mock/clock/advance", `{"duration":"1s"}`},
		"open a world":       {"POST", "/_mock/worlds", `{"scenario":"lowfunds","name":"ci"}`},
		"restore":            {"POST", world + "/restore", `{"from":"default_before"}`},
	}
}

// member is where a member of a body starts, and where its name ends.
type member struct {
	body       string
	start, end int
}

func membersOf(body string) []member {
	var all []member
	for _, found := range regexp.MustCompile(`"[a-z_]+":`).FindAllStringIndex(body, -1) {
		all = append(all, member{body, found[0], found[1] - 1})
	}
	return all
}

func (m member) name() string { return m.body[m.start+1 : m.end-1] }

// renamed returns the body with another name for the member.
func (m member) renamed(name string) string { return m.body[:m.start] + name + m.body[m.end:] }

// besides returns the body with one more member before the member.
func (m member) besides(name, value string) string {
	return m.body[:m.start] + name + ":" + value + "," + m.body[m.start:]
}

// A member whose name differs from a field's only in case counts as unknown: the request gets the response, and the
// charge, of one with an unknown name in that place.
func TestBody_NamesMatchByteForByte(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	requests := exactBodies(t, srv)
	// Of a member that is given twice the last one counts.
	post(t, srv, regulatoryPath+"/analyze", `{"shipment_id":"SH-NOPE","shipment_id":"`+srv.Shipments()[0]+`"}`).want(t, http.StatusOK)
	before := srv.Snapshot()
	send := func(r exactBody, body string) (got string) {
		t.Helper()
		srv.Restore(before)
		var answer struct {
			Status  bool            `json:"status"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data"`
		}
		response := do(t, srv, r.method, r.path, body)
		if err := json.Unmarshal(response.body, &answer); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(r.path, "/_mock/") || answer.Status { // the data of a refusal has the request's id
			answer.Data = nil
		}
		ledger := get(t, srv, "/_mock/ledger").want(t, 200)
		message, _, _ := strings.Cut(answer.Message, "unknown field") // what follows depends on its name
		return fmt.Sprintf("%d %s\n%s\n%s", response.status, strings.TrimSuffix(message, "; "), answer.Data, ledger.body)
	}
	for what, r := range requests {
		want := send(r, r.body)
		if !strings.HasPrefix(want, "200 ") {
			t.Fatalf("%s: %s", what, want)
		}
		for _, m := range membersOf(r.body) {
			missing := send(r, m.renamed(`"stranger"`))
			ignored := send(r, m.besides(`"stranger"`, `"other"`))
			for _, name := range foldings(m.name()) {
				if got := send(r, m.renamed(name)); got != missing {
					t.Errorf("%s: %s\n%s\ninstead of\n%s", what, m.renamed(name), got, missing)
				}
				if got := send(r, m.besides(name, `"other"`)); got != ignored {
					t.Errorf("%s: %s\n%s\ninstead of\n%s", what, m.besides(name, `"other"`), got, ignored)
				}
			}
		}
	}
}

// If unknown fields are refused by assumption, names that differ only in case are refused, too.
func TestBody_RefusesNamesInAnotherCaseIfUnknownFieldsAreRefused(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithAssumptions(func(a *assumption.Set) { a.RefuseUnknownFields = true }))
	id := srv.Deliveries()[0].ID
	post(t, srv, "/v1/webhooks/replay", `{"delivery_id":"`+id+`","Delivery_ID":"`+id+`"}`).refusal(t, http.StatusBadRequest, `unknown field "Delivery_ID"`)
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	do(t, srv, http.MethodPut, regulatoryPath+"/request/"+draft.ID+"/items", `{"line_items":[{"Description":"x"}]}`).
		refusal(t, http.StatusBadRequest, `unknown field "Description"`)
}
