package sweep

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// With pairs, the line of the other runs with the same findings had more than 1,000 characters.
func TestNames_AreFewLines(t *testing.T) {
	t.Parallel()
	const single, pair = "regulatory.purchase#1:lost-after", "regulatory.purchase#1:lost-after,regulatory.get#1:500"
	for name, test := range map[string]struct{ schedules, want []string }{
		"one":              {[]string{single}, []string{single}},
		"at one request":   {[]string{single, "regulatory.purchase#1:html", "regulatory.analyze#1:html"}, []string{single + ", html", "regulatory.analyze#1:html"}},
		"a pair":           {[]string{single, pair, pair}, []string{single, pair, pair}},
		"as many as lines": {[]string{pair, pair, pair, pair, pair}, []string{pair, pair, pair, pair, pair}},
		"one more": {
			[]string{pair, pair, pair, pair, pair, pair},
			[]string{pair, pair, pair, pair, pair, "and 1 more run; the JSON and JUnit reports list all"},
		},
		"many more": {
			append([]string{single, "regulatory.purchase#1:html"}, strings.Split(strings.Repeat(pair+" ", 30)+pair, " ")...),
			[]string{single + ", html", pair, pair, pair, pair, "and 27 more runs; the JSON and JUnit reports list all"},
		},
	} {
		var results []Result
		for _, text := range test.schedules {
			schedule, err := ParseSchedule(text)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, Result{Schedule: text, schedule: schedule})
		}
		want := "    " + strings.Join(test.want, "\n    ") + "\n"
		if diff := cmp.Diff(want, names(results)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
