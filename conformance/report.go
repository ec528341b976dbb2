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
	var b strings.Builder
	how := "read-only"
	if r.Writes {
		how = "with writes"
	}
	fmt.Fprintf(&b, "%s checked against the specification, %s\n", r.BaseURL, how)
	for _, heading := range r.headings() {
		fmt.Fprintf(&b, "\n%s\n", heading)
		for _, result := range r.Results {
			if result.Heading == heading && result.made() {
				result.line(&b, strings.Replace(string(result.Verdict), "fail", "FAIL", 1), result.Check)
			}
		}
	}
	r.writeUnmade(&b)
	otherwise := 0
	if r.Count(Assumption) > 0 {
		b.WriteString("\nOpen points of the specification, which never fail\n")
	}
	for _, result := range r.Results {
		if result.Verdict != Assumption {
			continue
		}
		label := "assumed"
		if result.Detail != "" {
			label = "other"
			otherwise++
		}
		result.line(&b, label, result.Heading+": "+result.Check)
	}
	if len(r.Unchecked) > 0 {
		b.WriteString("\nRules that no run can check\n")
	}
	for _, u := range r.Unchecked {
		Result{Detail: u.Reason}.line(&b, "unseen", u.Heading+": "+u.Rule)
	}
	fmt.Fprintf(&b, "\n%d passed, %d failed, %d not run, %d skipped; %d of %d open points differ from the assumption\n",
		r.Count(Pass), r.Count(Fail), r.Count(NotRun), r.Count(Skipped), otherwise, r.Count(Assumption))
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

// headings lists the headings with checks under them, in their order.
func (r Report) headings() []string {
	var out []string
	for _, result := range r.Results {
		if result.made() && !slices.Contains(out, result.Heading) {
			out = append(out, result.Heading)
		}
	}
	return out
}

// writeUnmade writes the checks that were not made, each reason once.
func (r Report) writeUnmade(b *strings.Builder) {
	type reason struct {
		verdict Verdict
		detail  string
	}
	checks := map[reason][]string{}
	var reasons []reason
	for _, result := range r.Results {
		if result.Verdict != NotRun && result.Verdict != Skipped {
			continue
		}
		why := reason{result.Verdict, result.Detail}
		if checks[why] == nil {
			reasons = append(reasons, why)
		}
		checks[why] = append(checks[why], result.Heading+": "+result.Check)
	}
	if len(reasons) > 0 {
		b.WriteString("\nChecks that were not made\n")
	}
	for _, why := range reasons {
		text := checks[why][0]
		if n := len(checks[why]); n > 1 {
			text = fmt.Sprintf("%d checks", n)
		}
		Result{Detail: why.detail}.line(b, string(why.verdict), text)
	}
}

// made reports whether the result is of a check of the specification that was made.
func (r Result) made() bool { return r.Verdict == Pass || r.Verdict == Fail }

func (r Result) line(b *strings.Builder, label, text string) {
	fmt.Fprintf(b, "  %-8s %s\n", label, text)
	if r.Detail != "" {
		fmt.Fprintf(b, "           %s\n", strings.ReplaceAll(r.Detail, "\n", "\n           "))
	}
}
