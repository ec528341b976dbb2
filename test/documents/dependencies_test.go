package documents_test

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// DEPENDENCIES.md has each module that a go.mod requires directly, in its version, with licence and reason.
func TestDEPENDENCIES_AreThoseOfTheGoModFiles(t *testing.T) {
	t.Parallel()
	want, got := map[string][]string{}, map[string][]string{}
	for _, path := range goModFiles(t) {
		module, required := directlyRequired(readText(t, path))
		if len(required) > 0 {
			want[module] = required
		}
	}
	for _, section := range strings.Split(readText(t, "docs/DEPENDENCIES.md"), "\n## ")[1:] {
		module, table, _ := strings.Cut(section, "\n")
		for _, row := range regexp.MustCompile(`(?m)^\| (\S+) \| (v\S+) \| (.+) \| (.+) \|$`).FindAllStringSubmatch(table, -1) {
			got[module] = append(got[module], row[1]+" "+row[2])
			for _, licence := range strings.Split(row[3], " AND ") {
				if !slices.Contains([]string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "OFL-1.1"}, licence) {
					t.Errorf("%s: the licence %s is not on the list", row[1], licence)
				}
			}
		}
		slices.Sort(got[module])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bring DEPENDENCIES.md up to date (-go.mod +DEPENDENCIES.md):\n%s", diff)
	}
}

// NOTICE has every module that is built into a program, be it required directly or not.
func TestNOTICE_NamesWhatIsBuiltIn(t *testing.T) {
	t.Parallel()
	notice := readText(t, "NOTICE")
	testsOnly := []string{"github.com/google/go-cmp", "github.com/jarcoal/httpmock", "go.uber.org/goleak", "pgregory.net/rapid"}
	for _, found := range requirement.FindAllStringSubmatch(readText(t, "go.mod"), -1) {
		if module := found[1]; !slices.Contains(testsOnly, module) && !strings.Contains(notice, module) {
			t.Errorf("NOTICE does not name %s", module)
		}
	}
}

// A program that imports the client compiles go-retryablehttp, go-querystring and their dependencies, nothing else.
func TestDependencies_OfAProgramWithTheClient(t *testing.T) {
	fromRoot(t)
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".", "./batch", "./webhook").Output()
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
	want := []string{"github.com/google/go-querystring", "github.com/hashicorp/go-cleanhttp", "github.com/hashicorp/go-retryablehttp", "github.com/shipping-go/shipping"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
}

func goModFiles(t *testing.T) (paths []string) {
	t.Helper()
	fromRoot(t)
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "go.mod" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

var requirement = regexp.MustCompile(`(?m)^(?:require )?\t?(\S+\.\S+) (v\S+)( // indirect)?$`)

// directlyRequired returns the path of a module and the modules that it requires, tools included, except those of this
// repository.
func directlyRequired(goMod string) (module string, required []string) {
	module = regexp.MustCompile(`(?m)^module (\S+)$`).FindStringSubmatch(goMod)[1]
	tools := regexp.MustCompile(`(?m)^tool (\S+)$`).FindAllStringSubmatch(goMod, -1)
	for _, found := range requirement.FindAllStringSubmatch(goMod, -1) {
		isTool := slices.ContainsFunc(tools, func(tool []string) bool { return strings.HasPrefix(tool[1], found[1]+"/") })
		if (found[3] == "" || isTool) && found[1] != "github.com/shipping-go/shipping" {
			required = append(required, found[1]+" "+found[2])
		}
	}
	slices.Sort(required)
	return module, required
}
