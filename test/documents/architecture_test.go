package documents_test

import (
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
)

// Every import between the groups of packages in the picture of ARCHITECTURE.md follows its arrows, every arrow is such
// an import, and the arrows have no circle. They stand in the picture from top to bottom.
func TestARCHITECTURE_ItsArrowsAreTheImports(t *testing.T) {
	picture := readText(t, "docs/internals/ARCHITECTURE.md")
	group, arrows, reached := map[string]string{}, map[string]bool{}, map[string]map[string]bool{}
	for _, box := range regexp.MustCompile(`(?m)^ +(\w+)\["(.+)"\]$`).FindAllStringSubmatch(picture, -1) {
		for name := range strings.SplitSeq(box[2], "<br>") {
			group[name] = box[1]
		}
		reached[box[1]] = map[string]bool{box[1]: true}
	}
	drawn := regexp.MustCompile(`(?m)^ +(\w+) --> (\w+)$`).FindAllStringSubmatch(picture, -1)
	for _, arrow := range slices.Backward(drawn) {
		arrows[arrow[0]] = true
		if reached[arrow[2]][arrow[1]] {
			t.Errorf("%s closes a circle", arrow[0])
		}
		maps.Copy(reached[arrow[1]], reached[arrow[2]])
	}
	out := shippingtest.Must(exec.CommandContext(t.Context(), "go", "list", "-f",
		`{{range .Imports}}{{$.ImportPath}} {{.}}{{"\n"}}{{end}}`, "./...").Output())(t)
	paths := strings.NewReplacer("github.com/shipping-go/shipping/", "", "github.com/shipping-go/shipping",
		"shipping").Replace(string(out))
	for line := range strings.Lines(paths) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " ")
		delete(arrows, "    "+group[from]+" --> "+group[to])
		switch {
		case strings.HasPrefix(from, "test/"), strings.HasPrefix(from, "examples/"),
			strings.HasPrefix(from, "docs/"): // above the picture
		case group[from] == "":
			t.Errorf("%s is not in the picture", from)
		case group[to] != "" && !reached[group[from]][group[to]]:
			t.Errorf("%s (%s) imports %s (%s): no arrow leads there", from, group[from], to, group[to])
		}
	}
	shippingtest.Diff(t, "arrows that no import goes along", map[string]bool{}, arrows)
}

// The table of the payment path names each file that a program with the client compiles once.
func TestARCHITECTURE_NamesTheFilesOfThePaymentPath(t *testing.T) {
	_, section, _ := strings.Cut(readText(t, "docs/internals/ARCHITECTURE.md"), "## The payment path")
	section, _, _ = strings.Cut(section, "\n## ")
	var named []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\|").FindAllStringSubmatch(section, -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			named = append(named, strings.Trim(name, "`"))
		}
	}
	out := shippingtest.Must(exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		`{{$path := .ImportPath}}{{with .Module}}{{if .Main}}{{range $.GoFiles}}{{$path}}/{{.}} {{end}}{{end}}{{end}}`,
		".").Output())(t)
	compiled := strings.Fields(strings.ReplaceAll(string(out), "github.com/shipping-go/shipping/", ""))
	slices.Sort(named)
	slices.Sort(compiled)
	shippingtest.Diff(t, "packages in docs/internals/ARCHITECTURE.md", compiled, named)
}
