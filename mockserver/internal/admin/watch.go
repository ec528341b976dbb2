package admin

import (
	"fmt"

	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

func (s *Admin) getCoverage(c *control) wire.Reply {
	return wire.SucceedWith(nil, fmt.Sprintf("%.0f %% of the contract was used", 100*s.Coverage.Ratio()), s.Coverage.Rows())
}

func (s *Admin) listFindings(c *control) wire.Reply {
	findings := c.world.Lint.All()
	return wire.SucceedWith(nil, spelling.Counted(len(findings), "finding", "findings"), findings)
}
