package documents_test

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var record = flag.Bool("record", false, "write the exported names to test/api.txt, and the assumptions of the server to docs/ASSUMPTIONS.md")

// test/api.txt has the exported names of each public package, as go doc prints them without comments. A change of it is part of a
// commit, so that a review sees it. CONTRIBUTING has the command that compares two releases.
func TestAPI_IsAsRecorded(t *testing.T) {
	const path = "test/api.txt"
	fromRoot(t)
	var now strings.Builder
	comments := regexp.MustCompile(`(?m)^(?:    .*|\s*//.*)?\n`)
	for folder := range strings.FieldsSeq(". batch webhook webhook/storetest conformance stores/pgstore stores/redisstore " +
		"mockserver mockserver/assumption mockserver/fault mockserver/journal mockserver/notify mockserver/sweep") {
		command := exec.CommandContext(t.Context(), "go", "doc", "-all", ".")
		command.Dir, command.Env = folder, append(os.Environ(), "GOPROXY=off") // the modules that stores requires are not needed
		out, err := command.Output()
		if err != nil {
			t.Fatal(folder, err)
		}
		_, names, _ := strings.Cut(string(out), "\n\n") // the package comment has no indentation
		names = names[regexp.MustCompile(`(?m)^[A-Z]+$`).FindStringIndex(names)[0]:]
		now.WriteString("# " + folder + "\n" + comments.ReplaceAllString(names, "") + "\n")
	}
	if *record {
		if err := os.WriteFile(path, []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(strings.Split(readText(t, path), "\n"), strings.Split(now.String(), "\n")); diff != "" {
		t.Errorf("run go test -run TestAPI ./test/documents -record, and list the change in CHANGELOG.md (-%s +now):\n%s", path, diff)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	fromRoot(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}
