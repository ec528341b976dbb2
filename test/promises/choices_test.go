package promises_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// A workflow that edits the draft purchases once at the price of the edited draft, whatever the service has decided.
func TestChoices_Workflow(t *testing.T) {
	t.Parallel()
	choices := shippingtest.Choices(t)
	choices["default"] = shippingtest.Dialect(t, "reference")
	for name, d := range choices {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { workflow(t, mockserver.WithDialect(d)) })
		})
	}
}

func workflow(t *testing.T, decided mockserver.Option) {
	srv := mockserver.New(mockserver.WithoutListener(), decided)
	defer srv.Close()
	shippingtest.NoError(t, srv.Err())
	client := srv.Client(t, shippingtest.WithRoutes())
	var price shipping.Amount
	edited := false
	budget := shipping.Budget{Amount: shippingtest.Amount(t, "1000000"), Currency: "NGN"}
	record, err := client.Regulatory.AnalyzeAndPoll(t.Context(), &shipping.AnalyzeRequest{ShipmentID: srv.Shipments()[0]},
		&shipping.AnalyzeAndPollOptions{
			Edit: func(ctx context.Context, draft *shipping.RegulatoryRequest) error {
				edited = true
				items := slices.Clone(draft.LineItems)
				if len(items) == 0 {
					t.Error("the draft has no line items")
				}
				items = append(items, shipping.LineItem{Description: "Wristwatch", HSCode: "910211", Quantity: 1,
					UnitPrice: shippingtest.Amount(t, "100"), Currency: "USD", Weight: 0.1, OriginCountry: "CN"})
				_, err := client.Regulatory.UpdateItems(ctx, draft.RequestID, items)
				return err
			},
			Select: func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
				watch, offered := draft.Offer("WATCH")
				if !offered {
					return nil, errors.New("the edited draft does not offer WATCH")
				}
				price = watch.Amount
				return []shipping.DocumentType{"WATCH"}, nil
			},
			Budget: &budget,
		})
	if err != nil || record.Status != shipping.StatusCompleted || !edited {
		t.Fatalf("%+v, %v", record, err)
	}
	if debited, _ := shippingtest.Debits(t, client, srv.Wallets()[0]); debited != price {
		t.Errorf("debited %s; the price was %s", debited, price)
	}
	pdf, err := client.Regulatory.PDF(t.Context(), record.RequestID, "WATCH")
	if err != nil || len(pdf) == 0 {
		t.Errorf("PDF: %d bytes, %v", len(pdf), err)
	}
	if n := srv.Requests(shipping.OpPurchase); n != 1 {
		t.Errorf("%d purchases", n)
	}
	srv.CheckInvariants(t)
}
