package main

import (
	"context"
	"net"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v3"

	"github.com/shipping-go/shipping/mockserver"
)

func TestRun_TellsWhatIsWrongWithTheCommandLineAndWhatToDo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		env  map[string]string
		want []string
	}{
		{"no word", nil, nil, []string{"mockserver COMMAND [flags]"}},
		{"unknown command", []string{"sevre"}, nil, []string{`unknown command "sevre": did you mean serve?`, "see mockserver help"}},
		{"beginning of a command", []string{"comp"}, nil, []string{"did you mean completion?"}},
		{"a command without a similar one", []string{"zzz"}, nil, []string{"unknown command \"zzz\"\n"}},
		{"help for an unknown command", []string{"help", "docter"}, nil, []string{"did you mean doctor?"}},
		{"unknown flag", []string{"serve", "-adr", "x"}, nil, []string{"mockserver: serve has no flag -adr: did you mean -addr?", "mockserver help serve"}},
		{"unknown flag with two dashes", []string{"serve", "--sed=1"}, nil, []string{"did you mean -seed?"}},
		{"argument", []string{"serve", "now"}, nil, []string{`takes no argument "now"`}},
		{"two arguments", []string{"ready", "http://127.0.0.1:1", "http://127.0.0.1:2"}, nil, []string{"takes one URL", "http://127.0.0.1:2"}},
		{"bad number", []string{"serve", "-seed", "x"}, nil, []string{`invalid value "x" for flag -seed: write a whole number that is not negative, such as 7`}},
		{"value missing", []string{"serve", "-seed"}, nil, []string{"flag needs an argument: -seed"}},
		{"bad choice", []string{"serve", "-clock", "virtal"}, nil, []string{"choose real or virtual: did you mean virtual?"}},
		{"bad variable", []string{"serve"}, map[string]string{"MOCKSERVER_SEED": "x"}, []string{"MOCKSERVER_SEED for flag seed: write a whole number that is not negative, such as 7"}},
		{"a flag of the command", []string{"-sed"}, nil, []string{"mockserver has no flag -sed"}},
		{"unknown shell", []string{"completion", "bsah"}, nil, []string{"did you mean bash?"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := invoke(t, test.env, test.args...).want(t, exitUsage, test.want...)
			if got.stdout != "" {
				t.Errorf("standard output: %s", got.stdout)
			}
		})
	}
}

// subcommands returns the commands that are ours, by name.
func subcommands() []*cli.Command { return newCommand(func(string) string { return "" }).Commands }

// Help fits a terminal of 80 columns.
func TestHelp_ShowsEveryCommandItsFlagsAndExamples(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"help"}, {"-h"}, {"--help"}} {
		got := invoke(t, nil, args...).want(t, exitOK, "completion")
		for _, c := range subcommands() {
			if !strings.Contains(got.stdout, "  "+c.Name+" ") {
				t.Errorf("mockserver %s does not name %s", args[0], c.Name)
			}
		}
	}
	for _, c := range subcommands() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			got := invoke(t, nil, "help", c.Name).want(t, exitOK, c.Usage, c.Description, "Usage: mockserver "+c.Name)
			if flagged := invoke(t, nil, c.Name, "-h").want(t, exitOK); got != flagged {
				t.Errorf("help %s and %s -h differ", c.Name, c.Name)
			}
			for _, f := range c.Flags {
				got.want(t, exitOK, "  -"+f.Names()[0])
			}
			for line := range strings.SplitSeq(got.stdout, "\n") {
				if utf8.RuneCountInString(line) > 80 {
					t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
				}
			}
		})
	}
}

// An example that help shows has to be one that can be typed.
func TestHelp_ExamplesAreReadWithoutComplaint(t *testing.T) {
	t.Parallel()
	for _, c := range subcommands() {
		lines, _ := c.Metadata["examples"].([]string)
		for _, example := range lines {
			words := strings.Fields(strings.FieldsFunc(example, func(r rune) bool { return strings.ContainsRune("#>|", r) })[0])
			root, reached := newCommand(func(string) string { return "" }), false
			root.Command(c.Name).Action = func(context.Context, *cli.Command) error { reached = true; return nil }
			if err := root.Run(t.Context(), append([]string{"mockserver"}, words...)); err != nil || !reached {
				t.Errorf("%q: %v", example, err)
			}
		}
	}
}

// The completion of a shell asks the program itself.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "pwsh"} {
		invoke(t, nil, "completion", shell).want(t, exitOK, "--generate-shell-completion")
	}
	invoke(t, nil, "serve", "-cl", "--generate-shell-completion").want(t, exitOK, "--clock:real or virtual")
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"version", "--version", "-version"} { // the flags are accepted, too
		got := invoke(t, nil, word).want(t, exitOK)
		if !strings.HasPrefix(got.stdout, "mockserver ") || strings.Count(got.stdout, "\n") != 1 {
			t.Errorf("%q", got.stdout)
		}
	}
}

func TestOpenAPI_PrintsTheDocument(t *testing.T) {
	t.Parallel()
	want, err := mockserver.OpenAPI()
	if printed := invoke(t, nil, "openapi").want(t, exitOK).stdout; err != nil || printed != string(want) {
		t.Errorf("%d bytes printed, want %d: %v", len(printed), len(want), err)
	}
}

// taken returns an address on which another program listens.
func taken(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() { // hang up on whoever asks
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	return listener.Addr().String()
}
