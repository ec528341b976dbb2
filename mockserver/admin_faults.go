package mockserver

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// faultsView is the data of GET /_mock/faults.
type faultsView struct {
	Rules      []ruleForm  `json:"rules"`
	Kinds      []faultKind `json:"kinds"`
	Points     []Failpoint `json:"points"`
	Operations []string    `json:"operations"`
}

func (s *Server) adminFaults(c *control) wire.Reply {
	view := faultsView{Rules: c.world.faults.forms(), Kinds: faultKinds(), Points: Failpoints()}
	for _, op := range shipping.Operations() {
		view.Operations = append(view.Operations, op.Name)
	}
	return wire.SucceedWith(nil, spelling.Counted(len(view.Rules), "fault rule", "fault rules"), view)
}

func (s *Server) adminInject(c *control) wire.Reply {
	var ask struct {
		Rules []ruleForm `json:"rules"`
	}
	if refusal := c.world.decoding().DecodeControl(c.Call, &ask); refusal != nil {
		return *refusal
	}
	if len(ask.Rules) == 0 {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, `no rule was added: send {"rules":[…]} with at least one`)
	}
	rules := make([]FaultRule, len(ask.Rules))
	for i := range ask.Rules {
		var err error
		if rules[i], err = ask.Rules[i].rule(); err != nil {
			return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf("no rule was added: rule %d of %d: %v", i+1, len(rules), err))
		}
	}
	if err := c.world.Inject(rules...); err != nil {
		return refusedFor(err)
	}
	all := c.world.faults.forms()
	return wire.SucceedWith(nil, spelling.Counted(len(rules), "fault rule added", "fault rules added"), all[max(0, len(all)-len(rules)):])
}

func (s *Server) adminClearFaults(c *control) wire.Reply {
	if refusal := c.world.decoding().DecodeControl(c.Call, &struct{}{}); refusal != nil {
		return *refusal
	}
	c.world.faults.clear()
	return wire.SucceedWith(nil, "No fault rules are left", []ruleForm{})
}

func (s *Server) adminSwitchFault(c *control) wire.Reply {
	var ask struct {
		Off *bool `json:"off"`
	}
	if refusal := c.world.decoding().DecodeControl(c.Call, &ask); refusal != nil {
		return *refusal
	}
	if ask.Off == nil {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, `say whether the rule is to rest: send {"off":true} or {"off":false}`)
	}
	number, err := strconv.Atoi(c.PathValue("number"))
	if err != nil || !c.world.faults.switchTo(number, !*ask.Off) {
		return faultNotFound(c)
	}
	return wire.SucceedWith(nil, "Fault rule switched", c.world.faults.forms())
}

func (s *Server) adminRemoveFault(c *control) wire.Reply {
	if refusal := c.world.decoding().DecodeControl(c.Call, &struct{}{}); refusal != nil {
		return *refusal
	}
	number, err := strconv.Atoi(c.PathValue("number"))
	if err != nil || !c.world.faults.remove(number) {
		return faultNotFound(c)
	}
	return wire.SucceedWith(nil, "Fault rule removed", slices.Clip(c.world.faults.forms()))
}

func faultNotFound(c *control) wire.Reply {
	return wire.Refused(http.StatusNotFound, wire.CodeNotFound, fmt.Sprintf("no fault rule is number %q: GET %sfaults lists them", c.PathValue("number"), adminPrefix))
}
