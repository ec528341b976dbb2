package main

import (
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8", Path: "example.com/tool/cmd/tool", Main: debug.Module{Path: "example.com/tool", Version: "v0.1.0+dirty"},
		Deps: []*debug.Module{
			{Path: "example.com/a", Version: "v1.0.0", Sum: "h1:AAEC/w=="},
			{Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/c", Version: "v2.0.0", Sum: "h1:AA=="}},
		},
	}
	bill, err := describe(info)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, component := range *bill.Components {
		got = append(got, component.PackageURL)
	}
	want := []string{"pkg:golang/std@1.26.8", "pkg:golang/example.com/a@v1.0.0", "pkg:golang/example.com/c@v2.0.0"}
	if uses := *(*bill.Dependencies)[0].Dependencies; !reflect.DeepEqual(got, want) || !reflect.DeepEqual(uses, want) {
		t.Errorf("components %q, used by the program %q; want %q", got, uses, want)
	}
	if program := bill.Metadata.Component; program.Name != "tool" || program.PackageURL != "pkg:golang/example.com/tool@v0.1.0%2Bdirty" {
		t.Errorf("program %+v", program)
	}
	if hash := (*(*bill.Components)[1].Hashes)[0]; hash.Value != "000102ff" {
		t.Errorf("hash %+v", hash)
	}
}

func TestDescribe_AModuleWithoutAChecksumIsAnError(t *testing.T) {
	t.Parallel()
	_, err := describe(&debug.BuildInfo{Deps: []*debug.Module{{Path: "example.com/local", Version: "(devel)"}}})
	if err == nil || !strings.Contains(err.Error(), "example.com/local") {
		t.Errorf("error %v", err)
	}
}
