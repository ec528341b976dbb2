// Package model checks purchases against a model. The model is one transition table, in table_test.go: the
// processes of a batch, their journal and claims, the network, the service and its wallet. TestModel visits every
// state that can be reached and checks the properties in state_test.go. TestSequences runs the client, the batch
// and the reference server through every short sequence of faults, and requires that everything they do is an event
// of the same table.
//
// The search is a breadth-first search in Go and not Spin or Quint: in their languages the table would be a second
// one, and only a test of the text could hold the code to it. The model is small enough to be searched whole.
//
// The package does not check the meaning of the evidence in a response (internal/evidence does), nor what a disk
// keeps after a power loss (batch does).
package model

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
)

// TestModel visits every state of the model. SHIPPING_MODEL=all includes two items with two processes, which takes
// about 20 s; the other sizes take less than 0.1 s.
func TestModel(t *testing.T) {
	t.Parallel()
	sizes := []size{{1, 1}, {2, 1}, {1, 2}}
	if os.Getenv("SHIPPING_MODEL") == "all" {
		sizes = append(sizes, size{2, 2})
	}
	for _, size := range sizes {
		started := time.Now()
		x := explore(table(), size)
		x.checkEnds()
		t.Attr("cases", fmt.Sprintf("%d rows", len(x.rules)))
		t.Attr("cases", fmt.Sprintf("%d states", len(x.states)))
		t.Logf("%s: %d rules, %d states, %d transitions, in %s", size, len(x.rules), len(x.states), x.transitions, time.Since(started).Round(time.Millisecond))
		if x.violation != nil {
			t.Fatal(x.counterexample())
		}
	}
}

// Every row of the table happens somewhere, so that none of them is there in vain.
func TestModel_EveryRowHappens(t *testing.T) {
	t.Parallel()
	happened := map[string]bool{}
	x := explore(table(), size{2, 1})
	y := explore(table(), size{1, 2})
	for _, x := range []*exploration{x, y} {
		for n := range x.states {
			x.each(int32(n), func(_ State, by event) { happened[x.rules[by.row].event] = true })
		}
	}
	for _, rule := range table() {
		if !happened[rule.event] {
			t.Errorf("%q never happens", rule.event)
		}
	}
}

// mistake is a change of the table that a property must find.
type mistake struct {
	name, property string
	size           size
	rule           rule // replaces the row of the same name, or is added
}

func mistakes() []mistake {
	always := func(view) {}
	return []mistake{
		{"the purchase is retried", "a purchase is sent once for each reservation", size{1, 1},
			rule{"retries", fault, func(v view) bool { return v.in(lost) }, view.send}},
		{"the reservation is released after a lost response", "no record contradicts the ledger", size{1, 1},
			rule{"gives up on a draft", step, func(v view) bool { return v.in(lost) && v.owns() }, func(v view) { v.record(stepAnalyzed, done) }}},
		{"a read-back that fails counts as a draft", "no outcome contradicts the ledger", size{1, 1},
			rule{"reads nothing of use", fault, func(v view) bool { return v.in(refused) }, func(v view) { v.to(notCharged) }}},
		{"a draft is believed at once", "no outcome contradicts the ledger", size{1, 1},
			rule{"settles a draft", step, func(v view) bool { return v.in(open) && v.it.Request == draft }, func(v view) { v.to(settled) }}},
		{"a confirmation of another request is believed", "no outcome contradicts the ledger", size{1, 1},
			rule{"is confirmed", step, func(v view) bool { return v.in(sent) }, func(v view) { v.to(charged) }}},
		{"any failed connection counts as unsent", "no outcome contradicts the ledger", size{1, 1},
			rule{"loses the response", fault, func(v view) bool { return v.in(sent) }, func(v view) { v.to(notCharged) }}},
		{"the intent is not on the disk", "no record contradicts the ledger", size{1, 1},
			rule{"loses power", fault, func(v view) bool { return v.in(sent) }, func(v view) { v.it.Step = stepAnalyzed; v.kill() }}},
		{"the purchase is sent before its record", "no record contradicts the ledger", size{1, 1},
			rule{"sends first", step, func(v view) bool { return v.in(ready) }, view.send}},
		{"a request that is analyzed again is purchased", "no record contradicts the ledger", size{1, 1},
			rule{"reads no draft", step, func(v view) bool { return v.in(open) }, func(v view) { v.it.Request = draft; v.record(stepAnalyzed, ready) }}},
		{"the budget is checked before and not with the record", "debits ≤ committed ≤ budget", size{2, 1},
			rule{"records purchasing", step, func(v view) bool { return v.in(ready) && v.owns() }, func(v view) { v.it.Sends = 0; v.record(stepPurchasing, reserved) }}},
		{"a process sends although its claim has ended", "no outcome contradicts the ledger", size{1, 2},
			rule{"sends", step, func(v view) bool { return v.in(reserved) }, view.send}},
		{"a claim ends during a purchase, and its journal accepts a late record", "no record contradicts the ledger", size{1, 2},
			rule{"records not charged", step, func(v view) bool { return v.in(notCharged) }, func(v view) { v.record(stepAnalyzed, done) }}},
		{"the claim of the dead never ends", "every unknown is settled", size{1, 1},
			rule{"the claim of the dead ends", step, func(view) bool { return false }, always}},
		{"an unknown is never settled", "a batch ends", size{1, 1},
			rule{"settles a draft", step, func(v view) bool { return v.in(open) }, func(v view) { v.give(done) }}},
	}
}

// TestModel_FindsEachMistake shows that the properties can fail: each mistake has a counterexample, which go test
// -v prints.
func TestModel_FindsEachMistake(t *testing.T) {
	t.Parallel()
	for _, mistake := range mistakes() {
		t.Run(mistake.name, func(t *testing.T) {
			rules := table()
			at := slices.IndexFunc(rules, func(r rule) bool { return r.event == mistake.rule.event })
			if at < 0 {
				rules, at = append(rules, rule{}), len(rules)
			}
			rules[at] = mistake.rule
			x := explore(rules, mistake.size)
			if x.violation == nil {
				x.checkEnds()
			}
			if x.violation == nil || x.violation.property != mistake.property {
				t.Fatalf("found %+v, want a counterexample of: %s", x.violation, mistake.property)
			}
			t.Log(x.counterexample())
		})
	}
}

func (s size) String() string { return fmt.Sprintf("items %d, processes %d", s.items, s.processes) }
