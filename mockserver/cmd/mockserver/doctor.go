package main

import (
	"context"

	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/doctor"
)

func doctorCommand() command {
	return command{
		word: "doctor", summary: "examine a receiver of webhooks with deliveries good and bad", argument: "URL",
		about: `Sends the receiver what the service sends, and what nobody should: wrong signatures, duplicates, late and
huge and slow and broken deliveries. Prints a scorecard with advice. The exit code is 0 when all is good,
1 when something is not. Only receivers on this machine are examined unless -anywhere is given.`,
		examples: []string{
			"doctor http://127.0.0.1:8080/hooks -key sk_test_…",
			"doctor http://127.0.0.1:8080/hooks -other-key sk_test_… -json",
		},
		define: func(f *flags) action {
			key := keyFlag(f)
			other := f.text("other-key", text{}, "a second `KEY` that the receiver takes while keys are changed")
			header := f.text("signature-header", text{value: delivery.HeaderSignature}, "the header `NAME` that carries the signature")
			patience := f.Duration("patience", doctor.DefaultPatience, "the `TIME` that an answer may take")
			cacert := cacertFlag(f)
			anywhere := f.Bool("anywhere", false, "examine receivers on other machines too; have their owner's consent")
			asJSON := f.Bool("json", false, "print the scorecard as JSON")
			return func(ctx context.Context, p program) int {
				if len(p.args) == 0 {
					return p.fail("name the receiver's URL: mockserver doctor http://127.0.0.1:8080/hooks")
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
