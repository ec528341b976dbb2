package sweep

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

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
