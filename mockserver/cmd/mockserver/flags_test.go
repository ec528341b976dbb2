package main

import (
	"strings"
	"testing"
)

// The command line wins over the environment, the environment over the configuration file, and the
// file over the default.
func TestFlags_Precedence(t *testing.T) {
	t.Parallel()
	config := file(t, "config.json", `{"format":"json","seed":2}`)
	seeds := map[string]string{}
	for _, seed := range []string{"1", "2", "3", "4"} {
		seeds[seed] = invoke(t, nil, "env", "-format", "json", "-seed", seed).want(t, exitOK).stdout
	}
	withConfig := map[string]string{"MOCKSERVER_CONFIG": config}
	withBoth := map[string]string{"MOCKSERVER_CONFIG": config, "MOCKSERVER_SEED": "3"}
	tests := []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{"default", nil, []string{"-format", "json"}, seeds["1"]},
		{"file by flag", nil, []string{"-config", config}, seeds["2"]},
		{"file by variable", withConfig, nil, seeds["2"]},
		{"variable over file", withBoth, nil, seeds["3"]},
		{"empty variable counts as none", map[string]string{"MOCKSERVER_CONFIG": config, "MOCKSERVER_SEED": ""}, nil, seeds["2"]},
		{"flag over variable and file", withBoth, []string{"-seed", "4"}, seeds["4"]},
		{"two dashes and an equals sign", withBoth, []string{"--seed=4"}, seeds["4"]},
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

func TestConfigFile_IsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, content, want string }{
		{"unknown name", `{"sed":7}`, `unknown flag "sed": did you mean seed?`},
		{"name of the file itself", `{"config":"x.json"}`, `unknown flag "config"`},
		{"bad value", `{"seed":"seven"}`, `invalid value "seven" for "seed"`},
		{"bad choice", `{"format":"xml"}`, `one of sh, dotenv, json`},
		{"list", `{"seed":[7]}`, `"seed" is not a string, number or boolean`},
		{"no object", `[]`, "not a JSON object of flags"},
		{"no JSON", `seed: 7`, "not a JSON object of flags"},
		{"two objects", `{}{}`, "unexpected text after the JSON object"},
		{"several mistakes", `{"sed":7,"fromat":"sh"}`, `did you mean format?`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := file(t, "config.json", test.content)
			invoke(t, nil, "env", "-config", path).want(t, exitUsage, "config.json", test.want)
		})
	}
	invoke(t, nil, "env", "-config", "no/such/file.json").want(t, exitUsage, "no/such/file.json")
}

// One file serves every word.
func TestConfigFile_LeavesFlagsOfOtherWordsAlone(t *testing.T) {
	t.Parallel()
	path := file(t, "config.json", `{"addr":"127.0.0.1:0","json":true,"drain":"1s","seed":1}`)
	invoke(t, nil, "env", "-config", path).want(t, exitOK, "SHIPPING_SECRET_KEY=")
}

// A value that cannot be read was a "parse error" from the environment and the configuration file, too.
func TestFlags_StateTheFormOfAValue(t *testing.T) {
	t.Parallel()
	const want = `for -seed: write a whole number that is not negative, such as 7`
	invoke(t, map[string]string{"MOCKSERVER_SEED": "abc"}, "env").want(t, exitUsage, want)
	invoke(t, nil, "env", "-seed", " -x").want(t, exitUsage, "for flag -seed: write a whole number")
	invoke(t, nil, "env", "-config", file(t, "config.json", `{"seed":"abc"}`)).want(t, exitUsage, `"seed": write a whole number`)
}
