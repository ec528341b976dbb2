package main

import "testing"

// The command line wins over the environment, and the environment over the default.
func TestFlags_Precedence(t *testing.T) {
	t.Parallel()
	printed := func(env map[string]string, args ...string) string {
		return invoke(t, env, append([]string{"env"}, args...)...).want(t, exitOK).stdout
	}
	variable := map[string]string{"MOCKSERVER_JSON": "true", "MOCKSERVER_SEED": "3"}
	for _, pair := range [][2]string{
		{printed(map[string]string{"MOCKSERVER_SEED": ""}, "-json"), "1"}, // an empty variable counts as none
		{printed(variable), "3"},
		{printed(variable, "-seed", "4"), "4"},
		{printed(variable, "--seed=5"), "5"},
	} {
		if want := printed(nil, "-json", "-seed", pair[1]); pair[0] != want {
			t.Errorf("got %s, want %s", pair[0], want)
		}
	}
}
