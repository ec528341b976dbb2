package shipping_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// Each test of this file reads a golden response, written by hand from a table of the specification, and checks
// that every field has the value of its member there.

// Adding a field to a record takes a line in its struct and a member in its golden file. eachField fails if one of them
// is missing, if a value is not that of the file, or if the tag names another member than the field does. member is the
// member of the file's data that the records are in; "" is data itself.
func eachField(t *testing.T, file, member string, records any) {
	t.Helper()
	data := goldenData(t, file)
	if member != "" {
		data = membersOf(t, data)[member]
	}
	fields := goldenFields{T: t, given: map[string]bool{}}
	fields.compare(file, reflect.ValueOf(records), data)
	fields.complete(file)
}

// goldenData returns the data of a golden response.
func goldenData(t *testing.T, file string) json.RawMessage {
	t.Helper()
	var response struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal([]byte(shippingtest.Golden(t, file)), &response); err != nil {
		t.Fatal(err)
	}
	return response.Data
}

// goldenFields compares records with the JSON they were read from.
type goldenFields struct {
	*testing.T
	given map[string]bool // by field: whether any record has a value for it
}

// complete requires a value for each field.
func (f goldenFields) complete(file string) {
	f.Helper()
	for name, given := range f.given {
		if !given {
			f.Errorf("no record of %s has a value for %s", file, name)
		}
	}
}

func (f goldenFields) compare(path string, got reflect.Value, raw json.RawMessage) {
	f.Helper()
	if raw == nil {
		raw = json.RawMessage("null")
	}
	if kept, ok := got.Interface().(shipping.RawJSON); ok {
		if string(kept) != string(raw) {
			f.Errorf("%s is %s, want %s", path, kept, raw)
		}
		return
	}
	_, scalar := got.Interface().(interface{ String() string }) // an amount or a time
	switch {
	case got.Kind() == reflect.Pointer && !got.IsNil():
		f.compare(path, got.Elem(), raw)
	case got.Kind() == reflect.Struct && !scalar:
		f.compareStruct(path, got, raw)
	case got.Kind() == reflect.Slice:
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil || len(items) != got.Len() || (items == nil) != got.IsNil() {
			f.Fatalf("%s has %d elements, want %d, %v", path, got.Len(), len(items), err)
		}
		for i, item := range items {
			f.compare(fmt.Sprintf("%s[%d]", path, i), got.Index(i), item)
		}
	default:
		want := reflect.New(got.Type())
		if err := json.Unmarshal(raw, want.Interface()); err != nil {
			f.Fatalf("%s: %v", path, err)
		}
		if difference := cmp.Diff(want.Elem().Interface(), got.Interface(), cmp.Comparer(func(a, b shipping.Amount) bool { return a == b })); difference != "" {
			f.Errorf("%s: (-want +got)\n%s", path, difference)
		}
	}
}

func (f goldenFields) compareStruct(path string, got reflect.Value, raw json.RawMessage) {
	f.Helper()
	members := membersOf(f.T, raw)
	for field, value := range got.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		flat := strings.ToLower(strings.ReplaceAll(name, "_", ""))
		if other := map[string]string{"StorageID": "id", "Revision": "v"}[field.Name]; flat != strings.ToLower(field.Name) && flat != other {
			f.Errorf("the field %s.%s reads the member %s", got.Type(), field.Name, name)
		}
		member, ok := members[name]
		if !ok {
			member = members[field.Tag.Get("alias")]
		}
		f.compare(path+"."+name, value, member)
		f.given[got.Type().String()+"."+field.Name] = f.given[got.Type().String()+"."+field.Name] || !value.IsZero()
	}
}

func membersOf(t *testing.T, raw json.RawMessage) (members map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(raw, &members); err != nil {
		t.Fatal(err)
	}
	return members
}

// A list has a golden response of its name, in which the records after the first may be odd.
func TestLists_EveryFieldOfTheGoldenResponse(t *testing.T) {
	t.Parallel()
	for _, list := range shippingtest.Lists() {
		t.Run(list.Name, func(t *testing.T) {
			t.Parallel()
			file := list.Name + ".json"
			records, pagination, err := list.Get(t.Context(), shippingtest.NewClient(t, shippingtest.NewGoldenService(t, file)), "VA-2244668800")
			if err != nil {
				t.Fatal(err)
			}
			if !list.Paged {
				eachField(t, file, "", records)
				return
			}
			eachField(t, file, list.Name, records)
			numbers := goldenFields{T: t, given: map[string]bool{}} // a list does not have all of them
			numbers.compare(file+" pagination", reflect.ValueOf(pagination), membersOf(t, goldenData(t, file))["pagination"])
			if pagination.Total == 0 || pagination.PerPage == 0 || pagination.Page == 0 || pagination.PageCount == 0 {
				t.Errorf("%s: the pagination object is %+v", file, pagination)
			}
		})
	}
}

func TestRates_List_MetadataAndUnknownAmounts(t *testing.T) {
	t.Parallel()
	page, err := shippingtest.NewClient(t, shippingtest.NewGoldenService(t, "rates.json")).Rates.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := page.Items[0].Metadata.Get("productCode").Text(); got != "P" {
		t.Errorf("metadata key productCode reads %q", got)
	}
	if page.Items[2].Amount.Known() {
		t.Error("a null amount reads as a known one")
	}
}

func TestWebhooks_List_PrevAndNextPageAreNullOnTheOnlyPage(t *testing.T) {
	t.Parallel()
	page, err := shippingtest.NewClient(t, shippingtest.NewGoldenService(t, "webhooks_only_page.json")).Webhooks.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	shippingtest.Diff(t, "pagination", shipping.Pagination{Page: 1, PerPage: 100, CurrentPage: 1, PageCount: 1, PagingCounter: 1}, page.Pagination)
	if len(page.Items) != 0 {
		t.Errorf("%d webhooks on an empty page", len(page.Items))
	}
}

func TestTransactions_ShipmentIDIsInTheMetadata(t *testing.T) {
	t.Parallel()
	page, err := shippingtest.NewClient(t, shippingtest.NewGoldenService(t, "transactions.json")).Transactions.List(t.Context(), &shipping.TransactionListOptions{Wallet: "VA-2244668800"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"SH-7Q2MX09DKA4B8C1E", "", ""} {
		if got := page.Items[i].ShipmentID(); got != want {
			t.Errorf("transaction %d belongs to shipment %q, want %q", i, got, want)
		}
	}
}

func TestTransactions_FlatAmountIsTheAmountTimesHundred(t *testing.T) {
	t.Parallel()
	page, err := shippingtest.NewClient(t, shippingtest.NewGoldenService(t, "transactions.json")).Transactions.List(t.Context(), &shipping.TransactionListOptions{Wallet: "VA-2244668800"})
	if err != nil {
		t.Fatal(err)
	}
	for _, transaction := range page.Items {
		if flat, err := transaction.Amount.Flat(); err != nil || flat != transaction.FlatAmount {
			t.Errorf("%s: amount %s is flat %d (%v), the service sent %d", transaction.TransactionID, transaction.Amount, flat, err, transaction.FlatAmount)
		}
	}
}

func TestWebhooks_Replay_EveryFieldOfTheResult(t *testing.T) {
	t.Parallel()
	got, err := shippingtest.NewClient(t, shippingtest.NewGoldenService(t, "replay.json")).Webhooks.Replay(t.Context(), &shipping.ReplayRequest{DeliveryID: "WD-8K2J9L0M1N2P3Q4R"})
	if err != nil {
		t.Fatal(err)
	}
	eachField(t, "replay.json", "", *got)
}

// A draft and a purchased request have a value in every field together.
func TestRegulatory_EveryFieldOfARequest(t *testing.T) {
	t.Parallel()
	fields := goldenFields{T: t, given: map[string]bool{}}
	for file, read := range map[string]func(shipping.RegulatoryService) (*shipping.RegulatoryRequest, error){
		"draft.json": func(r shipping.RegulatoryService) (*shipping.RegulatoryRequest, error) {
			return r.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-7Q2MX09DKA4B8C1E"})
		},
		"request.json": func(r shipping.RegulatoryService) (*shipping.RegulatoryRequest, error) {
			return r.Get(t.Context(), shippingtest.RequestID)
		},
	} {
		got, err := read(shippingtest.NewClient(t, shippingtest.NewGoldenService(t, file)).Regulatory)
		if err != nil {
			t.Fatal(err)
		}
		if got.Raw.Get("request_id").Text() != shippingtest.RequestID {
			t.Errorf("%s: Raw does not hold the record: %s", file, got.Raw)
		}
		fields.compare(file, reflect.ValueOf(got), goldenData(t, file))
	}
	fields.complete("draft.json and request.json")
}

func TestRegulatory_Purchase_EveryFieldOfTheConfirmation(t *testing.T) {
	t.Parallel()
	got, err := shippingtest.NewClient(t, shippingtest.NewGoldenService(t, "purchase.json")).Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: shippingtest.RequestID, DocumentTypes: []shipping.DocumentType{"FDA", "CUSTOMS"}, Draft: shippingtest.DraftRecord(shippingtest.RequestID)})
	if err != nil {
		t.Fatal(err)
	}
	if got.Raw.Get("transaction_id").Text() != "TR-5FQJ2M81KD0XA7NB" {
		t.Errorf("Raw does not hold the confirmation: %s", got.Raw)
	}
	got.Raw = ""
	shippingtest.Diff(t, "confirmation", &shipping.PurchaseResult{
		RequestID: shippingtest.RequestID, Status: shipping.StatusProcessing,
		ChargedAmount: shippingtest.Amount(t, "18450.5"), Currency: "NGN", TransactionID: "TR-5FQJ2M81KD0XA7NB",
	}, got)
}

func TestRates_EstimatesAreMinutesByAssumption(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		eta  float64
		want string
	}{{1440, "24h0m0s"}, {0.5, "30s"}, {0, "0s"}, {-1, "-1m0s"}, {1e300, "0s"}} {
		rate := shipping.Rate{DeliveryETA: test.eta, PickupETA: test.eta}
		if got := rate.DeliveryDuration().String(); got != test.want {
			t.Errorf("a delivery estimate of %v is %s, want %s", test.eta, got, test.want)
		}
		if got := rate.PickupDuration().String(); got != test.want {
			t.Errorf("a pickup estimate of %v is %s, want %s", test.eta, got, test.want)
		}
	}
}

func TestDocumentTypes_ExactlyTheSupportedSlugs(t *testing.T) {
	t.Parallel()
	shippingtest.Diff(t, "slugs", []shipping.DocumentType{
		"AMS", "CUSTOMS", "FDA", "DROP-BALL", "FISH-WILDLIFE", "FOOTWEAR", "FUMIGATION", "LITHIUM-BATTERY",
		"MSDS", "MUSEUM", "OTHER", "QUARANTINE", "STEEL", "TEXTILE", "WATCH",
	}, shipping.DocumentTypes())
	for _, slug := range shipping.DocumentTypes() {
		if !slug.Known() {
			t.Errorf("%s is not known", slug)
		}
	}
	if shipping.DocumentType("fda").Known() {
		t.Error("slugs are exact values, yet fda is known")
	}
}
