//go:build !race

package jsonread_test

// raceAllocs is how many allocations the race detector adds.
const raceAllocs = 0
