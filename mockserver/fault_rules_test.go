package mockserver_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
)

func TestInject_PointsOutARuleThatCanNeverStrike(t *testing.T) {
	t.Parallel()
	down := fault.Status(503, nil)
	past := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	tests := []struct {
		name string
		rule fault.Rule
		want string
	}{
		{"no fault", fault.Rule{}, "it has no fault"},
		{"unknown operation", fault.Rule{Operation: "rates.lst", Fault: down}, `unknown operation "rates.lst"`},
		{"call before the first", fault.Rule{Nth: -1, Fault: down}, "count from 1"},
		{"third of two", fault.Rule{Nth: 3, First: 2, Fault: down}, "call 3 is not among the first 2"},
		{"nothing to count", fault.Rule{EachRequest: true, Fault: down}, "set one of them"},
		{"impossible chance", fault.Rule{Probability: 1.5, Fault: down}, "between 0 and 1"},
		{"no chance at all", fault.Rule{Probability: math.NaN(), Fault: down}, "between 0 and 1"},
		{"empty time", fault.Rule{From: past.Add(2 * time.Hour), Until: past.Add(time.Hour), Fault: down}, "until is not after from"},
		{"time that is over", fault.Rule{Until: past, Fault: down}, "has passed"},
		{"impossible status", fault.Rule{Fault: fault.Status(42, nil)}, "choose one from 200 to 599"},
		{"page without a body", fault.Rule{Fault: fault.HTML(204)}, "has no body"},
		{"no delay", fault.Rule{Fault: fault.Latency(0)}, "above zero"},
		{"no tick", fault.Rule{Fault: fault.SlowBody(-1)}, "above zero"},
		{"redirect to nowhere", fault.Rule{Fault: fault.Redirect("")}, "location"},
		{"no content type", fault.Rule{Fault: fault.ContentType("")}, "content_type"},
		{"unknown form", fault.Rule{Fault: fault.RateLimit("later", 0)}, "seconds, imf-date"},
		{"pages of a list without pages", fault.Rule{Operation: shipping.OpListCountries, Fault: fault.RepeatPage()}, "is not a list with pages"},
		{"page fault too late", fault.Rule{Committed: true, Fault: fault.CapPage(1)}, "leave committed and point out"},
		{"page fault at a failpoint", fault.Rule{Point: fault.AfterCharge, Fault: fault.InsertRows(1)}, "leave committed and point out"},
		{"pages of nothing", fault.Rule{Fault: fault.CapPage(0)}, "at least 1"},
		{"no rows", fault.Rule{Fault: fault.InsertRows(0)}, "between 1 and"},
		{"unknown failpoint", fault.Rule{Point: "before-lunch"}, "before-charge after-charge"},
		{"failpoint elsewhere", fault.Rule{Point: fault.BeforeReply, Operation: shipping.OpAnalyze}, "never reached by"},
		{"failpoint and committed", fault.Rule{Point: fault.BeforeReply, Committed: true}, "leave committed out"},
		{"generation with a caller", fault.Rule{Point: fault.Generation, Fault: down}, "leave operation and fault out"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithoutListener(), virtual())
			err := srv.Inject(fault.Rule{Fault: down}, test.rule)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "rule 2 of 2") {
				t.Errorf("got %v, want %q", err, test.want)
			}
			get(t, srv, "/v1/countries").want(t, http.StatusOK) // the first rule was not added either
		})
	}
}

func TestFaultRules_CountEachRequestByItself(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	inject(t, srv, fault.Rule{EachRequest: true, First: 1, Fault: fault.Status(503, nil)})
	var got []int
	for _, page := range []string{"1", "2", "2", "1", "3", "1"} {
		got = append(got, get(t, srv, "/v1/rates?page="+page).status)
	}
	if diff := cmp.Diff([]int{503, 503, 200, 200, 503, 200}, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}

func TestFaultRules_StrikeInTheirTime(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	from := srv.Now().Add(time.Minute)
	inject(t, srv, fault.Rule{From: from, Until: from.Add(time.Minute), First: 2, Fault: fault.Status(503, nil)})
	var got []int
	for range 5 { // at 0, 30, 60, 90 and 120 seconds
		got = append(got, get(t, srv, "/v1/countries").status)
		if _, err := srv.Advance(30 * time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]int{200, 200, 503, 503, 200}, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}

// script is a fault script with everything left to chance that can be.
func script() []fault.Rule {
	return []fault.Rule{
		{Operation: shipping.OpListRates, Probability: 0.3, Fault: fault.Status(503, nil)},
		{Operation: shipping.OpGetRequest, Probability: 0.3, Committed: true, Fault: fault.Malformed()},
		{Operation: shipping.OpAnalyze, EachRequest: true, First: 1, Fault: fault.Status(429, nil)},
		{Point: fault.BeforeReply, Probability: 0.5, Fault: fault.Status(502, nil)},
		{Point: fault.Generation, Probability: 0.5},
	}
}

// work is one worker's calls: its own pages, its own shipment, analyzed, bought and looked up.
func work(t *testing.T, srv *mockserver.Server, worker int) string {
	var line strings.Builder
	note := func(a answer) answer {
		fmt.Fprintf(&line, "%d ", a.status)
		return a
	}
	for range 5 {
		note(get(t, srv, fmt.Sprintf("/v1/rates?page=%d", worker+1)))
	}
	body := `{"shipment_id":"` + srv.Shipments()[worker] + `"}`
	note(post(t, srv, regulatoryPath+"/analyze", body))
	id := note(post(t, srv, regulatoryPath+"/analyze", body)).text(t, "request_id")
	note(post(t, srv, regulatoryPath+"/purchase", `{"request_id":"`+id+`","document_types":["CUSTOMS"]}`))
	for range 5 {
		note(get(t, srv, regulatoryPath+"/request/"+id))
	}
	return line.String()
}

// callsOf lists what two equal runs have in common: operations, statuses and faults.
func callsOf(srv *mockserver.Server) []string {
	var lines []string
	for _, c := range srv.Journal() {
		lines = append(lines, fmt.Sprintf("%s %s %s %d %s", c.At, c.Operation, c.Query, c.Status, c.Fault))
	}
	return lines
}

func TestFaults_TheSameScriptAndSeedGiveTheSameJournal(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) (journaled []string, whole []journal.Entry) {
		srv := start(t, mockserver.WithoutListener(), virtual(), mockserver.WithSeed(seed))
		inject(t, srv, script()...)
		for worker := range 5 {
			work(t, srv, worker)
		}
		return callsOf(srv), srv.Journal()
	}
	first, whole := run(7)
	second, again := run(7)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("two runs of one seed (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(whole, again); diff != "" {
		t.Errorf("whole journals (-first +second):\n%s", diff)
	}
	if other, _ := run(8); cmp.Equal(first, other) {
		t.Error("another seed met the same faults")
	}
}

func TestFaults_TheSameScriptAndSeedGiveTheSameJournalUnderConcurrency(t *testing.T) {
	t.Parallel()
	run := func() (lines, journaled []string) {
		srv := start(t, mockserver.WithoutListener(), virtual(), mockserver.WithSeed(7))
		inject(t, srv, script()...)
		lines = make([]string, 6)
		var workers sync.WaitGroup
		for worker := range lines {
			workers.Go(func() { lines[worker] = work(t, srv, worker) })
		}
		workers.Wait()
		journaled = callsOf(srv)
		slices.Sort(journaled) // workers overtake each other
		return lines, journaled
	}
	lines, journaled := run()
	for range 5 {
		linesAgain, again := run()
		if diff := cmp.Diff(lines, linesAgain); diff != "" {
			t.Errorf("what each worker met (-first +again):\n%s", diff)
		}
		if diff := cmp.Diff(journaled, again); diff != "" {
			t.Errorf("journals (-first +again):\n%s", diff)
		}
	}
}

func TestAdmin_TakesFaultRulesAsJSON(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	post(t, srv, "/_mock/faults", `{"rules":[
		{"operation":"rates.list","first":1,"fault":{"kind":"status","status":503,"header":{"retry-after":"7"}}},
		{"point":"after-charge"},
		{"operation":"countries.list","fault":{"kind":"latency","duration":"1ns"}}]}`).want(t, 200)
	if got := get(t, srv, "/v1/rates").want(t, 503); got.header.Get("Retry-After") != "7" {
		t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
	}
	get(t, srv, "/v1/rates").want(t, 200)
	var view struct {
		Rules []struct {
			Number, Seen, Struck int
			Point                string
			Fault                struct{ Kind, Duration string }
		}
		Kinds []struct{ Kind string }
	}
	get(t, srv, "/_mock/faults").data(t, &view)
	if len(view.Rules) != 3 || view.Rules[0].Seen != 2 || view.Rules[0].Struck != 1 || view.Rules[1].Fault.Kind != "drop" || view.Rules[2].Fault.Duration != "1ns" {
		t.Errorf("the rules are %+v", view.Rules)
	}
	do(t, srv, http.MethodDelete, "/_mock/faults/2", "").want(t, 200)
	do(t, srv, http.MethodDelete, "/_mock/faults/2", "").refusal(t, 404, "no such fault rule")
	do(t, srv, http.MethodDelete, "/_mock/faults", "").want(t, 200)
	get(t, srv, "/_mock/faults").data(t, &view)
	if len(view.Rules) != 0 {
		t.Errorf("%d rules are left", len(view.Rules))
	}
}

// Every kind can be written as the server itself shows it.
func TestAdmin_KnowsEveryKindOfFault(t *testing.T) {
	t.Parallel()
	forms := map[string]string{}
	for _, form := range []string{
		`{"kind":"status","status":503}`, `{"kind":"rate-limit","duration":"7s","retry_after":"seconds"}`,
		`{"kind":"redirect","location":"/elsewhere"}`, `{"kind":"latency","duration":"7s"}`, `{"kind":"drop"}`, `{"kind":"reset"}`,
		`{"kind":"arrive-late","duration":"7s"}`,
		`{"kind":"truncate","bytes":9}`, `{"kind":"slow-body","duration":"7s"}`, `{"kind":"early-hints"}`, `{"kind":"malformed"}`,
		`{"kind":"content-type","content_type":"text/plain"}`, `{"kind":"html","status":502}`, `{"kind":"empty"}`,
		`{"kind":"repeat-page"}`, `{"kind":"cap-page","per_page":3}`, `{"kind":"insert-rows","rows":2}`, `{"kind":"remove-rows","rows":2}`,
		`{"kind":"respond","status":200,"header":{"Content-Type":"text/plain","X-Two":["a","b"]},"body":"exactly"}`,
	} {
		var one struct{ Kind string }
		if err := json.Unmarshal([]byte(form), &one); err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		forms[one.Kind] = form
	}
	srv := start(t, mockserver.WithoutListener())
	var view struct {
		Kinds []struct{ Kind string }
	}
	get(t, srv, "/_mock/faults").data(t, &view)
	if len(view.Kinds) != len(fault.Kinds()) {
		t.Errorf("the server lists %d kinds of %d", len(view.Kinds), len(fault.Kinds()))
	}
	for _, kind := range view.Kinds {
		form, known := forms[kind.Kind]
		if !known {
			t.Errorf("the kind %q is missing here: add its JSON to forms", kind.Kind)
			continue
		}
		got := post(t, srv, "/_mock/faults", `{"rules":[{"first":1,"fault":`+form+`}]}`).want(t, 200)
		if !strings.Contains(string(got.body), form) {
			t.Errorf("%s is shown as %s", form, got.body)
		}
	}
}

func TestAdmin_RefusesFaultRulesWithTheReasonAndChangesNothing(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	ok := `{"fault":{"kind":"drop"}}`
	for body, want := range map[string]string{
		``:                      "send",
		`{"rules":[]}`:          "at least one",
		`{"rule":[` + ok + `]}`: `unknown field "rule": did you mean "rules"?`,
		`{"rules":[` + ok + `,{"operation":"x","fault":{"kind":"drop"}}]}`: "unknown operation",
		`{"rules":[` + ok + `,{"fault":{"kind":"explode"}}]}`:              "choose one of status",
		`{"rules":[` + ok + `,{"fault":{"kind":"drop","bytes":3}}]}`:       "bytes does not apply to a fault of kind drop",
		`{"rules":[{"fault":{"kind":"latency","duration":"soon"}}]}`:       "write it as 250ms",
		`{"rules":[{"fault":{"kind":"status","status":503,"header":[]}}]}`: "invalid header",
		`{"rules":[{"fault":{"kind":"drop","Kind":"reset"}}]}`:             `unknown field "Kind"`,
		`{"rules":[{}]}`: "it has no fault",
		`{"rules":[{"until":"-5s","fault":{"kind":"drop"}}]}`:        "write it as 2026-01-05T09:30:00Z",
		`{"rules":[{"number":3,"fault":{"kind":"drop"}}]}`:           `unknown field "number"`,
		`{"rules":[{"probability":"high","fault":{"kind":"drop"}}]}`: "probability",
	} {
		post(t, srv, "/_mock/faults", body).refusal(t, 400, want)
	}
	get(t, srv, "/v1/countries").want(t, 200)
}

func TestFaults_AreTheSameAgainAfterAReset(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	run := func() (lines []string) {
		inject(t, srv, script()...)
		for worker := range 3 {
			lines = append(lines, work(t, srv, worker))
		}
		return lines
	}
	first := run()
	srv.Reset()
	if diff := cmp.Diff(first, run()); diff != "" {
		t.Errorf("before and after a reset (-first +second):\n%s", diff)
	}
}

// A fault of lists applies to lists only: its rule does not count other operations.
func TestInject_AFaultOfListsSeesListsOnly(t *testing.T) {
	t.Parallel()
	for _, injected := range []fault.Fault{fault.CapPage(1), fault.RepeatPage(), fault.InsertRows(1), fault.RemoveRows(1)} {
		srv := start(t, mockserver.WithoutListener())
		inject(t, srv, fault.Rule{First: 1, Fault: injected})
		get(t, srv, "/v1/countries")
		analyzeShipment(t, srv, srv.Shipments()[0])
		if calls := srv.Find(journal.Query{Faulted: true}); len(calls) > 0 {
			t.Errorf("%v struck %+v", injected, calls)
		}
		get(t, srv, "/v1/rates?perPage=2").want(t, http.StatusOK)
		if calls := srv.Find(journal.Query{Faulted: true}); len(calls) != 1 || calls[0].Operation != shipping.OpListRates {
			t.Errorf("%v struck %+v", injected, calls)
		}
	}
}
