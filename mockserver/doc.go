// Package mockserver is the reference server of the shipping service: the whole specification, with
// state, money and time, for tests in Go and, through its command, for any language.
//
//	srv := mockserver.New()
//	defer srv.Close()
//	client := srv.Client(t)                     // a ready *shipping.Client
//	shipment := srv.Shipments()[0]              // one that needs several forms
//
// A server holds a seeded [World]: shipments, invoices, wallets with a double-entry ledger, rates,
// countries, webhooks and a delivery log. The same seed makes the same world. Without a socket, in
// memory and inside a testing/synctest bubble, use [WithoutListener] and [World.Transport]. Time is
// real, or stands still until [World.Advance] with [WithVirtualClock].
//
// Tests that run at the same time each take a world of their own from one server, for microseconds and no
// port: [Server.NewWorld] in Go, a key such as sk_test_lowfunds_ci42 in any language (see [Scenarios]). A
// world is forked, kept, restored and reset at will: [World.Fork], [World.Snapshot], [World.Restore],
// [World.Reset]; and goes on in another process with [WithState].
//
//	w := srv.NewWorld(t, "lowfunds")
//	client := w.Client(t)
//
// Where the specification leaves a point open the server makes an assumption, and every assumption
// has a switch: see [Assumptions]. What can go wrong on the way is injected with [World.Inject].
//
// Paths under /_mock/ are the server's own, for people and tests, not the service's.
package mockserver
