package main

import (
	"cmp"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/shipping-go/shipping/batch"
)

// inputError is the error of an option, the list or the journal: this night does not run, or not with all of its list.
type inputError struct{ error }

// exit returns the exit code of a run, and its last line: what another run does, and whether a person must act.
func (j *job) exit(again bool, err error) (code int, advice string) {
	open, _ := errors.AsType[openError](err)
	all, of := open.count()
	_, isInput := errors.AsType[inputError](err)
	isInput = isInput || errors.Is(err, batch.ErrDamaged) || errors.Is(err, batch.ErrOtherWallet)
	switch {
	case err == nil:
		return 0, ""
	case again && of[batch.NeedWallet] == 0:
		if code, advice = 75, j.again()+": it continues, and purchases nothing twice"; of[batch.NeedService] > 0 {
			advice = "once the service responds, " + advice
		}
		_, unwritten := errors.AsType[*batch.JournalError](err) // such as on a full disk
		if unwritten || isInput || of[batch.NeedRun]+of[batch.NeedService]+of[batch.NeedPeriod] < all {
			advice += "; a person must do what the other lines state"
		}
	case !isInput && all > 0 && of[batch.NeedPeriod] == all:
		if code, advice = 3, "keep the open shipments in the list of the next night"; open.exceeded() {
			return code, "more than the budget of this night is spent: " + advice
		}
		advice = "the budget of this night is spent: " + advice + ", or raise -budget and " + j.again()
	case isInput:
		code, advice = 2, "a person must do what these lines state, then "+j.again()
	default:
		code, advice = 1, "a person must do what these lines state, then "+j.again()
	}
	if shortage := open.report.Shortage().String(); shortage != "" {
		advice += ": " + shortage
	}
	return code, advice
}

// again names the night for the person who runs it again: the date of the log can be another one.
func (j *job) again() string { return "run night " + cmp.Or(j.night, "DATE") + " again" }

// openError is the error of a report. It has a line for what to do, and below it a line for each cause, with the number
// of shipments.
type openError struct {
	report *batch.Report
	job    *job
}

// count returns how many shipments are open, and how many by what completes them.
func (e openError) count() (all int, of map[batch.Need]int) {
	of = map[batch.Need]int{}
	for _, cause := range e.report.Causes() {
		all += len(cause.Keys)
		of[cause.Need] += len(cause.Keys)
	}
	return all, of
}

func (e openError) Error() string {
	const most = 60 // lines; causes.csv has all
	var text strings.Builder
	last := ""
	causes := e.report.Causes()
	for _, cause := range causes[:min(len(causes), most)] {
		state := string(cause.State)
		if cause.State == batch.StateCompleted {
			state += ", but charged above its cost"
		}
		if action := fmt.Sprintf("%s: %s\n", state, e.action(cause)); action != last {
			text.WriteString(action)
			last = action
		}
		ids := strings.Join(cause.Keys[:min(len(cause.Keys), 3)], ", ")
		fmt.Fprintf(&text, "  %d: %s (%s)\n", len(cause.Keys), strings.TrimPrefix(cause.Err.Error(), "shipping: "), ids)
	}
	return text.String() + "each line has the text of its first shipment; causes.csv has all ids, documents.csv all texts"
}

func (e openError) Unwrap() []error { return []error{e.report.Err()} }

// action returns what completes the shipments of a cause: the next run, or a person.
func (e openError) action(cause batch.Cause) string {
	j, next := e.job, "keep these in the list of the next night"
	if !e.exceeded() {
		next += ", or raise -budget"
	}
	keys, requests := e.all(cause)
	const orNot = ` if wallet.csv has its request (otherwise -outcome "not charged")`
	later := j.again() + "; if a line stays for a day, do what it states, or ask the service"
	action, found := map[batch.Need]string{
		batch.NeedRun:     later + ", or run " + j.resolves("SHIPMENT") + orNot,
		batch.NeedService: "once the service responds, " + later,
		batch.NeedWallet:  "add money to the wallet, then " + j.again(),
		batch.NeedPeriod:  next,
		batch.NeedBudget:  "no night with this budget buys these: raise -budget, or leave them out",
		batch.NeedCharge: "compare \"charged\" of documents.csv with wallet.csv: if it differs, a developer corrects the " +
			"dialect, otherwise ask the service; then run " + j.resolves(keys...) + "; until then, no shipment is purchased",
		batch.NeedRetry: "run nightly retry " + strings.Join(requests, " ") + ", then " + j.again() + ", which purchases " +
			"nothing for these; if they fail again, ask the service; to give up, run " + j.resolves(keys...),
		batch.NeedEvidence: "send the service the evidence, then " + j.again(),
		batch.NeedItem:     "correct these shipments, or leave them out of the list",
		batch.NeedOutcome:  "run " + j.resolves(keys...) + orNot,
	}[cause.Need]
	switch {
	case !found:
		return "do what each line states, or ask the service, then " + j.again()
	case cause.Need == batch.NeedRun && cause.State == batch.StateError: // nothing to close
		return later
	case cause.Need == batch.NeedItem && cause.State == batch.StateError && len(requests) > 0: // a purchase was refused
		return action + "; if the drafts have expired, run " + j.resolves(keys...) + orNot
	case cause.Need == batch.NeedCharge && cause.State == batch.StateOverBudget:
		return "once the charges above their cost are closed, " + j.again()
	}
	return action
}

// all returns the shipments and the requests of all causes with the same state and need, at most 200.
func (e openError) all(cause batch.Cause) (keys, requests []string) {
	for _, other := range e.report.Causes() {
		if other.State == cause.State && other.Need == cause.Need {
			keys, requests = append(keys, other.Keys...), append(requests, other.RequestIDs...)
		}
	}
	most := min(len(keys), 200)
	return keys[:most], requests[:most]
}

// exceeded reports whether more than the budget was spent: by a charge above its cost, or by purchases of -record.
func (e openError) exceeded() bool {
	return e.job.budget != nil && e.report.Committed.Cmp(e.job.budget.Amount) > 0
}

// resolves returns the command that records the outcome of purchases.
func (j *job) resolves(shipments ...string) string {
	return fmt.Sprintf("nightly resolve -out %s -note TICKET -outcome charged %s", cmp.Or(j.folder, "FOLDER"),
		strings.Join(shipments, " "))
}

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
		": record the wallet's purchases in a new journal (batch.Adopt), or leave their shipments out of every later list",
		":" + j.begins(),
		"if nothing was purchased with it, remove the file",
		"if no night has begun (there is no documents.csv), remove the file",
		"if this process opened it, use that File or close it; if not, wait until the other process ends",
		"wait until the night that runs has ended",
		"WithDialect has no route for this operation, and the specification documents none",
		"the dialect has no route",
		"pass the dialect to NewClient, or set SHIPPING_DIALECT to its file for NewClientFromEnv",
		"export SHIPPING_DIALECT with the path of a file that has this line, for this command and for the nights",
		"pass a context that has not ended", j.again(),
		"leave Options.Wallet empty", "a developer removes Wallet from this job", "Options.Wallet", "-wallet",
		"run the batch again", j.again(), "batch.Resolve", "nightly resolve", "Regulatory.Retry", "nightly retry",
	}
}
