package jsonscan

import (
	"strings"
	"testing"
)

func TestCrowded_CountsElementsAndNothingElse(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(",0", 10)
	for text, want := range map[string]bool{
		"[0" + many + "]":                               false,
		"[0" + many + ",0]":                             true,
		`{"a":[0` + many + `],"b":[0,0]}`:               true,
		`{"a":[[0` + many + `],[]]}`:                    true,
		`{"a":0` + strings.Repeat(`,"a":0`, 20) + "}":   false,
		`["` + many + many + `"]`:                       false,
		`["\"` + many + many + `"]`:                     false,
		`[{"a":0` + strings.Repeat(`,"a":0`, 20) + "}]": false,
		"]]}}" + many + many:                            false,
		`["` + many + many:                              false,
		"":                                              false,
	} {
		if got := Crowded([]byte(text), 10); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
