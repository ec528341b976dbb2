// Package benchmarks compares the client with hand-written code and with clients of other services.
//
// The benchmarks are ordinary ones, so profiles work:
//
//	go test -bench 'List/100_rates/shipping' -cpuprofile cpu.out
//
// Every benchmark is named Work/payload/contender, and every payload has a contender "raw": code
// written by hand against net/http and encoding/json, decoding the same bytes into plain structs. What
// counts is a contender's share of raw in the same run; cmd/table runs all of it in turns and prints
// those shares.
package benchmarks
