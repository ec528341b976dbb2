package campaign

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/test/internal/gatewaytest"
)

// settleFor, refusedFor and quietFor are the times that the campaign's purchases are given: 3 % and less of the
// defaults. A cache shows a stale draft for staleFor, four fifths of refusedFor, as 4 s of the default of 5 s, and
// longer than settleFor: beyond refusedFor, nobody can distinguish it from the service.
const (
	settleFor  = 100 * time.Millisecond
	refusedFor = 150 * time.Millisecond
	quietFor   = 300 * time.Millisecond
	staleFor   = refusedFor * 4 / 5
	slowFor    = 40 * time.Millisecond
)

// A plan is what the proxy does to one exchange.
type plan struct {
	delivery
	damage damage
	random *rand.Rand
}

// A delivery is how the service receives a request.
type delivery struct {
	name     string
	copies   int
	together bool // the copies arrive at the same moment
	last     bool // the client receives the last response, not the first
	late     bool // the service receives it after the client has left
}

// once is the delivery of half of the purchases, and of all readings.
func once() delivery { return delivery{name: "delivered once", copies: 1} }

func deliveries() []delivery {
	return []delivery{
		{name: "repeated, first response", copies: 2},
		{name: "repeated, last response", copies: 2, last: true},
		{name: "repeated at the same moment, first response", copies: 3, together: true},
		{name: "repeated at the same moment, last response", copies: 3, together: true, last: true},
		{name: "not delivered"},
		{name: "delivered after the client left", copies: 1, late: true},
	}
}

// A damage is what the proxy does to a response.
type damage struct {
	name string
	// apply changes the response, or reports that it would forge evidence about this exchange. Nil leaves it.
	apply func(x *exchange, r *response) bool
}

// fair is a change that suits every response.
func fair(name string, change func(x *exchange, r *response)) damage {
	return damage{name, func(x *exchange, r *response) bool {
		change(x, r)
		return true
	}}
}

// instead sends another response. ID in its data stands for the request.
func instead(name string, other gatewaytest.Response) damage {
	return fair(name, func(x *exchange, r *response) {
		*r = response{Response: other}
		r.Body = []byte(strings.ReplaceAll(string(other.Body), "ID", fmt.Sprintf(`"request_id":%q`, x.requestID)))
	})
}

func accepted(data string) damage { return instead("accepted: "+data, gatewaytest.Accepted(data)) }

func refused(status int, data string) damage {
	return instead(fmt.Sprintf("refused with %d: %s", status, data), gatewaytest.Refused(status, data))
}

// damages are those that no response survives: the client learns nothing from any of them.
func damages() []damage {
	redirect := response{Response: gatewaytest.Page(http.StatusTemporaryRedirect), location: purchasePath}
	return []damage{
		fair("an interim response first", func(_ *exchange, r *response) { r.hints = true }),
		fair("broken off in the header", breakOff),
		fair("broken off in the body", func(x *exchange, r *response) {
			r.half, r.reset = true, x.plan.random.IntN(2) == 0
		}),
		fair("truncated", func(_ *exchange, r *response) { r.Body = r.Body[:len(r.Body)*2/3] }),
		{"a byte flipped", flip},
		fair("held until the client left", func(_ *exchange, r *response) { r.late = true }),
		fair("redirected", func(_ *exchange, r *response) { *r = redirect }),
		instead("HTML with 200", gatewaytest.Page(http.StatusOK)),
		instead("HTML with 502", gatewaytest.Page(http.StatusBadGateway)),
		instead("nothing with 200", gatewaytest.JSON(http.StatusOK, "")),
		refused(http.StatusInternalServerError, "null"),
		refused(http.StatusServiceUnavailable, "null"),
		refused(http.StatusTooManyRequests, "null"),
	}
}

// breakOff ends the connection at any byte of a header, with or without an interim response.
func breakOff(x *exchange, r *response) {
	const interim, header = "HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"
	r.silent, r.reset = true, x.plan.random.IntN(2) == 0
	r.sent = (interim + header)[x.plan.random.IntN(2)*len(interim):]
	r.sent = r.sent[:x.plan.random.IntN(len(r.sent)+1)]
}

// flip makes one byte a control character, which is invalid anywhere in JSON: a flip inside a name can make a valid
// record about something else, which is a forgery.
func flip(x *exchange, r *response) bool {
	if len(r.Body) == 0 {
		return false
	}
	r.Body = slices.Clone(r.Body)
	r.Body[x.plan.random.IntN(len(r.Body))] = byte(1 + x.plan.random.IntN(8))
	return true
}

// another is a request that nobody of the campaign purchases.
const another = "RD-ANOTHER000000001"

// purchaseDamages returns what the proxy may do to the response to a purchase. Refusals after the charge are
// fair: the request, once read, shows that it is not a draft. Of 401, 403 and 404 it uses one that reads are
// never refused with.
func purchaseDamages() []damage {
	const ofAnother = `"request_id":"` + another + `","status":`
	empty := accepted(`{}`)
	return append(damages(),
		instead("problem details", gatewaytest.Problem()),
		refused(http.StatusOK, "null"), refused(http.StatusBadRequest, "null"), refused(http.StatusForbidden, "null"),
		refused(http.StatusConflict, "null"), refused(http.StatusBadRequest, `{`+ofAnother+`"draft"}`),
		// The response of a gateway that repeated the purchase: the refusal of the second, which contradicts itself.
		refused(http.StatusBadRequest, `{ID,"status":"processing"}`),
		refused(http.StatusBadRequest, `{ID,"status":"draft","charged_amount":5}`),
		refused(http.StatusBadRequest, `{ID,"transaction_id":"TR-1"}`),
		accepted(`{`+ofAnother+`"processing","document_types":["CUSTOMS"],"charged_amount":1,"currency":"NGN"}`),
		accepted(`{ID,"status":"draft"}`),
		accepted(`{ID,"status":"processing","document_types":["FUMIGATION"]}`),
		damage{empty.name, func(x *exchange, r *response) bool { return x.confirmed() && empty.apply(x, r) }},
	)
}

// confirmed reports whether the service confirmed the purchase in this exchange.
func (x *exchange) confirmed() bool {
	return slices.ContainsFunc(x.answers, func(answer response) bool { return answer.Status == http.StatusOK })
}

// readDamages returns what the proxy may do to a request that is read back.
func readDamages() []damage {
	all := append(damages(),
		refused(http.StatusUnauthorized, "null"), refused(http.StatusNotFound, "null"), accepted("null"),
		edited("no status", func(_ *exchange, data map[string]any) bool { delete(data, "status"); return true }),
		edited("the status in capitals", func(_ *exchange, data map[string]any) bool {
			data["status"] = strings.ToUpper(fmt.Sprint(data["status"]))
			return true
		}),
		// Without its list, the record of an earlier purchase would be the record of this one.
		edited("no list of documents", func(x *exchange, data map[string]any) bool {
			listed := data["documents"] != nil
			delete(data, "documents")
			return listed && x.trial.subject.before == nil
		}),
		// With "completed" it would be the record of a request that was purchased before.
		edited("other documents", func(_ *exchange, data map[string]any) bool {
			listed := data["documents"] != nil
			data["documents"], data["status"] = []string{"FUMIGATION"}, "processing"
			return listed
		}),
		fair("slow", func(_ *exchange, r *response) { r.slow = true }),
		damage{"a stale draft from a cache", stale},
		damage{"a stale draft from a slow cache", func(x *exchange, r *response) bool {
			r.slow = stale(x, r)
			return r.slow
		}},
	)
	for _, status := range []string{"draft", "processing", "completed", "failed"} {
		all = append(all, edited("another request, "+status, func(_ *exchange, data map[string]any) bool {
			data["request_id"], data["status"] = another, status
			return true
		}))
	}
	return all
}

// edited changes the record in the response. It applies only if there is one.
func edited(name string, change func(x *exchange, data map[string]any) bool) damage {
	return damage{name, func(x *exchange, r *response) bool {
		return r.Edit(func(data map[string]any) bool {
			return data["status"] != nil && data["available_documents"] != nil && change(x, data)
		})
	}}
}

// stale returns the draft from before the purchase, for a moment after the charge.
func stale(x *exchange, r *response) bool {
	x.trial.mu.Lock()
	defer x.trial.mu.Unlock()
	if x.trial.before == nil || x.trial.chargedAt.IsZero() || time.Since(x.trial.chargedAt) > staleFor {
		return false
	}
	*r = *x.trial.before
	return true
}

// random returns the source of one decision about a purchase. It follows from the seed, the number of the purchase and
// the number of the exchange, and not from the order in which goroutines run.
func (c *campaign) random(number int, what string, n int) *rand.Rand {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %s %d", number, what, n)
	return rand.New(rand.NewPCG(c.seed, h.Sum64()))
}

// plan returns the plan of the nth exchange of a kind. Every fiftieth trial is refused as a whole: nothing of it is
// delivered, and each of its exchanges is refused with one status.
func (c *campaign) plan(t *trial, kind string, n int) plan {
	if refuse := c.random(t.number, "locked out", 0); refuse.IntN(50) == 0 && t.subject.before == nil {
		status := []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}[refuse.IntN(3)]
		return plan{delivery{name: "not delivered"}, refused(status, "null"), refuse}
	}
	random := c.random(t.number, kind, n)
	p := plan{once(), damage{name: "as it was"}, random}
	strikes := readDamages()
	if kind == purchase {
		strikes = purchaseDamages()
		if random.IntN(2) == 0 {
			p.delivery = pick(random, deliveries())
		}
	}
	if random.IntN(3) > 0 {
		p.damage = pick(random, strikes)
	}
	return p
}

func pick[T any](random *rand.Rand, table []T) T { return table[random.IntN(len(table))] }
