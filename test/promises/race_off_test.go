//go:build !race

package promises_test

// raceDetector is for tests whose size the race detector multiplies.
const raceDetector = false
