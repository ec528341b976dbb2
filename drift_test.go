package shipping_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// drifts collects what WithDriftReport tells.
type drifts struct {
	mu  sync.Mutex
	got []shipping.Drift
}

func (d *drifts) option() shipping.Option {
	return shipping.WithDriftReport(func(drift shipping.Drift) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.got = append(d.got, drift)
	})
}

func (d *drifts) lines() []string {
	var lines []string
	for _, drift := range d.got {
		for _, finding := range drift.Findings {
			lines = append(lines, drift.Operation+": "+finding.String())
		}
	}
	return lines
}

func TestDrift_GoldenAnswersHaveNone(t *testing.T) {
	t.Parallel()
	for file, do := range map[string]func(ctx context.Context, c *shipping.Client) error{
		"rates.json": func(ctx context.Context, c *shipping.Client) error { _, err := c.Rates.List(ctx, nil); return err },
		"countries.json": func(ctx context.Context, c *shipping.Client) error {
			_, err := c.Countries.List(ctx)
			return err
		},
		"webhooks_only_page.json": func(ctx context.Context, c *shipping.Client) error {
			_, err := c.Webhooks.List(ctx, nil)
			return err
		},
		"transactions.json": func(ctx context.Context, c *shipping.Client) error {
			_, err := c.Transactions.List(ctx, &shipping.TransactionListOptions{Wallet: "VA-1"})
			return err
		},
		"replay.json": func(ctx context.Context, c *shipping.Client) error {
			_, err := c.Webhooks.Replay(ctx, &shipping.ReplayRequest{DeliveryID: "WD-1"})
			return err
		},
		"draft.json": func(ctx context.Context, c *shipping.Client) error {
			_, err := c.Regulatory.Get(ctx, shippingtest.RequestID)
			return err
		},
		"request.json": func(ctx context.Context, c *shipping.Client) error {
			_, err := c.Regulatory.Get(ctx, shippingtest.RequestID)
			return err
		},
	} {
		var found drifts
		if err := do(t.Context(), shippingtest.NewClient(t, shippingtest.NewGoldenService(t, file), found.option())); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if lines := found.lines(); len(lines) > 0 {
			t.Errorf("%s drifts from the specification it was written from:\n%s", file, strings.Join(lines, "\n"))
		}
	}
}

func TestDrift_NamesWhatIsUnknownMissingOrOfAnotherType(t *testing.T) {
	t.Parallel()
	rates := strings.NewReplacer(
		`"amount": 18450.55`, `"amount": "18450.55"`,
		`"used": true`, `"used": 1`,
		`"user": "USER-4455667788"`, `"domain": "eu", "domains": {"a": 1}`,
		`"pageCount": 68`, `"pages": 68`,
		`"message": "Rates retrieved successfully"`, `"msg": null`,
	).Replace(shippingtest.Golden(t, "rates.json"))
	var found drifts
	page, err := shippingtest.NewClient(t, shippingtest.NewService(httpmock.NewStringResponder(200, rates)), found.option()).Rates.List(t.Context(), nil)
	if err != nil || len(page.Items) != 3 {
		t.Fatalf("page %+v, error %v", page, err)
	}
	shippingtest.Diff(t, "findings", []string{
		"rates.list: missing data.pagination.pageCount",
		"rates.list: unknown data.pagination.pages: number",
		"rates.list: type data.rates[].amount: string instead of number",
		"rates.list: unknown data.rates[].domain: string (2 times)",
		"rates.list: unknown data.rates[].domains: object (2 times)",
		"rates.list: type data.rates[].used: number instead of boolean",
		"rates.list: missing data.rates[].user (2 times)",
		"rates.list: missing message",
		"rates.list: unknown msg: null",
	}, found.lines())
}

func TestDrift_OfARegulatoryRecordIsUnderDataToo(t *testing.T) {
	t.Parallel()
	var found drifts
	body := `{"request_id":"RD-1","status":"draft","available_documents":["FDA",{"type":"MSDS","amount":1}],"tier":"gold","line_items":{}}`
	if _, err := shippingtest.NewClient(t, shippingtest.NewService(shippingtest.OK(body)), found.option()).Regulatory.Get(t.Context(), "RD-1"); err != nil {
		t.Fatal(err)
	}
	shippingtest.Diff(t, "findings", []string{
		"regulatory.get: type data.available_documents[]: string instead of object",
		"regulatory.get: missing data.available_documents[].document_type",
		"regulatory.get: type data.line_items: object instead of array",
		"regulatory.get: missing data.source",
		"regulatory.get: unknown data.tier: string",
	}, found.lines())
}
