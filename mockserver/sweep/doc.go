// Package sweep tests a program that buys from a wallet. It runs the program once without faults, and then once for
// every fault at every request that the program made. Each run has its own server. The verdict comes from the server,
// not from the program: the purchases, whether the program read the request again after a response was lost,
// and the findings of lint.
//
// In a Go test, [Run] makes a subtest of every run, in virtual time:
//
//	sweep.Run(t, sweep.Config{}, func(t *testing.T, w *mockserver.World) error {
//		return buyDocuments(t.Context(), w.Client(t), w.Shipments()[0])
//	})
//
// The command "mockserver sweep" does the same for programs in any language; it calls [Sweep].
//
// The package judges purchases, replays, notifications, and files that the program writes; see [Goal].
package sweep
