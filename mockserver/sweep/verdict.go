package sweep

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/byname"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Verdict is the kind of a finding.
type Verdict string

// The verdicts, the worst first.
const (
	// PaidTwice: a document was bought more often than without faults.
	PaidTwice Verdict = "paid-twice"
	// Unfinished: money was spent for a request that never completed.
	Unfinished Verdict = "unfinished"
	// Missing: the program succeeded, and something that it buys or sends without faults is missing.
	Missing Verdict = "missing"
	// Different: the program bought or sent something unexpected once, or it succeeded and a file differs from the
	// run without faults; see [Goal.Files].
	Different Verdict = "different"
	// Unsettled: money was spent by a purchase whose response was lost, and the program failed without reading that the
	// request was purchased, although the service responds.
	Unsettled Verdict = "unsettled"
	// SentAgain: a request was sent again that must not be.
	SentAgain Verdict = "sent-again"
	// TimedOut: the program did not end in time.
	TimedOut Verdict = "timed-out"
	// Lint: a finding of lint; see [mockserver.World.Findings].
	Lint Verdict = "lint"
	// NotStruck: a fault of [Config.Only] did not strike, for example because the program did not make the request.
	// The run tested nothing.
	NotStruck Verdict = "not-struck"
)

// verdicts returns every verdict, the worst first.
func verdicts() []Verdict {
	return []Verdict{PaidTwice, Unfinished, Missing, Different, Unsettled, SentAgain, TimedOut, Lint, NotStruck}
}

// Finding is a verdict about one run.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	Detail  string  `json:"detail"`
	// Rule is the rule of docs/sweep.md that the program breaks, or empty.
	Rule string `json:"rule,omitempty"`
}

// String returns the verdict and the detail.
func (f Finding) String() string { return string(f.Verdict) + ": " + f.Detail }

func (r *run) find(v Verdict, format string, args ...any) {
	f := Finding{Verdict: v, Detail: fmt.Sprintf(format, args...)}
	for _, rule := range rules() {
		if f.Rule == "" && regexp.MustCompile(rule.findings).MatchString(fmt.Sprint(f, " at ", r.Schedule, r.restart)) {
			f.Rule = rule.text
		}
	}
	r.Findings = append(r.Findings, f)
}

// rules returns the rules of docs/sweep.md, each with the findings that it would prevent. The first match applies.
func rules() []struct{ findings, text string } {
	return []struct{ findings, text string }{
		{`^paid-twice.* notification#\d+:twice`, "notifications: recognize repeats"},
		{`^paid-twice.*:replayed`, "notifications: keep a record of the shipments for which you have purchased"},
		{`^different.*:forged`, "notifications: verify the signature"},
		{`^missing.* notification#\d+:killed`, "notifications: respond after the work is done or recorded"},
		{`^(paid-twice|unsettled).*; started again`,
			"rule 3: write the id of the regulatory request to a file before the purchase"},
		{`^paid-twice.*:(arrives-late|504)`,
			"rule 2: if it is a draft, the purchase can still arrive: read it until it has been a draft for five minutes"},
		{`^paid-twice.*:repeated|^unsettled|^sent-again: the purchase`,
			"rule 2: if the response to a purchase is lost or unclear, read the regulatory request"},
		{`^paid-twice.* at regulatory`, "rule 1: do not start over after an error"},
		{`^lint: ignored-retry-after`, "rule 4: wait as long as the header Retry-After asks"},
		{`^missing: the program succeeded.* at regulatory[^;]*$`,
			"rule 5: treat a response as a success only if it is JSON whose status is true"},
	}
}

// judged reads the actions of a program, compares it with the run without faults, which is the first, and returns the
// result.
func (s *sweeper) judged(ctx context.Context, r *run) (*RunResult, error) {
	if err := r.observe(ctx); err != nil {
		return nil, err
	}
	if s.normal == nil {
		s.normal = r
	}
	s.judge(r)
	if len(s.config.Only) > 0 && !r.Struck {
		r.find(NotStruck, "%s did not strike: the program did not send the request, or the fault does not apply to it",
			r.Schedule)
	}
	result := r.RunResult
	return &result, nil
}

// judge compares a run with the run without faults.
func (s *sweeper) judge(r *run) {
	goal, normal := s.goal(), s.normal
	for _, subject := range slices.Sorted(maps.Keys(r.did.Documents)) {
		r.more(PaidTwice, goal.Documents[subject], r.did.Documents[subject], " for "+subject, s.config.Goal.Documents != nil)
	}
	if r != normal && !r.failed && len(r.unfinished) > len(normal.unfinished) {
		for _, what := range r.unfinished {
			r.find(Unfinished, "%s", what)
		}
	}
	if r.out.Success {
		switch less := strings.Join(goal.missing(r.did), "; "); {
		case less != "" && len(r.Requests)+len(r.calls)+len(r.unknown) == 0:
			r.find(Missing, "the program sent no request in this run, and succeeded without %s: did it continue from files "+
				"of an earlier run? Let it write them to {dir}", less)
		case less != "":
			r.find(Missing, "the program succeeded without %s", less)
		}
		if less := fewer(normal.received, r.received); len(less) > 0 {
			r.find(Missing, "the program did not accept %s",
				cmp.Or(listed(r.unaccepted), strings.Join(less, "; ")))
		}
		for _, what := range goal.differing(normal.out.Files, r.out.Files) {
			if !r.failed { // a report can state the failure
				r.find(Different, "%s", what)
			}
		}
	} else {
		for _, id := range r.unknownPurchases() {
			if r.charged[id] {
				r.find(Unsettled, "%s was charged, the response to its purchase was lost, and no reading of the request succeeded "+
					"afterwards; with -restart, the program can settle it at its next start", id)
			}
		}
	}
	if !r.Restarted {
		r.more(SentAgain, goal.Notifications, r.did.Notifications, "", s.config.Goal.Notifications != nil)
	}
	for _, f := range s.newLint(r) {
		if f.Rule == journal.LintRepeatedPurchase {
			r.find(SentAgain, "the purchase of %s was sent again before the request was read", f.Detail)
		} else {
			r.find(Lint, "%s", f)
		}
	}
}

// more finds actions that happened more often than expected, and groups those with the same counts. An unexpected
// action that happened once is [Different]; others get the given verdict.
func (r *run) more(repeated Verdict, expected, happened []string, of string, inGoal bool) {
	groups := map[[2]int][]string{} // by how often it happened, and is expected
	for _, what := range distinct(happened) {
		counts := [2]int{count(happened, what), count(expected, what)}
		if counts[0] > counts[1] {
			groups[counts] = append(groups[counts], what)
		}
	}
	for _, counts := range slices.SortedFunc(maps.Keys(groups),
		func(a, b [2]int) int { return slices.Compare(b[:], a[:]) }) {
		verdict, but := repeated, times(counts[1])+" without faults"
		switch {
		case inGoal && counts[1] == 0:
			but = "not in the goal"
		case inGoal:
			but = times(counts[1]) + " in the goal"
		}
		if counts == [2]int{1, 0} {
			verdict = Different
		}
		r.find(verdict, "%s%s: %s, but %s", strings.Join(groups[counts], ", "), of, times(counts[0]), but)
	}
}

// purchased returns the ids of the requests that were to be purchased, each once.
func purchased(calls []journal.Entry) []string {
	var ids []string
	for _, c := range calls {
		if id := chargedID(c); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// chargedID returns the id of the request that a call charges for, such as a purchase; empty for other calls.
func chargedID(c journal.Entry) string {
	if !byname.Has(c.Operation, byname.Charges) {
		return ""
	}
	return regulatory.RequestIDIn(c.RequestBody, c.Path)
}

// unknownPurchases returns the requests whose purchase a fault struck and whose outcome the program did not read. If
// the purchase took effect after the program had given up, a reading that shows a draft is enough: nothing else could
// be read.
func (r *run) unknownPurchases() []string {
	struck, deferred, read, known := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range r.calls {
		switch id := chargedID(c); {
		case id == "" && c.Fault == "" && c.Operation == shipping.OpGetRequest && c.Status == http.StatusOK:
			read[path.Base(c.Path)] = true
			known[path.Base(c.Path)] = known[path.Base(c.Path)] || showsPurchase(c)
		case c.Operation == shipping.OpGetRequest && unfound(c):
			known[path.Base(c.Path)] = true // a program cannot find out more
		case id == "":
		case c.Fault == "":
			known[id] = true
		case strings.Contains(c.Fault, fault.ArriveLate(0).Kind), strings.Contains(c.Fault, fault.GatewayTimeout(0).Kind):
			deferred[id] = true
		default:
			struck[id] = true
		}
	}
	maps.DeleteFunc(deferred, func(id string, _ bool) bool { return read[id] })
	maps.Copy(struck, deferred)
	maps.DeleteFunc(struck, func(id string, _ bool) bool { return known[id] })
	return slices.Sorted(maps.Keys(struck))
}

// unfound reports whether a fault made a reading fail with 404.
func unfound(c journal.Entry) bool { return c.Fault != "" && c.Status == http.StatusNotFound }

var draft = regexp.MustCompile(`"status":\s*"draft"`)

// showsPurchase reports whether a successful reading shows a request that is no longer a draft. The order of the
// journal would prove less: a purchase that the program abandoned is journaled when the server notices, which can
// be after the reading.
func showsPurchase(c journal.Entry) bool {
	if c.ResponseBytes > len(c.ResponseBody) {
		return true // it may: the journal has only a part of it
	}
	return regulatory.RequestIDIn(c.ResponseBody) != "" && !draft.MatchString(c.ResponseBody)
}

// newLint returns the findings of lint that are not allowed; for a run with faults, without those of the run without
// faults. A second purchase is the verdict [PaidTwice], which compares with the run without faults.
func (s *sweeper) newLint(r *run) (found []journal.Finding) {
	for _, f := range r.lint {
		same := func(n journal.Finding) bool { return n.Rule == f.Rule && n.Operation == f.Operation }
		known := r != s.normal && slices.ContainsFunc(s.normal.lint, same)
		// To read again is right if the record exists.
		again := f.Rule == journal.LintRepeatedRefusal && slices.ContainsFunc(r.calls, func(c journal.Entry) bool {
			return c.Operation == f.Operation && unfound(c)
		})
		if !known && !again && f.Rule != journal.LintBoughtTwice && !slices.Contains(s.config.Allow, f.Rule) {
			found = append(found, f)
		}
	}
	return found
}

func times(n int) string {
	if words := []string{"not at all", "once", "twice"}; n < len(words) {
		return words[n]
	}
	return fmt.Sprintf("%d times", n)
}
