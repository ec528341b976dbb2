// Package byname finds the properties of an operation by its name, such as the one in a journal entry or a fault rule.
package byname

import (
	"net/http"
	"slices"

	"github.com/shipping-go/shipping/internal/operations"
)

// Exists reports whether the table has an operation of a name.
func Exists(name string) bool { return Has(name, func(operations.Operation) bool { return true }) }

// Names returns the names of the operations for which chosen returns true, in the order of the table. Nil chooses
// every operation.
func Names(chosen func(operations.Operation) bool) []string {
	var names []string
	for _, o := range operations.All() {
		if chosen == nil || chosen(o) {
			names = append(names, o.Name)
		}
	}
	return names
}

// Has reports whether a name belongs to an operation for which chosen returns true.
func Has(name string, chosen func(operations.Operation) bool) bool {
	return slices.Contains(Names(chosen), name)
}

// Pages reports whether an operation lists records in pages.
func Pages(o operations.Operation) bool { return o.Pages }

// Charges reports whether an operation takes money from a wallet.
func Charges(o operations.Operation) bool { return o.Charges }

// Once reports whether an operation must not be sent again before its outcome was read, because it charges or the table
// never retries it.
func Once(o operations.Operation) bool { return o.Charges || o.Retry == operations.Never }

// Changes reports whether an operation changes something on the service.
func Changes(o operations.Operation) bool { return o.Method != http.MethodGet }
