package main

import (
	"strings"
	"testing"
)

// The command line wins over the environment, and the environment over the default.
func TestFlags_Precedence(t *testing.T) {
	t.Parallel()
	seeds := map[string]string{}
	for _, seed := range []string{"1", "3", "4"} {
		seeds[seed] = invoke(t, nil, "env", "-format", "json", "-seed", seed).want(t, exitOK).stdout
	}
	variable := map[string]string{"MOCKSERVER_FORMAT": "json", "MOCKSERVER_SEED": "3"}
	tests := []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{"default", nil, []string{"-format", "json"}, seeds["1"]},
		{"variable", variable, nil, seeds["3"]},
		{"empty variable counts as none", map[string]string{"MOCKSERVER_SEED": ""}, []string{"-format", "json"}, seeds["1"]},
		{"flag over variable", variable, []string{"-seed", "4"}, seeds["4"]},
		{"two dashes and an equals sign", variable, []string{"--seed=4"}, seeds["4"]},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := invoke(t, test.env, append([]string{"env"}, test.args...)...).want(t, exitOK); got.stdout != test.want {
				t.Errorf("got %s, want %s", got.stdout, test.want)
			}
		})
	}
}

func TestFlags_StandBeforeAndBehindTheArgument(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args []string
		want []string
	}{
		{[]string{"-wait", "1s", "URL"}, []string{"URL"}},
		{[]string{"URL", "-wait", "1s"}, []string{"URL"}},
		{[]string{"--", "-wait"}, []string{"-wait"}},
		{[]string{"A", "--", "-wait", "B"}, []string{"A", "-wait", "B"}},
		{nil, nil},
	}
	for _, test := range tests {
		f, _ := readyCommand().declare()
		rest, err := f.read(test.args, func(string) string { return "" })
		if err != nil || strings.Join(rest, " ") != strings.Join(test.want, " ") {
			t.Errorf("%q: %q, %v", test.args, rest, err)
		}
	}
}

// A value that cannot be read was a "parse error" from the environment, too.
func TestFlags_StateTheFormOfAValue(t *testing.T) {
	t.Parallel()
	const want = `for -seed: write a whole number that is not negative, such as 7`
	invoke(t, map[string]string{"MOCKSERVER_SEED": "abc"}, "env").want(t, exitUsage, want)
	invoke(t, nil, "env", "-seed", " -x").want(t, exitUsage, "for flag -seed: write a whole number")
}
