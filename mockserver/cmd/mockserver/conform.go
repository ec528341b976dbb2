package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/decimal"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/doctor"
)

func conformCommand(env environment) *cli.Command {
	return &cli.Command{
		Name: "conform", Usage: "check the conformance of a service and print a report", ArgsUsage: "[URL]",
		Description: `The default of URL is ` + baseURLVariable + `, else http://` + defaultAddr + `. Open
points of the specification are reported separately and are not failures.

Changes and charges, at most:
  without -write       none: GET requests, and empty POST requests, which the
                       service must refuse
  -write               7 webhook replays, 5 drafts, 1 purchase: the cheapest
                       document of the first draft, at the price in the draft;
                       nothing is purchased if no price is reliable
  -most AMOUNT         with -write, a purchase of at most AMOUNT although it is
                       not known which number of the offer is the price
  -second-purchase     the same, and the same purchase a second time: a service
                       that fails this check charges the price twice
  -refused-purchases   like -write, and up to 4 purchases that the service must
                       refuse, of the second draft: a service that fails these
                       checks can charge all prices of that draft
These three refuse live keys. The report lists the purchases that were sent, and
the rules that no run can check.

-dialect FILE writes what was measured to FILE if there is none. Otherwise it
compares: a field that differs is a failed check. -update writes it anew, and
never changes a field that a person set.

The exit code is 0 if every check passed, 1 if a check failed, ` + fmt.Sprint(exitIncomplete) + ` if none failed
but one could not be made.`,
		Metadata: examples(
			"conform http://127.0.0.1:4010 -key sk_test_… -wallet VA-…",
			`conform -write          # after eval "$(mockserver env)"`,
			"conform -write -most 2000.00 -dialect service.json",
		),
		Flags: []cli.Flag{
			keyFlag(env),
			env.text("wallet", "", "the wallet whose transactions are listed", "SHIPPING_WALLET"),
			env.text("shipment", "", "the shipment to analyze, whose events are replayed", "SHIPPING_SHIPMENT"),
			env.text("invoice", "", "the URL of an uploaded invoice to analyze", "SHIPPING_INVOICE"),
			env.text("webhook", "", "the only webhook that receives replays", "SHIPPING_WEBHOOK"),
			env.toggle("write", "also make changes, and one purchase, which charges"),
			env.toggle("second-purchase", "like -write, and send the purchase a second time"),
			env.toggle("refused-purchases", "like -write, and send purchases to be refused"),
			env.text("dialect", "", "the file of what the service has decided"),
			env.toggle("update", "write what was measured to an existing file"),
			env.text("most", "", "the most that the purchase may cost, such as 2000.00"),
			env.time("patience", 30*time.Second, "the longest wait for a response or a document"),
			env.toggle("json", "print the report as JSON"),
		},
		Action: conform(env),
	}
}

func conform(env environment) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		key := cmd.String("key")
		opts := []conformance.Option{conformance.WithPatience(cmd.Duration("patience")), conformance.WithSecretKey(key)}
		for _, spends := range []struct {
			flag   string
			option func() conformance.Option
		}{
			{"write", conformance.WithWrites}, {"second-purchase", conformance.WithSecondPurchase}, {"refused-purchases",
				conformance.WithRefusedPurchases},
		} {
			if !cmd.Bool(spends.flag) {
				continue
			}
			if strings.HasPrefix(key, "sk_live_") {
				return fmt.Errorf("-%s can spend money: use a test key", spends.flag)
			}
			opts = append(opts, spends.option())
		}
		base, err := baseURL(cmd.Args().First(), env)
		switch {
		case err != nil:
			return err
		case key == "":
			return errors.New("no secret key: set it with -key or " + secretKeyVariable)
		}
		file := cmd.String("dialect")
		known, err := dialect.Read(file)
		switch {
		case file == "" || errors.Is(err, fs.ErrNotExist):
			known = nil
		case err != nil:
			return err
		}
		if opts = append(opts, conformance.WithDialect(known)); cmd.Bool("update") {
			opts = append(opts, conformance.WithUpdate())
		}
		if most := cmd.String("most"); most != "" {
			if n, err := decimal.Parse(most); err != nil || n.Sign() < 0 {
				return fmt.Errorf("-most is %q: write an amount such as 2000.00", most)
			}
			opts = append(opts, conformance.WithMost(most))
		}
		w := newWire()
		defer w.CloseIdleConnections()
		report := conformance.Check(ctx, conformance.Target{
			BaseURL: base, Wallet: cmd.String("wallet"), Shipment: cmd.String("shipment"), Invoice: cmd.String("invoice"), Webhook: cmd.String("webhook"),
		}, append(opts, conformance.WithTransport(w))...)
		if measured := report.Dialect; file != "" && measured != nil && (known == nil || cmd.Bool("update")) {
			written := cmp.Or(known, new(dialect.Dialect))
			written.Update(measured)
			if err := written.Write(file); err != nil {
				return err
			}
		}
		err = printReport(cmd, report.Conforms(), report)
		if err == nil && !report.Complete() {
			return exit{exitIncomplete, nil}
		}
		return err
	}
}

func doctorCommand(env environment) *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "test a webhook receiver with valid and invalid deliveries", ArgsUsage: "URL",
		Description: `Sends valid and invalid deliveries to the receiver: wrong signatures,
duplicates, and late, huge, slow and malformed deliveries. Prints a scorecard
with advice. The exit code is 0 if every delivery was handled correctly, else 1.
Valid deliveries reach the handler of the receiver, which may store them: their
shipments begin with SH-DOCTOR. Receivers on other machines are tested only with
-anywhere.`,
		Metadata: examples(
			"doctor http://127.0.0.1:8080/hooks -key sk_test_…",
			"doctor http://127.0.0.1:8080/hooks -other-key sk_test_… -json",
		),
		Flags: []cli.Flag{
			keyFlag(env),
			env.text("other-key", "", "a second key that is accepted during key rotation"),
			env.text("signature-header", delivery.HeaderSignature, "the name of the header with the signature"),
			env.toggle("standard-webhooks", "sign by the Standard Webhooks scheme (whsec_ keys)"),
			env.time("patience", doctor.DefaultPatience, "the longest wait for a response"),
			env.toggle("anywhere", "allow other machines, if their owner consents"),
			env.toggle("json", "print the scorecard as JSON"),
		},
		Action: examine,
	}
}

func examine(ctx context.Context, cmd *cli.Command) error {
	if !cmd.Args().Present() {
		return errors.New("no URL given, such as mockserver doctor http://127.0.0.1:8080/hooks")
	}
	card, err := doctor.Examine(ctx, doctor.Config{
		URL: cmd.Args().First(), Key: cmd.String("key"), OtherKey: cmd.String("other-key"), SignatureHeader: cmd.String("signature-header"),
		Standard: cmd.Bool("standard-webhooks"), Patience: cmd.Duration("patience"), Anywhere: cmd.Bool("anywhere"),
	})
	if err != nil {
		return err
	}
	return printReport(cmd, card.Bad == 0, card)
}
