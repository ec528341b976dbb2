package main

import (
	"errors"
	"fmt"
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
	case again: // EX_TEMPFAIL
		return 75, "run the same night again: it continues, and purchases nothing twice; if something stays open then, do " +
			"what its line states"
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

// openError is the error of a report. It has a line for what to do, and below it a line for each cause, with the number
// of shipments.
type openError struct{ report *batch.Report }

func (e openError) Error() string {
	const most = 60 // lines; causes.csv has all
	var text strings.Builder
	causes := e.report.Causes()
	for i, cause := range causes[:min(len(causes), most)] {
		if i == 0 || cause.State != causes[i-1].State || cause.Next != causes[i-1].Next {
			fmt.Fprintf(&text, "%s: %s\n", cause.State, cause.Next)
		}
		ids := strings.Join(cause.Keys[:min(len(cause.Keys), 3)], ", ")
		fmt.Fprintf(&text, "  %d: %s (%s)\n", len(cause.Keys), short(cause), ids)
	}
	return text.String() + "causes.csv has the whole text of each cause, and the ids"
}

// short returns the text of a cause without what to do, and without what only a developer can use.
func short(cause batch.Cause) string {
	if over, ok := errors.AsType[*shipping.BudgetError](cause.Err); ok && over.Needed.Known() { // which differ for each
		return fmt.Sprintf("not enough was left of %s, and nothing was purchased", over.Budget)
	}
	text := strings.TrimSuffix(strings.TrimPrefix(cause.Err.Error(), "shipping: "), "; "+cause.Next)
	clauses := strings.Split(text, "; ")
	return strings.Join(slices.DeleteFunc(clauses, func(clause string) bool {
		return strings.HasPrefix(clause, "see /_mock/") || strings.HasPrefix(clause, "if the code of a refusal is there")
	}), "; ")
}

func (e openError) Unwrap() []error { return []error{e.report.Err()} }

// progress logs once a minute how far the night is, and what a silent night waits for.
func (j *job) progress(event batch.Event) {
	settles := event.Step == "settling" && !j.settles
	if time.Since(j.logged) < time.Minute && !settles {
		return
	}
	if settles {
		j.settles = true
		log.Printf("nightly: the outcome of earlier purchases is read until %s, at most: let the job run until then",
			time.Now().Add(event.Next).Format(time.TimeOnly))
	} else if !j.logged.IsZero() {
		log.Printf("nightly: %d of %d shipments have ended; the others are worked on, or wait for their documents or for "+
			"the outcome of a purchase; SIGTERM ends the wait, and loses nothing", event.Ended, event.Total)
	}
	j.logged = time.Now()
}

// forOperators returns the text of an error with the commands of this program, and its files, in place of Go names.
func forOperators(err error) string {
	return strings.NewReplacer(
		"batch.Resolve with OutcomeCharged", "nightly resolve -outcome charged",
		"batch.Resolve with OutcomeNotCharged", `nightly resolve -outcome "not charged"`,
		"add it to the items of another period, such as the next night, which has its own budget",
		"keep them in the list of the next night, or run this night again with a larger -budget",
		"batch.Resolve", "nightly resolve", "terminated signal received", "stopped by SIGTERM",
		"Regulatory.Retry", "nightly retry", "run the batch again", "run the same night again",
		"Purchase.QuietFor (5 minutes by default)", "5 minutes", "see Report.Causes", "see causes.csv",
	).Replace(err.Error())
}
