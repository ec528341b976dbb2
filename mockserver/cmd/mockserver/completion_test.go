package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// small is a table with one flag of each kind.
func small() []command {
	return []command{
		{word: "run", summary: "run it: at once", argument: "URL", define: func(f *flags) action {
			f.text("kind", text{choices: []string{"red", "blue"}}, "the `KIND` of the user's [own]")
			f.text("file", text{file: true}, "read a `FILE`, such as {\"addr\":\"127.0.0.1:0\"}")
			f.Bool("json", false, "print JSON")
			f.Duration("wait", 0, "wait this `TIME`")
			return nil
		}},
		{word: "paint", summary: "the painter's word", argument: "COLOUR", choices: []string{"red", "blue"}, define: func(*flags) action { return nil }},
		{word: "help", summary: "help", argument: commandArgument, define: func(*flags) action { return nil }},
	}
}

func TestCompletion_Golden(t *testing.T) {
	t.Parallel()
	for _, s := range shells() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(filepath.Join("testdata", "completion."+s.name))
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			s.write(&got, completions(small()))
			if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompletion_OffersEveryWordAndFlag(t *testing.T) {
	t.Parallel()
	for _, s := range shells() {
		script := invoke(t, nil, "completion", s.name).want(t, exitOK)
		for _, c := range commands() {
			f, _ := c.declare()
			f.VisitAll(func(f *flag.Flag) { script.want(t, exitOK, c.word, f.Name) })
		}
	}
}

// If bash is installed, its completions are tested; the golden text is tested everywhere.
func TestCompletion_WorksInBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Log("no bash here")
		return
	}
	script := invoke(t, nil, "completion", "bash").want(t, exitOK).stdout
	tests := []struct {
		typed []string
		want  string
	}{
		{[]string{"mockserver", "se"}, "serve"},
		{[]string{"mockserver", "co"}, "conform completion"},
		{[]string{"mockserver", "serve", "-cl"}, "-clock"},
		{[]string{"mockserver", "serve", "-clock", ""}, "real virtual"},
		{[]string{"mockserver", "serve", "-clock", "v"}, "virtual"},
		{[]string{"mockserver", "serve", "-seed", ""}, ""},
		{[]string{"mockserver", "env", "-format", "d"}, "dotenv"},
		{[]string{"mockserver", "completion", "z"}, "zsh"},
		{[]string{"mockserver", "help", "doc"}, "doctor"},
		{[]string{"mockserver", "nonsense", ""}, ""},
	}
	for _, test := range tests {
		asked := script + "\nCOMP_WORDS=(\"$@\"); COMP_CWORD=$(($#-1)); _mockserver; echo \"${COMPREPLY[*]}\"\n"
		out, err := exec.CommandContext(t.Context(), bash, append([]string{"-c", asked, "bash"}, test.typed...)...).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != test.want {
			t.Errorf("%q offers %q, want %q (%v)", test.typed, got, test.want, err)
		}
	}
}
