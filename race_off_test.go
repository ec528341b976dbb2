//go:build !race

package shipping_test

// raceDetector is for tests whose size the race detector multiplies.
const raceDetector = false
