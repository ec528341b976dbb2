package inject

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/operations"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// pointProblem returns why a rule cannot strike at its point, or "".
func (r *armed) pointProblem() string {
	switch {
	case r.Point == "":
		return ""
	case !slices.Contains(fault.Points(), r.Point):
		var known []string
		for _, point := range fault.Points() {
			known = append(known, string(point))
		}
		return fmt.Sprintf("unknown point %q: use one of %s", string(r.Point), strings.Join(known, ", "))
	case r.Committed:
		return "a point determines when the fault strikes: leave committed out"
	case r.Point == fault.Generation && (!r.Fault.IsZero() || r.Operation != ""):
		return "no request generates documents, so no response can have a fault: leave operation and fault out"
	case r.Point != fault.Generation && r.Operation != "" && !operations.Has(r.Operation, operations.Charges):
		return fmt.Sprintf("point %s is inside %s and never reached by %s", r.Point, strings.Join(operations.Names(operations.Charges), ", "), r.Operation)
	default:
		return ""
	}
}

// Interruption is the error of an operation that was interrupted at a point.
type Interruption struct {
	point fault.Point
	due   Due
}

// Error returns the message of the response, if a response is sent.
func (i *Interruption) Error() string {
	return fmt.Sprintf("interrupted at %s by injected fault %d", i.point, i.due[0].number)
}

// Reply returns the response, if one is sent.
func (i *Interruption) Reply() wire.Reply {
	return wire.Refused(http.StatusInternalServerError, wire.CodeInterrupted, i.Error())
}

// Strike applies the faults.
func (i *Interruption) Strike(x *wire.Exchange, w World) {
	i.due.strike(x, w, func(*armed) bool { return true })
}

var errGeneration = errors.New("the generator failed (injected)")

// Hooks returns the hooks with which a desk reaches the points.
func (b *Book) Hooks(now func() time.Time) regulatory.Hooks {
	at := func(point fault.Point) func(string) error {
		return func(requestID string) error {
			if due := b.due(point, shipping.OpPurchase, now(), nil, []byte(requestID)); len(due) > 0 {
				return &Interruption{point, due}
			}
			return nil
		}
	}
	return regulatory.Hooks{
		BeforeCharge: at(fault.BeforeCharge), AfterCharge: at(fault.AfterCharge), BeforeReply: at(fault.BeforeReply),
		Generate: func(requestID, documentType string, _ int) error {
			due := b.due(fault.Generation, "", now(), nil, []byte(requestID+" "+documentType))
			if len(due) == 0 {
				return nil
			}
			due[0].struck.Add(1) // a rule at this point has no fault
			return errGeneration
		},
	}
}
