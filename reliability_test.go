package shipping_test

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"
)

// The commands of RELIABILITY.md run tests that there are.
func TestRELIABILITY_ItsCommandsRunTests(t *testing.T) {
	t.Parallel()
	commands := regexp.MustCompile("`(?:SHIPPING_CAMPAIGN=\\d+ )?go test (?:-C (\\S+) )?[^`]*?-(?:run|fuzz) ((?:Test|Fuzz)\\w+)\\$? (?:-fuzztime \\w+ )?(\\.[^\\s`]*)[^`]*`").FindAllStringSubmatch(readText(t, "RELIABILITY.md"), -1)
	if want := strings.Count(readText(t, "RELIABILITY.md"), "go test -"); len(commands) < 30 || len(commands) < want {
		t.Errorf("%d commands are understood, of %d", len(commands), want)
	}
	for _, command := range commands {
		found := false
		for name := range testsIn(t, path.Join(command[1], command[3])) {
			found = found || strings.HasPrefix(name, command[2])
		}
		if !found {
			t.Errorf("there is no test %s in %s", command[2], path.Join(command[1], command[3]))
		}
	}
}

// Its figures are those of the tables.
func TestRELIABILITY_CountsTheTables(t *testing.T) {
	t.Parallel()
	text := readText(t, "RELIABILITY.md")
	for _, figure := range []string{
		fmt.Sprintf("%d answers over real sockets", len(hostileAnswers())), fmt.Sprintf("%d failures × %d calls", len(failures()), len(hostileCalls())),
		fmt.Sprintf("%d lies", len(lies())), fmt.Sprintf("%d states", len(moments(t))), fmt.Sprintf("%d kinds of faults", len(campaignFaults())),
	} {
		if !strings.Contains(text, figure) {
			t.Errorf("RELIABILITY.md does not say %q any more", figure)
		}
	}
}
