package account

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
)

// The writer of records is faster than encoding/json, which is the reference.
func TestWriter_WritesWhatEncodingJSONDoes(t *testing.T) {
	t.Parallel()
	money := func(text string) shipping.Amount {
		a, err := shipping.ParseAmount(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	at := jsontext.Timestamp(time.Date(987, 1, 2, 3, 4, 5, 67_800_000, time.FixedZone("", 3600)))
	for _, r := range []Rate{
		{Breakdown: json.RawMessage("[]")},
		{RateID: "RT-1", Amount: money("12.50"), Breakdown: json.RawMessage(`{"a":1}`), CarrierName: `Jörg "Express" <&> \\`, DeliveryDate: at,
			DeliveryETA: -3, IncludesInsurance: true, InsuranceFee: money("0.1"), Metadata: RateMetadata{"P", "Q"}, Used: true, CreatedAt: at},
		filled[Rate](t),
	} {
		check(t, r)
	}
	for _, tx := range []Transaction{
		{},
		{TransactionID: "TR-1", TxRef: "SHP-1", Amount: money("-7"), FlatAmount: -700, Description: "a\u2028b\tc", Metadata: TransactionMetadata{"SH-1", "RD-1"},
			Receiver: Receiver{"a", "b", "c"}, Sender: Sender{"d", "e", "f"}, Recipient: "g", Reversed: true, Settled: true, PayoutDate: &at, UpdatedAt: at, Revision: 2},
		filled[Transaction](t),
	} {
		check(t, tx)
	}
}

// filled returns a record in which every text is another one, so that a field that is left out or written in the place of
// another one is found.
func filled[T any](t *testing.T) (record T) {
	t.Helper()
	for field, value := range reflect.ValueOf(&record).Elem().Fields() {
		switch value.Interface().(type) {
		case string:
			value.SetString("text of " + field.Name)
		case bool:
			value.SetBool(true)
		case json.RawMessage:
			value.Set(reflect.ValueOf(json.RawMessage(`["` + field.Name + `"]`)))
		}
	}
	return record
}

func check[T any](t *testing.T, record T) {
	t.Helper()
	want, err := jsontext.Encode(record)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(jsontext.NewWriter[T]().Append(nil, &record))); diff != "" {
		t.Errorf("a %T (-encoding/json +writer):\n%s", record, diff)
	}
}
