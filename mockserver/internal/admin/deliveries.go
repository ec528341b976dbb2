package admin

import (
	"context"

	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

func (s *Admin) listDeliveries(c *control) wire.Reply {
	timeout, refusal := waitFor(c.Query())
	if refusal != nil {
		return *refusal
	}
	if timeout > 0 {
		ctx, cancel := context.WithTimeout(c.Context(), timeout)
		defer cancel()
		if err := c.world.Dispatcher.WaitAll(ctx); err != nil {
			return timedOut(err)
		}
	}
	log := c.world.Deliveries()
	return pageOf(c, spelling.Counted(len(log), "delivery in the log", "deliveries in the log"), log, viewDelivery)
}
