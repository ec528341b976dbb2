package conformance

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Verdict is how a check ended.
type Verdict string

// The verdicts.
const (
	// Pass is a check of the specification that holds.
	Pass Verdict = "pass"
	// Fail is a check of the specification that does not hold.
	Fail Verdict = "fail"
	// NotRun is a check that was asked for and could not be made; the detail says what it needs.
	NotRun Verdict = "not run"
	// Skipped is a check that was not asked for; the detail names the option that it needs.
	Skipped Verdict = "skipped"
	// Assumption is a check of what the specification leaves open. It is no failure either way: the
	// detail says what the service does otherwise, and is empty where it does as assumed.
	Assumption Verdict = "assumption"
)

// Result is one check.
type Result struct {
	// Heading is the heading of the specification that the check follows.
	Heading string `json:"heading"`
	// Check says in words what has to hold.
	Check string `json:"check"`
	// Verdict is how it ended.
	Verdict Verdict `json:"verdict"`
	// Detail says what is wrong, missing or done otherwise.
	Detail string `json:"detail,omitempty"`
}

// Report is every check in the order of its making.
type Report struct {
	// BaseURL is the address of the service.
	BaseURL string `json:"base_url"`
	// Writes is true where requests that change something were sent too.
	Writes bool `json:"writes"`
	// Purchases are those that were sent, whatever became of them.
	Purchases []Purchase `json:"purchases,omitempty"`
	Results   []Result   `json:"results"`
}

// Purchase is a purchase that was sent to the service.
type Purchase struct {
	RequestID    string `json:"request_id"`
	DocumentType string `json:"document_type"`
	// Price is what the draft showed, in Currency, which is empty if the draft showed none.
	Price    string `json:"price"`
	Currency string `json:"currency,omitempty"`
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

// Complete reports whether every check that was asked for could be made.
func (r Report) Complete() bool { return r.Count(NotRun) == 0 }

// WriteText writes the report for a person: the checks under their headings, then the assumptions,
// then the sums.
func (r Report) WriteText(w io.Writer) error {
	var b strings.Builder
	how := "read-only"
	if r.Writes {
		how = "with writes"
	}
	fmt.Fprintf(&b, "%s held against the specification, %s\n", r.BaseURL, how)
	for _, heading := range r.headings() {
		fmt.Fprintf(&b, "\n%s\n", heading)
		for _, result := range r.Results {
			if result.Heading == heading && result.Verdict != Assumption {
				result.line(&b, strings.Replace(string(result.Verdict), "fail", "FAIL", 1), result.Check)
			}
		}
	}
	otherwise := 0
	if r.Count(Assumption) > 0 {
		b.WriteString("\nLeft open by the specification: no failure either way\n")
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
	fmt.Fprintf(&b, "\n%d passed, %d failed, %d not run, %d skipped; %d of %d open points are otherwise than assumed\n",
		r.Count(Pass), r.Count(Fail), r.Count(NotRun), r.Count(Skipped), otherwise, r.Count(Assumption))
	for _, p := range r.Purchases {
		fmt.Fprintf(&b, "a purchase was sent: %s of request %s, for %s\n", p.DocumentType, p.RequestID, strings.TrimSpace(p.Price+" "+p.Currency))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// headings lists the headings with checks under them, in their order.
func (r Report) headings() []string {
	var out []string
	for _, result := range r.Results {
		if result.Verdict != Assumption && !slices.Contains(out, result.Heading) {
			out = append(out, result.Heading)
		}
	}
	return out
}

func (r Result) line(b *strings.Builder, label, text string) {
	fmt.Fprintf(b, "  %-8s %s\n", label, text)
	if r.Detail != "" {
		fmt.Fprintf(b, "           %s\n", strings.ReplaceAll(r.Detail, "\n", "\n           "))
	}
}
