package admin

import (
	"context"

	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/notify"
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
	log := containing(c.world.Deliveries(), c.Query().Get("contains"), func(d notify.Delivery) []string {
		return []string{d.ID, d.EventID, d.WebhookID, d.Event, d.ShipmentID, d.URL, string(d.State), string(d.Payload)}
	})
	return pageOf(c, spelling.Counted(len(log), "delivery in the log", "deliveries in the log"), log, func(d notify.Delivery) notify.Delivery { return d })
}
