package main

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/shipping-go/shipping/mockserver"
)

func TestRun_UsageErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		env  map[string]string
		want []string
	}{
		{"no command", nil, nil, []string{"mockserver COMMAND [flags]"}},
		{"unknown command", []string{"sevre"}, nil,
			[]string{`unknown command "sevre": did you mean serve?`, "see mockserver help"}},
		{"help for an unknown command", []string{"help", "docter"}, nil, []string{"did you mean doctor?"}},
		{"unknown flag", []string{"serve", "-adr", "x"}, nil,
			[]string{"mockserver: serve has no flag -adr: did you mean -addr?", "mockserver help serve"}},
		{"argument", []string{"serve", "now"}, nil, []string{`takes no argument "now"`}},
		{"bad number", []string{"serve", "-seed", "x"}, nil,
			[]string{`invalid value "x" for flag -seed: write a whole number that is not negative, such as 7`}},
		{"no value", []string{"conform", "-shipment", "-write"}, nil, []string{"for flag -shipment: -shipment has no value"}},
		{"bad choice", []string{"serve", "-clock", "virtal"}, nil,
			[]string{"choose real or virtual: did you mean virtual?"}},
		{"bad variable", []string{"serve"}, map[string]string{"MOCKSERVER_SEED": "x"},
			[]string{"MOCKSERVER_SEED for flag seed: write a whole number that is not negative, such as 7"}},
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

// The examples of help are valid command lines.
func TestHelp_ExamplesAreValid(t *testing.T) {
	t.Parallel()
	for _, c := range subcommands() {
		lines, _ := c.Metadata["examples"].([]string)
		for _, example := range lines {
			isEnd := func(r rune) bool { return strings.ContainsRune("#>|", r) }
			words := strings.Fields(strings.FieldsFunc(example, isEnd)[0])
			root, reached := newCommand(func(string) string { return "" }), false
			root.Command(c.Name).Action = func(context.Context, *cli.Command) error { reached = true; return nil }
			if err := root.Run(t.Context(), append([]string{"mockserver"}, words...)); err != nil || !reached {
				t.Errorf("%q: %v", example, err)
			}
		}
	}
}

func TestVersion_OpenAPI_Completion(t *testing.T) {
	t.Parallel()
	got := invoke(t, nil, "version").want(t, exitOK)
	if !strings.HasPrefix(got.stdout, "mockserver ") || strings.Count(got.stdout, "\n") != 1 {
		t.Errorf("%q", got.stdout)
	}
	want, err := mockserver.OpenAPI(nil)
	if printed := invoke(t, nil, "openapi").want(t, exitOK).stdout; err != nil || printed != string(want) {
		t.Errorf("%d bytes printed, want %d: %v", len(printed), len(want), err)
	}
	invoke(t, nil, "serve", "-cl", "--generate-shell-completion").want(t, exitOK, "--clock:real or virtual")
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
