package main

import "testing"

// The command line wins over the environment, and the environment over the default.
func TestFlags_Precedence(t *testing.T) {
	t.Parallel()
	seeds := map[string]string{}
	for _, seed := range []string{"1", "3", "4"} {
		seeds[seed] = invoke(t, nil, "env", "-json", "-seed", seed).want(t, exitOK).stdout
	}
	variable := map[string]string{"MOCKSERVER_JSON": "true", "MOCKSERVER_SEED": "3"}
	tests := []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{"default", nil, []string{"-json"}, seeds["1"]},
		{"variable", variable, nil, seeds["3"]},
		{"empty variable counts as none", map[string]string{"MOCKSERVER_SEED": ""}, []string{"-json"}, seeds["1"]},
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

// Flags stand before, between and after the arguments; "--" ends them.
func TestFlags_StandAnywhere(t *testing.T) {
	t.Parallel()
	nobody := "http://" + taken(t)
	for _, args := range [][]string{{"-wait", "1ms", nobody}, {nobody, "-wait", "1ms"}, {"--wait=1ms", nobody}, {"-wait=1ms", "--", nobody}} {
		invoke(t, nil, append([]string{"ready"}, args...)...).want(t, exitFailure, "no mockserver responds on "+nobody)
	}
	invoke(t, nil, "ready", "--", "-wait").want(t, exitFailure, `invalid base address "-wait"`)
}
