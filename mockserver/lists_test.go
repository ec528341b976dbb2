package mockserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"
	_ "time/tzdata" // the zones must load on a machine without its own database

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// records returns the array of a list and its pagination object.
func records(t *testing.T, a answer, name string) (items []json.RawMessage, pagination json.RawMessage) {
	t.Helper()
	var data map[string]json.RawMessage
	a.want(t, http.StatusOK).data(t, &data)
	shippingtest.Diff(t, "members of data", 2, len(data))
	if err := json.Unmarshal(data[name], &items); err != nil || items == nil {
		t.Fatalf("data.%s is not an array: %s", name, data[name])
	}
	return items, data["pagination"]
}

// A field that the seeding does not set has the zero value in every record, and no test of a client can use it. The
// second page of rows2500 has computed transactions alone: a new field was 0 there, but not in stored ones.
func TestLists_EveryFieldHasAValueInSomeRecord(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		scenario, page, only string              // only: of one list
		empty                map[string][]string // on purpose
	}{
		{"default", "perPage=10000", "", map[string][]string{
			"rates": {"breakdown"}, "transactions": {"fee", "platform_fee", "recipient", "__v"}}},
		{"rows2500", "perPage=100&page=2", "transactions", map[string][]string{
			"transactions": {"fee", "platform_fee", "recipient", "__v", "metadata", "reversed"}}},
	} {
		srv := start(t, mockserver.WithoutListener(), mockserver.WithScenario(test.scenario))
		for _, list := range shippingtest.Lists() {
			op := shippingtest.Operation(list.Operation)
			if !op.Pages || test.only != "" && test.only != list.Name {
				continue
			}
			var all []json.RawMessage
			for _, wallet := range srv.Wallets() { // which only transactions have
				some, _ := records(t, get(t, srv, op.Route+"?"+test.page+"&wallet="+wallet), list.Name)
				all = append(all, some...)
			}
			if len(all) <= 4*len(srv.Wallets()) {
				t.Errorf("%d records of %s: add a step to New in mockserver/internal/seed/seed.go that calls Add(%q, …), so that "+
					"a list has more than two pages of two", len(all)/len(srv.Wallets()), list.Name, list.Name)
			}
			given := map[string]bool{}
			for _, text := range all {
				var record map[string]json.RawMessage
				shippingtest.NoError(t, json.Unmarshal(text, &record))
				for field, value := range record {
					given[field] = given[field] || !slices.Contains([]string{`""`, "0", "null", "false", "[]", "{}"}, string(value))
				}
			}
			for field, has := range given {
				if has == slices.Contains(test.empty[list.Name], field) {
					t.Errorf("%s of %s has a value in some record of %s: %t: correct mockserver/internal/seed, or computed of "+
						"mockserver/internal/account/transaction.go, or the fields that are empty on purpose", field, list.Name,
						test.scenario, has)
				}
			}
		}
	}
}

// A list without records is [], which a program can iterate over in every language.
func TestLists_WithoutRecordsAreEmptyArrays(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithScenario("empty"))
	for _, list := range shippingtest.Lists() {
		body := get(t, srv, shippingtest.Operation(list.Operation).Route+"?wallet="+srv.Wallets()[0]).body
		if !bytes.Contains(body, []byte(`"`+list.Name+`":[`)) && !bytes.Contains(body, []byte(`"data":[`)) {
			t.Errorf("%s: %s", list.Name, body)
		}
	}
}

// Specification: "Limits" (perPage default 100, page default 1) and the three pagination objects.
func TestLists_PaginationObjects(t *testing.T) {
	t.Parallel()
	srv := start(t)
	wallet := srv.Wallets()[len(srv.Wallets())-1] // holds one transaction
	for _, test := range []struct{ name, path, want string }{
		{"rates, defaults", "/v1/rates", `{"total":250,"perPage":100,"page":1,"pageCount":3}`},
		{"rates, last page", "/v1/rates?page=3", `{"total":250,"perPage":100,"page":3,"pageCount":3}`},
		{"rates, past the end", "/v1/rates?page=9", `{"total":250,"perPage":100,"page":9,"pageCount":3}`},
		{"rates, exact fit", "/v1/rates?perPage=125", `{"total":250,"perPage":125,"page":1,"pageCount":2}`},
		{"rates, size above the total", "/v1/rates?perPage=5000", `{"total":250,"perPage":5000,"page":1,"pageCount":1}`},

		{"webhooks, defaults", "/v1/webhooks",
			`{"page":1,"perPage":100,"currentPage":1,"total":130,"pageCount":2,` +
				`"pagingCounter":1,"prevPage":null,"nextPage":2,"hasPrevPage":false,"hasNextPage":true}`},
		{"webhooks, last page", "/v1/webhooks?page=2",
			`{"page":2,"perPage":100,"currentPage":2,"total":130,"pageCount":2,` +
				`"pagingCounter":101,"prevPage":1,"nextPage":null,"hasPrevPage":true,"hasNextPage":false}`},
		{"webhooks, past the end", "/v1/webhooks?page=5&perPage=50",
			`{"page":5,"perPage":50,"currentPage":5,"total":130,"pageCount":3,` +
				`"pagingCounter":201,"prevPage":4,"nextPage":null,"hasPrevPage":true,"hasNextPage":false}`},

		{"webhooks, beyond 32 bits", "/v1/webhooks?page=2147483647&perPage=2147483647",
			`{"page":2147483647,"perPage":10000,"currentPage":2147483647,"total":130,"pageCount":1,` +
				`"pagingCounter":21474836460001,"prevPage":2147483646,"nextPage":null,"hasPrevPage":true,"hasNextPage":false}`},

		{"transactions, only page", "/v1/transactions?wallet=" + wallet,
			`{"page":1,"perPage":100,"currentPage":1,"total":1,"pageCount":1,` +
				`"prevPage":0,"nextPage":0,"hasPrevPage":false,"hasNextPage":false}`},
		{"transactions, past the end", "/v1/transactions?page=2&wallet=" + wallet,
			`{"page":2,"perPage":100,"currentPage":2,"total":1,"pageCount":1,` +
				`"prevPage":1,"nextPage":0,"hasPrevPage":true,"hasNextPage":false}`},
	} {
		var data struct{ Pagination json.RawMessage }
		get(t, srv, test.path).want(t, http.StatusOK).data(t, &data)
		shippingtest.Diff(t, test.name, test.want, string(data.Pagination))
	}
}

// Assumption: a parameter that is missing, below 1 or not a whole number falls back to the default.
func TestLists_PageAndPerPageFallBack(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for _, test := range []struct {
		query                string
		page, perPage, count int
	}{
		{"", 1, 100, 100},
		{"page=&perPage=", 1, 100, 100},
		{"page=0", 1, 100, 100},
		{"page=-3", 1, 100, 100},
		{"page=two", 1, 100, 100},
		{"page=1.5", 1, 100, 100},
		{"perPage=0", 1, 100, 100},
		{"perPage=-1", 1, 100, 100},
		{"perPage=many", 1, 100, 100},
		{"perPage=7", 1, 7, 7},
		{"perPage=7&page=36", 36, 7, 5},
		{"perPage=99999999999999999999", 1, 10000, 250},
		{"page=99999999999999999999", 2147483647, 100, 0},
		{"page=-99999999999999999999", 1, 100, 100},
		{"%zz&perPage=3", 1, 3, 3},
	} {
		var data struct {
			Rates      []json.RawMessage
			Pagination struct{ Page, PerPage int }
		}
		get(t, srv, "/v1/rates?"+test.query).want(t, http.StatusOK).data(t, &data)
		got := []int{data.Pagination.Page, data.Pagination.PerPage, len(data.Rates)}
		shippingtest.Diff(t, test.query+": page, perPage, records", []int{test.page, test.perPage, test.count}, got)
	}
}

func TestCountries_AreNotSentToThoseWhoHaveThem(t *testing.T) {
	t.Parallel()
	srv := start(t)
	const path = "/v1/countries"
	tag := get(t, srv, path).want(t, http.StatusOK).header.Get("Etag")
	if tag == "" {
		t.Fatal("the list has no tag")
	}
	for condition, status := range map[string]int{
		tag: http.StatusNotModified, `"other", W/` + tag: http.StatusNotModified, "*": http.StatusNotModified,
		`"other"`: http.StatusOK, "": http.StatusOK,
	} {
		got := do(t, srv, http.MethodGet, path, "", "If-None-Match", condition).want(t, status)
		if (len(got.body) == 0) != (status == http.StatusNotModified) || got.header.Get("Etag") != tag {
			t.Errorf("%s: %d with %d bytes and the tag %s", condition, got.status, len(got.body), got.header.Get("Etag"))
		}
	}
	send(t, srv, "GET "+path+"\nAuthorization: Bearer wrong\nIf-None-Match: "+tag).want(t, http.StatusUnauthorized)
	inject(t, srv, fault.Rule{Operation: shipping.OpListCountries, Nth: 1, Fault: fault.Malformed()})
	struck := send(t, srv, "GET "+path+"\nIf-None-Match: "+tag).want(t, http.StatusOK)
	shippingtest.Diff(t, "tag of a response that a fault struck", "", struck.header.Get("Etag"))
}

// country has the fields of a country that the tests read.
type country struct {
	ISOCode, Flag, Latitude, Longitude string
	Timezones                          []struct {
		ZoneName      string
		GMTOffset     int
		GMTOffsetName string
		Abbreviation  string
		TZName        string
	}
}

func countries(t *testing.T) (all []country) {
	t.Helper()
	body := get(t, start(t, mockserver.WithoutListener()), "/v1/countries").want(t, http.StatusOK)
	if bytes.ContainsAny(body.body, "\n\t") {
		t.Error("the list has white space between its tokens")
	}
	body.data(t, &all)
	return all
}

// The offset of a zone is its standard time, and it has its names.
func TestOffsetsAreTheStandardTimeOfGosOwnDatabase(t *testing.T) {
	t.Parallel()
	for _, c := range countries(t) {
		for _, zone := range c.Timezones {
			location, err := time.LoadLocation(zone.ZoneName)
			if err != nil {
				t.Errorf("%s: %v", c.ISOCode, err)
				continue
			}
			_, january := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC).In(location).Zone()
			_, july := time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC).In(location).Zone()
			if want := min(january, july); zone.GMTOffset != want {
				t.Errorf("%s: gmtOffset of %s is %d, want %d", c.ISOCode, zone.ZoneName, zone.GMTOffset, want)
			}
			minutes, sign := zone.GMTOffset/60, "+"
			if minutes < 0 {
				sign, minutes = "-", -minutes
			}
			if want := fmt.Sprintf("UTC%s%02d:%02d", sign, minutes/60, minutes%60); zone.GMTOffsetName != want ||
				zone.Abbreviation == "" || zone.TZName == "" {
				t.Errorf("%s: %+v, want the offset %q and two names", c.ISOCode, zone, want)
			}
		}
	}
}

// The list has the 249 countries of ISO 3166-1 and Kosovo, sorted by code, each with its flag, a place on the globe,
// and zones, if anybody lives there.
func TestTheListHas250CountriesSortedByCode(t *testing.T) {
	t.Parallel()
	within := func(degrees string, limit float64) bool {
		value, err := strconv.ParseFloat(degrees, 64)
		return err == nil && -limit <= value && value <= limit
	}
	var codes, without []string
	for _, c := range countries(t) {
		codes = append(codes, c.ISOCode)
		var letters []rune
		for _, indicator := range c.Flag {
			letters = append(letters, indicator-0x1F1E6+'A')
		}
		if string(letters) != c.ISOCode || !within(c.Latitude, 90) || !within(c.Longitude, 180) || c.Timezones == nil {
			t.Errorf("%+v", c)
		}
		if len(c.Timezones) == 0 {
			without = append(without, c.ISOCode)
		}
	}
	if len(slices.Compact(slices.Clone(codes))) != 250 || !slices.IsSorted(codes) ||
		!slices.Equal(without, []string{"BV", "HM"}) {
		t.Errorf("%d countries, without zones %q: %q", len(codes), without, codes)
	}
}
