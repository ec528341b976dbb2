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
)

// Result is one check.
type Result struct {
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
	// Purchases are those that were sent, whatever became of them.
	Purchases []Purchase `json:"purchases,omitempty"`
	Results   []Result   `json:"results"`
	// Unchecked are the rules that no run can check, whatever its options.
	Unchecked []Unchecked `json:"unchecked,omitempty"`
}

// Unchecked is a rule of the specification that a run cannot observe.
type Unchecked struct {
	// Heading is the heading of the specification with the rule.
	Heading string `json:"heading"`
	// Rule is the rule, in words.
	Rule string `json:"rule"`
	// Reason is why it cannot be checked.
	Reason string `json:"reason"`
}

// Purchase is a purchase that was sent to the service.
type Purchase struct {
	RequestID    string `json:"request_id"`
	DocumentType string `json:"document_type"`
	// Price is the price on the draft, in Currency, which is empty if the draft has none.
	Price    string `json:"price,omitempty"`
	Currency string `json:"currency,omitempty"`
	// MustFail is true if the service must refuse the purchase; see [WithRefusedPurchases].
	MustFail bool `json:"must_fail,omitempty"`
}

// Count returns how many checks ended with a verdict.
func (r Report) Count(v Verdict) int {
	n := 0
	for _, result := range r.Results {
		if result.Verdict == v {
			n++
		}
	}
	return n
}

// Conforms reports whether no check failed.
func (r Report) Conforms() bool { return r.Count(Fail) == 0 }

// Complete reports whether every requested check could be made.
func (r Report) Complete() bool { return r.Count(NotRun) == 0 }

// WriteText writes the report for a person: the checks under their headings, then those that were not made, the
// assumptions and the sums. Checks that were not made for the same reason are counted.
func (r Report) WriteText(w io.Writer) error {
	how, differ := "read-only", 0
	if r.Writes {
		how = "with writes"
	}
	var headings, unmade, points, unseen []string
	made := map[string][]string{}
	for i, x := range r.Results {
		text := x.Heading + ": " + x.Check
		switch x.Verdict {
		case Pass, Fail:
			if made[x.Heading] == nil {
				headings = append(headings, x.Heading)
			}
			made[x.Heading] = append(made[x.Heading], line(strings.Replace(string(x.Verdict), "fail", "FAIL", 1), x.Check, x.Detail))
		case Assumption:
			label := "assumed"
			if x.Detail != "" {
				label = "other"
				differ++
			}
			points = append(points, line(label, text, x.Detail))
		default:
			alike := slices.DeleteFunc(slices.Clone(r.Results[i:]), func(y Result) bool { return y.Verdict != x.Verdict || y.Detail != x.Detail })
			if len(alike) > 1 {
				text = fmt.Sprintf("%d checks", len(alike))
			}
			if !slices.ContainsFunc(r.Results[:i], func(y Result) bool { return y.Verdict == x.Verdict && y.Detail == x.Detail }) {
				unmade = append(unmade, line(string(x.Verdict), text, x.Detail))
			}
		}
	}
	for _, u := range r.Unchecked {
		unseen = append(unseen, line("unseen", u.Heading+": "+u.Rule, u.Reason))
	}

	var b strings.Builder
	section := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n%s\n%s", title, strings.Join(lines, ""))
		}
	}
	fmt.Fprintf(&b, "%s checked against the specification, %s\n", r.BaseURL, how)
	for _, heading := range headings {
		section(heading, made[heading])
	}
	section("Checks that were not made", unmade)
	section("Open points of the specification, which never fail", points)
	section("Rules that no run can check", unseen)
	fmt.Fprintf(&b, "\n%d passed, %d failed, %d not run, %d skipped; %d of %d open points differ from the assumption\n",
		r.Count(Pass), r.Count(Fail), r.Count(NotRun), r.Count(Skipped), differ, len(points))
	for _, p := range r.Purchases {
		if p.MustFail {
			fmt.Fprintf(&b, "a purchase that must be refused was sent: %s of request %s\n", cmp.Or(p.DocumentType, "no document"), p.RequestID)
			continue
		}
		fmt.Fprintf(&b, "a purchase was sent: %s of request %s, for %s\n", p.DocumentType, p.RequestID, strings.TrimSpace(p.Price+" "+p.Currency))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line returns a line of a report, and the detail below it.
func line(label, text, detail string) string {
	if detail != "" {
		detail = "           " + strings.ReplaceAll(detail, "\n", "\n           ") + "\n"
	}
	return fmt.Sprintf("  %-8s %s\n%s", label, text, detail)
}
