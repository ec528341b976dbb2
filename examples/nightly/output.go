package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

// exit returns the exit code of a run, and what to do about its error: what another run does, and what a person does.
func (j *job) exit(again bool, err error) (code int, advice string) {
	const nextNight = "keep the open shipments in the list of the next night"
	open, _ := errors.AsType[openError](err)
	all, of := open.count()
	code, steps := open.steps(err, of)
	if _, isFile := errors.AsType[*fs.PathError](err); isFile && code == 1 {
		steps = append(steps, "make room in the folder "+j.folder+", and check who may write to it")
	}
	money := open.report.Shortage()
	person := "a person must " + cmp.Or(strings.Join(steps, ", and "), "do what these lines state")
	run := "run " + j.again() + ": it continues, and purchases nothing twice"
	lists, _ := errors.AsType[*shipping.Error](err) // if each open shipment only waits
	isDown := of[batch.NeedService] > (all-of["waits"])/2 ||
		all == of["waits"] && lists.Retryable() && !errors.Is(lists, context.Canceled)
	_, isJournal := errors.AsType[journalError](err)
	switch {
	case err == nil:
		return 0, ""
	case isJournal, errors.Is(err, batch.ErrDamaged):
		return 2, "a person must put the newest batch.journal back if it was moved or replaced, and run " + j.again() +
			"; otherwise, do what the lines above state: -record counts the missing purchases against the budget of this " +
			"night, and waits for their documents"
	case of[batch.NeedWallet] > 0 && money.Budget.Amount.Known():
		code, run = 1, fmt.Sprintf("add money to the wallet and raise -budget, or keep the rest for the next "+
			"night: %s; then %s", money, run)
	case of[batch.NeedWallet] > 0:
		code, run = 1, fmt.Sprintf("add money to the wallet: %s; then %s", money, run)
	case again && isDown: // EX_TEMPFAIL
		code, run = 75, "the service failed or did not respond: once it responds, "+run
	case again:
		code = 75
		if strings.Contains(err.Error(), "response id") {
			run += "; if a line with a response id stays, ask the service"
		}
	case of[batch.NeedCharge] > 0 && of["held"]+of[batch.NeedPeriod] > 0 && open.exceeded():
		return code, person + "; " + nextNight
	case code == 1 && all > 0 && of[batch.NeedPeriod] == all && open.exceeded():
		return 3, "more than the budget of this night is spent: " + nextNight
	case code == 1 && all > 0 && of[batch.NeedPeriod] == all:
		return 3, fmt.Sprintf("the budget of this night is spent: %s, or raise -budget and run %s: %s", nextNight,
			j.again(), money)
	case of[batch.NeedBudget] > 0 && of[batch.NeedPeriod] > 0:
		return code, fmt.Sprintf("%s; keep the others in the list of the next night; to buy all in this night, raise "+
			"-budget and run %s: %s", person, j.again(), money)
	case of[batch.NeedPeriod] > 0 && len(steps) > 0:
		return code, fmt.Sprintf("%s, and run %s; for what is over budget (%d), raise -budget, or keep it in the list of "+
			"the next night: %s", person, j.again(), of[batch.NeedPeriod], money)
	case of[batch.NeedBudget] > 0:
		return code, fmt.Sprintf("%s; then run %s: %s", person, j.again(), money)
	default:
		return code, person + "; then run " + j.again()
	}
	if len(steps) > 0 {
		run += "; " + person
	}
	return code, run
}

// steps returns what a person must do, and the exit code if no other run helps.
func (e openError) steps(err error, of map[batch.Need]int) (code int, steps []string) {
	code = 1
	if of[batch.NeedCharge] > 0 {
		steps = append(steps, "close the charges above their cost, as their line states")
	}
	if n := of[batch.NeedPerson] + of[batch.NeedRetry]; n > 0 {
		steps = append(steps, fmt.Sprintf(`work on the lines marked "for a person" (shipments: %d)`, n))
	}
	if wrong, found := errors.AsType[inputError](err); found {
		code, steps = 2, append(steps, wrong.action)
	}
	if n := of[batch.NeedBudget]; n > 0 {
		steps = append(steps, fmt.Sprintf("leave out the shipments that cost more than the whole budget (%d), or raise "+
			"-budget", n))
	}
	return code, steps
}

// openError is the error of a report. It has a line for what to do, and below it a line for each cause, with the number
// of shipments.
type openError struct {
	report *batch.Report
	job    *job
}

// count returns how many shipments are open, and how many by what completes them; "waits" are those that only wait,
// and "held" those that wait for a person to close a charge.
func (e openError) count() (all int, of map[batch.Need]int) {
	of = map[batch.Need]int{}
	for _, cause := range e.report.Causes() {
		all += len(cause.Keys)
		if of[cause.Need] += len(cause.Keys); cause.Need == batch.NeedRun && cause.State == batch.StateWaiting {
			of["waits"] += len(cause.Keys)
		}
		if cause.Need == batch.NeedCharge && cause.State == batch.StateOverBudget {
			of["held"] += len(cause.Keys)
		}
	}
	return all, of
}

func (e openError) Error() string {
	const most = 60 // lines; causes.csv has all
	var text strings.Builder
	causes := e.report.Causes()
	for i, cause := range causes[:min(len(causes), most)] {
		if i == 0 || cause.State != causes[i-1].State || cause.Next != causes[i-1].Next {
			fmt.Fprintf(&text, "%s\n", e.action(cause))
		}
		ids := strings.Join(cause.Keys[:min(len(cause.Keys), 3)], ", ")
		fmt.Fprintf(&text, "  %d: %s (%s)\n", len(cause.Keys), e.short(cause), ids)
	}
	return text.String() + "each line has the text of its first shipment; causes.csv has the whole texts, and all ids"
}

// action returns the state of a cause, and what to do.
func (e openError) action(cause batch.Cause) string {
	who, next := "", cause.Next
	switch cause.Need {
	case batch.NeedPeriod:
		if next = "keep these in the list of the next night"; !e.exceeded() {
			next += ", or raise -budget"
		}
	case batch.NeedBudget:
		next = "a night with this budget does not buy these: raise -budget, or leave them out"
	case batch.NeedCharge:
		if cause.State != batch.StateOverBudget {
			next = e.job.closes(cause.Keys)
		} else if e.exceeded() { // these wait for the charge to be closed
			next = "keep these in the list of the next night"
		}
	case batch.NeedRetry:
		who, next = ", for a person", "run nightly retry "+e.requests()+" (without a charge, if the dialect has the route "+
			"regulatory.retry); if it succeeds"+strings.TrimPrefix(next, "if Regulatory.Retry succeeds")
	case batch.NeedPerson:
		who = ", for a person"
	}
	return fmt.Sprintf("%s%s: %s", cause.State, who, next)
}

// exceeded reports whether more than the budget was spent: by a charge above its cost, or by purchases of -record.
func (e openError) exceeded() bool {
	return e.job.budget != nil && e.report.Committed.Cmp(e.job.budget.Amount) > 0
}

// requests returns the ids of requests whose generation failed.
func (e openError) requests() string {
	var ids []string
	for _, cause := range e.report.Causes() {
		if cause.Need == batch.NeedRetry {
			ids = append(ids, cause.RequestIDs...)
		}
	}
	if others := len(ids) - 30; others > 0 {
		ids = append(ids[:30], fmt.Sprintf("and the %d others of documents.csv", others))
	}
	return strings.Join(ids, " ")
}

// short returns the text of a cause without what to do, and without what does not help tonight.
func (e openError) short(cause batch.Cause) string {
	if over, ok := errors.AsType[*shipping.BudgetError](cause.Err); ok && over.Needed.Known() { // which differ for each
		if over.Needed.Cmp(over.Budget.Amount) > 0 {
			return fmt.Sprintf("costs %s %s, more than the whole budget of %s", over.Needed.StringFixed(2), over.Budget.Currency,
				over.Budget)
		}
		return fmt.Sprintf("not enough was left of %s, and nothing was purchased", over.Budget)
	}
	beside := []string{"see /_mock/", "the wallet was charged: Regulatory.Retry", "if this is the path of the code"}
	if e.report.Count(batch.StateCompleted) > 0 { // so the address is right
		beside = append(beside, "check that the base address", "redirects are not followed")
	}
	text := strings.TrimPrefix(cause.Err.Error(), "shipping: ")
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
	if event.Ended == event.Total {
		return
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
	return strings.NewReplacer(j.texts()...).Replace(err.Error())
}

// texts returns texts of the library, each followed by its replacement.
func (j *job) texts() []string {
	return []string{
		"call batch.Resolve with the outcome that they show",
		"use " + j.resolves("charged", "SHIPMENT") + `, or "not charged" in place of charged, as they show`,
		"batch.Resolve with OutcomeCharged", j.resolves("charged", "SHIPMENT"),
		"batch.Resolve with OutcomeNotCharged", j.resolves(`"not charged"`, "SHIPMENT"),
		": record the wallet's purchases in a new journal (batch.Adopt), or leave their shipments out of every later list",
		":" + j.begins(),
		"once the secret key is corrected, run the batch again", "correct SHIPPING_SECRET_KEY, then run " + j.again(),
		"once this is corrected, run the batch again: it reads", "correct this, then run " + j.again() + ": it reads",
		"once this is corrected, run the batch again",
		"correct this, then run " + j.again() + "; keep in the list the shipments that are refused only for now",
		"once the charges above their cost are closed, run the batch again", "do what the last line of the night states",
		"if nothing was purchased with it, remove the file",
		"if no night has begun (there is no documents.csv), remove the file",
		"compare the charge with the wallet's transactions, and correct the dialect",
		"find the request in wallet.csv; if the amount there differs, a developer corrects the dialect",
		"(WithBaseURL or SHIPPING_BASE_URL)", "(SHIPPING_BASE_URL)",
		"run the batch again", "run " + j.again(), "another period, such as the next night", "the next night",
		"follow it with Regulatory.Wait, and leave the item out of the next run", "leave it out of the next list",
		"batch.Resolve", "nightly resolve", "Regulatory.Retry", "nightly retry", " an item", " a shipment",
		"of the item with the key", "of the one with the key", // else "the shipment of the shipment"
		" item", " shipment", "shipping: batch: Resolve cannot", "nightly: resolve cannot", " unless Item.Key is set", "",
		"; to buy more, use an item with another Key and Again", "", "shipping: ParseBudget", "nightly: -budget",
		"WithDialect has no route for this operation, and the specification documents none", "the dialect has no route",
		"pass the dialect to NewClient, or set SHIPPING_DIALECT to its file for NewClientFromEnv",
		"set SHIPPING_DIALECT to its file",
		"Purchase.QuietFor (5 minutes by default)", "5 minutes",
		"if the secret key is not allowed to do this, use another key, or request the permission from the service",
		"ask the service whether this account may do it",
		": Error.Body contains it", "", "; send fewer requests, for example with WithLimiter", "",
		"if this process opened it, use that File or close it; if not, wait until the other process ends",
		"wait until the night that runs has ended",
		"; a read changes nothing: try again later", "", "terminated signal received", "stopped by SIGTERM",
		"shipping: batch: Item has the key", "the id is", ": set a Key that a journal can keep", ": correct the line",
	}
}

// resolves returns the command that records the outcome of purchases.
func (j *job) resolves(outcome string, shipments ...string) string {
	return fmt.Sprintf("nightly resolve -out %s -note TICKET -outcome %s %s", cmp.Or(j.folder, "FOLDER"), outcome,
		strings.Join(shipments[:min(len(shipments), 200)], " "))
}

// closes returns what a person does about charges above their cost.
func (j *job) closes(shipments []string) string {
	return "find each request (documents.csv) in wallet.csv; if the amount there differs, a developer corrects the " +
		"dialect; either way, run " + j.resolves("charged", shipments...) + "; until then, no shipment is purchased"
}

// begins returns what a person does after the journal was lost.
func (j *job) begins() string {
	anew := "move documents.csv to another folder, and run " + j.again()
	return "\n  if wallet.csv has requests (RD-…): run " + j.again() + " with -record TICKET" +
		"\n  if it has none, and another wallet pays: correct -wallet, and run " + j.again() + ", which writes it anew" +
		"\n  if no night has purchased anything: " + anew +
		"\n  if the service never shows requests: " + anew + "; leave the shipments out of later lists"
}

// again names the night for the person who runs it again: the date of the log can be another one.
func (j *job) again() string { return "night " + j.night + " again" }
