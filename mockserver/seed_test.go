package mockserver

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/jsontext"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
)

// Records are written by hand for speed; encoding/json says what is right.
func TestAppend_WritesWhatEncodingJSONDoes(t *testing.T) {
	t.Parallel()
	money := func(text string) shipping.Amount {
		a, err := shipping.ParseAmount(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	at := jsontext.Timestamp(time.Date(987, 1, 2, 3, 4, 5, 67_800_000, time.FixedZone("", 3600)))
	for _, r := range []rate{
		{Breakdown: json.RawMessage("[]")},
		{RateID: "RT-1", Amount: money("12.50"), Breakdown: json.RawMessage(`{"a":1}`), CarrierName: `Jörg "Express" <&> \\`, DeliveryDate: at,
			DeliveryETA: -3, IncludesInsurance: true, InsuranceFee: money("0.1"), Metadata: rateMetadata{"P", "Q"}, Used: true, CreatedAt: at},
	} {
		check(t, appendRate(nil, &r), r)
	}
	for _, tx := range []transaction{
		{},
		{TransactionID: "TR-1", TxRef: "SHP-1", Amount: money("-7"), FlatAmount: -700, Description: "a\u2028b\tc", Metadata: transactionMetadata{"SH-1", "RD-1"},
			Receiver: receiver{"a", "b", "c"}, Sender: sender{"d", "e", "f"}, Recipient: "g", Reversed: true, Settled: true, PayoutDate: &at, UpdatedAt: at, Revision: 2},
	} {
		check(t, appendTransaction(nil, &tx), tx)
	}
}

func check(t *testing.T, got []byte, record any) {
	t.Helper()
	want, err := jsontext.Encode(record)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-encoding/json +ours):\n%s", diff)
	}
}

// What worlds begin with is kept once for all of a plan, and no more of it than the machine can bear.
func TestTemplates_StoreOnlySoMuch(t *testing.T) {
	t.Parallel()
	b := worldBook{templates: map[plan]*template{}}
	reserve := func(seed uint64, payments int) (*template, error) {
		return b.template(plan{seed: seed, payments: payments})
	}
	first, err := reserve(1, maxStored)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := reserve(1, maxStored); again != first || err != nil {
		t.Errorf("a second world of the plan: %v", err)
	}
	if _, err := reserve(2, maxStored); !errors.Is(err, ErrTooManyWorlds) {
		t.Errorf("more than may be stored: %v", err)
	}
	small, err := reserve(3, 10)
	if err != nil {
		t.Fatal(err)
	}
	b.release(first)
	if _, err := reserve(2, maxStored); !errors.Is(err, ErrTooManyWorlds) {
		t.Errorf("more than may be stored while the first is in use: %v", err)
	}
	b.release(first)
	if _, err := reserve(2, maxStored); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if b.templates[small.plan] != small || len(b.templates) != 2 {
		t.Errorf("%d templates are kept", len(b.templates))
	}
}
