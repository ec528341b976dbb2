package admin

import (
	"encoding/json"
	"net/http"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

func (s *Admin) listAssumptions(c *control) wire.Reply {
	return wire.Succeed(`The assumptions of this world for open points of the specification; PATCH assumptions changes them`, s.Assumptions(c.world))
}

func (s *Admin) changeAssumptions(c *control) wire.Reply {
	var order struct {
		Preset      string                     `json:"preset"`
		Assumptions map[string]json.RawMessage `json:"assumptions"`
	}
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &order); refusal != nil {
		return *refusal
	}
	changes := world.Changes{Preset: order.Preset, Values: order.Assumptions}
	if changes.IsZero() {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, `nothing is changed: send {"assumptions":{"PerPageCap":2}}, with null to undo a change, or {"preset":"contrary"}`)
	}
	if err := c.world.ChangeAssumptions(changes); err != nil {
		return refusedFor(err)
	}
	return wire.Succeed("The assumptions are changed", s.Assumptions(c.world))
}
