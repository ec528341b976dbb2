package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// promise is a row of a document.
type promise struct {
	where   string
	tests   []string // their names
	prefix  bool     // the names are beginnings of names
	figures []string
}

// problems returns the reasons why a run did not keep the promise.
func (p promise) problems(seen *record) (problems []string) {
	var ranAs []string
	for _, name := range p.tests {
		ran := false
		for test := range seen.passed {
			if test == name || p.prefix && strings.HasPrefix(test, name) {
				ran = true
				ranAs = append(ranAs, test)
			}
		}
		if !ran {
			problems = append(problems, name+" did not run, or did not pass")
		}
		for test := range seen.skipped {
			if test == name || p.prefix && strings.HasPrefix(test, name) {
				problems = append(problems, test+" was skipped, or a subtest of it")
			}
		}
	}
	for _, figure := range p.figures {
		if slices.ContainsFunc(ranAs, func(test string) bool { return seen.had(test, figure) }) {
			continue
		}
		problem := fmt.Sprintf("no run had %q", figure)
		for _, test := range ranAs {
			problem += fmt.Sprintf("; %s had %d subtests, and the cases %q", test, seen.leaves(test), seen.cases[test])
		}
		problems = append(problems, problem)
	}
	slices.Sort(problems)
	return problems
}

var (
	command  = regexp.MustCompile("`[^`]*go test [^`]*-(?:run|fuzz) '?\\^?((?:Test|Fuzz)\\w+)(\\$?)[^`]*`")
	named    = regexp.MustCompile("`((?:Test|Fuzz|Example)[A-Z]\\w*)`")
	anyDigit = regexp.MustCompile(`[0-9]`)
)

// reliability returns the rows of RELIABILITY.md that have a command of go test. The cell in the column Cases contains
// figures, separated by semicolons, or words.
func reliability(text string) (promises []promise) {
	heading, column := "", -1
	for line := range strings.Lines(text) {
		heading = under(heading, line)
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if strings.HasPrefix(line, "| Promise |") {
			column = slices.Index(cells, "Cases")
		}
		found := command.FindStringSubmatch(cells[len(cells)-1])
		if found == nil || !strings.HasPrefix(line, "|") {
			continue
		}
		p := promise{where: "RELIABILITY.md, " + heading + ", " + cells[0], tests: []string{found[1]}, prefix: found[2] == ""}
		if column > 0 && column < len(cells) && anyDigit.MatchString(cells[column]) {
			for part := range strings.SplitSeq(cells[column], ";") {
				p.figures = append(p.figures, figure(part))
			}
		}
		promises = append(promises, p)
	}
	return promises
}

// specification returns the places of SPECIFICATION.md that name tests.
func specification(text string) (promises []promise) {
	heading := ""
	for line := range strings.Lines(text) {
		heading = under(heading, line)
		var names []string
		for _, found := range named.FindAllStringSubmatch(line, -1) {
			names = append(names, found[1])
		}
		if len(names) > 0 {
			first, _, _ := strings.Cut(strings.Trim(line, "| "), " | ")
			promises = append(promises, promise{where: "SPECIFICATION.md, " + heading + ", " + strings.TrimSpace(first), tests: names})
		}
	}
	return promises
}

// under returns the heading that a line is, or the one before.
func under(heading, line string) string {
	if next, ok := strings.CutPrefix(line, "## "); ok {
		return strings.TrimSpace(next)
	}
	return heading
}
