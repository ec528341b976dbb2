// Package specification holds the OpenAPI description of the service. The reference server serves it, and the
// conformance suite takes routes, names and types from it.
package specification

import (
	_ "embed"
	"slices"
)

//go:embed service.json
var service []byte

// Service returns the description.
//
// It has members that OpenAPI does not have. x-when, of any object, holds the changes of a dialect to the object. Its
// members are named as a field, or a field and its value, such as "refusal.format=problem", and null in them removes a
// member. x-codes, of a response, lists the codes of its refusals; a dialect does not change it.
func Service() []byte { return slices.Clone(service) }
