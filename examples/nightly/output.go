package main

import (
	"errors"
	"log"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

// exit returns the exit code of a run, and what to do about its error.
func exit(again bool, err error) (code int, advice string) {
	_, wrong := errors.AsType[listError](err)
	switch {
	case err == nil:
		return 0, ""
	case errors.Is(err, shipping.ErrInsufficientFunds):
		return 1, "add money to the wallet, then run the same night again: it continues, and purchases nothing twice"
	case again && wrong:
		return 75, "correct the list, and run the same night again: it continues, and purchases nothing twice"
	case again: // EX_TEMPFAIL
		return 75, "run the same night again: it continues, and purchases nothing twice; what stays open then needs what the " +
			"lines above state"
	case wrong:
		return 2, "correct the list, then run the same night again"
	case overBudget(err):
		return 1, "the budget of this night is spent: keep the open shipments in the list of the next night, or raise -budget"
	}
	return 1, "a person must remove these causes; a run of the same night then continues"
}

// overBudget reports whether the budget is the cause of everything that is left.
func overBudget(err error) bool {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(several.Unwrap(), func(err error) bool { return !overBudget(err) })
	}
	over, ok := errors.AsType[*shipping.BudgetError](err)
	return ok && over.Needed.Known()
}

// progress logs once a minute how far the night is, and what a silent night waits for.
func (j *job) progress(event batch.Event) {
	settles := event.Step == "settling" && !j.settles
	if time.Since(j.logged) < time.Minute && !settles {
		return
	}
	if settles {
		j.settles = true
		log.Printf("nightly: the outcome of earlier purchases is read for up to %s", event.Next)
	} else if !j.logged.IsZero() {
		log.Printf("nightly: %d of %d shipments have ended", event.Ended, event.Total)
	}
	j.logged = time.Now()
}

// forOperators returns the text of an error with the commands of this program, and its files, in place of Go names.
func forOperators(err error) string {
	return strings.NewReplacer(
		"batch.Resolve with OutcomeCharged", "nightly resolve -outcome charged",
		"batch.Resolve with OutcomeNotCharged", `nightly resolve -outcome "not charged"`,
		"call batch.Resolve", "call nightly resolve", "batch.Resolve", "nightly resolve",
		"Regulatory.Retry", "nightly retry", "run the batch again", "run the same night again",
		"Purchase.QuietFor (5 minutes by default)", "5 minutes", "see Report.Causes", "see causes.csv",
	).Replace(err.Error())
}
