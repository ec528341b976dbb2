package main

import (
	"net"
	"strings"
	"testing"
)

func TestRun_TellsWhatIsWrongWithTheCommandLineAndWhatToDo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		env  map[string]string
		want []string
	}{
		{"no word", nil, nil, []string{"Usage: mockserver COMMAND"}},
		{"unknown command", []string{"sevre"}, nil, []string{`unknown command "sevre": did you mean serve?`, "mockserver help lists all commands"}},
		{"beginning of a command", []string{"comp"}, nil, []string{"did you mean completion?"}},
		{"a command without a similar one", []string{"zzz"}, nil, []string{"unknown command \"zzz\"\n"}},
		{"help for an unknown command", []string{"help", "docter"}, nil, []string{"did you mean doctor?"}},
		{"unknown flag", []string{"serve", "-adr", "x"}, nil, []string{"mockserver serve has no flag -adr: did you mean -addr?", "mockserver help serve"}},
		{"unknown flag with two dashes", []string{"serve", "--sed=1"}, nil, []string{"did you mean -seed?"}},
		{"argument", []string{"serve", "now"}, nil, []string{`takes no argument "now"`}},
		{"two arguments", []string{"ready", "http://127.0.0.1:1", "http://127.0.0.1:2"}, nil, []string{"takes one URL", "http://127.0.0.1:2"}},
		{"bad number", []string{"serve", "-seed", "x"}, nil, []string{`invalid value "x" for flag -seed`}},
		{"value missing", []string{"serve", "-seed"}, nil, []string{"flag needs an argument: -seed"}},
		{"bad choice", []string{"serve", "-clock", "virtal"}, nil, []string{"one of real, virtual: did you mean virtual?"}},
		{"bad variable", []string{"serve"}, map[string]string{"MOCKSERVER_SEED": "x"}, []string{`invalid value "x" of MOCKSERVER_SEED for -seed`}},
		{"two bad variables", []string{"serve"}, map[string]string{"MOCKSERVER_SEED": "x", "MOCKSERVER_CLOCK": "lunar"}, []string{"MOCKSERVER_SEED", "MOCKSERVER_CLOCK"}},
		{"no shell", []string{"completion"}, nil, []string{"choose one of bash, zsh, fish"}},
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

func TestHelp_ShowsEveryWordItsFlagsVariablesAndExamples(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"help"}, {"-h"}, {"--help"}} {
		got := invoke(t, nil, args...).want(t, exitOK)
		for _, c := range commands() {
			if !strings.Contains(got.stdout, "  "+c.word+" ") {
				t.Errorf("mockserver %s does not name %s", args[0], c.word)
			}
		}
	}
	for _, c := range commands() {
		t.Run(c.word, func(t *testing.T) {
			t.Parallel()
			asked := invoke(t, nil, "help", c.word).want(t, exitOK, c.summary, c.about, "Usage: mockserver "+c.word)
			flagged := invoke(t, nil, c.word, "-h").want(t, exitOK)
			if asked != flagged {
				t.Errorf("help %s and %s -h differ", c.word, c.word)
			}
			f, _ := c.declare()
			for _, name := range f.names("") {
				asked.want(t, exitOK, "  -"+name, environment(f.Lookup(name))[0])
			}
			for _, example := range c.examples {
				asked.want(t, exitOK, "mockserver "+example)
			}
		})
	}
}

// An example that help shows has to be one that can be typed.
func TestHelp_ExamplesAreReadWithoutComplaint(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		for _, example := range c.examples {
			line, _, _ := strings.Cut(example, "#")
			line, _, _ = strings.Cut(line, ">")
			line, _, _ = strings.Cut(line, "|")
			words := strings.Fields(line)
			if words[0] != c.word {
				t.Errorf("%q is not an example of %s", example, c.word)
			}
			f, _ := c.declare()
			rest, err := f.read(words[1:], func(string) string { return "" })
			if err != nil || len(rest) > 1 && !c.many {
				t.Errorf("%q: %v, %v", example, rest, err)
			}
		}
	}
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
