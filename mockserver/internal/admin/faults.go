package admin

import (
	"errors"

	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/fault"
)

func faultRoutes() []Route {
	return []Route{
		route("GET", "faults", "listFaults", "List the fault rules and the kinds of faults", "", (*Admin).listFaults),
		route("POST", "faults", "addFaults", "Add fault rules, or none if one of them can never strike",
			`{"rules":[{"operation":"rates.list","first":2,"fault":{"kind":"status","status":503}}]}`, (*Admin).addFaults),
		route("DELETE", "faults", "removeFaults",
			"Remove every fault rule, or the one of a number; the response contains the others", "", (*Admin).removeFaults),
	}
}

type faultList struct {
	Rules      []fault.Injected `json:"rules"`
	Kinds      []fault.Kind     `json:"kinds"`
	Points     []fault.Point    `json:"points"`
	Operations []string         `json:"operations"`
	// RetryAfterForms are the values of retry_after.
	RetryAfterForms []fault.RetryAfter `json:"retry_after_forms"`
}

func (s *Admin) listFaults(c *control, _, _ none) (string, faultList, error) {
	rules := c.world.Faults.Rules()
	return spelling.Counted(len(rules), "fault rule", "fault rules"), faultList{
		rules, fault.Kinds(), fault.Points(), append(c.world.Operations(), fault.Notification), fault.RetryAfters(),
	}, nil
}

type newFaults struct {
	Rules []fault.Rule `json:"rules" doc:"The rules to add."`
}

func (s *Admin) addFaults(c *control, _ none, order newFaults) (string, []fault.Injected, error) {
	added := len(order.Rules)
	if added == 0 {
		return "", nil, errors.New(`no rule was added: send {"rules":[…]} with at least one`)
	}
	if err := c.world.Inject(order.Rules...); err != nil {
		return "", nil, err
	}
	all := c.world.Faults.Rules()
	return spelling.Counted(added, "fault rule added", "fault rules added"), all[max(0, len(all)-added):], nil
}

type ruleParameter struct {
	Number int `query:"number" doc:"Number of the fault rule." example:"1"`
}

func (s *Admin) removeFaults(c *control, rule ruleParameter, _ none) (string, []fault.Injected, error) {
	if rule.Number == 0 {
		c.world.ClearFaults()
		return "No fault rules are left", []fault.Injected{}, nil
	}
	err := c.world.RemoveFault(rule.Number)
	return "Fault rule removed", c.world.Faults.Rules(), err
}
