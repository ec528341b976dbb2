package sweep

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/shipping-go/shipping/internal/spelling"
)

// trace returns the requests of the run, a line each.
func (r *RunResult) trace() string {
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
	lines := strings.SplitAfter(text.String(), "\n")
	if r.Restarted {
		lines = slices.Insert(lines, r.RestartedAfter, "  "+r.restart)
	}
	return strings.Join(lines, "")
}

// marks returns the signs of the table, with their meaning. The first that applies to a run is its sign. A repeated
// purchase has its own sign, because a service that purchases a request only once does not charge for it twice.
func (r *RunResult) marks() []mark {
	return []mark{
		{"·", "as it should be", r.Struck && len(r.Findings) == 0},
		{"X", "paid twice", r.has(PaidTwice)},
		{"R", "sent again, and not paid twice", r.has(SentAgain)},
		{"!", "another finding", len(r.Findings) > 0},
		{"?", "the request was not made", true},
	}
}

type mark struct {
	sign, meaning string
	applies       bool
}

// sign returns the sign of the run.
func (r *RunResult) sign() string {
	marks := r.marks()
	return marks[slices.IndexFunc(marks, func(m mark) bool { return m.applies })].sign
}

// The text describes maxKinds kinds of failing runs, maxWhole of them with requests, and lists other runs in maxLines
// lines.
const (
	maxKinds = 10
	maxWhole = 5
	maxLines = 5
)

// WriteText writes the table by request and fault, an example of each kind of failing runs, and a summary.
func (r *Report) WriteText(w io.Writer) error {
	var text strings.Builder
	r.table(&text)
	failing := r.Failing()
	kinds := grouped(failing)
	for i, kind := range kinds[:min(len(kinds), maxKinds)] {
		kind[0].describe(&text, i < maxWhole)
		if len(kind) > 1 {
			fmt.Fprintf(&text, "  the same at:\n%s", schedules(kind[1:]))
		}
	}
	if left := len(kinds) - maxKinds; left > 0 {
		fmt.Fprintf(&text, "\n… and %s of failing runs: see the JSON report.\n",
			spelling.Counted(left, "more kind", "more kinds"))
	}
	r.summarize(&text, len(failing))
	_, err := io.WriteString(w, text.String())
	return err
}

// grouped groups runs with the same findings and story, in the order of their first. Times in findings may differ.
// For the findings of the run without faults, the story does not matter.
func grouped(failing []RunResult) [][]RunResult {
	var groups [][]RunResult
	at := map[string]int{}
	times := regexp.MustCompile(`[0-9.]+(ms|µs|s)\b`)
	for _, r := range failing {
		kind := times.ReplaceAllString(fmt.Sprint(r.Findings), "")
		if _, known := at[kind]; !known && len(r.schedule) > 0 {
			kind += r.story()
		}
		i, known := at[kind]
		if !known {
			i, at[kind] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// story has the operations of a run with the effects of faults, consecutive polls as one, and whether it was
// restarted.
func (r *RunResult) story() string {
	var steps []string
	for _, q := range r.Requests {
		steps = append(steps, q.Operation+" "+q.effect)
	}
	return fmt.Sprint(slices.Compact(steps), r.Restarted)
}

// schedules lists the schedules of runs, those that differ only in the last fault in one line.
func schedules(runs []RunResult) string {
	var places []string
	faults := map[string][]string{}
	for _, r := range runs {
		cut := strings.LastIndex(r.Schedule, ":") + 1
		place := r.Schedule[:cut]
		if faults[place] == nil {
			places = append(places, place)
		}
		faults[place] = append(faults[place], r.Schedule[cut:])
	}
	var text strings.Builder
	left := len(runs)
	for i, place := range places {
		if i == maxLines {
			fmt.Fprintf(&text, "    and %s; the JSON report lists all\n", spelling.Counted(left, "more run", "more runs"))
			break
		}
		fmt.Fprintf(&text, "    %s%s\n", place, strings.Join(faults[place], ", "))
		left -= len(faults[place])
	}
	return text.String()
}

// table writes a row for each request and a column for each fault.
func (r *Report) table(text *strings.Builder) {
	signs, rows, shown := map[Strike]string{}, []Strike{}, map[string]bool{}
	cells := func(s Schedule) Schedule {
		if len(s) > 1 && len(r.planned) > 1 {
			return nil // many pairs have no cells
		}
		return s
	}
	for _, result := range r.Results {
		for _, strike := range cells(result.schedule) {
			signs[strike] = result.sign()
		}
	}
	for _, schedule := range r.planned {
		for _, strike := range cells(schedule) {
			signs[strike] = cmp.Or(signs[strike], "-")
			shown[signs[strike]], shown[strike.Fault] = true, true
			if strike.Fault = ""; !slices.Contains(rows, strike) {
				rows = append(rows, strike)
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	columns := slices.DeleteFunc(slices.Clone(r.Faults), func(f Fault) bool { return !shown[f.Name] })
	table := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
	heads := ""
	for i := range columns {
		heads += fmt.Sprintf(" %c", 'a'+i)
	}
	fmt.Fprintf(table, "\t%s\n", heads[1:])
	for _, row := range rows {
		line := ""
		for _, f := range columns {
			line += " " + cmp.Or(signs[Strike{row.Operation, row.Nth, f.Name}], " ") // a space if the fault is not tried
		}
		fmt.Fprintf(table, "%s#%d\t%s\n", row.Operation, row.Nth, line[1:])
	}
	_ = table.Flush() // a strings.Builder takes everything
	text.WriteString("\n")
	for i, f := range columns {
		fmt.Fprintf(text, "%c %-12s %s\n", 'a'+i, f.Name, f.Summary)
	}
	var legend []string
	for _, mark := range append(new(RunResult).marks(), mark{"-", "not run", true}) {
		if shown[mark.sign] {
			legend = append(legend, mark.sign+" "+mark.meaning)
		}
	}
	fmt.Fprintf(text, "%s\n", strings.Join(legend, ", "))
}

// describe writes the findings of a run and, if whole, its requests and the end of its output.
func (r *RunResult) describe(text *strings.Builder, whole bool) {
	fmt.Fprintf(text, "\n%s (%s)\n", cmp.Or(r.Schedule, "without faults"), r.How)
	for i, f := range r.Findings {
		fmt.Fprintf(text, "  %s\n", f)
		if next := r.Findings[i+1:]; f.Rule != "" && (len(next) == 0 || next[0].Rule != f.Rule) {
			fmt.Fprintf(text, "  see docs/sweep.md, %s\n", f.Rule)
		}
	}
	if whole && len(r.Requests) > 0 {
		fmt.Fprintf(text, "  requests:\n%s", indented(r.trace()))
	}
	if whole && r.Output != "" {
		fmt.Fprintf(text, "  output:\n%s", indented(r.Output))
	}
	if r.Replay != "" {
		fmt.Fprintf(text, "  again: %s\n", r.Replay)
	}
}

func indented(block string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(block, "\n"), "\n", "\n    ") + "\n"
}

func (r *Report) summarize(text *strings.Builder, failing int) {
	absent := slices.DeleteFunc(slices.Clone(r.Results), func(result RunResult) bool { return result.Struck })
	pairs := slices.DeleteFunc(slices.Clone(absent), func(result RunResult) bool { return len(result.schedule) == 1 })
	if len(pairs) > 0 { // which have no cell in the table
		fmt.Fprintf(text, "\nPairs in which a request was not made:\n%s", schedules(pairs))
	}
	all := r.WithoutFaults.Requests
	requests := slices.DeleteFunc(slices.Clone(all), func(q Request) bool { return q.Operation == Notification })
	fmt.Fprintf(text, "\n%s", spelling.Counted(len(requests), "request", "requests"))
	if n := len(all) - len(requests); n > 0 {
		fmt.Fprintf(text, " and %s", spelling.Counted(n, "notification", "notifications"))
	}
	fmt.Fprintf(text, " without faults; %s", spelling.Counted(len(r.Results), "run with faults", "runs with faults"))
	if len(r.WithoutFaults.Findings) > 0 {
		text.WriteString(" and the one without")
	}
	fmt.Fprintf(text, ", %d failing", failing)
	if len(absent) > 0 {
		fmt.Fprintf(text, "; in %d the request was not made", len(absent))
	}
	if r.Left > 0 {
		fmt.Fprintf(text, "; %d not tried because of the limit", r.Left)
	}
	text.WriteString("\n")
	for _, note := range r.Notes {
		fmt.Fprintf(text, "note: %s\n", note)
	}
	if len(r.NotTried) > 0 {
		fmt.Fprintf(text, "not tried: %s\n", strings.Join(r.NotTried, ", "))
	}
}
