// Package sweep runs a program that buys from a wallet once without faults, and then once for every fault at every
// request that it made. Each run has a world of its own, and the verdict comes from the world, not from the program:
// what was bought and how often, what the program read after a purchase whose response was lost, and how it behaved.
//
// In a Go test, [Run] makes a subtest of every run, in virtual time:
//
//	sweep.Run(t, sweep.Config{}, func(t *testing.T, w *mockserver.World) error {
//		return buyDocuments(t.Context(), w.Client(t), w.Shipments()[0])
//	})
//
// For programs in any language there is the command mockserver sweep, which [Sweep] does the work of.
//
// The package judges purchases, replayed notifications and the manner of requests. It does not judge what a program
// prints or stores.
package sweep
