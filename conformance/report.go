package conformance

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Verdict is the result of a check.
type Verdict string

// The verdicts.
const (
	// Pass is a check of the specification that holds.
	Pass Verdict = "pass"
	// Fail is a check of the specification that does not hold.
	Fail Verdict = "fail"
	// NotRun is a check that was requested and could not be made; the detail names the reason.
	NotRun Verdict = "not run"
	// Skipped is a check that was not requested; the detail names the option that enables it.
	Skipped Verdict = "skipped"
	// Assumption is a check of an open point of the specification. It never fails: the detail describes how the
	// service differs from the assumption, and is empty if it does not.
	Assumption Verdict = "assumption"
	// Unseen is a rule of the specification that no run can check, whatever its options, or an open point that this
	// run did not show; the detail names the reason.
	Unseen Verdict = "unseen"
)

// CheckResult is one check.
type CheckResult struct {
	// Heading is the heading of the specification that the check follows.
	Heading string `json:"heading"`
	// Check is the requirement, in words.
	Check string `json:"check"`
	// Verdict is the result.
	Verdict Verdict `json:"verdict"`
	// Detail describes what failed, is missing or differs.
	Detail string `json:"detail,omitempty"`
}

// Report contains every check, in the order in which they were made.
type Report struct {
	// BaseURL is the address of the service.
	BaseURL string `json:"base_url"`
	// Writes is true if requests that change something were sent too.
	Writes bool `json:"writes"`
	// Purchases are the purchases that were sent, with any result.
	Purchases []Purchase `json:"purchases,omitempty"`
	// Lines declare, for the dialect of the service, the differences from the reference server that the run found, such
	// as "list.max_per_page = 100". The file of a dialect can consist of such lines.
	Lines []string `json:"lines,omitempty"`
	// Results are the checks.
	Results []CheckResult `json:"results"`
}

// Purchase is a purchase that was sent to the service.
type Purchase struct {
	RequestID    string `json:"request_id"`
	DocumentType string `json:"document_type"`
	// Cost is the most that the document can cost by its offer, in Currency, which is empty if the draft has none.
	Cost     string `json:"cost,omitempty"`
	Currency string `json:"currency,omitempty"`
	// Paid is what the wallet paid for it; empty if that is not clear.
	Paid string `json:"paid,omitempty"`
	// MustFail is true if the service must refuse the purchase; see [WithRefusedPurchases].
	MustFail bool `json:"must_fail,omitempty"`
}

// Count returns how many checks ended with a verdict.
func (r Report) Count(v Verdict) (n int) {
	for _, x := range r.Results {
		if x.Verdict == v {
			n++
		}
	}
	return n
}

// Conforms reports whether no check failed.
func (r Report) Conforms() bool { return r.Count(Fail) == 0 }

// Complete reports whether every requested check could be made.
func (r Report) Complete() bool { return r.Count(NotRun) == 0 }

// The sections of a report that are not headings of the specification.
const (
	sectionUnmade = "Checks that were not made"
	sectionPoints = "Open points of the specification, which never fail"
	sectionUnseen = "Rules that no run can check"
)

// WriteText writes the whole report for a person: the checks under their headings, then those that were not made, the
// assumptions, the rules that no run can check, and the summary of [Report.WriteSummary]. If several checks were not
// made for the same reason, it writes their number instead of each check.
func (r Report) WriteText(w io.Writer) error {
	sections := map[string]string{}
	var headings []string
	for _, result := range r.Results {
		section, line := r.line(result)
		if sections[section] == "" && section == result.Heading {
			headings = append(headings, section)
		}
		sections[section] += line
	}

	var b strings.Builder
	for _, title := range append(headings, sectionUnmade, sectionPoints, sectionUnseen) {
		if sections[title] != "" {
			fmt.Fprintf(&b, "%s\n%s\n", title, sections[title])
		}
	}
	if err := r.WriteSummary(&b); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line returns the section of a result and its text there.
func (r Report) line(x CheckResult) (section, line string) {
	switch x.Verdict {
	case Pass:
		return x.Heading, entry("pass", x.Check, x.Detail)
	case Fail:
		return x.Heading, entry("FAIL", x.Check, x.Detail)
	case Unseen:
		return sectionUnseen, entry(string(x.Verdict), x.Heading+": "+x.Check, x.Detail)
	case Assumption:
		label := map[bool]string{true: "assumed", false: "other"}[x.Detail == ""]
		return sectionPoints, entry(label, x.Heading+": "+x.Check, x.Detail)
	}
	alike := slices.DeleteFunc(slices.Clone(r.Results), func(y CheckResult) bool {
		return y.Verdict != x.Verdict || y.Detail != x.Detail
	})
	switch {
	case alike[0] != x:
		return sectionUnmade, "" // the first one stands for all
	case len(alike) > 1:
		return sectionUnmade, entry(string(x.Verdict), fmt.Sprintf("%d checks", len(alike)), x.Detail)
	}
	return sectionUnmade, entry(string(x.Verdict), x.Heading+": "+x.Check, x.Detail)
}

func entry(label, text, detail string) string {
	line := fmt.Sprintf("  %-8s %s\n", label, text)
	if detail != "" {
		line += "           " + strings.ReplaceAll(detail, "\n", "\n           ") + "\n"
	}
	return line
}

// The most lines of a summary about failed checks, and about the dialect. With the others there are at most 20.
const (
	maxFailures = 5
	maxDeclared = 8
)

// WriteSummary writes what needs action, in at most 20 lines: how many checks passed, the first that failed, how many
// could not be made, the purchases, and the lines for the dialect of the service.
func (r Report) WriteSummary(w io.Writer) error {
	how := map[bool]string{true: "with writes", false: "read-only"}[r.Writes]
	lines := []string{fmt.Sprintf("%s checked against the specification, %s: %d passed, %d failed, %d not run, %d skipped",
		r.BaseURL, how, r.Count(Pass), r.Count(Fail), r.Count(NotRun), r.Count(Skipped))}
	failed := r.shown(Fail, "FAIL")
	if more := len(failed) - maxFailures; more > 0 {
		failed = append(failed[:maxFailures], fmt.Sprintf("and %d more failed checks, in the whole report", more))
	}
	lines = append(lines, failed...)
	notRun := r.shown(NotRun, "not run:")
	isOfPurchase := func(line string) bool { return strings.Contains(line, notBought) }
	if first := max(0, slices.IndexFunc(notRun, isOfPurchase)); len(notRun) > 1 {
		lines = append(lines, fmt.Sprintf("%s; and %d more, in the whole report", notRun[first], len(notRun)-1))
	} else {
		lines = append(lines, notRun...)
	}
	lines = append(lines, r.spent()...)
	if n := len(r.Lines); n > 0 {
		lines = append(lines, "Open points that the service has decided otherwise: write in its dialect")
		for row := range slices.Chunk(r.Lines, (n+maxDeclared-1)/maxDeclared) {
			lines = append(lines, strings.Join(row, ", "))
		}
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// shown returns a line for each check that ended with a verdict.
func (r Report) shown(v Verdict, label string) (lines []string) {
	for _, x := range r.Results {
		if x.Verdict == v {
			detail, _, _ := strings.Cut(x.Detail, "\n")
			lines = append(lines, fmt.Sprintf("%s %s: %s: %s", label, x.Heading, x.Check, detail))
		}
	}
	return lines
}

// spent returns a line for each purchase that can succeed, and one for those that the service must refuse.
func (r Report) spent() (lines []string) {
	refused := 0
	for _, p := range r.Purchases {
		if p.MustFail {
			refused++
			continue
		}
		lines = append(lines, p.line())
	}
	switch {
	case len(r.Purchases) == 0:
		return []string{"nothing was spent: no purchase was sent"}
	case refused > 0:
		return append(lines, fmt.Sprintf("purchases sent to be refused: %d", refused))
	}
	return lines
}

func (p Purchase) line() string {
	currency := cmp.Or(p.Currency, "in a currency that the offer does not show")
	paid := "what the wallet paid is not clear"
	if p.Paid != "" {
		paid = "the wallet paid " + p.Paid
	}
	return fmt.Sprintf("a purchase was sent: %s of request %s, for at most %s %s; %s", p.DocumentType, p.RequestID, p.Cost,
		currency, paid)
}
