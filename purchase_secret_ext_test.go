package shipping_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// The reason why a draft is not purchased quotes members of the record. A service that sent the key back as the name of
// one, or as another currency, had it printed.
func TestPurchase_KeepsTheKeyOutOfTheReasons(t *testing.T) {
	t.Parallel()
	const draft = `"request_id":"RD-1","status":"draft","available_documents":[{"document_type":"FDA","amount":5,"currency":"NGN"`
	for _, record := range []string{
		`{"KEY":1,"KEY":2,` + draft + `}]}`,
		`{"KEY":1,"KEY":2,"request":{` + draft + `}]}}`,
		`{` + draft + `,"KEY":1,"KEY":2}]}`,
		`{` + draft + `,"price KEY":7}]}`,
		`{` + draft + `,"KEY":{"price":7}}]}`,
		`{` + draft + `,"other_currency":"KEY"}]}`,
	} {
		for _, key := range []string{shippingtest.Key, strings.Repeat("x", 30) + shippingtest.Key} { // of which only the start is quoted
			synctest.Test(t, func(t *testing.T) {
				service := shippingtest.NewService(func(r *http.Request) (*http.Response, error) {
					return shippingtest.OK(strings.ReplaceAll(record, "KEY", key))(r)
				})
				regulatory := shippingtest.NewClient(t, service).Regulatory
				ctx, stop := context.WithTimeout(t.Context(), time.Hour)
				defer stop()
				options := &shipping.AnalyzeAndPollOptions{
					Select: shipping.SelectOnly("FDA"), Budget: &shipping.Budget{Amount: shippingtest.Amount(t, "1"), Currency: "NGN"},
				}
				read, err := regulatory.Get(ctx, "RD-1")
				if err != nil {
					t.Fatal(err)
				}
				_, bought := regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{"FDA"}})
				_, analyzed := regulatory.AnalyzeAndPoll(ctx, parcel, options)
				_, resumed := regulatory.Resume(ctx, "RD-1", options)
				_, checked := options.Budget.Check(read, "FDA")
				_, _, priced := read.Price("FDA")
				for way, err := range map[string]error{"Purchase": bought, "AnalyzeAndPoll": analyzed, "Resume": resumed, "Check": checked, "Price": priced} {
					if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(text, shippingtest.Key[:10]) {
						t.Errorf("%s: %s: %s", record, way, text)
					}
				}
			})
		}
	}
}
