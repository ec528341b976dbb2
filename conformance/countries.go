package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// checkCountries: "Response 200: data is an array of Country."
func (s *session) checkCountries() {
	a := s.get("/v1/countries")
	problems := a.problems()
	if len(problems) == 0 {
		problems = array(value("object")).problems("data", a.envelope["data"])
	}
	if !s.judge(headingCountries, "data is a bare array, in the envelope with HTTP status 200", problems) {
		defer s.suspend(NotRun, "needs the list")()
	}
	countries, _ := a.envelope["data"].([]any)
	if len(countries) == 0 {
		defer s.suspend(NotRun, "the list is empty")()
	}
	country, others := s.service.record("Country"), map[string]bool{}
	for i, c := range countries {
		problems = append(problems, country.problems(fmt.Sprintf("data[%d]", i), c)...)
		object, _ := c.(map[string]any)
		for _, name := range country.others(object) {
			others[name] = true
		}
	}
	s.judge(headingCountry, "every country has the fields of the table, each of its type", problems)
	s.assume(headingCountry, "the record has only the fields of the table", len(others) == 0, "further fields: "+joined(others))
}

// joined lists a set of names.
func joined(names map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}
