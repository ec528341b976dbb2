package admin_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page asks nobody but this server, and makes neither an element nor a command line out of text.
func TestConsole_NamesNoOtherHostAndMakesNoMarkup(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("console/*")
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s"'` + "`" + `)]*`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range address.FindAllString(string(text), -1) {
			if found != "http://www.w3.org/2000/svg" { // the name of SVG's elements, which is never fetched
				t.Errorf("%s names %s", file, found)
			}
		}
		for _, sink := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc", "`curl -"} {
			if bytes.Contains(text, []byte(sink)) {
				t.Errorf("%s uses %s", file, sink)
			}
		}
		if strings.HasSuffix(file, ".html") && regexp.MustCompile(`<script(>| [^>]*>[^<])|\son\w+=|\sstyle=|<style`).Match(text) {
			t.Errorf("%s has scripts or styles in it, which its policy forbids", file)
		}
	}
}
