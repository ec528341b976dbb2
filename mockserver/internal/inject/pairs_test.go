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
			t.Fatalf("the kind %q is missing in ones of mockserver/internal/inject/pairs_test.go: add a fault", kind.Kind)
		}
	}
	return all
}

// allRules are a rule for each kind, before the operation and committed, that Add takes.
func allRules(t *testing.T) []fault.Rule {
	t.Helper()
	var rules []fault.Rule
	for _, f := range ones(t) {
		for _, committed := range []bool{false, true} {
			rule := fault.Rule{Operation: shipping.OpListRates, Committed: committed, Fault: f}
			effect := effects()[f.Kind]
			err := NewBook(1).Add([]fault.Rule{rule}, time.Now())
			if never := committed && (effect.lists != nil || effect.defers); never != (err != nil) {
				t.Fatalf("a rule with %s, committed %v: %v", f.Kind, committed, err)
			}
			if err == nil {
				rules = append(rules, rule)
			}
		}
	}
	return rules
}

// answer makes an exchange of rates.list go through the rules of a book, as the server does.
func answer(b *Book) *wire.Exchange {
	x := &wire.Exchange{Operation: shipping.OpListRates, Request: httptest.NewRequest(http.MethodGet, "/v1/rates", nil)}
	w := World{
		Now:        time.Now,
		Delay:      func(*wire.Exchange, time.Duration, string) error { return nil },
		Page:       func(url.Values) (int, int) { return 2, 100 },
		InsertRows: func(string, url.Values, int) {},
		RemoveRows: func(string, int) {},
	}
	due := b.Due(x, time.Now())
	due.Before(x, w)
	if !x.Settled {
		x.Settled = true
		x.Reply = wire.Succeed("OK", map[string]bool{"done": true})
		due.After(x, w)
	}
	return x
}

// A later rule is refused behind one that strikes every request exactly if it never strikes together with it.
func TestPairs_ARuleIsRefusedExactlyIfItCanNeverStrike(t *testing.T) {
	t.Parallel()
	for _, first := range allRules(t) {
		for _, later := range allRules(t) {
			refusal := NewBook(1).Add([]fault.Rule{first, later}, time.Now())
			limited := first
			limited.First = 1 << 30 // so that the book does not refuse the later one
			book := NewBook(1)
			if err := book.Add([]fault.Rule{limited, later}, time.Now()); err != nil {
				t.Fatal(err)
			}
			x := answer(book)
			rules := book.Rules()
			if name := first.Fault.Kind + " and " + later.Fault.Kind; rules[0].Struck != 1 || rules[0].Seen != 1 || rules[1].Seen != 1 {
				t.Errorf("%s: %+v", name, rules)
			} else if (refusal == nil) != (rules[1].Struck == 1) || len(x.Struck) != int(1+rules[1].Struck) {
				t.Errorf("%s: refused with %v, and %d times struck: %s", name, refusal, rules[1].Struck, x.Faults())
			}
			if refusal != nil && !strings.Contains(refusal.Error(), "rule 2 of 2 can never strike: rule 1 strikes every such call first, and ") {
				t.Error(refusal)
			}
		}
	}
}

// The pairs that the documentation of package fault lists.
func TestPairs_ThatExcludeEachOther(t *testing.T) {
	t.Parallel()
	const committed = true
	rule := func(f fault.Fault, committed bool) fault.Rule {
		return fault.Rule{Operation: shipping.OpListRates, Committed: committed, Fault: f}
	}
	at := func(point fault.Point, f fault.Fault) fault.Rule { return fault.Rule{Point: point, Fault: f} }
	for _, test := range []struct {
		first, later fault.Rule
		want         string // in the error; empty if both strike
	}{
		{rule(fault.Latency(1), false), rule(fault.Drop(), false), ""},
		{rule(fault.Latency(1), false), rule(fault.Drop(), committed), ""},
		{rule(fault.Drop(), false), rule(fault.Latency(1), false), ""},
		{rule(fault.Latency(1), false), rule(fault.Latency(1), committed), ""},
		{rule(fault.Status(503, nil), false), rule(fault.EarlyHints(), false), ""},
		{rule(fault.EarlyHints(), false), rule(fault.Reset(), committed), ""},
		{rule(fault.Status(503, nil), false), rule(fault.Truncate(3), false), ""},
		{rule(fault.Malformed(), committed), rule(fault.ContentType("text/plain"), committed), ""},
		{rule(fault.CapPage(1), false), rule(fault.CapPage(2), false), ""},
		{rule(fault.CapPage(1), false), rule(fault.Status(503, nil), false), ""},
		{rule(fault.Status(503, nil), false), rule(fault.Status(500, nil), false), "decides the response"},
		{rule(fault.Drop(), committed), rule(fault.Empty(), committed), "decides the response"},
		{rule(fault.Truncate(3), false), rule(fault.Status(503, nil), false), "changes the response that this one would replace"},
		{rule(fault.Drop(), committed), rule(fault.SlowBody(1), committed), "leaves no response to change"},
		{rule(fault.Truncate(3), false), rule(fault.Truncate(4), false), "does the same"},
		{rule(fault.RepeatPage(), false), rule(fault.RepeatPage(), false), "does the same"},
		{rule(fault.Malformed(), false), rule(fault.Latency(1), committed), "the operation is then not performed"},
		{rule(fault.Drop(), false), rule(fault.InsertRows(1), false), "the operation is then not performed"},
		{rule(fault.ArriveLate(1), false), rule(fault.Drop(), committed), "the operation is then performed without a response"},
		{rule(fault.ArriveLate(1), false), rule(fault.Drop(), false), "decides the response"},
		{rule(fault.ArriveLate(1), false), rule(fault.Truncate(1), false), "leaves no response to change"},
		{rule(fault.Latency(1), committed), rule(fault.Drop(), false), "needs the operation"},
		{fault.Rule{Operation: shipping.OpPurchase, Fault: fault.Drop()}, at(fault.AfterCharge, fault.Drop()), "the operation is then not performed"},
		{fault.Rule{Fault: fault.Drop()}, at(fault.Generation, fault.Fault{}), ""},
		{at(fault.BeforeCharge, fault.Latency(1)), at(fault.BeforeReply, fault.Drop()), "the purchase then ends at before-charge"},
		{at(fault.BeforeReply, fault.Drop()), at(fault.BeforeCharge, fault.Latency(1)), ""},
		{at(fault.AfterCharge, fault.Latency(1)), at(fault.AfterCharge, fault.Drop()), ""},
		{at(fault.AfterCharge, fault.Drop()), at(fault.AfterCharge, fault.Status(502, nil)), "decides the response"},
		{at(fault.AfterCharge, fault.Drop()), fault.Rule{Operation: shipping.OpPurchase, Committed: true, Fault: fault.Drop()}, ""},
		{at(fault.Generation, fault.Fault{}), at(fault.Generation, fault.Fault{}), "a document fails once"},
	} {
		err := NewBook(1).Add([]fault.Rule{test.first, test.later}, time.Now())
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), "and "+test.want+": ") {
			t.Errorf("%s %v and %s %v: %v, want %q", test.first.Fault.Kind, test.first.Point, test.later.Fault.Kind, test.later.Point, err, test.want)
		}
	}
}

// An earlier rule that has ended, or that strikes only some requests, does not exclude a later one.
func TestPairs_ALimitedRuleDoesNotHideALaterOne(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, limited := range []fault.Rule{{First: 2}, {Nth: 1}, {Probability: 0.5}, {Until: now.Add(time.Hour)}, {From: now.Add(time.Hour)}, {Operation: shipping.OpAnalyze}} {
		limited.Fault = fault.Drop()
		if err := NewBook(1).Add([]fault.Rule{limited, {Fault: fault.Drop()}}, now); err != nil {
			t.Errorf("%+v: %v", limited, err)
		}
	}
	book := NewBook(1)
	if err := book.Add([]fault.Rule{{Fault: fault.Drop()}}, now); err != nil {
		t.Fatal(err)
	}
	book.Switch(1, false)
	if err := book.Add([]fault.Rule{{Fault: fault.Drop()}}, now); err != nil {
		t.Error(err)
	}
}

// An armed rule does not change with the header that it was made of.
func TestBook_CopiesRules(t *testing.T) {
	t.Parallel()
	book := NewBook(1)
	rule := fault.Rule{Fault: fault.Respond(200, nil, "")}
	rule.Fault.Header = fault.Header{"a": {"b"}}
	if err := book.Add([]fault.Rule{rule}, time.Now()); err != nil {
		t.Fatal(err)
	}
	rule.Fault.Header["a"][0] = "c"
	if got := book.Rules()[0].Fault.Header; !cmp.Equal(got, fault.Header{"A": {"b"}}) {
		t.Errorf("the header is %v", got)
	}
}

// No exchange changes the header of the rule, which the next exchange gets.
func TestDue_ChangesNoRule(t *testing.T) {
	t.Parallel()
	book := NewBook(1)
	header := http.Header{"Content-Type": {"a/b"}, "X-A": {"b"}}
	if err := book.Add([]fault.Rule{{Fault: fault.Respond(200, header, "body")}, {Fault: fault.ContentType("c/d")}, {Fault: fault.Truncate(2)}}, time.Now()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		x := answer(book)
		if x.Reply.ContentType != "c/d" || x.Reply.Header.Get("Content-Type") != "" || x.Reply.Header.Get("Content-Length") != "4" || string(x.Reply.Body) != "bo" {
			t.Errorf("%+v", x.Reply)
		}
	}
	if got := book.Rules()[0].Fault.Header; !cmp.Equal(http.Header(got), header) {
		t.Errorf("the header is %v", got)
	}
}

// The points of a charge were those of the purchase by its name.
func TestPoints_AreInEveryOperationThatCharges(t *testing.T) {
	t.Parallel()
	for _, op := range shipping.Operations() {
		for _, point := range []fault.Point{fault.BeforeCharge, fault.AfterCharge, fault.BeforeReply} {
			err := NewBook(1).Add([]fault.Rule{{Operation: op.Name, Point: point}}, time.Now())
			if op.Charges != (err == nil) || err != nil && !strings.Contains(err.Error(), "and never reached by "+op.Name) {
				t.Errorf("%s at %s: %v, want an error only if it does not charge", op.Name, point, err)
			}
		}
	}
	every := arm(fault.Rule{Point: fault.AfterCharge}, 1)
	for _, op := range shipping.Operations() {
		if slices.Contains(every.operations(), op.Name) != op.Charges {
			t.Errorf("a rule at a point matches %v, and %s charges: %v", every.operations(), op.Name, op.Charges)
		}
	}
}
