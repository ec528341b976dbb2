package shipping_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jarcoal/httpmock"

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

func goldenData(t *testing.T, file string) json.RawMessage {
	t.Helper()
	var response struct {
		Data json.RawMessage `json:"data"`
	}
	shippingtest.NoError(t, json.Unmarshal([]byte(shippingtest.Golden(t, file)), &response))
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
		shippingtest.Diff(f, path, want.Elem().Interface(), got.Interface())
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
		if other := map[string]string{"StorageID": "id", "Revision": "v"}[field.Name]; flat != strings.ToLower(field.Name) &&
			flat != other {
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
	shippingtest.NoError(t, json.Unmarshal(raw, &members))
	return members
}

// A list has a golden response of its name, in which the records after the first may be odd.
func TestLists_EveryFieldOfTheGoldenResponse(t *testing.T) {
	t.Parallel()
	for _, list := range shippingtest.Lists() {
		t.Run(list.Name, func(t *testing.T) {
			t.Parallel()
			file := list.Name + ".json"
			records, pagination, err := list.Get(t.Context(), shippingtest.NewClient(t, shippingtest.NewGoldenService(t, file)),
				"VA-2244668800")
			shippingtest.NoError(t, err)
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

func TestWebhooks_List_PrevAndNextPageAreNullOnTheOnlyPage(t *testing.T) {
	t.Parallel()
	page := shippingtest.Must(shippingtest.NewClient(t,
		shippingtest.NewGoldenService(t, "webhooks_only_page.json")).Webhooks.List(t.Context(), nil))(t)
	shippingtest.Diff(t, "pagination",
		shipping.Pagination{Page: 1, PerPage: 100, CurrentPage: 1, PageCount: 1, PagingCounter: 1}, page.Pagination)
	shippingtest.Diff(t, "webhooks on an empty page", 0, len(page.Items))
}

func TestTransactions_FlatAmountIsTheAmountTimesHundred(t *testing.T) {
	t.Parallel()
	page := shippingtest.Must(shippingtest.NewClient(t,
		shippingtest.NewGoldenService(t, "transactions.json")).Transactions.List(t.Context(),
		&shipping.TransactionListOptions{Wallet: "VA-2244668800"}))(t)
	shipments := []string{"SH-7Q2MX09DKA4B8C1E", "", ""}
	for i, transaction := range page.Items {
		if flat, err := transaction.Amount.Flat(); err != nil || flat != transaction.FlatAmount {
			t.Errorf("%s: amount %s is flat %d (%v), the service sent %d", transaction.TransactionID, transaction.Amount, flat,
				err, transaction.FlatAmount)
		}
		shippingtest.Diff(t, "shipment of "+transaction.TransactionID, shipments[i], transaction.ShipmentID())
	}
}

// A flat_amount that floating-point arithmetic had computed was 0, without an entry in the drift report, and the doubt
// showed 0 in place of the number that the service had sent.
func TestTransactions_NumbersOfFloatingPointOrigin(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]struct {
		flat         int64
		doubt, drift string
	}{
		`"amount":19.99,"flat_amount":1998.9999999999998`: {flat: 1999},
		`"amount":1.1,"flat_amount":110.00000000000001`:   {flat: 110},
		`"amount":1.1,"flat_amount":"110.0"`:              {flat: 110, drift: "flat_amount: string instead of number"},
		`"amount":19.99,"flat_amount":99999999999999999999`: {
			doubt: "flat_amount is 99999999999999999999, not the amount 19.99 times 100",
			drift: "flat_amount: number instead of int64",
		},
		`"amount":19.99,"flat_amount":{"value":1999}`: {
			doubt: `flat_amount is {"value":1999}, not the amount 19.99 times 100`,
			drift: "flat_amount: object instead of number",
		},
		// The doubt stated that a flat_amount that was not sent is 0.
		`"amount":19.99`: {doubt: "flat_amount is missing or 0, not the amount 19.99 times 100"},
		`"amount":12345678901234567890,"flat_amount":1`: {
			flat:  1,
			doubt: "flat_amount is 1, not the amount 12345678901234567890 times 100",
			drift: "amount: number instead of Amount",
		},
	} {
		var found drifts
		record := `{"transactions":[{"transactionId":"TR-1",` + sent + `,"flow":"out","status":"success"}]}`
		client := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(record)), found.option())
		page := shippingtest.Must(client.Transactions.List(t.Context(), &shipping.TransactionListOptions{Wallet: "VA-1"}))(t)
		transaction := page.Items[0]
		if transaction.FlatAmount != want.flat || transaction.Doubt() != want.doubt {
			t.Errorf("%s: %d, doubt %q", sent, transaction.FlatAmount, transaction.Doubt())
		}
		reported := slices.DeleteFunc([]string(found), func(text string) bool { return !strings.Contains(text, ": type ") })
		if want.drift == "" && len(reported) > 0 ||
			want.drift != "" && !slices.Equal(reported, []string{"transactions.list: type data.transactions[]." + want.drift}) {
			t.Errorf("%s: drift %q", sent, reported)
		}
		if _, err := transaction.Signed(); transaction.Amount.Known() == (err != nil) ||
			err != nil && !strings.Contains(err.Error(), "transaction TR-1 has the amount 12345678901234567890") {
			t.Errorf("%s: %v", sent, err)
		}
	}
}

// Names that other clients of such services read were not read. A value is not multiplied: whether it is that of one
// piece or of all is not documented.
func TestRecords_OtherNames(t *testing.T) {
	t.Parallel()
	client := shippingtest.NewClient(t, shippingtest.NewService(
		shippingtest.OK(`{"transactions":[{"transaction_id":"TR-1","shipment":"SH-1"},{"transaction_id":"TR-2",`+
			`"shipment":{"id":1},"shipment_id":"SH-2"}]}`),
		record("draft", `"items":[{"name":"Printed dress","description":"Cotton dress","quantity":4,"value":48000,`+
			`"weight":2.4,"hs_code":"0620444000","manufacturer_country":"NG"}]`)))
	page := shippingtest.Must(client.Transactions.List(t.Context(), &shipping.TransactionListOptions{Wallet: "VA-1"}))(t)
	for i, want := range []string{"SH-1", "SH-2"} {
		if got := page.Items[i]; got.ShipmentID() != want || got.Unreadable != nil {
			t.Errorf("%q, want %s: %+v", got.ShipmentID(), want, got)
		}
	}
	draft := shippingtest.Must(client.Regulatory.Get(t.Context(), "RD-1"))(t)
	shippingtest.Diff(t, "items", []shipping.LineItem{{Name: "Printed dress", Description: "Cotton dress", Quantity: 4,
		Weight: 2.4, HSCode: "0620444000", OriginCountry: "NG"}}, draft.LineItems)
}

// Every field of a record has a value in a golden response, and is that of its member. The draft of an invoice and a
// purchased request have a value in every field together.
func TestCalls_EveryFieldOfTheGoldenResponses(t *testing.T) {
	t.Parallel()
	fields := goldenFields{T: t, given: map[string]bool{}}
	for _, call := range shippingtest.Calls() {
		if call.Golden == "" || call.Operation == shipping.OpPurchase { // its result is not a record: the next test reads it
			continue
		}
		service := shippingtest.NewGoldenService(t, call.Golden)
		got := shippingtest.Must(call.Do(t.Context(), shippingtest.NewClient(t, service, shippingtest.WithRoutes())))(t)
		data := goldenData(t, call.Golden)
		fields.compare(call.Golden, reflect.ValueOf(got), data)
		if raw := reflect.ValueOf(got).Elem().FieldByName("Raw"); raw.IsValid() && raw.String() != string(data) {
			t.Errorf("%s: Raw does not hold the record: %s", call.Operation, raw)
		}
	}
	fields.complete("the golden responses")
}

func TestRegulatory_Purchase_EveryFieldOfTheConfirmation(t *testing.T) {
	t.Parallel()
	got, err := regulatory(t,
		shippingtest.NewGoldenService(t, "purchase.json")).Purchase(t.Context(),
		&shipping.PurchaseRequest{RequestID: shippingtest.RequestID,
			DocumentTypes: []shipping.DocumentType{"FDA", "CUSTOMS"}, Draft: shippingtest.DraftRecord(shippingtest.RequestID)})
	shippingtest.NoError(t, err)
	shippingtest.Diff(t, "the confirmation in Raw", "TR-5FQJ2M81KD0XA7NB", got.Raw.Get("transaction_id").Text())
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
		shippingtest.Diff(t, fmt.Sprintf("a delivery estimate of %v", test.eta), test.want, rate.DeliveryDuration().String())
		shippingtest.Diff(t, fmt.Sprintf("a pickup estimate of %v", test.eta), test.want, rate.PickupDuration().String())
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

// One odd field never loses a record, let alone a page.

func TestTolerance_WebhookKinds(t *testing.T) {
	t.Parallel()
	kinds := []string{"shipment.created"}
	for members, want := range map[string][]string{
		`"event":["shipment.created"]`:                               kinds,
		`"events":["shipment.created"]`:                              kinds,
		`"event":"shipment.created"`:                                 kinds,
		`"events":"shipment.created"`:                                kinds,
		`"event":null,"events":["shipment.created"]`:                 kinds,
		`"event":["shipment.created"],"events":["shipment.updated"]`: kinds,
		`"event":["shipment.created",null]`:                          {"shipment.created", ""},
		`"event":["never.seen.before"]`:                              {"never.seen.before"},
		`"event":[],"events":null`:                                   {},
		`"event":null`:                                               nil,
		`"event":7`:                                                  nil,
		`"event":["shipment.created"],"active":"true","__v":"2","live":"maybe"`:  kinds,
		`"events":["shipment.created"],"active":"true","created_at":"yesterday"`: kinds,
	} {
		webhooks := shippingtest.NewService(shippingtest.OK(`{"webhooks":[{"webhook_id":"WA-1",` + members +
			`}],"pagination":{"total":1}}`))
		page, err := shippingtest.NewClient(t, webhooks).Webhooks.List(t.Context(), nil)
		if err != nil || len(page.Items) != 1 {
			t.Errorf("%s: %v", members, err)
			continue
		}
		shippingtest.Diff(t, members, want, page.Items[0].Event)
	}
}

// A webhook or an available document that a program decodes itself is read as tolerantly.
func TestTolerance_RecordsReadByEncodingJSON(t *testing.T) {
	t.Parallel()
	var got struct {
		Webhook   shipping.Webhook             `json:"webhook"`
		Documents []shipping.AvailableDocument `json:"documents"`
	}
	body := `{"webhook":{"events":"shipment.created","live":"true","__v":1,"NAME":"x"},"documents":["FDA",` +
		`{"slug":"MSDS","price":"5","amount":6}]}`
	shippingtest.NoError(t, json.Unmarshal([]byte(body), &got))
	shippingtest.Diff(t, "webhook",
		shipping.Webhook{Event: []string{shipping.EventShipmentCreated}, Live: true, Revision: 1}, got.Webhook)
	shippingtest.Diff(t, "documents",
		[]shipping.AvailableDocument{{DocumentType: "FDA"}, {DocumentType: "MSDS", Amount: readAmount(t, "free")}},
		got.Documents)
}

func TestRawJSON_KeepsWhatCame(t *testing.T) {
	t.Parallel()
	object := shipping.RawJSON(`{"a":"b","n":1.50,"z":null,"o":{"p":[1]}}`)
	for key, want := range map[string]string{"a": "b", "n": "1.50", "z": "", "o": `{"p":[1]}`, "missing": ""} {
		shippingtest.Diff(t, key, want, object.Get(key).Text())
	}
	if !object.Get("z").IsNull() || !object.Get("missing").IsNull() || object.Get("n").IsNull() {
		t.Error("IsNull is wrong about null, absent or present")
	}
	for _, odd := range []shipping.RawJSON{"", "null", "7", `"text"`, "[1]", "{"} {
		shippingtest.Diff(t, fmt.Sprintf("a member of %s", odd), shipping.RawJSON(""), odd.Get("a"))
	}
	kept := 7
	if err := shipping.RawJSON("").Decode(&kept); err != nil || kept != 7 {
		t.Errorf("an absent value overwrote: %d, %v", kept, err)
	}
	if _, err := shipping.RawJSON("{").MarshalJSON(); err == nil {
		t.Error("broken JSON was written")
	}
	shippingtest.Diff(t, "an absent value", "null", string(shippingtest.Must(shipping.RawJSON("").MarshalJSON())(t)))
}

// A negative amount with the flow "out" was booked as money that came in, and an unknown flow as money that left.
func TestTransaction_Signed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		amount       string
		flat         int64
		flow, status string
		signed       string // "" for an error
		doubt        string
	}{
		"out":            {"19.99", 1999, "out", "pending", "-19.99", ""},
		"in":             {"19.99", 1999, "in", "pending", "19.99", ""},
		"reversed":       {"19.99", 1999, "out", "pending", "-19.99", "reversed: if the money did not come back"},
		"reversed, in":   {"19.99", 1999, "in", "pending", "19.99", "reversed: "},
		"flat is off":    {"19.99", 1998, "out", "pending", "-19.99", "flat_amount is 1998, not the amount 19.99 times 100"},
		"three decimals": {"1.005", 101, "out", "pending", "-1.005", ""},
		"failed":         {"19.99", 1999, "out", "failed", "0", `status "failed": counted as 0`},
		"failed, off":    {"19.99", 1, "out", "failed", "0", `counted as 0; flat_amount is 1`},
		"unknown status": {"19.99", 1999, "out", "held", "-19.99", `unknown status "held": counted as money that moved`},
		"without status": {"19.99", 1999, "out", "", "-19.99", `unknown status "": counted`},
		"nothing":        {"0", 0, "out", "pending", "0", ""},
		"no amount":      {"", 0, "out", "pending", "", ""},
		"unknown flow":   {"19.99", 1999, "sideways", "pending", "", ""},
		"no flow":        {"19.99", 1999, "", "pending", "", ""},
		"negative":       {"-19.99", -1999, "out", "pending", "", ""},
		"negative, in":   {"-0.01", -1, "in", "pending", "", ""},
	} {
		transaction := &shipping.Transaction{TransactionID: "TR-1", Amount: readAmount(t, tc.amount), FlatAmount: tc.flat,
			Flow: tc.flow, Status: tc.status, Reversed: strings.HasPrefix(name, "reversed")}
		signed, err := transaction.Signed()
		switch {
		case tc.signed == "":
			if err == nil || signed.Known() || !strings.Contains(err.Error(), "transaction TR-1") ||
				tc.amount == "" && !strings.Contains(err.Error(), ": transaction TR-1 has no amount: check it") ||
				errors.Is(err, shipping.ErrAmountUnreadable) == transaction.Amount.Known() {
				t.Errorf("%s: %s, %v; want an error about TR-1", name, signed, err)
			}
		case err != nil || signed.String() != tc.signed:
			t.Errorf("%s: %s, %v; want %s", name, signed, err, tc.signed)
		}
		if doubt := transaction.Doubt(); !strings.Contains(doubt, tc.doubt) || tc.doubt == "" && doubt != "" {
			t.Errorf("%s: doubt %q, want %q", name, doubt, tc.doubt)
		}
	}
}

// List returned an empty list without an error if the response contained none. A list that is null is empty; All
// reported it as an error. Records without any member that the specification shows were empty records without an error.
func TestLists_ResponsesWithoutAList(t *testing.T) {
	t.Parallel()
	for _, list := range shippingtest.Lists() {
		empty := list.Data("")
		for name, tc := range map[string]struct {
			body string
			want error
		}{
			"no data":       {`{"status":true}`, shipping.ErrUnexpectedBody},
			"data is {}":    {`{"status":true,"data":{}}`, shipping.ErrUnexpectedBody},
			"an empty list": {`{"status":true,"data":` + empty + `}`, nil},
			"null":          {`{"status":true,"data":` + strings.Replace(empty, "[]", "null", 1) + `}`, nil},
			"search hits": {`{"status":true,"data":` +
				strings.Replace(empty, "[]", `[{"_index":"x","_id":"1","_source":{"id":"1"}}]`, 1) + `}`,
				shipping.ErrUnexpectedBody},
		} {
			mock := httpmock.NewMockTransport()
			mock.RegisterNoResponder(httpmock.NewStringResponder(http.StatusOK, tc.body))
			client := shippingtest.NewClient(t, mock)
			records, _, err := list.Get(t.Context(), client, "VA-1")
			if !errors.Is(err, tc.want) || err == nil && reflect.ValueOf(records).Len() != 0 {
				t.Errorf("%s, %s: List returned %v, %v; want %v", list.Name, name, records, err, tc.want)
			}
			if failure, ok := errors.AsType[*shipping.Error](err); err != nil &&
				(!ok || failure.Operation != list.Operation || failure.StatusCode != http.StatusOK) {
				t.Errorf("%s, %s: %v", list.Name, name, err)
			}
			if !list.Paged {
				continue
			}
			for _, err := range list.All(t.Context(), client, "VA-1") {
				if !errors.Is(err, tc.want) || tc.want == nil {
					t.Errorf("%s, %s: All returned %v, want %v", list.Name, name, err, tc.want)
				}
			}
		}
	}
}
