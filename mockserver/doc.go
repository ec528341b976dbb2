// Package mockserver is the reference server of the shipping service: the whole specification, with
// state, money and time, for tests in Go and, through its command, for any language.
//
//	srv := mockserver.New()
//	defer srv.Close()
//	client := srv.Client(t)                     // a ready *shipping.Client
//	shipment := srv.Shipments()[0]              // one that needs several forms
//
// A server holds a seeded world: shipments, invoices, wallets with a double-entry ledger, rates,
// countries, webhooks and a delivery log. The same seed makes the same world. Without a socket, in
// memory and inside a testing/synctest bubble, use [WithoutListener] and [Server.Transport]. Time is
// real, or stands still until [Server.Advance] with [WithVirtualClock].
//
// Where the specification leaves a point open the server makes an assumption, and every assumption
// has a switch: see [Assumptions]. What can go wrong on the way is injected with [Server.Inject].
//
// Paths under /_mock/ are the server's own, for people and tests, not the service's.
package mockserver
