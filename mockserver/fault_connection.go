package mockserver

import (
	"net/http"
	"strconv"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// FaultDrop closes the connection without an answer.
func FaultDrop() Fault { return faultDrop{} }

type faultDrop struct{}

func (faultDrop) strike(x *wire.Exchange, _ *core) { x.Ending, x.Settled = wire.EndDropped, true }
func (faultDrop) form() FaultForm                  { return FaultForm{Kind: kindDrop} }

// FaultReset resets the connection without an answer: on a socket the caller gets "connection reset by
// peer"; in memory, where there is nothing to reset, it is [FaultDrop].
func FaultReset() Fault { return faultReset{} }

type faultReset struct{}

func (faultReset) strike(x *wire.Exchange, _ *core) { x.Ending, x.Settled = wire.EndReset, true }
func (faultReset) form() FaultForm                  { return FaultForm{Kind: kindReset} }

// FaultTruncate announces the whole body, sends its first n bytes and closes the connection.
func FaultTruncate(n int) Fault { return faultTruncate(max(0, n)) }

type faultTruncate int

// strike announces the whole body and keeps a part of it. net/http closes a connection whose answer
// came out shorter than announced.
func (f faultTruncate) strike(x *wire.Exchange, _ *core) {
	x.StandIn()
	header := x.Reply.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	// One byte more than there is keeps a cut that is not short of the end a cut.
	kept := min(int(f), len(x.Reply.Body))
	header.Set("Content-Length", strconv.Itoa(max(len(x.Reply.Body), kept+1)))
	x.Reply.Header, x.Reply.Body = header, x.Reply.Body[:kept]
}

func (f faultTruncate) form() FaultForm { return FaultForm{Kind: kindTruncate, Bytes: int(f)} }

// FaultLatency delays by d on the world's clock: with a virtual clock until [World.Advance] has
// moved it that far, which then waits until the reply is made. If the world is closed meanwhile, the
// connection closes without a reply.
func FaultLatency(d time.Duration) Fault { return faultLatency(d) }

type faultLatency time.Duration

func (f faultLatency) strike(x *wire.Exchange, w *core) {
	if w.delay(x, time.Duration(f), "injected latency") != nil {
		x.Ending, x.Settled = wire.EndDropped, true
	}
}

func (f faultLatency) form() FaultForm { return FaultForm{Kind: kindLatency, Duration: duration(f)} }

func (f faultLatency) problem() string { return needsTime(time.Duration(f)) }

// FaultSlowBody sends the body one byte at a time, the first at once and then one every tick of the
// world's clock: [World.Advance] by ten ticks sends ten bytes. If the world is closed meanwhile, the
// connection closes before the end of the body.
func FaultSlowBody(tick time.Duration) Fault { return faultSlowBody(tick) }

type faultSlowBody time.Duration

func (f faultSlowBody) strike(x *wire.Exchange, _ *core) {
	x.StandIn()
	x.Tick = time.Duration(f)
}

func (f faultSlowBody) form() FaultForm { return FaultForm{Kind: kindSlowBody, Duration: duration(f)} }

func (f faultSlowBody) problem() string { return needsTime(time.Duration(f)) }

func needsTime(d time.Duration) string {
	if d <= 0 {
		return "a delay needs a duration above zero, such as 90s"
	}
	return ""
}

// FaultEarlyHints sends an informational answer, 103, before the real one, which is left as it is.
func FaultEarlyHints() Fault { return faultEarlyHints{} }

type faultEarlyHints struct{}

func (faultEarlyHints) strike(x *wire.Exchange, _ *core) { x.Hints = true }
func (faultEarlyHints) form() FaultForm                  { return FaultForm{Kind: kindEarlyHints} }
