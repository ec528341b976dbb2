package mockserver

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// RetryAfter is a form in which a Retry-After header can come.
type RetryAfter string

// The forms. RFC 9110 allows seconds and a date, and wants all three formats of a date read.
const (
	RetryAfterSeconds  RetryAfter = "seconds"  // whole seconds
	RetryAfterIMF      RetryAfter = "imf-date" // Mon, 02 Jan 2006 15:04:05 GMT
	RetryAfterRFC850   RetryAfter = "rfc850-date"
	RetryAfterASCTime  RetryAfter = "asctime-date"
	RetryAfterNegative RetryAfter = "negative" // -1
	RetryAfterHuge     RetryAfter = "huge"     // more seconds than 64 bits hold
	RetryAfterRubbish  RetryAfter = "rubbish"  // a word
	RetryAfterAbsent   RetryAfter = "absent"   // no header at all
)

// RetryAfters returns every form. The slice is the caller's own.
func RetryAfters() []RetryAfter {
	return []RetryAfter{
		RetryAfterSeconds, RetryAfterIMF, RetryAfterRFC850, RetryAfterASCTime,
		RetryAfterNegative, RetryAfterHuge, RetryAfterRubbish, RetryAfterAbsent,
	}
}

// FaultRateLimit answers 429 with a Retry-After that asks to wait for d, rounded up to seconds. The
// forms that are no time do without d. Dates count from the world's clock, and so does the Date header
// beside them.
//
// Assumption: that the service limits rates so; the specification shows no limit. Without the fault
// there is none.
func FaultRateLimit(form RetryAfter, d time.Duration) Fault { return faultRateLimit{form, d} }

type faultRateLimit struct {
	how  RetryAfter
	wait time.Duration
}

func (f faultRateLimit) strike(x *wire.Exchange, w *core) {
	now := w.clock.Now()
	header := http.Header{"Date": {now.Format(http.TimeFormat)}}
	if value := f.value(now); value != "" {
		header.Set("Retry-After", value)
	}
	FaultStatus(http.StatusTooManyRequests, header).strike(x, w)
}

func (f faultRateLimit) value(now time.Time) string {
	seconds := int64((f.wait + time.Second - 1) / time.Second)
	due := now.Add(time.Duration(seconds) * time.Second).UTC()
	switch f.how {
	case RetryAfterSeconds:
		return strconv.FormatInt(seconds, 10)
	case RetryAfterIMF:
		return due.Format(http.TimeFormat)
	case RetryAfterRFC850:
		return due.Format("Monday, 02-Jan-06 15:04:05 GMT")
	case RetryAfterASCTime:
		return due.Format(time.ANSIC)
	case RetryAfterNegative:
		return "-1"
	case RetryAfterHuge:
		return "99999999999999999999"
	case RetryAfterRubbish:
		return "soon"
	default:
		return ""
	}
}

func (f faultRateLimit) form() FaultForm {
	return FaultForm{Kind: kindRateLimit, RetryAfter: f.how, Duration: duration(f.wait)}
}

func (f faultRateLimit) problem() string {
	if !slices.Contains(RetryAfters(), f.how) {
		var known []string
		for _, form := range RetryAfters() {
			known = append(known, string(form))
		}
		return fmt.Sprintf("retry_after %q is none of %s", string(f.how), strings.Join(known, ", "))
	}
	return ""
}
