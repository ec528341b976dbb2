package admin

import (
	"net/http"
	"slices"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/inject"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// faultsView is the data of GET /_mock/faults.
type faultsView struct {
	Rules      []inject.Listed `json:"rules"`
	Kinds      []fault.Kind    `json:"kinds"`
	Points     []fault.Point   `json:"points"`
	Operations []string        `json:"operations"`
	// RetryAfterForms are the values of retry_after.
	RetryAfterForms []fault.RetryAfter `json:"retry_after_forms"`
}

func (s *Admin) listFaults(c *control) wire.Reply {
	view := faultsView{Rules: c.world.Faults.Rules(), Kinds: fault.Kinds(), Points: fault.Points(), RetryAfterForms: fault.RetryAfters()}
	for _, op := range shipping.Operations() {
		view.Operations = append(view.Operations, op.Name)
	}
	return wire.Succeed(spelling.Counted(len(view.Rules), "fault rule", "fault rules"), view)
}

func (s *Admin) addFaults(c *control) wire.Reply {
	var ask struct {
		Rules []fault.Rule `json:"rules"`
	}
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &ask); refusal != nil {
		return *refusal
	}
	if len(ask.Rules) == 0 {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, `no rule was added: send {"rules":[…]} with at least one`)
	}
	if err := c.world.Inject(ask.Rules...); err != nil {
		return refusedFor(err)
	}
	all := c.world.Faults.Rules()
	return wire.Succeed(spelling.Counted(len(ask.Rules), "fault rule added", "fault rules added"), all[max(0, len(all)-len(ask.Rules)):])
}

func (s *Admin) clearFaults(c *control) wire.Reply {
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &struct{}{}); refusal != nil {
		return *refusal
	}
	c.world.ClearFaults()
	return wire.Succeed("No fault rules are left", []inject.Listed{})
}

func (s *Admin) changeFault(c *control) wire.Reply {
	var ask struct {
		Disabled *bool `json:"disabled"`
	}
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &ask); refusal != nil {
		return *refusal
	}
	if ask.Disabled == nil {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, `disabled is required: send {"disabled":true} or {"disabled":false}`)
	}
	if err := c.world.SwitchFault(faultNumber(c), !*ask.Disabled); err != nil {
		return refusedFor(err)
	}
	message := "Fault rule enabled"
	if *ask.Disabled {
		message = "Fault rule disabled"
	}
	return wire.Succeed(message, c.world.Faults.Rules())
}

func (s *Admin) replaceFault(c *control) wire.Reply {
	var rule fault.Rule
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &rule); refusal != nil {
		return *refusal
	}
	if err := c.world.ReplaceFault(faultNumber(c), rule); err != nil {
		return refusedFor(err)
	}
	return wire.Succeed("Fault rule replaced", c.world.Faults.Rules())
}

func (s *Admin) removeFault(c *control) wire.Reply {
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &struct{}{}); refusal != nil {
		return *refusal
	}
	if err := c.world.RemoveFault(faultNumber(c)); err != nil {
		return refusedFor(err)
	}
	return wire.Succeed("Fault rule removed", slices.Clip(c.world.Faults.Rules()))
}

// faultNumber returns the number in the path, or 0, which no rule has, if it is not a number.
func faultNumber(c *control) int { return api.Positive(c.PathValue("number"), 0) }
