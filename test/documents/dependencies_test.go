package documents_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// DEPENDENCIES.md has a row for each module that a go.mod requires directly.
func TestDEPENDENCIES_HaveAReason(t *testing.T) {
	t.Parallel()
	fromRoot(t)
	reasons := readText(t, "docs/DEPENDENCIES.md")
	for _, pattern := range []string{"go.mod", "*/go.mod", "*/*/go.mod", ".ci/*/go.mod"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			for _, found := range requirement.FindAllStringSubmatch(readText(t, path), -1) {
				if found[2] == "" && !strings.HasPrefix(found[1], "github.com/shipping-go/shipping") &&
					!strings.Contains(reasons, "`"+found[1]+"`") {
					t.Errorf("%s requires %s, which has no row in docs/DEPENDENCIES.md", path, found[1])
				}
			}
		}
	}
}

// THIRD_PARTY_LICENSES has every module that is built into a program, be it required directly or not.
func TestThirdPartyLicenses_NameWhatIsBuiltIn(t *testing.T) {
	t.Parallel()
	notice := readText(t, "THIRD_PARTY_LICENSES")
	testsOnly := []string{"github.com/google/go-cmp", "github.com/jarcoal/httpmock", "go.uber.org/goleak",
		"pgregory.net/rapid"}
	for _, found := range requirement.FindAllStringSubmatch(readText(t, "go.mod"), -1) {
		if module := found[1]; !slices.Contains(testsOnly, module) && !strings.Contains(notice, module) {
			t.Errorf("THIRD_PARTY_LICENSES does not name %s", module)
		}
	}
}

// A program that imports the client compiles go-retryablehttp, go-querystring and their dependencies, nothing else. Its
// "go mod tidy" downloads what the tests of the client import, too: neither fonts nor PDF of the server.
func TestDependencies_OfAProgramWithTheClient(t *testing.T) {
	fromRoot(t)
	client := []string{"github.com/google/go-querystring", "github.com/hashicorp/go-cleanhttp",
		"github.com/hashicorp/go-retryablehttp", "github.com/shipping-go/shipping"}
	tests := []string{"github.com/google/go-cmp", "github.com/jarcoal/httpmock", "pgregory.net/rapid"}
	for _, list := range []struct{ arguments, want []string }{
		{[]string{".", "./batch", "./webhook"}, client},
		{[]string{"-test", "."}, slices.Sorted(slices.Values(slices.Concat(client, tests)))},
	} {
		arguments := append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}"}, list.arguments...)
		out, err := exec.CommandContext(t.Context(), "go", arguments...).Output()
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
		if diff := cmp.Diff(list.want, got); diff != "" {
			t.Errorf("modules of %v (-want +got):\n%s", list.arguments, diff)
		}
	}
}

var requirement = regexp.MustCompile(`(?m)^(?:require )?\t?(\S+\.\S+) v\S+( // indirect)?$`)
