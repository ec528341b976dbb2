package shipping_test

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

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

// A transaction can have other names than the specification shows. It was read without its identifiers, and no error
// reported it.
func TestTransactions_OtherNames(t *testing.T) {
	t.Parallel()
	service := shippingtest.NewService(shippingtest.OK(
		`{"transactions":[{"transaction_id":"TR-1","reference":"RD-1","shipment_id":"SH-1"}]}`))
	page := shippingtest.Must(shippingtest.NewClient(t, service).Transactions.List(t.Context(),
		&shipping.TransactionListOptions{Wallet: "VA-1"}))(t)
	got := [3]string{page.Items[0].TransactionID, page.Items[0].TxRef, page.Items[0].ShipmentID()}
	if got != [3]string{"TR-1", "RD-1", "SH-1"} {
		t.Errorf("read %q", got)
	}
}
