package sweep

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/mockserver/fault"
)

// Result is one run.
type Result struct {
	// Schedule has the faults, as [ParseSchedule] reads them; empty for the run without faults.
	Schedule string `json:"schedule"`
	// Struck reports whether the program made all requests to which the faults apply.
	Struck bool `json:"struck"`
	// Moved is true if the fault struck another request than the one with that number without faults: the program makes
	// several requests at a time, so that their order changes.
	Moved bool `json:"moved,omitempty"`
	// How is how the program ended, such as "exit code 1".
	How string `json:"end"`
	// Restarted is true if the program was started a second time.
	Restarted bool `json:"restarted,omitempty"`
	// Seconds is how long the run took.
	Seconds float64 `json:"seconds"`
	// Findings are the reasons why the run fails; empty if it passes.
	Findings []Finding `json:"findings,omitempty"`
	// Requests are the requests of the program, in order.
	Requests []Request `json:"requests,omitempty"`
	// Output is the end of what the program printed.
	Output string `json:"output,omitempty"`
	// Replay is the command that repeats this run, not a replay of a notification; mockserver sweep sets it.
	Replay string `json:"replay,omitempty"`

	schedule Schedule
	outcome  Outcome
}

func newResult(schedule Schedule, o *observation, out Outcome) Result {
	r := Result{
		Schedule: schedule.String(), How: out.How, Requests: o.requests, Output: out.Output,
		schedule: schedule, outcome: out,
	}
	for i, q := range r.Requests {
		switch {
		case schedule.kills() && strings.Contains(q.Fault, fault.SlowBody(0).Kind): // the response is held back until then
			r.Requests[i].Fault = Kill
		case slices.Contains(schedule, Strike{q.Operation, q.Nth, failed}): // the fault strikes no request, but a document
			r.Requests[i].Fault = failed
		}
	}
	struck := map[string]int{}
	for _, q := range r.Requests {
		if q.Fault != "" {
			struck[q.Operation]++
		}
	}
	for _, strike := range schedule {
		struck[strike.Operation]--
	}
	r.Struck = !slices.ContainsFunc(schedule, func(strike Strike) bool { return struck[strike.Operation] < 0 })
	return r
}

// notStruck returns the finding of a run whose schedule was selected and named requests that the run does not have.
func (r *Result) notStruck(c *Config) []Finding {
	if r.Struck || len(c.Only) == 0 {
		return nil
	}
	counts, order := map[string]int{}, []string{}
	for _, q := range r.Requests {
		if counts[q.Operation]++; counts[q.Operation] == 1 {
			order = append(order, q.Operation)
		}
	}
	for i, operation := range order {
		if order[i] += "#1"; counts[operation] > 1 {
			order[i] += fmt.Sprintf(" to #%d", counts[operation])
		}
	}
	absent := slices.DeleteFunc(slices.Clone(r.schedule), func(s Strike) bool { return s.Nth <= counts[s.Operation] })
	return []Finding{{NotStruck, fmt.Sprintf("%s did not strike; the requests of the run are %s",
		cmp.Or(absent.String(), r.Schedule), cmp.Or(strings.Join(order, ", "), "none"))}}
}

// Report is the outcome of a sweep.
type Report struct {
	// Faults is the table of faults.
	Faults []Fault `json:"faults"`
	// Goal is the effect that runs are compared with: [Config.Goal], completed from the run without faults.
	Goal Goal `json:"goal"`
	// Requests are those of the run without faults.
	Requests []Request `json:"requests"`
	// WithoutFaults is that run.
	WithoutFaults Result `json:"without_faults"`
	// Results are the runs with faults, single faults first.
	Results []Result `json:"results"`
	// Left is how many schedules were not tried because of [Config.MaxRuns].
	Left int `json:"left,omitempty"`
}

// Failing returns the runs with findings: the one without faults first, then those with the fewest faults, the
// worst verdict and the fewest requests.
func (r *Report) Failing() []Result {
	var failing []Result
	for _, result := range append([]Result{r.WithoutFaults}, r.Results...) {
		if len(result.Findings) > 0 {
			failing = append(failing, result)
		}
	}
	slices.SortStableFunc(failing, func(a, b Result) int {
		return cmp.Or(cmp.Compare(len(a.schedule), len(b.schedule)), cmp.Compare(a.severity(), b.severity()), cmp.Compare(len(a.Requests), len(b.Requests)))
	})
	return failing
}

// severity returns the place of the worst finding among the verdicts.
func (r *Result) severity() int {
	verdicts := Verdicts()
	worst := len(verdicts)
	for _, f := range r.Findings {
		worst = min(worst, slices.Index(verdicts, f.Verdict))
	}
	return worst
}

// Goal is the expected effect of a program. A nil field is learned from the run without faults. Otherwise that run is
// compared with the goal, too.
type Goal struct {
	// Documents are the documents to purchase, by shipment_id or file_url. A document to purchase twice is listed
	// twice.
	Documents map[string][]string `json:"documents,omitzero"`
	// Notifications are those to replay, such as "shipment.created of SH-7Q2M to WA-1234567890". One to replay twice is
	// listed twice.
	Notifications []string `json:"notifications,omitzero"`
	// Files are the names of files that must have the same content after every run in which the program succeeds; see
	// [Outcome.Files].
	Files []string `json:"files,omitzero"`
}

// apply returns the observation that runs are compared with: that of the run without faults, with the fields of the goal.
func (g *Goal) apply(learned *observation) *observation {
	goal := *learned
	if g.Documents != nil {
		goal.bought, goal.source = map[string]int{}, fromGoal
		for subject, documents := range g.Documents {
			for _, document := range documents {
				goal.bought[document+" for "+subject]++
			}
		}
	}
	if g.Notifications != nil {
		goal.sent, goal.source = map[string]int{}, fromGoal
		for _, what := range g.Notifications {
			goal.sent[what]++
		}
	}
	return &goal
}

// goal returns the purchases and replays of a run as a goal.
func (o *observation) goal() Goal {
	g := Goal{Documents: map[string][]string{}, Notifications: []string{}}
	for _, what := range slices.Sorted(maps.Keys(o.bought)) {
		document, subject, _ := strings.Cut(what, " for ")
		g.Documents[subject] = append(g.Documents[subject], slices.Repeat([]string{document}, o.bought[what])...)
	}
	for _, what := range slices.Sorted(maps.Keys(o.sent)) {
		g.Notifications = append(g.Notifications, slices.Repeat([]string{what}, o.sent[what])...)
	}
	return g
}

// The source of an expectation, as findings name it.
const (
	fromRun  = "without faults"
	fromGoal = "in the goal"
)

// differing describes the first difference of each file of the goal.
func (g *Goal) differing(want, got map[string]string) []string {
	var found []string
	for _, name := range g.Files {
		if text, exists := got[name]; !exists {
			found = append(found, name+" is missing")
		} else if text != want[name] {
			found = append(found, name+": "+firstDifference(want[name], text))
		}
	}
	return found
}

// firstDifference describes the first line in which two texts differ.
func firstDifference(want, got string) string {
	wanted, lines := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < min(len(wanted), len(lines)) && wanted[i] == lines[i] {
		i++
	}
	line := func(lines []string) string {
		if i >= len(lines) {
			return "absent"
		}
		return fmt.Sprintf("%.80q", lines[i])
	}
	return fmt.Sprintf("line %d is %s, but %s without faults", i+1, line(lines), line(wanted))
}
