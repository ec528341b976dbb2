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
func (j *job) exit(again bool, err error) (code int, advice string) {
	_, wrong := errors.AsType[listError](err)
	switch {
	case err == nil:
		return 0, ""
	case errors.Is(err, shipping.ErrInsufficientFunds):
		return 1, "add money to the wallet, then run " + j.again() + ": it continues, and purchases nothing twice"
	case again: // EX_TEMPFAIL
		return 75, "run " + j.again() + ": it continues, and purchases nothing twice; if a line stays, do what it " +
			"states, or ask the service with its response id"
	case wrong:
		return 2, "correct the list, then run " + j.again()
	case overBudget(err):
		return 1, "the budget of this night is spent: keep the open shipments in the list of the next night, or raise -budget"
	}
	return 1, "a person must remove these causes; then run " + j.again() + ": it continues"
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
type openError struct {
	report *batch.Report
}

func (e openError) Error() string {
	const most = 60 // lines; causes.csv has all
	var text strings.Builder
	causes := e.report.Causes()
	for i, cause := range causes[:min(len(causes), most)] {
		if i == 0 || cause.State != causes[i-1].State || cause.Next != causes[i-1].Next {
			fmt.Fprintf(&text, "%s: %s\n", cause.State, cause.Next)
		}
		ids := strings.Join(cause.Keys[:min(len(cause.Keys), 3)], ", ")
		fmt.Fprintf(&text, "  %d: %s (%s)\n", len(cause.Keys), e.short(cause), ids)
	}
	return text.String() + "each line has the text of its first shipment; causes.csv has the whole texts, and all ids"
}

// short returns the text of a cause without what to do, and without what does not help tonight.
func (e openError) short(cause batch.Cause) string {
	if over, ok := errors.AsType[*shipping.BudgetError](cause.Err); ok && over.Needed.Known() { // which differ for each
		return fmt.Sprintf("not enough was left of %s, and nothing was purchased", over.Budget)
	}
	beside := []string{"see /_mock/", "if the code of a refusal is there"}
	if e.report.Count(batch.StateCompleted) > 0 { // so the address is right
		beside = append(beside, "check that the base address", "redirects are not followed")
	}
	text := strings.TrimSuffix(strings.TrimPrefix(cause.Err.Error(), "shipping: "), "; "+cause.Next)
	return strings.Join(slices.DeleteFunc(strings.Split(text, "; "), func(clause string) bool {
		return slices.ContainsFunc(beside, func(begin string) bool { return strings.HasPrefix(clause, begin) })
	}), "; ")
}

func (e openError) Unwrap() []error { return []error{e.report.Err()} }

// progress logs once a minute how far the night is, and what a silent night waits for.
func (j *job) progress(event batch.Event) {
	if event.Step == "ended" && event.Item.Err != nil {
		j.failed++
	}
	settles := event.Step == "settling" && !j.settles
	if time.Since(j.logged) < time.Minute && !settles {
		return
	}
	if settles {
		j.settles = true
		log.Printf("nightly: the outcome of earlier purchases is read until %s, at most: let the job run until then",
			time.Now().Add(event.Next).Format(time.TimeOnly))
	} else if !j.logged.IsZero() {
		log.Printf("nightly: %d of %d shipments have ended, %d of them with an error; the others are worked on, or wait for "+
			"their documents or for the outcome of a purchase; SIGTERM ends the wait, and loses nothing", event.Ended,
			event.Total, j.failed)
	}
	j.logged = time.Now()
}

// forOperators returns the text of an error with the commands and files of this program in place of Go names.
func (j *job) forOperators(err error) string {
	return strings.NewReplacer(
		"call batch.Resolve with the outcome that they show",
		`use nightly resolve with -outcome charged or -outcome "not charged", as they show`,
		"if the documents never come, batch.Resolve with OutcomeCharged closes the item",
		"if the documents have not come after a day, ask the service; if they will never come, nightly resolve -outcome "+
			"charged closes the shipment",
		"batch.Resolve with OutcomeCharged", "nightly resolve -outcome charged",
		"batch.Resolve with OutcomeNotCharged", `nightly resolve -outcome "not charged"`,
		"add it to the items of another period, such as the next night, which has its own budget",
		"keep them in the list of the next night, or run this night again with a larger -budget",
		"once this is corrected, run the batch again",
		"correct this, then run "+j.again()+"; keep in the list what is refused only for now, and leave out the rest",
		"run the batch again", "run "+j.again(),
		"batch.Resolve", "nightly resolve", "Regulatory.Retry", "nightly retry",
		"Purchase.QuietFor (5 minutes by default)", "5 minutes", "see Report.Causes", "see causes.csv",
		"if the secret key is not allowed to do this, use another key, or request the permission from the service",
		"ask the service whether this account may do it",
		": Error.Body contains it", "", "; send fewer requests, such as with WithLimiter", "",
		"; a read changes nothing: try again later", "", "terminated signal received", "stopped by SIGTERM",
		"shipping: batch: Item has the key", "the id is", ": set a Key that a journal can keep", ": correct the line",
	).Replace(err.Error())
}

// again names the night for the person who runs it again: the date of the log can be another one.
func (j *job) again() string { return "night " + j.night + " again" }
