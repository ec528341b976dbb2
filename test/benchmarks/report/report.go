// Package report writes measurements as tables in Markdown, and inserts them into a page.
package report

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
)

// Place is the place of a table in a page: between two comments, of which the first names the command that writes it.
type Place struct {
	Table   string // such as "server table"
	Command string // such as "benchmarks/server.sh -into"
}

func (p Place) begins() string {
	return fmt.Sprintf("<!-- %s: written by %s -->\n", p.Table, p.Command)
}

func (p Place) ends() string { return fmt.Sprintf("<!-- end of %s -->\n", p.Table) }

// Publish inserts a table into its place in a page, or prints it if page is empty.
func (p Place) Publish(out io.Writer, page, table string) error {
	if page == "" {
		_, err := io.WriteString(out, table)
		return err
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	replaced, err := p.Replace(string(text), table)
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(replaced), 0o644)
}

// Replace returns the text of a page with another table in its place. A page without the place is refused.
func (p Place) Replace(text, table string) (string, error) {
	before, rest, begins := strings.Cut(text, p.begins())
	_, after, ends := strings.Cut(rest, p.ends())
	if !begins || !ends {
		return "", fmt.Errorf("no place for the table: add the lines %q and %q", p.begins(), p.ends())
	}
	return before + p.begins() + "\n" + table + "\n" + p.ends() + after, nil
}

// Header begins a table.
func Header(b *strings.Builder, columns ...string) {
	Row(b, columns...)
	Row(b, slices.Repeat([]string{"---"}, len(columns))...)
}

// Row adds a row to a table.
func Row(b *strings.Builder, cells ...string) {
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

// Met returns a mark for a target that is met or missed.
func Met(met bool) string {
	if met {
		return "yes"
	}
	return "**no**"
}

// Machine describes this machine, as far as the system reports it.
func Machine() string {
	cpu := "unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
				cpu = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores, %s/%s, %s", cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}
