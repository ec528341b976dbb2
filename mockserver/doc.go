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
// # What goes wrong
//
// [World.Inject] takes a rule of package fault: which calls, and which fault strikes them, before or after the
// operation did its work, or in its middle. The same seed and the same calls meet the
// same faults. [World.AddWebhook] and [World.Emit] send notifications, and [Schedules] with
// [World.RunSchedule] try every order in which they can arrive, be repeated or get lost.
//
// # What your code did
//
// [World.Journal] and [World.Find] have the calls, [World.Await] waits for one without sleeping,
// [Server.Unauthenticated] has those whose key opens no world, and
// [World.Why] explains a refusal and suggests a request that would be accepted. [World.Lint] fails a test
// for what a careful client does not do ([World.Findings]); [Coverage] tells how much of the contract a
// suite has seen; [World.CheckInvariants] holds the books together.
//
// # What is assumed
//
// Where the specification leaves a point open the server makes an assumption, and every assumption has a
// switch: see [Assumptions] and [WithAssumptions]. [Strict] refuses all that is otherwise tolerated.
// Other goods need other forms with [WithComplianceRules]; ten million rows take no memory with
// [WithScenario].
//
// Paths under /_mock/ are the server's own, for people and tests, not the service's. Programs on this machine may
// use them, and from other machines those with the token: see [WithToken].
package mockserver
