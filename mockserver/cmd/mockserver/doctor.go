package main

import (
	"context"
	"errors"

	"github.com/urfave/cli/v3"

	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/doctor"
)

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
			env.time("patience", doctor.DefaultPatience, "the longest wait for a response"),
			cacertFlag(env),
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
	roots, err := trustedRoots(cmd.String("cacert"))
	if err != nil {
		return err
	}
	card, err := doctor.Examine(ctx, doctor.Config{
		URL: cmd.Args().First(), Key: cmd.String("key"), OtherKey: cmd.String("other-key"), SignatureHeader: cmd.String("signature-header"),
		Patience: cmd.Duration("patience"), Anywhere: cmd.Bool("anywhere"), Roots: roots,
	})
	if err != nil {
		return err
	}
	return printReport(cmd, card.Bad == 0, card)
}
