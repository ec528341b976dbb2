package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// samples holds what benchmarks printed, round after round.
type samples struct {
	cpu    string
	names  []string                        // in the order of their first appearance
	values map[string]map[string][]float64 // by benchmark and unit, a value a round
}

// addRound reads the output of one run of the benchmarks.
func (s *samples) addRound(output []byte) error {
	if s.values == nil {
		s.values = map[string]map[string][]float64{}
	}
	found := false
	for line := range bytes.Lines(output) {
		text := strings.TrimSpace(string(line))
		if cpu, ok := strings.CutPrefix(text, "cpu: "); ok {
			s.cpu = cpu
		}
		if !strings.HasPrefix(text, "Benchmark") {
			continue
		}
		if err := s.add(text); err != nil {
			return err
		}
		found = true
	}
	if !found {
		return errors.New("the benchmarks printed no result")
	}
	return nil
}

// add reads one line: a name, the number of iterations, and pairs of value and unit.
func (s *samples) add(line string) error {
	fields := strings.Fields(line)
	if len(fields) < 4 || len(fields)%2 != 0 {
		return fmt.Errorf("not the result of a benchmark: %q", line)
	}
	name := benchmarkName(fields[0])
	if s.values[name] == nil {
		s.names = append(s.names, name)
		s.values[name] = map[string][]float64{}
	}
	for i := 2; i < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return fmt.Errorf("not the result of a benchmark: %q: %w", line, err)
		}
		unit := fields[i+1]
		s.values[name][unit] = append(s.values[name][unit], value)
	}
	return nil
}

// benchmarkName strips what the testing package adds to a name: the prefix, the number of
// processors behind, and underscores for spaces.
func benchmarkName(printed string) string {
	name := strings.TrimPrefix(printed, "Benchmark")
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		if _, err := strconv.Atoi(name[i+1:]); err == nil {
			name = name[:i]
		}
	}
	return strings.ReplaceAll(name, "_", " ")
}

// spread is the middle of several values, with the smallest and the largest.
type spread struct{ median, least, most float64 }

func spreadOf(values []float64) (spread, bool) {
	if len(values) == 0 {
		return spread{}, false
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return spread{median, sorted[0], sorted[len(sorted)-1]}, true
}

// value returns the result of a benchmark in a unit.
func (s *samples) value(name, unit string) (spread, bool) { return spreadOf(s.values[name][unit]) }

// ratio returns a benchmark's share of another, taken within each round.
func (s *samples) ratio(name, base, unit string) (spread, bool) {
	values, bases := s.values[name][unit], s.values[base][unit]
	if len(values) != len(bases) {
		return spread{}, false
	}
	shares := make([]float64, 0, len(values))
	for i, value := range values {
		if bases[i] > 0 {
			shares = append(shares, value/bases[i])
		}
	}
	return spreadOf(shares)
}
