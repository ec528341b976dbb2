package sweep

import (
	"cmp"
	"regexp"
	"slices"
)

// RunResult is one run.
type RunResult struct {
	// Schedule lists the faults as text for [ParseSchedule]; empty for the run without faults.
	Schedule string `json:"schedule"`
	// Struck reports whether the program made all requests to which the faults apply.
	Struck bool `json:"struck"`
	// How is how the program ended, such as "exit code 1".
	How string `json:"end"`
	// Restarted is true if the program was started a second time, after RestartedAfter requests.
	Restarted      bool `json:"restarted,omitempty"`
	RestartedAfter int  `json:"restarted_after,omitempty"`
	// Seconds is how long the run took.
	Seconds float64 `json:"seconds"`
	// Findings are the reasons why the run fails; empty if it passes.
	Findings []Finding `json:"findings,omitempty"`
	// Requests are the requests of the program, in order.
	Requests []Request `json:"requests,omitempty"`
	// Output is the end of what each start of the program printed.
	Output string `json:"output,omitempty"`
	// Replay is the command that repeats this run, not a replay of a notification; mockserver sweep sets it.
	Replay string `json:"replay,omitempty"`

	schedule Schedule
	restart  string // the line between two starts
}

// markStruck names the faults at the requests that were struck, counts the requests before the restart, and finds out
// whether all faults of the schedule struck.
func (r *run) markStruck() {
	struck, rule := map[string]int{}, regexp.MustCompile(`^rule \d+: [a-z-]+( after the change)?`)
	for i := range r.Requests {
		q := &r.Requests[i]
		for _, strike := range r.schedule {
			if f, err := r.config.fault(strike.Fault); err == nil && strike.at(r.Requests) == i {
				q.effect, q.Fault = cmp.Or(f.rule.Name, f.Name), rule.ReplaceAllString(q.Fault, f.Name)
			}
		}
		if q.effect == failed { // it strikes no request, but a document
			q.Fault = failed
		}
		if q.Fault != "" {
			struck[q.Operation]++
		}
		if q.sent.Before(r.again) {
			r.RestartedAfter++
		}
	}
	for _, strike := range r.schedule {
		struck[strike.Operation]--
	}
	r.Struck = !slices.ContainsFunc(r.schedule, func(strike Strike) bool { return struck[strike.Operation] < 0 })
}

// Report is the outcome of a sweep.
type Report struct {
	// Faults is the table of faults.
	Faults []Fault `json:"faults"`
	// Goal is the effect that runs are compared with: [Config.Goal], completed from the run without faults.
	Goal Goal `json:"goal"`
	// WithoutFaults is the run without faults.
	WithoutFaults RunResult `json:"without_faults"`
	// Notes are about the run without faults, and fail no run.
	Notes []string `json:"notes,omitempty"`
	// Results are the runs with faults, single faults first.
	Results []RunResult `json:"results"`
	// Left is how many schedules were not tried because of [Config.MaxRuns].
	Left int `json:"left,omitempty"`
	// NotTried is what the sweep left out, with the flags that add it.
	NotTried []string `json:"not_tried,omitempty"`

	planned []Schedule
}

// Failing returns the runs with findings: the one without faults first, then those with the fewest faults, the
// worst verdict and the fewest requests.
func (r *Report) Failing() []RunResult {
	var failing []RunResult
	for _, result := range append([]RunResult{r.WithoutFaults}, r.Results...) {
		if len(result.Findings) > 0 {
			failing = append(failing, result)
		}
	}
	slices.SortStableFunc(failing, func(a, b RunResult) int {
		return cmp.Or(cmp.Compare(len(a.schedule), len(b.schedule)), cmp.Compare(a.severity(), b.severity()),
			cmp.Compare(len(a.Requests), len(b.Requests)))
	})
	return failing
}

// severity returns the place of the worst finding among the verdicts.
func (r *RunResult) severity() int { return slices.IndexFunc(verdicts(), r.has) }

func (r *RunResult) has(v Verdict) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Verdict == v })
}
