// Ran reports promises that a run of the tests did not keep:
//
//	go run ./test/documents/ran LOG...
//
// The logs are the output of go test -v. Every test that a table of docs/internals/RELIABILITY.md or RULES.md names
// must have passed in one of them, and neither it nor one of its subtests may have been skipped. A figure in bold must
// be the number of innermost subtests of a test of that row, or its attribute "cases", in any of the logs.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	os.Exit(run(".", os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0 if every promise was kept, 1 if one was not, and 2 if a file cannot be read.
func run(root string, logs []string, stdout, stderr io.Writer) int {
	seen := newRecord()
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			_, _ = fmt.Fprintln(stderr, "ran:", err)
			return 2
		}
		seen.read(string(text))
	}
	kept, problems, figures := 0, 0, 0
	for _, name := range []string{"RELIABILITY.md", "RULES.md"} {
		text, err := os.ReadFile(filepath.Join(root, "docs", "internals", name))
		if err != nil {
			_, _ = fmt.Fprintln(stderr, "ran:", err)
			return 2
		}
		for _, p := range promises(name, string(text)) {
			for _, problem := range p.problems(seen) {
				problems++
				_, _ = fmt.Fprintf(stdout, "%s: %s\n", p.where, problem)
			}
			kept++
			figures += len(p.figures)
		}
	}
	if problems > 0 || kept == 0 {
		_, _ = fmt.Fprintf(stdout, "%d problems in %d promises\n", problems, kept)
		return 1
	}
	_, _ = fmt.Fprintf(stdout, "the tests of %d promises ran, none was skipped, and %d figures are those of the run\n",
		kept, figures)
	return 0
}
