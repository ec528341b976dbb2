package sweep

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/shipping-go/shipping/mockserver/internal/spelling"
)

// Trace returns the requests of the run, a line each.
func (r *Result) Trace() string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for i, q := range r.Requests {
		status := fmt.Sprint(q.Status)
		if q.Status == 0 {
			status = "no response"
		}
		line := fmt.Sprintf("  %d\t%s#%d\t%s %s\t%s\t%s", i+1, q.Operation, q.Nth, q.Method, q.Target, status, q.Fault)
		fmt.Fprintln(table, strings.TrimRight(line, "\t "))
	}
	_ = table.Flush() // a strings.Builder takes everything
	return text.String()
}

// mark is what the table shows of a run, and what it means.
type mark struct{ sign, meaning string }

// marks returns the marks of the table, in the order of its legend.
func marks() []mark {
	return []mark{
		{"·", "as it should be"}, {"X", "paid twice"}, {"R", "sent again, and not paid twice"}, {"!", "another finding"},
		{"?", "the request was not made"},
	}
}

// markNone is shown for a fault that is not tried at a request.
const markNone = " "

// WriteText writes the table by request and fault, the first failing runs with their requests, and a summary.
func (r *Report) WriteText(w io.Writer) error {
	var text strings.Builder
	r.table(&text)
	failing := r.Failing()
	groups := grouped(failing)
	for i, group := range groups[:min(len(groups), maxShown)] {
		group[0].describe(&text, i == 0)
		if also := group[1:]; len(also) > 0 {
			fmt.Fprintf(&text, "  the same at:\n%s", names(also))
		}
	}
	if left := len(groups) - maxShown; left > 0 {
		fmt.Fprintf(&text, "\n… and %s of failing runs: see the JSON or JUnit report.\n", spelling.Counted(left, "more kind", "more kinds"))
	}
	r.summarize(&text, len(failing))
	_, err := io.WriteString(w, text.String())
	return err
}

// maxShown is how many kinds of failing runs the text describes.
const maxShown = 10

// grouped puts runs with the same findings together, in the order of their first. Times in findings may differ.
func grouped(failing []Result) [][]Result {
	var groups [][]Result
	at := map[string]int{}
	times := regexp.MustCompile(`[0-9.]+(ms|µs|s)\b`)
	for _, r := range failing {
		findings := times.ReplaceAllString(fmt.Sprint(r.Findings), "")
		i, known := at[findings]
		if !known {
			i, at[findings] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// maxNamed is how many lines list the schedules with the same findings.
const maxNamed = 5

// names lists schedules: those with a single fault at the same request on one line, and pairs on a line each.
func names(results []Result) string {
	var text strings.Builder
	lines, last := 0, ""
	for i, r := range results {
		request, name, _ := strings.Cut(r.Schedule, ":")
		if len(r.schedule) == 1 && request == last {
			text.WriteString(", " + name)
			continue
		}
		if i > 0 {
			text.WriteString("\n")
		}
		if lines++; lines > maxNamed {
			fmt.Fprintf(&text, "    and %s; the JSON and JUnit reports list all", spelling.Counted(len(results)-i, "more run", "more runs"))
			break
		}
		last = ""
		if len(r.schedule) == 1 {
			last = request
		}
		text.WriteString("    " + r.Schedule)
	}
	return text.String() + "\n"
}

// table writes a row for each request and a column for each fault.
func (r *Report) table(text *strings.Builder) {
	signs, rows := map[string]string{}, []string{}
	used, shown := map[string]bool{}, map[string]bool{}
	for _, result := range r.Results {
		if len(result.schedule) != 1 {
			continue
		}
		s := result.schedule[0]
		row := fmt.Sprintf("%s#%d", s.Operation, s.Nth)
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
		used[s.Fault] = true
		sign := result.sign()
		signs[row+":"+s.Fault], shown[sign] = sign, true
	}
	if len(rows) == 0 {
		return
	}
	columns := slices.DeleteFunc(slices.Clone(r.Faults), func(f Fault) bool { return !used[f.Name] })
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	fmt.Fprintf(text, "%-*s ", width, "")
	for i := range columns {
		fmt.Fprintf(text, " %c", 'a'+i)
	}
	text.WriteString("\n")
	for _, row := range rows {
		fmt.Fprintf(text, "%-*s ", width, row)
		for _, f := range columns {
			text.WriteString(" " + cmp.Or(signs[row+":"+f.Name], markNone))
		}
		text.WriteString("\n")
	}
	text.WriteString("\n")
	for i, f := range columns {
		fmt.Fprintf(text, "%c %-12s %s\n", 'a'+i, f.Name, f.Summary)
	}
	var legend []string
	for _, m := range marks() {
		if shown[m.sign] {
			legend = append(legend, m.sign+" "+m.meaning)
		}
	}
	fmt.Fprintf(text, "%s\n", strings.Join(legend, ", "))
}

// sign returns the sign of the run's mark. A service that purchases a request only once cannot charge twice for a purchase
// that is repeated, so that this has a mark of its own.
func (r *Result) sign() string {
	has := func(v Verdict) bool {
		return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Verdict == v })
	}
	switch {
	case has(PaidTwice):
		return "X"
	case has(SentAgain):
		return "R"
	case len(r.Findings) > 0:
		return "!"
	case !r.Struck:
		return "?"
	default:
		return "·"
	}
}

// describe writes the findings of a run; of the first one also its requests and the end of its output.
func (r *Result) describe(text *strings.Builder, whole bool) {
	name := r.Schedule
	if name == "" {
		name = "without faults"
	}
	fmt.Fprintf(text, "\n%s (%s)\n", name, r.How)
	for _, f := range r.Findings {
		fmt.Fprintf(text, "  %s\n", f)
	}
	if whole {
		fmt.Fprintf(text, "  requests:\n%s", indented(r.Trace()))
		if r.Output != "" {
			fmt.Fprintf(text, "  output:\n%s", indented(r.Output))
		}
	}
	if r.Moved {
		fmt.Fprintln(text, "  The requests came in another order than without faults, so the fault may strike another one next time.")
	}
	if r.Replay != "" {
		fmt.Fprintf(text, "  again: %s\n", r.Replay)
	}
}

func indented(block string) string {
	var out strings.Builder
	for line := range strings.Lines(strings.TrimRight(block, "\n") + "\n") {
		out.WriteString("    " + line)
	}
	return out.String()
}

func (r *Report) summarize(text *strings.Builder, failing int) {
	absent, moved := 0, 0
	for _, result := range r.Results {
		if !result.Struck {
			absent++
		}
		if result.Moved {
			moved++
		}
	}
	requests := slices.DeleteFunc(slices.Clone(r.Requests), func(q Request) bool { return q.Operation == Notification })
	fmt.Fprintf(text, "\n%s", spelling.Counted(len(requests), "request", "requests"))
	if n := len(r.Requests) - len(requests); n > 0 {
		fmt.Fprintf(text, " and %s", spelling.Counted(n, "notification", "notifications"))
	}
	fmt.Fprintf(text, " without faults; %s, %d failing", spelling.Counted(len(r.Results), "run with faults", "runs with faults"), failing)
	if absent > 0 {
		fmt.Fprintf(text, "; in %d the request was not made", absent)
	}
	if moved > 0 {
		fmt.Fprintf(text, "; in %d another request was struck, because the program makes several at a time", moved)
	}
	if r.Left > 0 {
		fmt.Fprintf(text, "; %d not tried because of the limit", r.Left)
	}
	text.WriteString("\n")
}

// The elements of JUnit XML.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as JUnit XML: a test case for each run.
func (r *Report) WriteJUnit(w io.Writer) error {
	suite := junitSuite{Name: "mockserver sweep"}
	for _, result := range append([]Result{r.WithoutFaults}, r.Results...) {
		c := junitCase{Class: "sweep", Name: result.Schedule, Time: fmt.Sprintf("%.3f", result.Seconds)}
		if c.Name == "" {
			c.Name = "without faults"
		}
		switch {
		case len(result.Findings) > 0:
			suite.Failures++
			var text strings.Builder
			result.describe(&text, true)
			c.Failure = &junitMessage{Message: result.Findings[0].String(), Text: text.String()}
		case !result.Struck:
			suite.Skipped++
			c.Skipped = &junitMessage{Message: "the program did not make the request"}
		}
		suite.Cases = append(suite.Cases, c)
	}
	suite.Tests = len(suite.Cases)
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	return err
}
