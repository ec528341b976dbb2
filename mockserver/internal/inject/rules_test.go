package inject

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

func TestEffects_AreThoseOfTheKinds(t *testing.T) {
	t.Parallel()
	var kinds []string
	for _, kind := range fault.Kinds() {
		kinds = append(kinds, kind.Kind)
	}
	slices.Sort(kinds)
	if diff := cmp.Diff(kinds, slices.Sorted(maps.Keys(effects()))); diff != "" {
		t.Errorf("kinds (-fault +inject):\n%s", diff)
	}
}

// ones returns a fault of each kind.
func ones(t *testing.T) []fault.Fault {
	t.Helper()
	all := []fault.Fault{
		fault.Status(503, nil), fault.RateLimit(fault.RetryAfterSeconds, time.Second), fault.Redirect("/"), fault.HTML(502), fault.Empty(),
		fault.Respond(200, nil, "body"), fault.Drop(), fault.Reset(), fault.ArriveLate(1),
		fault.Truncate(3), fault.SlowBody(1), fault.Malformed(), fault.ContentType("text/plain"),
		fault.Latency(1), fault.EarlyHints(),
		fault.RepeatPage(), fault.CapPage(1), fault.InsertRows(1), fault.RemoveRows(1),
	}
	for _, kind := range fault.Kinds() {
		if !slices.ContainsFunc(all, func(f fault.Fault) bool { return f.Kind == kind.Kind }) {
			t.Fatalf("the kind %q is missing in ones of mockserver/internal/inject/rules_test.go: add a fault", kind.Kind)
		}
	}
	return all
}

// fakeWorld is a world in which nothing takes time.
type fakeWorld struct{}

func (fakeWorld) Now() time.Time                                          { return time.Now() }
func (fakeWorld) Delay(*wire.Exchange, time.Duration, string) error       { return nil }
func (fakeWorld) InsertRows(operation string, query url.Values, rows int) {}
func (fakeWorld) RemoveRows(operation string, rows int)                   {}

// answer makes an exchange of rates.list go through the rules, as the server does.
func answer(rules *Rules) *wire.Exchange {
	x := &wire.Exchange{Request: httptest.NewRequest(http.MethodGet, "/v1/rates", nil), Operation: shipping.OpListRates}
	matches := rules.Match(Request{Operation: x.Operation, Target: "/v1/rates", Now: time.Now()})
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
	if err := rules.Add(given, time.Now()); err != nil {
		t.Fatal(err)
	}
	return rules
}

// Every pair of faults that do not exclude each other strikes one request, whatever the kinds and their order are; of
// the others the first one strikes, and the later one counts the request.
func TestPairs_EveryRuleStrikesOrIsExcluded(t *testing.T) {
	t.Parallel()
	var all []fault.Rule
	for _, f := range ones(t) {
		for _, committed := range []bool{false, true} {
			given := fault.Rule{Operation: shipping.OpListRates, Committed: committed, Fault: f}
			effect := effects()[f.Kind]
			err := New(1).Add([]fault.Rule{given}, time.Now())
			if never := committed && (effect.lists != nil || effect.defers); never != (err != nil) {
				t.Fatalf("a rule with %s, committed %v: %v", f.Kind, committed, err)
			}
			if err == nil {
				all = append(all, given)
			}
		}
	}
	for _, first := range all {
		for _, later := range all {
			rules := with(t, first, later)
			x := answer(rules)
			listed := rules.Rules()
			excluded := rules.rules[0].excludes(rules.rules[1])
			if listed[0].Struck != 1 || listed[0].Seen != 1 || listed[1].Seen != 1 || (listed[1].Struck == 1) == excluded || len(x.Struck) != int(1+listed[1].Struck) {
				t.Errorf("%s and %s: %+v, excluded %t: %s", first.Fault.Kind, later.Fault.Kind, listed, excluded, x.Faults())
			}
		}
	}
}

// The pairs that the documentation of package fault lists.
func TestPairs_ThatExcludeEachOther(t *testing.T) {
	t.Parallel()
	const committed, excluded = true, true
	rule := func(f fault.Fault, committed bool) fault.Rule {
		return fault.Rule{Operation: shipping.OpListRates, Committed: committed, Fault: f}
	}
	at := func(point fault.Point, f fault.Fault) fault.Rule { return fault.Rule{Point: point, Fault: f} }
	for _, test := range []struct {
		first, later fault.Rule
		want         bool
	}{
		{rule(fault.Latency(1), false), rule(fault.Drop(), false), false},
		{rule(fault.Latency(1), false), rule(fault.Drop(), committed), false},
		{rule(fault.Drop(), false), rule(fault.Latency(1), false), false},
		{rule(fault.Latency(1), false), rule(fault.Latency(1), committed), false},
		{rule(fault.Status(503, nil), false), rule(fault.EarlyHints(), false), false},
		{rule(fault.EarlyHints(), false), rule(fault.Reset(), committed), false},
		{rule(fault.Status(503, nil), false), rule(fault.Truncate(3), false), false},
		{rule(fault.Malformed(), committed), rule(fault.ContentType("text/plain"), committed), false},
		{rule(fault.CapPage(1), false), rule(fault.CapPage(2), false), false},
		{rule(fault.CapPage(1), false), rule(fault.Status(503, nil), false), false},
		{rule(fault.Status(503, nil), false), rule(fault.Status(500, nil), false), excluded},
		{rule(fault.Drop(), committed), rule(fault.Empty(), committed), excluded},
		{rule(fault.Truncate(3), false), rule(fault.Status(503, nil), false), excluded},
		{rule(fault.Drop(), committed), rule(fault.SlowBody(1), committed), excluded},
		{rule(fault.Truncate(3), false), rule(fault.Truncate(4), false), excluded},
		{rule(fault.RepeatPage(), false), rule(fault.RepeatPage(), false), excluded},
		{rule(fault.Malformed(), false), rule(fault.Latency(1), committed), excluded},
		{rule(fault.Drop(), false), rule(fault.InsertRows(1), false), excluded},
		{rule(fault.ArriveLate(1), false), rule(fault.Drop(), committed), excluded},
		{rule(fault.ArriveLate(1), false), rule(fault.Drop(), false), excluded},
		{rule(fault.ArriveLate(1), false), rule(fault.Truncate(1), false), excluded},
		{rule(fault.Latency(1), committed), rule(fault.Drop(), false), excluded},
		{at(fault.AfterCharge, fault.Latency(1)), at(fault.AfterCharge, fault.Drop()), false},
		{at(fault.AfterCharge, fault.Drop()), at(fault.AfterCharge, fault.Status(502, nil)), excluded},
	} {
		rules := with(t, test.first, test.later).rules
		if got := rules[0].excludes(rules[1]); got != test.want {
			t.Errorf("%s and %s exclude each other: %t, want %t", rules[0], rules[1], got, test.want)
		}
	}
}

// A rule does not change with the header that it was made of.
func TestAdd_CopiesRules(t *testing.T) {
	t.Parallel()
	rules := New(1)
	rule := fault.Rule{Fault: fault.Respond(200, nil, "")}
	rule.Fault.Header = fault.Header{"a": {"b"}}
	if err := rules.Add([]fault.Rule{rule}, time.Now()); err != nil {
		t.Fatal(err)
	}
	rule.Fault.Header["a"][0] = "c"
	if got := rules.Rules()[0].Fault.Header; !cmp.Equal(got, fault.Header{"A": {"b"}}) {
		t.Errorf("the header is %v", got)
	}
}

// No exchange changes the header of the rule, which the next exchange gets.
func TestMatch_ChangesNoRule(t *testing.T) {
	t.Parallel()
	rules := New(1)
	header := http.Header{"Content-Type": {"a/b"}, "X-A": {"b"}}
	if err := rules.Add([]fault.Rule{{Fault: fault.Respond(200, header, "body")}, {Fault: fault.ContentType("c/d")}, {Fault: fault.Truncate(2)}}, time.Now()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		x := answer(rules)
		if x.Reply.ContentType != "c/d" || x.Reply.Header.Get("Content-Type") != "" || x.Reply.Header.Get("Content-Length") != "4" || string(x.Reply.Body) != "bo" {
			t.Errorf("%+v", x.Reply)
		}
	}
	if got := rules.Rules()[0].Fault.Header; !cmp.Equal(http.Header(got), header) {
		t.Errorf("the header is %v", got)
	}
}

// The points of a charge were those of the purchase by its name.
func TestPoints_AreInEveryOperationThatCharges(t *testing.T) {
	t.Parallel()
	for _, op := range operations.All() {
		for _, point := range []fault.Point{fault.BeforeCharge, fault.AfterCharge, fault.BeforeReply} {
			err := New(1).Add([]fault.Rule{{Operation: op.Name, Point: point}}, time.Now())
			if op.Charges != (err == nil) || err != nil && !strings.Contains(err.Error(), "and never reached by "+op.Name) {
				t.Errorf("%s at %s: %v, want an error only if it does not charge", op.Name, point, err)
			}
		}
	}
	every := with(t, fault.Rule{Point: fault.AfterCharge}).rules[0].on
	for _, op := range operations.All() {
		if slices.Contains(every, op.Name) != op.Charges {
			t.Errorf("a rule at a point matches %v, and %s charges: %v", every, op.Name, op.Charges)
		}
	}
}
