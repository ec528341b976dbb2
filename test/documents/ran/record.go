package main

import (
	"regexp"
	"strings"
)

// record is what a run did with each test, by its name. Tests of several packages with one name count as one.
type record struct {
	passed, skipped map[string]bool
	cases           map[string][]string // the values of the attribute "cases"
}

func newRecord() *record {
	return &record{map[string]bool{}, map[string]bool{}, map[string][]string{}}
}

var (
	ended     = regexp.MustCompile(`--- (PASS|SKIP): ([^\s/]+)(\S*) \(`)
	attribute = regexp.MustCompile(`(?m)=== ATTR  ([^\s/]+)\S* cases (.+)$`)
)

// read adds the output of go test -v. A subtest counts for its test.
func (r *record) read(log string) {
	for _, m := range ended.FindAllStringSubmatch(log, -1) {
		switch {
		case m[1] == "SKIP":
			r.skipped[m[2]] = true
		case m[3] == "":
			r.passed[m[2]] = true
		}
	}
	for _, m := range attribute.FindAllStringSubmatch(log, -1) {
		r.cases[m[1]] = append(r.cases[m[1]], figure(m[2]))
	}
}

// figure returns a figure without the commas between its digits.
func figure(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(text, ",", ""))
}
