package main

import (
	"context"

	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/doctor"
)

func doctorCommand() command {
	return command{
		word: "doctor", summary: "test a receiver of webhooks with valid and invalid deliveries", argument: "URL",
		about: `Sends valid and invalid deliveries to the receiver: wrong signatures, duplicates, and late, huge, slow and
malformed deliveries. Prints a scorecard with advice. The exit code is 0 if every delivery was handled
correctly, else 1. Valid deliveries reach the handler of the receiver, which may store them: their shipments begin
with SH-DOCTOR. Receivers on other machines are tested only with -anywhere.`,
		examples: []string{
			"doctor http://127.0.0.1:8080/hooks -key sk_test_…",
			"doctor http://127.0.0.1:8080/hooks -other-key sk_test_… -json",
		},
		define: func(f *flags) action {
			key := keyFlag(f)
			other := f.text("other-key", text{}, "a second `KEY` that the receiver accepts during key rotation")
			header := f.text("signature-header", text{value: delivery.HeaderSignature}, "the header `NAME` that carries the signature")
			patience := f.Duration("patience", doctor.DefaultPatience, "the maximum `TIME` for a response")
			cacert := cacertFlag(f)
			anywhere := f.Bool("anywhere", false, "allow receivers on other machines; only with the consent of their owner")
			asJSON := f.Bool("json", false, "print the scorecard as JSON")
			return func(ctx context.Context, p program) int {
				if len(p.args) == 0 {
					return p.fail("no URL given, such as mockserver doctor http://127.0.0.1:8080/hooks")
				}
				roots, err := trustedRoots(*cacert)
				if err != nil {
					return p.fail("%v", err)
				}
				card, err := doctor.Examine(ctx, doctor.Config{
					URL: p.args[0], Key: *key, OtherKey: *other, SignatureHeader: *header, Patience: *patience,
					Anywhere: *anywhere, Roots: roots,
				})
				if err != nil {
					return p.fail("%v", err)
				}
				return p.deliver(card.Bad == 0, *asJSON, card, card.WriteText)
			}
		},
	}
}

// keyFlag declares the flag of the secret key.
func keyFlag(f *flags) *string {
	return f.text("key", text{also: secretKeyVariable}, "the secret `KEY` of the account")
}
