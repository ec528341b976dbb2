package model

// State is one state of the model: items are shipments, processes run the same batch.
type State struct {
	Items [items]Item
	// Places is where each process stands with each item.
	Places [processes][items]Place
	Up     [processes]bool
	// Periods is the number of the current period, counted down to 1, and Runs that of each process that is up.
	Periods uint8
	Runs    [processes]uint8
}

// Item is a shipment at the service, on the network and in the journal.
type Item struct {
	Request Request
	Debits  uint8
	Copies  uint8 // of the purchase, on the network
	Sends   uint8 // since the price was reserved
	Step    Step  // of the last record
	Period  uint8 // in which the price counts; 0 if it does not
	Owner   Owner // of the claim
	Lease   Lease
	Charge  Charge
	Beside  bool // the purchase was reserved while a charge was open
}

// rule is a row of the table: if when holds for a process and an item, the event may happen.
type rule struct {
	event string
	kind  kind
	when  func(v view) bool
	then  func(v view)
}

// table returns the transition table. Rows of kind fault need a fault of the network, the machine or the service; the
// others happen without one. The places of a process p with an item:
//
//	away → begun → drafted → ready → reserved → sent → charged → polling → ended → done
//	       claimed again: analyzed → ready; open → charged or settled; polling
//	       without a confirmation: sent → lost, refused or denied → charged, notCharged or done (outcome unknown)
//
// Time is what the rows require of it. A draft is read "for long enough" only if no copy of the purchase is still on
// the network: that is what RefusedFor and QuietFor assume. A claim does not end while the purchase is under way,
// which takes a quarter of the lease at most, and "sends" checks the claim and sends in one step: see the
// documentation of batch.Journal for the rest.
func table() []rule {
	return []rule{
		// The processes and the journal.
		{"starts", step, func(v view) bool { return v.first() && !v.up() }, view.begin},
		{"runs again", step, func(v view) bool { return v.first() && v.up() && v.allDone() && v.open() }, view.begin},
		{"the next period begins", fault, func(v view) bool { return v.first() && v.perItem() && v.s.Periods > 1 },
			func(v view) { v.s.Periods-- }},
		{"is killed", fault, func(v view) bool { return v.first() && v.up() }, view.kill},
		{"claims", step, func(v view) bool { return v.up() && v.in(away) && v.it.Owner == nobody }, func(v view) {
			v.it.Owner, v.it.Lease = v.self(), full
			v.to(claimed[v.it.Step])
			v.end()
		}},
		{"half of the claim passes", fault, func(v view) bool { return v.owns() && v.it.Lease == full },
			func(v view) { v.it.Lease = half }},
		{"the claim ends", fault, func(v view) bool { return v.owns() && v.it.Lease == half && !v.in(sent) }, view.release},
		{"the claim of the dead ends", step, func(v view) bool { return v.perItem() && v.it.Owner == dead }, view.release},
		{"leaves a lost claim", step, func(v view) bool { return v.up() && !v.owns() && !v.in(away, sent, done) },
			func(v view) { v.to(away) }},
		{"leaves a late claim", step, func(v view) bool { return v.in(reserved) && !v.mayPurchase() },
			func(v view) { v.give(away) }},
		{"looks again", fault, func(v view) bool { return v.up() && v.in(done) }, func(v view) { v.to(away) }},
		{"is interrupted", fault, func(v view) bool { return v.first() && v.up() }, view.giveAll},
		{"cannot write", fault, func(v view) bool { return v.writes() }, func(v view) { v.give(done) }},

		// A draft.
		{"analyzes", step, func(v view) bool { return v.in(begun) }, func(v view) { v.to(drafted) }},
		// The request is gone, and no purchase of it was sent or can arrive.
		{"analyzes again", fault, func(v view) bool {
			return v.in(analyzed) && v.owns() && v.it.Debits == 0 && v.it.Copies == 0
		}, func(v view) { v.to(drafted) }},
		{"analyzes in vain", fault, func(v view) bool { return v.in(begun, analyzed) }, func(v view) { v.give(done) }},
		{"records analyzed", step, func(v view) bool { return v.in(drafted) && v.owns() }, func(v view) {
			v.it.Request = draft // of which the record has the id
			v.record(stepAnalyzed, ready)
		}},
		{"reads the draft", step, func(v view) bool { return v.in(analyzed) && v.it.Request == draft },
			func(v view) { v.to(ready) }},
		{"reads no draft", step, func(v view) bool { return v.in(analyzed) && v.it.Request != draft }, view.leave},
		{"has no room", step, func(v view) bool { return v.in(ready) && v.owns() && !v.mayReserve() },
			func(v view) { v.give(done) }},
		{"records purchasing", step, func(v view) bool { return v.in(ready) && v.owns() && v.mayReserve() }, func(v view) {
			v.it.Sends, v.it.Period, v.it.Beside = 0, v.s.Runs[v.p], v.s.overcharged()
			v.record(stepPurchasing, reserved)
		}},

		// The purchase, and the network.
		{"sends", step, func(v view) bool { return v.in(reserved) && v.mayPurchase() }, func(v view) { v.send() }},
		{"gets no connection", fault, func(v view) bool { return v.in(reserved) && v.mayPurchase() },
			func(v view) { v.to(notCharged) }},
		{"the service charges", step, func(v view) bool { return v.perItem() && v.it.Copies > 0 && v.it.Request == draft },
			func(v view) {
				v.it.Copies--
				v.it.Debits++
				v.it.Request = purchased
			}},
		{"the service charges more", fault, // in the last period, the budget has no room for another purchase anyway
			func(v view) bool { return v.perItem() && v.it.Copies > 0 && v.it.Request == draft && v.s.Periods > 1 },
			func(v view) {
				v.it.Copies--
				v.it.Debits++
				v.it.Request, v.it.Charge = purchased, above
			}},
		{"the service ignores a copy", step,
			func(v view) bool { return v.perItem() && v.it.Copies > 0 && v.it.Request != draft },
			func(v view) { v.it.Copies-- }},
		{"the network repeats it", fault, func(v view) bool { return v.perItem() && v.it.Copies == 1 },
			func(v view) { v.it.Copies++ }},
		{"the network drops it", fault, func(v view) bool { return v.perItem() && v.it.Copies > 0 },
			func(v view) { v.it.Copies-- }},
		{"documents are generated", step, func(v view) bool { return v.perItem() && v.it.Request == purchased },
			func(v view) { v.it.Request = generated }},

		// The response, and reading back.
		{"is confirmed", step, func(v view) bool { return v.in(sent) && v.it.Debits > 0 }, func(v view) { v.to(charged) }},
		{"waits in vain", step, func(v view) bool { return v.in(sent) && v.it.Debits == 0 && v.it.Copies == 0 },
			func(v view) { v.to(lost) }},
		{"loses the response", fault, func(v view) bool { return v.in(sent) }, func(v view) { v.to(lost) }},
		{"is refused", fault, func(v view) bool { return v.in(sent) }, func(v view) { v.to(refused) }},
		{"is denied", fault, func(v view) bool { return v.in(sent) && v.it.Copies == 1 && v.it.Debits == 0 },
			func(v view) { v.it.Copies = 0; v.to(denied) }},
		{"reads the purchase", step,
			func(v view) bool { return v.in(lost, refused, denied, open) && v.it.Request >= purchased },
			func(v view) { v.to(charged) }},
		{"reads a draft", fault, func(v view) bool { return v.in(lost, refused, denied, open) && v.it.Request >= draft },
			func(v view) { v.read() }},
		{"reads nothing of use", fault, func(v view) bool { return v.in(analyzed, lost, refused, denied, open, polling) },
			func(view) {}},
		{"is denied the reading", fault, func(v view) bool { return v.in(denied) }, func(v view) { v.to(notCharged) }},
		{"reads a draft for long enough", step, func(v view) bool { return v.in(refused, denied) && v.quiet() },
			func(v view) { v.to(notCharged) }},
		{"settles a draft", step, func(v view) bool { return v.in(open) && v.quiet() }, func(v view) { v.to(settled) }},
		{"gives up on a draft", step, func(v view) bool { return v.in(lost) && v.it.Request == draft },
			func(v view) { v.give(done) }},
		{"gives up", fault, func(v view) bool { return v.in(analyzed, lost, refused, denied, open, polling) },
			func(v view) { v.give(done) }},

		// The result.
		{"records purchased", step, func(v view) bool { return v.in(charged) && v.owns() },
			func(v view) { v.record(stepPurchased, polling) }},
		{"records not charged", step, func(v view) bool { return v.in(notCharged) && v.owns() },
			func(v view) { v.record(stepAnalyzed, done) }},
		{"records the refusal", step, func(v view) bool { return v.in(refused, denied) && v.owns() },
			func(v view) { v.record(stepPurchasing, done) }},
		{"records the refusal, to settle it", step, func(v view) bool { return v.in(refused, denied) && v.owns() },
			func(v view) { v.record(stepPurchasing, open) }},
		{"records that a reading shows a purchase", fault, func(v view) bool { return v.in(lost, open) && v.owns() },
			func(v view) { v.record(stepPurchasing, done) }},
		{"ends a refused item", step, func(v view) bool { return v.in(settled) && v.owns() },
			func(v view) { v.record(stepAnalyzed, done) }},
		{"records settled", step, func(v view) bool { return v.in(settled) && v.owns() },
			func(v view) { v.record(stepAnalyzed, analyzed) }},
		{"reads the end", step, func(v view) bool { return v.in(polling) && v.it.Request == generated },
			func(v view) { v.to(ended) }},
		{"records completed", step, func(v view) bool { return v.in(ended) && v.owns() },
			func(v view) { v.record(stepCompleted, done) }},
		{"a person closes the charge with a note", fault,
			func(v view) bool { return v.perItem() && v.it.Owner == nobody && v.it.Charge == recorded },
			func(v view) { v.it.Charge = asOffered }},
	}
}
