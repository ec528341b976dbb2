package campaign

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/shipping-go/shipping/test/internal/gatewaytest"
)

// settleFor, refusedFor and quietFor are the times that the campaign's purchases are given: 3 % and less of the
// defaults. A cache shows a stale draft for staleFor, which is to refusedFor as 4 s to the default of 5 s, and longer
// than settleFor: beyond refusedFor, nobody can distinguish it from the service.
const (
	settleFor  = 100 * time.Millisecond
	refusedFor = 150 * time.Millisecond
	quietFor   = 300 * time.Millisecond
	staleFor   = refusedFor * 4 / 5
	slowFor    = 40 * time.Millisecond
)

// A delivery is how the service receives a request.
type delivery struct {
	name     string
	weight   int
	copies   int
	together bool // the copies arrive at the same moment
	last     bool // the client receives the last response, not the first
	late     bool // the service receives it after the client has left
}

// deliveries returns what the proxy may do to a request before the service sees it.
func deliveries() []delivery {
	return []delivery{
		{name: "delivered once", weight: 50, copies: 1},
		{name: "repeated, first response", weight: 8, copies: 2},
		{name: "repeated, last response", weight: 8, copies: 2, last: true},
		{name: "repeated at the same moment, first response", weight: 7, copies: 3, together: true},
		{name: "repeated at the same moment, last response", weight: 7, copies: 3, together: true, last: true},
		{name: "not delivered", weight: 12},
		{name: "delivered after the client left", weight: 8, copies: 1, late: true},
	}
}

// A damage is what the proxy does to a response.
type damage struct {
	name   string
	weight int
	// apply changes the response, or reports that it would forge evidence about this exchange. Nil leaves it.
	apply func(x *exchange, r *response) bool
}

// fair is a change that suits every response.
func fair(change func(r *response)) func(*exchange, *response) bool {
	return func(_ *exchange, r *response) bool {
		change(r)
		return true
	}
}

func instead(other gatewaytest.Response) func(*exchange, *response) bool {
	return fair(func(r *response) { *r = response{Response: other} })
}

func refused(status int) func(*exchange, *response) bool {
	return instead(gatewaytest.Refused(status, "null"))
}

// contradicted is a refusal of the purchase that shows a purchase.
func contradicted(members string) func(*exchange, *response) bool {
	return ofRequest(func(request string) gatewaytest.Response {
		return gatewaytest.Refused(http.StatusBadRequest, `{"error_code":"already_purchased",`+request+`,`+members+`}`)
	})
}

// ofRequest returns a response that names the request of the exchange.
func ofRequest(other func(request string) gatewaytest.Response) func(*exchange, *response) bool {
	return func(x *exchange, r *response) bool {
		*r = response{Response: other(fmt.Sprintf(`"request_id":%q`, x.requestID))}
		return true
	}
}

// broken returns the damages that no response survives: the client learns nothing from any of them.
func broken() []damage {
	return []damage{
		{name: "broken off in the header", weight: 8, apply: breakOff},
		{name: "broken off in the body", weight: 5, apply: func(x *exchange, r *response) bool {
			r.half, r.reset = true, x.plan.random.IntN(2) == 0
			return true
		}},
		{name: "truncated", weight: 4, apply: fair(func(r *response) { r.Body = r.Body[:len(r.Body)*2/3] })},
		{name: "a byte flipped", weight: 4, apply: flip},
		{name: "held until the client left", weight: 2, apply: fair(func(r *response) { r.late = true })},
		{name: "HTML with 200", weight: 3, apply: instead(gatewaytest.Page(http.StatusOK))},
		{name: "HTML with 502", weight: 3, apply: instead(gatewaytest.Page(http.StatusBadGateway))},
		{name: "nothing with 200", weight: 3, apply: instead(gatewaytest.JSON(http.StatusOK, ""))},
		{name: "envelope with 500", weight: 3, apply: refused(http.StatusInternalServerError)},
		{name: "envelope with 503", weight: 3, apply: refused(http.StatusServiceUnavailable)},
		{name: "envelope with 429", weight: 3, apply: refused(http.StatusTooManyRequests)},
		{name: "redirect", weight: 3, apply: fair(func(r *response) {
			*r = response{Response: gatewaytest.Page(http.StatusTemporaryRedirect), location: purchasePath}
		})},
	}
}

// breakOff ends the connection at any byte of a header, with or without an interim response.
func breakOff(x *exchange, r *response) bool {
	const interim, header = "HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"
	r.silent, r.reset = true, x.plan.random.IntN(2) == 0
	r.sent = (interim + header)[x.plan.random.IntN(2)*len(interim):]
	r.sent = r.sent[:x.plan.random.IntN(len(r.sent)+1)]
	return true
}

// flip makes one byte a control character, which is invalid anywhere in JSON: a flip inside a name can make a valid
// record about something else, which is a forgery.
func flip(x *exchange, r *response) bool {
	if len(r.Body) == 0 {
		return false
	}
	r.Body = append([]byte{}, r.Body...)
	r.Body[x.plan.random.IntN(len(r.Body))] = byte(1 + x.plan.random.IntN(8))
	return true
}

// purchaseDamages returns what the proxy may do to the response to a purchase. Refusals after the charge are
// fair: the request, once read, shows that it is not a draft. Of 401, 403 and 404 it uses one that reads are
// never refused with.
func purchaseDamages() []damage {
	return append(broken(), []damage{
		{name: "as it was", weight: 40},
		{name: "an interim response first", weight: 3, apply: fair(func(r *response) { r.hints = true })},
		{name: "envelope with 400", weight: 9, apply: refused(http.StatusBadRequest)},
		{name: "envelope with 403", weight: 3, apply: refused(http.StatusForbidden)},
		{name: "envelope with 409", weight: 3, apply: refused(http.StatusConflict)},
		{name: "envelope with 200", weight: 3, apply: refused(http.StatusOK)},
		{name: "problem document with 400", weight: 3, apply: instead(gatewaytest.Problem())},
		{name: "the refusal of another request", weight: 3, apply: instead(gatewaytest.Refused(http.StatusBadRequest,
			`{"request_id":"`+another+`","status":"draft"}`))},
		// The response of a gateway that repeated the purchase: the refusal of the second, which contradicts itself.
		{name: "a refusal that shows the state", weight: 3, apply: contradicted(`"status":"processing"`)},
		{name: "a refusal that shows a charge", weight: 3, apply: contradicted(`"status":"draft","charged_amount":5`)},
		{name: "a refusal that shows a transaction", weight: 3, apply: contradicted(`"transaction_id":"TR-1"`)},
		{name: "the confirmation of another request", weight: 4, apply: instead(gatewaytest.Accepted(`{"request_id":"` +
			another + `","status":"processing","document_types":["CUSTOMS"],"charged_amount":1,` +
			`"currency":"NGN","transaction_id":"TR-ANOTHER"}`))},
		{name: "a draft instead of a confirmation", weight: 4, apply: ofRequest(func(request string) gatewaytest.Response {
			return gatewaytest.Accepted(`{` + request + `,"status":"draft"}`)
		})},
		{name: "a confirmation of other documents", weight: 3, apply: ofRequest(func(request string) gatewaytest.Response {
			return gatewaytest.Accepted(`{` + request + `,"status":"processing","document_types":["FUMIGATION"],` +
				`"documents":[{"document_type":"FUMIGATION","status":"generating"}]}`)
		})},
		{name: "a confirmation without data", weight: 4, apply: func(x *exchange, r *response) bool {
			if !x.confirmed() {
				return false
			}
			*r = response{Response: gatewaytest.Accepted(`{}`)}
			return true
		}},
	}...)
}

// another is a request that nobody of the campaign purchases.
const another = "RD-ANOTHER000000001"

// confirmed reports whether the service confirmed the purchase in this exchange.
func (x *exchange) confirmed() bool {
	return slices.ContainsFunc(x.answers, func(answer response) bool { return answer.Status == http.StatusOK })
}

// readDamages returns what the proxy may do to a request that is read back.
func readDamages() []damage {
	damages := append(broken(), []damage{
		{name: "as it was", weight: 60},
		{name: "an interim response first", weight: 2, apply: fair(func(r *response) { r.hints = true })},
		{name: "envelope with 401", weight: 3, apply: refused(http.StatusUnauthorized)},
		{name: "envelope with 404", weight: 3, apply: refused(http.StatusNotFound)},
		{name: "no record", weight: 3, apply: instead(gatewaytest.Accepted("null"))},
		{name: "no status", weight: 3, apply: edit(func(data map[string]any) bool { delete(data, "status"); return true })},
		{name: "the status in capitals", weight: 3, apply: edit(func(data map[string]any) bool {
			text, _ := data["status"].(string)
			if text != "" {
				data["status"] = string(text[0]-'a'+'A') + text[1:]
			}
			return text != ""
		})},
		// Without its list, the record of an earlier purchase would be the record of this one.
		{name: "no list of documents", weight: 3, apply: func(x *exchange, r *response) bool {
			return !x.order.existing && edit(func(data map[string]any) bool {
				_, listed := data["documents"]
				delete(data, "documents")
				return listed
			})(x, r)
		}},
		// With "completed" it would be the record of a request that was purchased before.
		{name: "other documents", weight: 3, apply: edit(func(data map[string]any) bool {
			if data["documents"] == nil {
				return false
			}
			documents := []any{map[string]any{"document_type": "FUMIGATION", "status": "generating"}}
			data["documents"], data["status"] = documents, "processing"
			return true
		})},
		{name: "slow", weight: 3, apply: fair(func(r *response) { r.slow = true })},
		{name: "a stale draft from a cache", weight: 8, apply: stale},
		{name: "a stale draft from a slow cache", weight: 4, apply: func(x *exchange, r *response) bool {
			applies := stale(x, r)
			r.slow = applies
			return applies
		}},
	}...)
	for _, status := range []string{"draft", "processing", "completed", "failed"} {
		damages = append(damages, damage{name: "another request, " + status, weight: 3, apply: anotherRecord(status)})
	}
	return damages
}

// edit changes the record in the response. It applies only if there is one.
func edit(change func(data map[string]any) bool) func(*exchange, *response) bool {
	return func(_ *exchange, r *response) bool {
		return r.Edit(func(data map[string]any) bool {
			return data["status"] != nil && data["available_documents"] != nil && change(data)
		})
	}
}

// anotherRecord returns the record of another request, with other prices.
func anotherRecord(status string) func(*exchange, *response) bool {
	return edit(func(data map[string]any) bool {
		data["request_id"], data["status"] = another, status
		offers, _ := data["available_documents"].([]any)
		for _, offer := range offers {
			if offer, ok := offer.(map[string]any); ok {
				offer["amount"] = 0.01
			}
		}
		return true
	})
}

// stale returns the draft from before the purchase, for a moment after the charge.
func stale(x *exchange, r *response) bool {
	x.order.mu.Lock()
	defer x.order.mu.Unlock()
	if x.order.draft == nil || x.order.chargedAt.IsZero() || time.Since(x.order.chargedAt) > staleFor {
		return false
	}
	*r = *x.order.draft
	return true
}

// A schedule makes the plan of every exchange. The plan follows from the seed, the number of the order and the
// number of the exchange, and not from the order in which goroutines run.
type schedule struct {
	seed       uint64
	deliveries []delivery
	damages    map[string][]damage // by kind of exchange
}

func newSchedule(seed uint64) *schedule {
	return &schedule{seed: seed, deliveries: deliveries(), damages: map[string][]damage{
		purchase: purchaseDamages(), readBack: readDamages(),
	}}
}

// random returns the source of one decision.
func (s *schedule) random(number int, what string, n int) *rand.Rand {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %s %d", number, what, n)
	return rand.New(rand.NewPCG(s.seed, h.Sum64()))
}

// lockedOut is the share of orders that the proxy refuses as a whole: it delivers nothing and refuses every
// exchange with one status.
const lockedOut = 0.02

func (s *schedule) plan(o *order, kind string, n int) plan {
	refuse := s.random(o.number, "locked out", 0)
	if refuse.Float64() < lockedOut && !o.existing {
		status := []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}[refuse.IntN(3)]
		all := damage{name: fmt.Sprintf("everything refused with %d", status), apply: refused(status)}
		return plan{delivery{name: "not delivered"}, all, refuse}
	}
	random := s.random(o.number, kind, n)
	delivery := delivery{name: "delivered once", copies: 1}
	if kind == purchase {
		delivery = pick(random, s.deliveries)
	}
	return plan{delivery, pick(random, s.damages[kind]), random}
}

// weighted is a row of a table that is chosen from at random.
type weighted interface{ share() int }

func (d delivery) share() int { return d.weight }
func (d damage) share() int   { return d.weight }

// pick returns a row, each as often as its weight.
func pick[T weighted](random *rand.Rand, table []T) T {
	sum := 0
	for _, row := range table {
		sum += row.share()
	}
	at := random.IntN(sum)
	for _, row := range table {
		if at -= row.share(); at < 0 {
			return row
		}
	}
	panic("unreachable: the weights sum up")
}
