// Package mockserver is the reference server of the shipping service. It implements the whole specification,
// with state, money and time, for tests in Go and, as a command, for any language.
//
//	srv := mockserver.New()
//	defer srv.Close()
//	client := srv.Client(t)          // a ready *shipping.Client
//	shipment := srv.Shipments()[0]   // a shipment that needs several documents
//
// A server holds a seeded [World]: shipments, invoices, wallets with a double-entry ledger, rates, countries,
// webhooks and a delivery log. The same seed creates the same world. [WithoutListener] and [World.Transport]
// serve in memory, without a socket, also inside a testing/synctest bubble. Time is real, or with
// [WithVirtualClock] moves only with [World.Advance].
//
// Tests that run in parallel each open a world of the same server, which takes microseconds and no port:
// [Server.NewWorld] in Go, a key such as sk_test_lowfunds_ci42 in any language (see [WithScenario]). [World.Reset]
// restores the initial contents of a world. To test two outcomes of one state, prepare two worlds with one function.
//
//	w := srv.NewWorld(t, "lowfunds")
//	client := w.Client(t)
//
// # Faults and notifications
//
// [World.Inject] adds rules of type [fault.Rule]. A rule selects requests and the fault that strikes them:
// before the operation, after it, or in its middle. The same seed and the same requests meet the same faults.
// [World.AddWebhook] and [World.Emit] send notifications. Package sweep delays, repeats and loses them.
//
// # Checking the client
//
// [World.Journal] and [World.Find] return the recorded requests, each a [journal.Entry], and [World.Await] waits
// for one without sleeping. [Server.Unauthenticated] returns requests whose key opens no world. [World.Why]
// explains a refusal and suggests a request that would be accepted. [World.Lint] fails a test for each finding
// of the linter ([World.Findings]).
// [World.CheckInvariants] checks that the world is consistent.
//
// # Assumptions
//
// If the specification leaves a point open, the server makes an assumption, and every assumption is a field of
// [dialect.Dialect]: see [WithDialect]. [dialect.Strict] refuses everything that is otherwise tolerated.
// [WithScenario] starts the home world in a scenario, such as ten million computed transactions.
//
// Paths under /_mock/ belong to the server, not to the service. Programs on this machine may use them; programs
// on other machines need the token of [WithToken].
package mockserver
