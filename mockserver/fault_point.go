package mockserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Failpoint is a place inside an operation where a rule can strike. A call counts for the rule when it
// reaches the place.
type Failpoint string

// The failpoints. The first three are inside [shipping.OpPurchase]: there the operation is interrupted
// as if the service died, and the rule's fault is how the caller hears of it.
const (
	// BeforeCharge: every check has passed but that of the funds. Nothing has happened and the request
	// is still a draft.
	BeforeCharge Failpoint = "before-charge"
	// AfterCharge: the wallet is charged and the request is purchasing. The service recovers by itself:
	// the request goes on to processing later.
	AfterCharge Failpoint = "after-charge"
	// BeforeReply: the purchase is done; only the answer is lost.
	BeforeReply Failpoint = "before-reply"
	// Generation: a document fails to generate, as the request then says. There is no caller, so the
	// rule has no fault.
	Generation Failpoint = "generation"
)

// Failpoints returns every failpoint. The slice is the caller's own.
func Failpoints() []Failpoint { return []Failpoint{BeforeCharge, AfterCharge, BeforeReply, Generation} }

// problem says why a rule cannot strike at its point.
func (p Failpoint) problem(rule *FaultRule) string {
	switch {
	case !slices.Contains(Failpoints(), p):
		var known []string
		for _, point := range Failpoints() {
			known = append(known, string(point))
		}
		return fmt.Sprintf("point %q is none of %s", string(p), strings.Join(known, ", "))
	case rule.Committed:
		return "a point says by itself what has happened before: leave committed out"
	case p == Generation && (rule.Fault != nil || rule.Operation != ""):
		return "documents generate by themselves, with no caller to see a fault: leave operation and fault out"
	case p != Generation && rule.Operation != "" && rule.Operation != shipping.OpPurchase:
		return fmt.Sprintf("point %s is inside %s and never reached by %s", p, shipping.OpPurchase, rule.Operation)
	default:
		return ""
	}
}

// interruption is the error of a failpoint that struck.
type interruption struct {
	point Failpoint
	rule  *armedRule
}

func (i *interruption) Error() string {
	return fmt.Sprintf("interrupted at %s by injected fault %d", i.point, i.rule.number)
}

// reply is what the caller is told where the rule's fault leaves an answer.
func (i *interruption) reply() wire.Reply {
	p := wire.Refused(http.StatusInternalServerError, wire.CodeInterrupted, i.Error())
	return p
}

var errGeneration = errors.New("the generator failed (injected)")

// failpoints are the hooks by which the desk asks for faults. It does so under the world's lock.
func (w *core) failpoints() regulatory.Hooks {
	at := func(point Failpoint) func(string) error {
		return func(requestID string) error {
			sighting := sighting{operation: shipping.OpPurchase, point: point, body: []byte(requestID), now: w.clock.Now()}
			if rule := w.faults.next(&sighting); rule != nil {
				return &interruption{point, rule}
			}
			return nil
		}
	}
	return regulatory.Hooks{
		BeforeCharge: at(BeforeCharge), AfterCharge: at(AfterCharge), BeforeReply: at(BeforeReply),
		Generate: func(requestID, documentType string, _ int) error {
			sighting := sighting{point: Generation, body: []byte(requestID + " " + documentType), now: w.clock.Now()}
			if w.faults.next(&sighting) != nil {
				return errGeneration
			}
			return nil
		},
	}
}
