package main

import (
	"context"
	"strings"
	"time"

	"github.com/shipping-go/shipping/conformance"
)

func conformCommand() command {
	return command{
		word: "conform", summary: "hold a service against the specification and report", argument: "[URL]",
		about: `Without URL it is ` + baseURLVariable + `, else http://` + defaultAddr + `. Without -write nothing changes: GET requests,
and POST requests that hold nothing to act upon and have to be refused. With -write webhooks are replayed,
and one document is analyzed and bought, which charges the wallet; live keys are not taken for that.
What the specification leaves open is reported apart and is no failure. The exit code is 0 when nothing
failed, 1 otherwise.`,
		examples: []string{
			"conform http://127.0.0.1:4010 -key sk_test_… -wallet VA-…",
			`conform -write          # after eval "$(mockserver env)"`,
		},
		define: func(f *flags) action {
			key := keyFlag(f)
			wallet := f.text("wallet", text{also: "SHIPPING_WALLET"}, "the `WALLET` whose transactions are listed")
			shipment := f.text("shipment", text{also: "SHIPPING_SHIPMENT"}, "a `SHIPMENT` to analyze and replay events of")
			invoice := f.text("invoice", text{also: "SHIPPING_INVOICE"}, "the `URL` of an uploaded invoice to analyze")
			webhook := f.text("webhook", text{also: "SHIPPING_WEBHOOK"}, "the one `WEBHOOK` to send replays to")
			cacert := cacertFlag(f)
			write := f.Bool("write", false, "make changes too, which charges the wallet")
			patience := f.Duration("patience", 30*time.Second, "the `TIME` that an answer, and the bought document, may take")
			asJSON := f.Bool("json", false, "print the report as JSON")
			return func(ctx context.Context, p program) int {
				base, err := baseURL(p)
				switch {
				case err != nil:
					return p.fail("%v", err)
				case *key == "":
					return p.fail("name the account's secret key with -key or %s", secretKeyVariable)
				case *write && strings.HasPrefix(*key, "sk_live_"):
					return p.fail("-write spends money: use a test key")
				}
				w, err := newWire(*cacert)
				if err != nil {
					return p.fail("%v", err)
				}
				defer w.CloseIdleConnections()
				opts := []conformance.Option{conformance.WithPatience(*patience), conformance.WithTransport(w)}
				if *write {
					opts = append(opts, conformance.WithWrites())
				}
				report := conformance.Check(ctx, conformance.Target{
					BaseURL: base, SecretKey: *key, Wallet: *wallet, Shipment: *shipment, Invoice: *invoice, Webhook: *webhook,
				}, opts...)
				return p.deliver(report.Conforms(), *asJSON, report, report.WriteText)
			}
		},
	}
}
