package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/shipping-go/shipping/conformance"
)

func conformCommand() command {
	return command{
		word: "conform", summary: "check the conformance of a service and print a report", argument: "[URL]",
		about: `The default of URL is ` + baseURLVariable + `, else http://` + defaultAddr + `. Open points of the specification are reported
separately and are not failures.

Changes and charges, at most:
  without -write     none: GET requests, and empty POST requests, which the service must refuse
  -write             7 webhook replays, 3 drafts, 1 purchase: the cheapest document of the first draft, at the price
                     in the draft; nothing is purchased if no price is reliable
  -second-purchase   the same, and the same purchase a second time, which must not charge again: a service that
                     fails this check charges the price twice
  -refused-purchases like -write, and up to 4 purchases that the service must refuse, of the second draft: a service that
                     fails these checks can charge all prices of that draft
-write, -second-purchase and -refused-purchases refuse live keys. The report lists the purchases that were sent,
and the rules that no run can check.

The exit code is 0 if every check passed, 1 if a check failed, ` + fmt.Sprint(exitIncomplete) + ` if none failed but one could not be made.`,
		examples: []string{
			"conform http://127.0.0.1:4010 -key sk_test_… -wallet VA-…",
			`conform -write          # after eval "$(mockserver env)"`,
		},
		define: func(f *flags) action {
			key := keyFlag(f)
			wallet := f.text("wallet", text{also: "SHIPPING_WALLET"}, "the `WALLET` whose transactions are listed")
			shipment := f.text("shipment", text{also: "SHIPPING_SHIPMENT"}, "the `SHIPMENT` to analyze, whose events are replayed")
			invoice := f.text("invoice", text{also: "SHIPPING_INVOICE"}, "the `URL` of an uploaded invoice to analyze")
			webhook := f.text("webhook", text{also: "SHIPPING_WEBHOOK"}, "the only `WEBHOOK` that receives replays")
			cacert := cacertFlag(f)
			write := f.Bool("write", false, "also make changes, and one purchase, which charges the wallet")
			second := f.Bool("second-purchase", false, "like -write, and send the purchase a second time")
			refused := f.Bool("refused-purchases", false, "like -write, and send purchases that must be refused")
			patience := f.Duration("patience", 30*time.Second, "the maximum `TIME` for a response, and for the generation of the document")
			asJSON := f.Bool("json", false, "print the report as JSON")
			return func(ctx context.Context, p program) int {
				base, err := baseURL(p)
				switch {
				case err != nil:
					return p.fail("%v", err)
				case *key == "":
					return p.fail("no secret key: set it with -key or %s", secretKeyVariable)
				case (*write || *second || *refused) && strings.HasPrefix(*key, "sk_live_"):
					return p.fail("-write, -second-purchase and -refused-purchases can spend money: use a test key")
				}
				w, err := newWire(*cacert, "")
				if err != nil {
					return p.fail("%v", err)
				}
				defer w.CloseIdleConnections()
				opts := []conformance.Option{conformance.WithPatience(*patience), conformance.WithTransport(w), conformance.WithSecretKey(*key)}
				if *write {
					opts = append(opts, conformance.WithWrites())
				}
				if *second {
					opts = append(opts, conformance.WithSecondPurchase())
				}
				if *refused {
					opts = append(opts, conformance.WithRefusedPurchases())
				}
				report := conformance.Check(ctx, conformance.Target{
					BaseURL: base, Wallet: *wallet, Shipment: *shipment, Invoice: *invoice, Webhook: *webhook,
				}, opts...)
				code := p.deliver(report.Conforms(), *asJSON, report, report.WriteText)
				if code == exitOK && !report.Complete() {
					return exitIncomplete
				}
				return code
			}
		},
	}
}
