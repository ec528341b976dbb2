package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// promise is a row of a table in a document that names tests.
type promise struct {
	where   string
	tests   []string
	figures []string
}

var (
	named  = regexp.MustCompile("`((?:Test|Fuzz|Example)[A-Z]\\w*)`")
	stated = regexp.MustCompile(`\*\*((?:≥ )?[0-9][0-9,]* [\w ]+)\*\*`)
)

// promises returns the rows of a document that name tests. Figures in bold are cases.
func promises(document, text string) (all []promise) {
	for line := range strings.Lines(text) {
		tests := named.FindAllStringSubmatch(line, -1)
		if !strings.HasPrefix(line, "|") || len(tests) == 0 {
			continue
		}
		rule, _, _ := strings.Cut(strings.Trim(line, "| "), " | ")
		p := promise{where: document + ", " + rule}
		for _, found := range tests {
			p.tests = append(p.tests, found[1])
		}
		for _, found := range stated.FindAllStringSubmatch(line, -1) {
			p.figures = append(p.figures, figure(found[1]))
		}
		all = append(all, p)
	}
	return all
}

// problems returns the reasons why a run did not keep the promise.
func (p promise) problems(seen *record) (problems []string) {
	for _, test := range p.tests {
		if !seen.passed[test] {
			problems = append(problems, test+" did not run, or did not pass")
		}
		if seen.skipped[test] {
			problems = append(problems, test+" was skipped, or a subtest of it")
		}
	}
	for _, figure := range p.figures {
		if slices.ContainsFunc(p.tests, func(test string) bool { return seen.had(test, figure) }) {
			continue
		}
		problem := fmt.Sprintf("no run had %q", figure)
		for _, test := range p.tests {
			problem += fmt.Sprintf("; %s had %d subtests, and the cases %q", test, seen.leaves(test), seen.cases[test])
		}
		problems = append(problems, problem)
	}
	return problems
}
