package api

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Parameters are the query parameters that the specification lists for an operation ("Endpoints").
func Parameters(operation string) []string {
	if operation == shipping.OpListTransactions {
		return []string{"wallet", "perPage", "page"}
	}
	for _, op := range operations.All() {
		if op.Name == operation && op.Pages {
			return []string{"perPage", "page"}
		}
	}
	return nil
}

// BodyFields returns the names of the members that the body of an operation can have; nil if it accepts every name.
func BodyFields(operation string) []string {
	shape, known := map[string]reflect.Type{
		shipping.OpReplayWebhook:   reflect.TypeFor[replayRequest](),
		shipping.OpAnalyze:         reflect.TypeFor[regulatory.AnalyzeInput](),
		shipping.OpPurchase:        reflect.TypeFor[regulatory.PurchaseInput](),
		operations.UpdateItems:     reflect.TypeFor[regulatory.ItemsUpdate](),
		operations.UpdateAddresses: reflect.TypeFor[regulatory.AddressesUpdate](),
		operations.UpdateShipping:  reflect.TypeFor[regulatory.Shipping](),
	}[operation]
	if !known {
		return nil
	}
	return wire.MemberNames(shape)
}

// unknownParameters returns the unknown parameters in the query of an operation, sorted.
func unknownParameters(operation string, query url.Values) []string {
	known := Parameters(operation)
	var unknown []string
	for name := range query {
		if !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}

// checkQuery returns the refusal of unknown parameters, and of pages that are not numbers, if the world refuses them.
func checkQuery(w *world.World, x *wire.Exchange) *wire.Reply {
	if w.Dialect().Request.UnknownFields != "refused" {
		return nil
	}
	operation, query := x.Operation, x.URL.Query()
	if unknown := unknownParameters(operation, query); len(unknown) > 0 {
		return new(ruleBroken(fmt.Sprintf("%s has no query parameter %s: %s", operation, strings.Join(unknown, ", "),
			listed(operation))))
	}
	for _, name := range []string{"perPage", "page"} {
		if !query.Has(name) || !slices.Contains(Parameters(operation), name) {
			continue
		}
		if n, err := strconv.Atoi(query.Get(name)); err != nil || n < 1 {
			return new(ruleBroken(fmt.Sprintf("the query parameter %s is %q: send a whole number of at least 1", name,
				query.Get(name))))
		}
	}
	return nil
}

func listed(operation string) string {
	if known := Parameters(operation); len(known) > 0 {
		return "it takes " + strings.Join(known, ", ")
	}
	return "it takes none"
}
