package main

import (
	"regexp"
	"strconv"
	"strings"
)

// record holds the results of a run by the names of tests. Tests of several packages with one name count as one.
type record struct {
	passed, skipped map[string]bool
	cases           map[string][]string        // the values of the attribute "cases"
	subtests        map[string]map[string]bool // the rest of the names of those that passed
}

func newRecord() *record {
	return &record{map[string]bool{}, map[string]bool{}, map[string][]string{}, map[string]map[string]bool{}}
}

var (
	ended     = regexp.MustCompile(`--- (PASS|SKIP): ([^\s/]+)(\S*) \([0-9.]+s\)`)
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
		default:
			if r.subtests[m[2]] == nil {
				r.subtests[m[2]] = map[string]bool{}
			}
			r.subtests[m[2]][m[3]] = true
		}
	}
	for _, m := range attribute.FindAllStringSubmatch(log, -1) {
		r.cases[m[1]] = append(r.cases[m[1]], figure(m[2]))
	}
}

// figure returns a figure, such as "2430 calls", without the commas between its digits.
func figure(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(text, ",", ""))
}

// had reports whether a test had as many cases as a figure states: by its attribute, or by its subtests. A figure that
// begins with ≥ is a minimum.
func (r *record) had(test, stated string) bool {
	least, minimum := strings.CutPrefix(stated, "≥ ")
	want, unit := parse(least)
	if n := r.leaves(test); n == want || minimum && n > want {
		return true
	}
	for _, attribute := range r.cases[test] {
		n, of := parse(attribute)
		if of == unit && (n == want || minimum && n > want) {
			return true
		}
	}
	return false
}

// leaves returns how many subtests of a test have none themselves. A name can contain slashes.
func (r *record) leaves(test string) (number int) {
	parents := map[string]bool{}
	for name := range r.subtests[test] {
		for i, c := range name {
			if c == '/' {
				parents[name[:i]] = true
			}
		}
	}
	for name := range r.subtests[test] {
		if !parents[name] {
			number++
		}
	}
	return number
}

// parse returns the number and the unit of a figure.
func parse(figure string) (number int, unit string) {
	digits, unit, _ := strings.Cut(figure, " ")
	number, err := strconv.Atoi(digits)
	if err != nil {
		return -1, figure
	}
	return number, unit
}
