// Package sweep runs a program that buys from a wallet once without faults, and then once for every fault at every
// request that it made. Each run has its own server, and the verdict comes from the server, not from the program:
// the purchases, whether the program read the request after a purchase whose response was lost, and its manners.
//
// In a Go test, [Run] makes a subtest of every run, in virtual time:
//
//	sweep.Run(t, sweep.Config{}, func(t *testing.T, w *mockserver.World) error {
//		return buyDocuments(t.Context(), w.Client(t), w.Shipments()[0])
//	})
//
// For programs in any language there is the command mockserver sweep, which [Sweep] does the work of.
//
// The package judges purchases, replays, notifications, and files that the program writes; see [Goal].
package sweep
