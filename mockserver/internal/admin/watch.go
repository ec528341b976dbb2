package admin

import (
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

func (s *Admin) listFindings(c *control) wire.Reply {
	findings := c.world.Lint.All()
	return wire.Succeed(spelling.Counted(len(findings), "finding", "findings"), findings)
}
