package main

import (
	"context"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/shipping-go/shipping/mockserver"
)

func TestHelp_ExamplesAreValid(t *testing.T) {
	t.Parallel()
	for _, c := range newCommand(environmentOf(nil)).Commands {
		lines, _ := c.Metadata["examples"].([]string)
		for _, example := range lines {
			isEnd := func(r rune) bool { return strings.ContainsRune("#>|", r) }
			words := strings.Fields(strings.FieldsFunc(example, isEnd)[0])
			root, reached := newCommand(environmentOf(nil)), false
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
