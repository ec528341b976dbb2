package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/internal/signature"
	"github.com/shipping-go/shipping/mockserver/internal/doctor"
)

func conformCommand(env environment) *cli.Command {
	return &cli.Command{
		Name: "conform", Usage: "check the conformance of a service", ArgsUsage: "[URL]",
		Description: `The default of URL is ` + baseURLVariable + `, else http://` + defaultAddr + `. Prints
at most 20 lines: what failed, what was spent, and the lines of -dialect for
the open points of the specification that the service has decided otherwise.
Open points are not failures. -v prints the whole report.

Changes and charges, at most:
  without -write       none: GET requests, and empty POST requests, which the
                       service must refuse
  -write               7 webhook replays and 8 analyses
  -write -purchase TYPE -most "AMOUNT CURRENCY"
                       also 1 purchase of the document, if its price and the
                       other numbers of its offer, except those that -dialect
                       declares, add up to at most AMOUNT
  -second-purchase     the same, and the same purchase a second time: a service
                       that fails this check charges twice
  -refused-purchases   like -write, and up to 10 purchases that the service must
                       refuse, of the second draft: a service that fails these
                       checks can charge all prices of that draft
All except the first refuse live keys. The whole report also lists the rules
that no run can check. If the service limits the rate of requests, they are sent
again after Retry-After, if that is within -patience; purchases are not.

The exit code is 0 if every check passed, 1 if a check failed, ` + fmt.Sprint(exitIncomplete) + ` if none failed
but one could not be made.`,
		Metadata: examples(
			"conform http://127.0.0.1:4010 -key sk_test_… -wallet VA-…",
			`conform -write          # after eval "$(mockserver env)"`,
			`conform -write -purchase CUSTOMS -most "9000.00 NGN" -dialect service.json`,
		),
		Flags: []cli.Flag{
			keyFlag(env),
			env.text("wallet", "", "the wallet whose transactions are listed", "SHIPPING_WALLET"),
			env.text("shipment", "", "the shipment to analyze, whose events are replayed", "SHIPPING_SHIPMENT"),
			env.text("invoice", "", "the URL of an uploaded invoice to analyze", "SHIPPING_INVOICE"),
			env.text("webhook", "", "the only webhook that receives replays", "SHIPPING_WEBHOOK"),
			env.toggle("write", "also make changes, which charge nothing"),
			env.text("purchase", "", "the document that is purchased, such as CUSTOMS"),
			env.text("most", "", "the most that it may cost, such as \"9000.00 NGN\""),
			env.toggle("second-purchase", "like -write, and send the purchase a second time"),
			env.toggle("refused-purchases", "like -write, and send purchases to be refused"),
			env.text("dialect", "", "the file of the service's dialect"),
			env.time("patience", 30*time.Second, "the longest wait for a response or a document"),
			env.toggle("v", "print every check"),
			env.toggle("json", "print the whole report as JSON"),
		},
		Action: conform(env),
	}
}

func conform(env environment) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error {
		opts, err := conformOptions(cmd)
		if err != nil {
			return err
		}
		base, err := baseURL(cmd.Args().First(), env)
		switch {
		case err != nil:
			return err
		case cmd.String("key") == "":
			return exit{exitUsage, errors.New("no secret key: set it with -key or " + secretKeyVariable)}
		}
		known, err := readDialect(cmd.String("dialect"))
		if err != nil {
			return err
		}
		w := newWire()
		defer w.CloseIdleConnections()
		report := conformance.Check(ctx, conformance.Target{
			BaseURL: base, Wallet: cmd.String("wallet"), Shipment: cmd.String("shipment"),
			Invoice: cmd.String("invoice"), Webhook: cmd.String("webhook"),
		}, append(opts, conformance.WithTransport(w), conformance.WithDialect(known))...)
		write := report.WriteSummary
		if cmd.Bool("v") {
			write = report.WriteText
		}
		err = printReport(cmd, report.Conforms(), report, write)
		if err == nil && !report.Complete() {
			return exit{exitIncomplete, nil}
		}
		return err
	}
}

// conformOptions returns the options of the flags, or an error if they contradict each other.
func conformOptions(cmd *cli.Command) ([]conformance.Option, error) {
	key, document, most := cmd.String("key"), cmd.String("purchase"), cmd.String("most")
	opts := []conformance.Option{conformance.WithPatience(cmd.Duration("patience")), conformance.WithSecretKey(key)}
	writes := false
	for flag, option := range map[string]func() conformance.Option{
		"write": conformance.WithWrites, "second-purchase": conformance.WithSecondPurchase,
		"refused-purchases": conformance.WithRefusedPurchases,
	} {
		if !cmd.Bool(flag) {
			continue
		}
		if writes = true; strings.HasPrefix(key, "sk_live_") {
			return nil, fmt.Errorf("-%s makes changes, and a live key is refused: use a test key", flag)
		}
		opts = append(opts, option())
	}
	_, err := shipping.ParseBudget(most)
	switch {
	case document == "" && most == "" && !cmd.Bool("second-purchase"):
		return opts, nil
	case document == "" || most == "" || !writes:
		return nil, errors.New("a purchase needs -write, -purchase and -most, such as -write -purchase CUSTOMS -most " +
			"\"9000.00 NGN\"; nothing was sent")
	case err != nil:
		problem := strings.NewReplacer("shipping: ", "", "ParseBudget ", "").Replace(err.Error())
		return nil, exit{exitUsage, errors.New("-most: " + problem)}
	case cmd.String("shipment") == "" && cmd.String("invoice") == "":
		return nil, errors.New("-purchase needs -shipment or -invoice; nothing was sent")
	}
	return append(opts, conformance.WithPurchase(document, most)), nil
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
			"doctor http://127.0.0.1:8080 -key sk_test_… -dialect service.json",
		),
		Flags: []cli.Flag{
			keyFlag(env),
			env.text("other-key", "", "a second key that is accepted during key rotation"),
			env.text("dialect", "", "signatures: FILE, standard-webhooks, FIELD=VALUE"),
			env.time("patience", doctor.DefaultPatience, "the longest wait for a response"),
			env.time("within", doctor.DefaultWithin, "the time in which the receiver should respond"),
			env.toggle("anywhere", "allow other machines, if their owner consents"),
			env.toggle("json", "print the scorecard as JSON"),
		},
		Action: examine,
	}
}

func examine(ctx context.Context, cmd *cli.Command) error {
	if !cmd.Args().Present() {
		return exit{exitUsage, errors.New("no URL given: write one, such as mockserver doctor http://127.0.0.1:8080/hooks")}
	}
	d, err := readDialect(cmd.String("dialect"))
	if err != nil {
		return err
	}
	card, err := doctor.Examine(ctx, doctor.Config{
		URL: cmd.Args().First(), Key: cmd.String("key"), OtherKey: cmd.String("other-key"),
		Scheme: signature.Of(d), Patience: cmd.Duration("patience"),
		Within: cmd.Duration("within"), Anywhere: cmd.Bool("anywhere"),
	})
	if err != nil {
		return err
	}
	return printReport(cmd, card.Bad == 0, card, card.WriteText)
}
