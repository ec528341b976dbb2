package documents_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
)

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
// "go mod tidy" downloads what the tests of the client import, too: nothing of the server.
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
		out := shippingtest.Must(exec.CommandContext(t.Context(), "go", arguments...).Output())(t)
		got := slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
		shippingtest.Diff(t, fmt.Sprintf("modules of %v", list.arguments), list.want, got)
	}
}

// No package of this module that a program with the client, the receiver or a batch compiles uses unsafe.
func TestDependencies_WithoutUnsafe(t *testing.T) {
	fromRoot(t)
	out := shippingtest.Must(exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		"{{with .Module}}{{if .Main}}{{$.ImportPath}} {{$.Imports}}{{end}}{{end}}", ".", "./batch", "./webhook").Output())(t)
	read := strings.Contains(string(out), "/internal/jsonread")
	for line := range strings.Lines(string(out)) {
		between := func(r rune) bool { return strings.ContainsRune(" []\n", r) }
		if slices.Contains(strings.FieldsFunc(line, between), "unsafe") {
			t.Errorf("uses unsafe: %s", line)
		}
	}
	if !read {
		t.Errorf("internal/jsonread is not listed: %s", out)
	}
}

var requirement = regexp.MustCompile(`(?m)^(?:require )?\t?(\S+\.\S+) v\S+( // indirect)?$`)
