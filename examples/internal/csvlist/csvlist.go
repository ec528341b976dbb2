// Package csvlist reads the CSV files that the example programs take: a first line that names the columns, in
// any order, and a record on each line below, as spreadsheets save them.
package csvlist

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Row is a line below the first.
type Row struct {
	Line          int // of the file, counted from 1
	header, cells []string
}

// Cell returns the value of a column, without spaces around it; "" if the line or the file does not have it.
func (r Row) Cell(column string) string {
	if i := slices.Index(r.header, column); i >= 0 && i < len(r.cells) {
		return strings.TrimSpace(r.cells[i])
	}
	return ""
}

// Read reads a file whose first line names every column of at least one of the sets. The error for an
// invalid file begins with its path.
func Read(path string, sets ...[]string) ([]Row, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := csv.NewReader(file)
	lines.FieldsPerRecord = -1 // a short line has nothing in its last columns
	header, err := lines.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i, name := range header {
		header[i] = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))) // spreadsheets begin with a mark
	}
	if !slices.ContainsFunc(sets, func(set []string) bool { return containsAll(header, set) }) {
		return nil, fmt.Errorf("%s: the first line must name the columns %s; it is %q", path, inWords(sets), strings.Join(header, ","))
	}
	var rows []Row
	for {
		cells, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := lines.FieldPos(0)
		rows = append(rows, Row{line, header, cells})
	}
}

func containsAll(header, set []string) bool {
	return !slices.ContainsFunc(set, func(name string) bool { return !slices.Contains(header, name) })
}

func inWords(sets [][]string) string {
	words := make([]string, len(sets))
	for i, set := range sets {
		words[i] = strings.Join(set, " and ")
	}
	return strings.Join(words, ", or ")
}
