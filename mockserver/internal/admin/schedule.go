package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// scheduleOrder is the body of POST /_mock/schedule.
type scheduleOrder struct {
	Events []world.Event `json:"events"`
	Steps  []struct {
		Event       int            `json:"event"`
		BeforeReply bool           `json:"before_reply"`
		After       fault.Duration `json:"after"`
	} `json:"steps"`
	Request *serviceRequest `json:"request"`
}

// maxScheduled is the maximum number of events, and of steps, of a schedule.
const maxScheduled = 1000

// runSchedule serves POST /_mock/schedule with the deliveries of World.RunSchedule. Its request is sent in the
// same way as by POST /_mock/requests.
func (s *Admin) runSchedule(c *control) wire.Reply {
	var order scheduleOrder
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &order); refusal != nil {
		return *refusal
	}
	if len(order.Events) == 0 || len(order.Events) > maxScheduled || len(order.Steps) > maxScheduled {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid,
			`a schedule has 1 to 1000 events and up to 1000 steps: send {"events":[{"event":"shipment.updated"}],"steps":[{"event":0,"after":"1s"}]}; "request" is sent to the service, and steps with "before_reply" are delivered before its response`)
	}
	var steps []world.Step
	for _, one := range order.Steps {
		if one.After < 0 {
			return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, "after is below zero: write the wait after the previous step, such as 1s")
		}
		steps = append(steps, world.Step{Event: one.Event, BeforeReply: one.BeforeReply, After: time.Duration(one.After)})
	}
	var made *serviceResponse
	var act func(context.Context) error
	if order.Request != nil {
		req, refusal := s.newServiceRequest(c, *order.Request)
		if refusal != nil {
			return *refusal
		}
		act = func(context.Context) error {
			made = s.roundTrip(req)
			return nil
		}
	}
	delivered, err := c.world.RunSchedule(c.Context(), steps, order.Events, act)
	if err != nil {
		return refusedFor(err)
	}
	return wire.Succeed(spelling.Counted(len(delivered), "notification delivered", "notifications delivered"), struct {
		Deliveries []deliveryView   `json:"deliveries"`
		Response   *serviceResponse `json:"response,omitempty"`
	}{list.Map(delivered, viewDelivery), made})
}
