package admin

import (
	"net/http"

	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

func (s *Admin) listAssumptions(c *control) wire.Reply {
	return wire.SucceedWith(nil, `The assumptions of this world for open points of the specification; PATCH assumptions changes them`, c.world.Assume().Rows())
}

func (s *Admin) changeAssumptions(c *control) wire.Reply {
	var change assumption.Change
	if refusal := c.world.Decoding().DecodeControl(c.Call, &change); refusal != nil {
		return *refusal
	}
	if change.IsZero() {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, `nothing is changed: send {"assumptions":{"PerPageCap":2}}, with null to undo a change, or {"preset":"contrary"}`)
	}
	if err := c.world.ChangeAssumptions(change); err != nil {
		return refusedFor(err)
	}
	return wire.SucceedWith(nil, "The assumptions are changed", c.world.Assume().Rows())
}
