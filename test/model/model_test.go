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
	"testing"
	"time"
)

// TestModel visits every state of the model. SHIPPING_MODEL=all includes two items with two processes, which takes
// about 20 s; the other sizes take a few seconds. A second period, which a charge above the cost needs, multiplies the
// states, so one process or item has it. It finds rules whose order breaks a property, such as a claim that ends
// between the reservation and the purchase.
func TestModel(t *testing.T) {
	t.Parallel()
	sizes := []size{{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {2, 1, 2}, {1, 2, 2}}
	if os.Getenv("SHIPPING_MODEL") == "all" {
		sizes = append(sizes, size{2, 2, 1})
	}
	for _, size := range sizes {
		started := time.Now()
		x := explore(table(), size)
		x.checkEnds()
		t.Attr("cases", fmt.Sprintf("%d rows", len(x.rules)))
		t.Attr("cases", fmt.Sprintf("%d states", len(x.states)))
		t.Logf("%+v: %d rules, %d states, in %s", size, len(x.rules), len(x.states),
			time.Since(started).Round(time.Millisecond))
		if x.violation != nil {
			t.Fatal(x.counterexample())
		}
	}
}
