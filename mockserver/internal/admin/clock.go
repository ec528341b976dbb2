package admin

import (
	"fmt"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// maxPending is the maximum number of pending timers in GET /_mock/clock.
const maxPending = 100

func (s *Admin) getClock(c *control) wire.Reply {
	w := c.world
	waiting := []firedView{}
	for _, f := range w.Clock.Pending(maxPending) {
		waiting = append(waiting, viewFired(f))
	}
	total := w.Waiting()
	return wire.Succeed(spelling.Counted(total, "pending timer", "pending timers"), struct {
		Now     jsontext.Timestamp `json:"now"`
		Clock   string             `json:"clock"`
		Total   int                `json:"total"`
		Pending []firedView        `json:"pending"` // in order of time, at most 100
	}{jsontext.Timestamp(w.Clock.Now()), clockKind(w), total, waiting})
}

func clockKind(w *world.World) string {
	if w.Clock.IsVirtual() {
		return "virtual"
	}
	return "real"
}

func (s *Admin) advanceClock(c *control) wire.Reply {
	var ask struct {
		Duration string `json:"duration"`
	}
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &ask); refusal != nil {
		return *refusal
	}
	d, err := time.ParseDuration(ask.Duration)
	if err != nil || d < 0 {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf(`duration is %q: write one of zero or more, such as {"duration":"1h30m"}`, ask.Duration))
	}
	fired, err := c.world.Advance(d)
	if err != nil {
		return refusedFor(err)
	}
	return wire.Succeed("The clock was advanced", struct {
		Now   jsontext.Timestamp `json:"now"`
		Fired []firedView        `json:"fired"`
	}{jsontext.Timestamp(c.world.Clock.Now()), list.Map(fired, viewFired)})
}
