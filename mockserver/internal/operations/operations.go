// Package operations finds rows of the operation table.
package operations

import (
	"net/http"
	"slices"

	"github.com/shipping-go/shipping"
)

// Find returns the operation of a name, and false if it is unknown.
func Find(name string) (shipping.Operation, bool) {
	table := shipping.Operations()
	i := slices.IndexFunc(table, func(op shipping.Operation) bool { return op.Name == name })
	if i < 0 {
		return shipping.Operation{}, false
	}
	return table[i], true
}

// Exists reports whether the table has an operation of a name.
func Exists(name string) bool {
	_, known := Find(name)
	return known
}

// Names returns the names of the operations for which chosen returns true, in the order of the table.
func Names(chosen func(shipping.Operation) bool) []string {
	var names []string
	for _, op := range shipping.Operations() {
		if chosen(op) {
			names = append(names, op.Name)
		}
	}
	return names
}

// Has reports whether a name is that of an operation for which chosen returns true.
func Has(name string, chosen func(shipping.Operation) bool) bool {
	op, known := Find(name)
	return known && chosen(op)
}

// Pages reports whether an operation lists records in pages.
func Pages(op shipping.Operation) bool { return op.Pages }

// Charges reports whether an operation takes money from a wallet.
func Charges(op shipping.Operation) bool { return op.Charges }

// Once reports whether an operation must not be sent again before its outcome was read: one that charges, whatever the
// client does with it, and one that the table never retries.
func Once(op shipping.Operation) bool { return op.Charges || op.Retry == shipping.RetryNever }

// Changes reports whether an operation changes something.
func Changes(op shipping.Operation) bool { return op.Method != http.MethodGet }
