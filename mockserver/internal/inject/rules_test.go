package inject

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

var now = time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC)

// fakeWorld is a world in which nothing takes time.
type fakeWorld struct{}

func (fakeWorld) Now() time.Time                                          { return now }
func (fakeWorld) Delay(*wire.Exchange, time.Duration, string) error       { return nil }
func (fakeWorld) InsertRows(operation string, query url.Values, rows int) {}
func (fakeWorld) RemoveRows(operation string, rows int)                   {}

// answer makes an exchange of rates.list go through the rules, as the server does.
func answer(rules *Rules) *wire.Exchange {
	return answerTo(rules, Request{Operation: shipping.OpListRates, Target: "/v1/rates", Now: now})
}

func answerTo(rules *Rules, request Request) *wire.Exchange {
	x := &wire.Exchange{Request: httptest.NewRequest(http.MethodGet, request.Target, nil), Operation: request.Operation}
	matches := rules.Match(request)
	if request.Operation == fault.Notification {
		_, count := matches.Notification()
		x.Struck = append(x.Struck, wire.Strike{Text: count()})
		return x
	}
	matches.Before(x, fakeWorld{})
	if !x.Settled {
		x.Settled = true
		x.Reply = wire.SucceedJSON("OK", []byte(`{"done":true}`))
		matches.After(x, fakeWorld{})
	}
	return x
}

// with returns rules with an operation that has them.
func with(t *testing.T, given ...fault.Rule) *Rules {
	t.Helper()
	rules := New(1)
	shippingtest.NoError(t, rules.Add(given, now))
	return rules
}

// A rule strikes the requests that it counts, of its operation, in its time, and with its probability. Of two faults
// that exclude each other the rule that was added first prevails, and the other has counted the request. A fault of
// lists sees only lists.
func TestRules_ChooseTheirRequests(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rules   []fault.Rule // without a fault, they respond with 503, 500 and 502
		targets string       // one request each, a minute apart; "countries" is the one without pages
		want    string
	}{
		"every request":    {[]fault.Rule{{}}, "rates countries rates", "503 503 503"},
		"the second":       {[]fault.Rule{{Nth: 2}}, "rates rates rates", "200 503 200"},
		"the first two":    {[]fault.Rule{{First: 2}}, "rates rates rates", "503 503 200"},
		"of an operation":  {[]fault.Rule{{Operation: shipping.OpListRates, Nth: 1}}, "countries rates rates", "200 503 200"},
		"two rules":        {[]fault.Rule{{Nth: 1}, {Nth: 3}}, "rates rates rates", "503 200 500"},
		"the earlier rule": {[]fault.Rule{{First: 1}, {}}, "rates rates", "503 500"},
		"an excluded rule counts": {[]fault.Rule{{First: 1}, {First: 2}, {Nth: 3}}, "rates rates rates rates",
			"503 500 502 200"},
		"each request by itself": {[]fault.Rule{{EachRequest: true, First: 1}},
			"rates?page=1 rates?page=2 rates?page=2 rates?page=1 rates?page=3", "503 503 200 200 503"},
		"the second of two": {[]fault.Rule{{Nth: 2, First: 2}}, "rates rates rates", "200 503 200"},
		"from a time on, until it": {[]fault.Rule{{From: now.Add(time.Minute), Until: now.Add(4 * time.Minute), First: 2}},
			"rates rates rates rates rates", "200 503 503 200 200"},
		"never":  {[]fault.Rule{{Probability: 1e-300}}, "rates rates", "200 200"},
		"always": {[]fault.Rule{{Probability: 1}}, "rates rates", "503 503"},
		"one half": {[]fault.Rule{{Probability: 0.5}},
			"rates rates rates?id=RD-1 rates?id=RD-2 rates?id=RD-1-1 rates rates rates", "200 200 503 503 503 503 200 503"},
		"lists alone": {[]fault.Rule{{First: 1, Fault: fault.InsertRows(1)}, {Nth: 2}}, "countries rates rates",
			"200 500 200"},
	} {
		for i, rule := range test.rules {
			if rule.Fault.Kind == "" {
				test.rules[i].Fault = fault.Status([]int{503, 500, 502}[i], nil)
			}
		}
		rules := New(1)
		shippingtest.NoError(t, rules.Add(test.rules, now))
		var got []string
		for i, target := range strings.Fields(test.targets) {
			operation, _, _ := strings.Cut(target, "?")
			x := answerTo(rules, Request{Operation: operation + ".list", Target: "/v1/" + target,
				Now: now.Add(time.Duration(i) * time.Minute)})
			got = append(got, fmt.Sprint(x.Reply.Status))
		}
		shippingtest.Diff(t, name, test.want, strings.Join(got, " "))
		changes := 1 // the rules were added
		for _, r := range rules.Rules() {
			changes += r.Seen + int(r.Struck)
		}
		if rules.Changes() != changes || name == "lists alone" && rules.Rules()[0].Struck != 1 {
			t.Errorf("%s: %+v after %d changes", name, rules.Rules(), rules.Changes())
		}
	}
}

// The same path and body are two requests if they name two operations, and so are two paths and bodies that are the
// same together.
func TestMatch_EachRequestOfTwoOperations(t *testing.T) {
	t.Parallel()
	rules := with(t, fault.Rule{First: 1, EachRequest: true, Fault: fault.Drop()})
	for _, id := range []string{"RD-1", "RD-2"} {
		rules.Analyzed(id, []byte("the same shipment"))
	}
	for _, request := range []Request{
		{Operation: shipping.OpListRates, Target: "/v1/x"}, {Operation: shipping.OpListWebhooks, Target: "/v1/x"},
		{Operation: shipping.OpListRates, Target: "/v1/", Body: []byte("x")},
		{Operation: shipping.OpGetRequest, Target: "/v1/RD-1"}, {Operation: shipping.OpGetRequest, Target: "/v1/RD-2"},
		{Operation: shipping.OpGetRequest, Target: "/v1/RD-2/x"},
	} {
		shippingtest.Diff(t, request.Operation+" "+request.Target, 1, len(rules.Match(request)))
	}
}

func TestRules_AreLimitedAndRemoved(t *testing.T) {
	t.Parallel()
	many := slices.Repeat([]fault.Rule{{Fault: fault.Latency(1)}}, maxRules+1)
	if err := New(1).Add(many, now); err == nil {
		t.Errorf("%d rules were added", len(many))
	}
	rules := with(t, many[:maxRules]...)
	shippingtest.Contains(t, "another rule", rules.Add(many[:1], now), "at most 1000")
	before := rules.Changes()
	if !rules.Remove(2) || rules.Remove(2) || len(rules.Rules()) != maxRules-1 || rules.Rules()[1].Number != 3 ||
		rules.Changes() <= before {
		t.Errorf("removed rule 2 from %d", len(rules.Rules()))
	}
	if err := rules.Add(many[:1], now); err != nil || rules.Rules()[maxRules-1].Number != maxRules+1 {
		t.Errorf("the next rule is %+v: %v", rules.Rules()[maxRules-1], err)
	}
	before = rules.Changes()
	if rules.Clear(); len(rules.Rules()) > 0 || rules.Changes() <= before {
		t.Errorf("%d rules are left, after %d changes and %d before", len(rules.Rules()), rules.Changes(), before)
	}
}

func TestFaults_OfBodies(t *testing.T) {
	t.Parallel()
	for want, given := range map[string]fault.Rule{
		`{"status":true,"message":`: {Committed: true, Fault: fault.Malformed()}, // the first half
		"":                          {Fault: fault.Status(http.StatusNoContent, nil)},
	} {
		shippingtest.Diff(t, given.Fault.Kind, want, string(answer(with(t, given)).Reply.Body))
	}
}

func TestCapPage_TheSmallestCounts(t *testing.T) {
	t.Parallel()
	x := answer(with(t, fault.Rule{Fault: fault.CapPage(5)}, fault.Rule{Fault: fault.CapPage(3)},
		fault.Rule{Fault: fault.CapPage(4)}))
	shippingtest.Diff(t, "records of a page", 3, x.PageCap)
}

// A rule that can never strike is refused, and so are the rules that are added with it.
func TestAdd_PointsOutARuleThatCanNeverStrike(t *testing.T) {
	t.Parallel()
	down := fault.Status(503, nil)
	for _, test := range []struct {
		want string
		rule fault.Rule
	}{
		{"it has no fault", fault.Rule{}},
		{`unknown operation "rates.lst": did you mean "rates.list"?`, fault.Rule{Operation: "rates.lst", Fault: down}},
		{"count from 1", fault.Rule{Nth: -1, Fault: down}},
		{"call 3 is not among the first 2", fault.Rule{Nth: 3, First: 2, Fault: down}},
		{"set one of them", fault.Rule{EachRequest: true, Fault: down}},
		{"between 0 and 1", fault.Rule{Probability: 1.5, Fault: down}},
		{"between 0 and 1", fault.Rule{Probability: math.NaN(), Fault: down}},
		{"until is not after from", fault.Rule{From: now.Add(2 * time.Hour), Until: now.Add(time.Hour), Fault: down}},
		{"has passed", fault.Rule{Until: now.Add(-time.Minute), Fault: down}},
		{"choose one from 200 to 599", fault.Rule{Fault: fault.Status(42, nil)}},
		{"is not a list with pages", fault.Rule{Operation: shipping.OpListCountries, Fault: fault.RepeatPage()}},
		{"remove-rows cannot happen to transactions.list",
			fault.Rule{Operation: shipping.OpListTransactions, Fault: fault.RemoveRows(1)}},
		{"leave committed and point out", fault.Rule{Committed: true, Fault: fault.CapPage(1)}},
		{"leave committed and point out", fault.Rule{Point: fault.AfterCharge, Fault: fault.InsertRows(1)}},
		{"leave committed and point out", fault.Rule{Committed: true, Fault: fault.ArriveLate(time.Second)}},
		{"leave committed and point out", fault.Rule{Point: fault.AfterCharge, Fault: fault.ArriveLate(time.Second)}},
		{"before-charge after-charge", fault.Rule{Point: "before-lunch"}},
		{"never reached by", fault.Rule{Point: fault.BeforeReply, Operation: shipping.OpAnalyze}},
		{"leave committed out", fault.Rule{Point: fault.BeforeReply, Committed: true}},
		{"leave operation and fault out", fault.Rule{Point: fault.Generation, Fault: down}},
		{"status strikes requests, not notifications: leave operation out, or use a kind such as repeat-notification",
			fault.Rule{Operation: fault.Notification, Fault: down}},
		{"repeat-notification cannot happen to webhooks.replay: use one of [notification]",
			fault.Rule{Operation: shipping.OpReplayWebhook, Fault: fault.RepeatNotification()}},
		{"event selects notifications", fault.Rule{Event: "shipment.updated", Fault: down}},
		{"leave committed and point out", fault.Rule{Committed: true, Fault: fault.DropNotification()}},
	} {
		rules := New(1)
		err := rules.Add([]fault.Rule{{Fault: down}, test.rule}, now)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "rule 2 of 2") ||
			len(rules.Rules()) > 0 {
			t.Errorf("%+v: %v, want %q; %d rules", test.rule, err, test.want, len(rules.Rules()))
		}
	}
}

// A rule was accepted although an earlier one without a limit strikes all of its requests, and excludes it.
func TestAdd_ARuleThatAnEarlierOneMasks(t *testing.T) {
	t.Parallel()
	const buys, masked = shipping.OpPurchase, true
	down, drop := fault.Status(503, nil), fault.Drop()
	for name, test := range map[string]struct {
		rules []fault.Rule
		want  bool
	}{
		"one operation":  {[]fault.Rule{{Operation: buys, Fault: down}, {Operation: buys, Fault: drop}}, masked},
		"all operations": {[]fault.Rule{{Fault: down}, {Operation: buys, Nth: 3, Fault: drop}}, masked},
		"a certain one":  {[]fault.Rule{{Probability: 1, Fault: down}, {Operation: buys, Fault: drop}}, masked},
		"after the change": {[]fault.Rule{{Operation: buys, Fault: down},
			{Operation: buys, Committed: true, Fault: fault.Latency(1)}}, masked},
		"latency, and none after the change": {[]fault.Rule{{Fault: fault.Latency(1)}, {Committed: true, Fault: drop}},
			false},
		"at a point": {[]fault.Rule{{Operation: buys, Fault: drop}, {Point: fault.AfterCharge}}, masked},
		"a repeated request": {[]fault.Rule{{Operation: buys, Fault: drop}, {Operation: buys, Fault: fault.Repeat()}},
			masked},
		"within its time": {[]fault.Rule{{Until: now.Add(2 * time.Hour), Fault: down},
			{Until: now.Add(time.Hour), Fault: drop}}, masked},
		"the same time": {[]fault.Rule{{Until: now.Add(time.Hour), Fault: down},
			{Until: now.Add(time.Hour), Fault: drop}}, masked},
		"another operation": {[]fault.Rule{{Operation: buys, Fault: down}, {Operation: shipping.OpAnalyze, Fault: drop}},
			false},
		"all but one":     {[]fault.Rule{{Operation: buys, Fault: down}, {Fault: drop}}, false},
		"the first ones":  {[]fault.Rule{{First: 2, Fault: down}, {Fault: drop}}, false},
		"some":            {[]fault.Rule{{Probability: 0.5, Fault: down}, {Fault: drop}}, false},
		"beyond its time": {[]fault.Rule{{Until: now.Add(time.Hour), Fault: down}, {Fault: drop}}, false},
		"both from a time": {[]fault.Rule{{From: now.Add(time.Hour), Fault: down},
			{From: now.Add(2 * time.Hour), Fault: drop}}, masked},
		"before its time": {[]fault.Rule{{From: now.Add(time.Hour), Fault: down}, {Fault: drop}}, false},
		"no response":     {[]fault.Rule{{Fault: drop}, {Fault: fault.Truncate(3)}}, masked},
		"a reset":         {[]fault.Rule{{Fault: fault.Reset()}, {Fault: fault.Truncate(3)}}, masked},
		"both strike":     {[]fault.Rule{{Fault: down}, {Fault: fault.Truncate(3)}}, false},
		"generation":      {[]fault.Rule{{Fault: down}, {Point: fault.Generation}}, false},
		"a notification":  {[]fault.Rule{{Fault: down}, {Fault: fault.DropNotification()}}, false},
		"two notifications": {[]fault.Rule{{Fault: fault.DropNotification()}, {Event: "a",
			Fault: fault.RepeatNotification()}}, masked},
		"two events": {[]fault.Rule{{Event: "b", Fault: fault.DropNotification()}, {Event: "a",
			Fault: fault.RepeatNotification()}}, false},
		"not of its own": {[]fault.Rule{{First: 1, Fault: drop}, {Fault: down}, {Fault: fault.Latency(1), Committed: true}},
			false},
	} {
		together, one := New(1), New(1)
		err := together.Add(test.rules, now)
		if masked := err != nil && strings.Contains(err.Error(), "strikes all of its requests"); masked != test.want ||
			masked != (err != nil) {
			t.Errorf("%s: %v", name, err)
		}
		last := len(test.rules) - 1
		if err := errors.Join(one.Add(test.rules[:last], now), one.Add(test.rules[last:], now)); test.want != (err != nil) {
			t.Errorf("%s, one after the other: %v", name, err)
		}
	}
}

// Every pair of faults that do not exclude each other strikes one request, whatever the kinds and their order are; of
// the others the first one strikes, and the later one counts the request.
func TestPairs_EveryRuleStrikesOrIsExcluded(t *testing.T) {
	t.Parallel()
	var all []fault.Rule
	for _, kind := range fault.Kinds() {
		f := kind.Example
		f.Bytes <<= 10 // a truncated response can have the whole body, and announce one byte more
		effect, found := effects()[f.Kind]
		if !found {
			t.Fatalf("%s has no effect: add it to effects in effects.go", f.Kind)
		}
		for _, committed := range []bool{false, true} {
			given := fault.Rule{Committed: committed, Fault: f}
			err := New(1).Add([]fault.Rule{given}, now)
			if never := committed && (effect.only != nil || effect.defers); never != (err != nil) {
				t.Fatalf("a rule with %s, committed %v: %v", f.Kind, committed, err)
			}
			if err != nil {
				continue
			}
			all = append(all, given)
			if effect.notifies {
				continue
			}
			x := &wire.Exchange{Request: httptest.NewRequest(http.MethodGet, "/", nil)}
			Matches(with(t, given).rules).Before(x, fakeWorld{})
			if x.Settled != (!committed && (effect.decides || effect.changes)) {
				t.Errorf("%s, committed %v: the operation is performed: %v", f.Kind, committed, !x.Settled)
			}
			replies := map[string]bool{} // after two operations
			for _, body := range []string{"aaaa", "bbbbbb"} {
				shared := []byte(body + strings.Repeat("!", 99)) // with space behind it
				x := &wire.Exchange{Settled: true, Reply: wire.Reply{Status: http.StatusOK, Body: shared[:len(body)]}}
				if Matches(with(t, given).rules).After(x, fakeWorld{}); x.Ending != wire.EndAnswered {
					x.Reply.Body = nil
				}
				replies[string(x.Reply.Body)] = true
				shippingtest.Diff(t, "a shared body after "+f.Kind, body+strings.Repeat("!", 99), string(shared))
			}
			if decided := len(replies) == 1; committed && decided != effect.decides {
				t.Errorf("%s decides the response: %t; its row in effects.go: %t", f.Kind, decided, effect.decides)
			}
		}
	}
	for _, first := range all {
		for _, later := range all {
			first.First = 1 // else a later rule that it excludes can never strike
			rules := with(t, first, later)
			request := Request{Operation: shipping.OpListRates, Target: "/", Now: now}
			for _, r := range rules.rules {
				if r.on != nil && !slices.Contains(r.on, request.Operation) {
					request.Operation = r.on[0]
				}
			}
			if slices.ContainsFunc(rules.rules, func(r *rule) bool { return !r.sees(request) }) {
				continue // no operation has both faults
			}
			x := answerTo(rules, request)
			listed := rules.Rules()
			excluded := rules.rules[0].excludes(rules.rules[1])
			if listed[0].Struck != 1 || listed[0].Seen != 1 || listed[1].Seen != 1 || (listed[1].Struck == 1) == excluded ||
				len(x.Struck) != int(1+listed[1].Struck) {
				t.Errorf("%s and %s: %+v, excluded %t: %s", first.Fault.Kind, later.Fault.Kind, listed, excluded, x.Faults())
			}
			announced, err := strconv.Atoi(x.Reply.Header.Get("Content-Length"))
			if err == nil && announced <= x.Reply.Length() {
				t.Errorf("%s and %s: the response is not shorter than announced", first.Fault.Kind, later.Fault.Kind)
			}
		}
	}
}

// Neither the header that a rule was made of nor an exchange changes the header of the rule, which the next exchange
// gets.
func TestRules_DoNotChange(t *testing.T) {
	t.Parallel()
	respond := fault.Respond(200, nil, "body")
	respond.Header = fault.Header{"content-type": {"a/b"}, "X-A": {"b"}}
	rules := with(t, fault.Rule{Fault: respond}, fault.Rule{Fault: fault.ContentType("c/d")},
		fault.Rule{Fault: fault.Truncate(2)})
	respond.Header["X-A"][0] = "c"
	for range 2 {
		x := answer(rules)
		if x.Reply.ContentType != "c/d" || x.Reply.Header.Get("Content-Type") != "" ||
			x.Reply.Header.Get("Content-Length") != "4" || string(x.Reply.Body) != "bo" {
			t.Errorf("%+v", x.Reply)
		}
	}
	down := with(t, fault.Rule{Fault: fault.Status(503, http.Header{"Content-Type": {"a/b"}, "X-A": {"b"}})},
		fault.Rule{Fault: fault.ContentType("c/d")})
	answer(down)
	for _, rules := range []*Rules{rules, down} {
		shippingtest.Diff(t, "header", fault.Header{"Content-Type": {"a/b"}, "X-A": {"b"}}, rules.Rules()[0].Fault.Header)
	}
}

// Only the operation with the name of the purchase had the points of a charge.
func TestPoints_AreInEveryOperationThatCharges(t *testing.T) {
	t.Parallel()
	for _, op := range operations.All() {
		for _, point := range []fault.Point{fault.BeforeCharge, fault.AfterCharge, fault.BeforeReply} {
			err := New(1).Add([]fault.Rule{{Operation: op.Name, Point: point}}, now)
			if op.Charges != (err == nil) || err != nil && !strings.Contains(err.Error(), "and never reached by "+op.Name) {
				t.Errorf("%s at %s: %v, want an error only if it does not charge", op.Name, point, err)
			}
		}
	}
	rule := with(t, fault.Rule{Point: fault.AfterCharge}).rules[0]
	shippingtest.Diff(t, "rule", "rule 1: drop at after-charge", rule.String())
	generation := with(t, fault.Rule{Point: fault.Generation})
	if err := generation.At(Request{Point: fault.Generation}); err == nil || generation.Rules()[0].Struck != 1 {
		t.Errorf("the rule is %+v: %v", generation.Rules()[0], err)
	}
	for _, op := range operations.All() {
		shippingtest.Diff(t, op.Name, op.Charges, slices.Contains(rule.on, op.Name))
	}
}
