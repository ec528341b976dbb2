package sweep

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Goal is the expected effect of a program. A nil field is learned from the run without faults. Otherwise that run is
// compared with the goal, too.
type Goal struct {
	// Documents are the documents to purchase, by shipment_id or file_url. A document to purchase twice is listed
	// twice.
	Documents map[string][]string `json:"documents,omitzero"`
	// Notifications are the notifications to replay, such as "shipment.created of SH-7Q2M to WA-1234567890". A
	// notification to replay twice is listed twice.
	Notifications []string `json:"notifications,omitzero"`
	// Files are the names of files that must have the same content after every run in which the program succeeds; see
	// [Outcome.Files].
	Files []string `json:"files,omitzero"`
}

// goal returns what runs are compared with: the goal of the settings, completed from the run without faults.
func (s *sweeper) goal() Goal {
	goal := s.config.Goal
	if goal.Documents == nil {
		goal.Documents = s.normal.did.Documents
	}
	if goal.Notifications == nil {
		goal.Notifications = s.normal.did.Notifications
	}
	return goal
}

// missing returns the actions that a run did less often than expected, with a text for each shipment, invoice and
// notification.
func (g *Goal) missing(did Goal) (less []string) {
	for _, subject := range slices.Sorted(maps.Keys(g.Documents)) {
		if documents := fewer(g.Documents[subject], did.Documents[subject]); len(documents) > 0 {
			less = append(less, strings.Join(documents, ", ")+" for "+subject)
		}
	}
	return append(less, fewer(g.Notifications, did.Notifications)...)
}

// fewer returns the elements that got has less often than want.
func fewer(want, got []string) []string {
	return slices.DeleteFunc(distinct(want), func(what string) bool { return count(got, what) >= count(want, what) })
}

// distinct returns the elements of a list, sorted, each once.
func distinct(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// count returns how often an element is in a list.
func count(list []string, what string) (n int) {
	for _, one := range list {
		if one == what {
			n++
		}
	}
	return n
}

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
	wanted, lines, i := strings.Split(want, "\n"), strings.Split(got, "\n"), 0
	for i < min(len(wanted), len(lines)) && wanted[i] == lines[i] {
		i++
	}
	excerpt := func(of, others []string) string {
		if i >= len(of) {
			return "absent"
		}
		return differingPart(of[i], append(others, "")[i])
	}
	return fmt.Sprintf("line %d is %s, but %s without faults", i+1, excerpt(lines, wanted), excerpt(wanted, lines))
}

// differingPart quotes a line; of a long one, only the part that differs from another.
func differingPart(line, other string) string {
	const before, most = 20, 80
	text, same := []rune(line), 0
	for _, r := range other {
		if same == len(text) || text[same] != r {
			break
		}
		same++
	}
	from := max(0, min(same-before, len(text)-most))
	to := min(from+most, len(text))
	quoted := string(text[from:to])
	if from > 0 {
		quoted = "…" + quoted
	}
	if to < len(text) {
		quoted += "…"
	}
	return strconv.Quote(quoted)
}
