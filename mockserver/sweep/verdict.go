package sweep

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/wait"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Verdict is the kind of a finding.
type Verdict string

// The verdicts, the worst first.
const (
	// PaidTwice: a document was bought more often than without faults.
	PaidTwice Verdict = "paid-twice"
	// Different: the program bought or sent something unexpected once, or it succeeded and a file differs from the
	// run without faults; see [Goal.Files].
	Different Verdict = "different"
	// Unfinished: money was spent for a request that never completed.
	Unfinished Verdict = "unfinished"
	// Missing: the program succeeded, and something that it buys or sends without faults is missing.
	Missing Verdict = "missing"
	// Unsettled: money was spent by a purchase whose response was lost, and the program failed without reading that the
	// request was purchased, although the service responds.
	Unsettled Verdict = "unsettled"
	// Broken: the world contradicts itself; see [mockserver.World.Check].
	Broken Verdict = "broken"
	// SentAgain: a request was sent again that must not be.
	SentAgain Verdict = "sent-again"
	// TimedOut: the program did not end in time.
	TimedOut Verdict = "timed-out"
	// Lint: a finding of lint; see [mockserver.World.Findings].
	Lint Verdict = "lint"
	// NotStruck: the program did not make a request of the one schedule that was selected, so the run tested nothing.
	NotStruck Verdict = "not-struck"
)

// Verdicts returns every verdict, the worst first.
func Verdicts() []Verdict {
	return []Verdict{PaidTwice, Unfinished, Missing, Different, Unsettled, Broken, SentAgain, TimedOut, Lint, NotStruck}
}

// Finding is a verdict about one run.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	Detail  string  `json:"detail"`
}

// String returns the verdict and the detail.
func (f Finding) String() string { return string(f.Verdict) + ": " + f.Detail }

// Outcome describes how a program ended.
type Outcome struct {
	// Success is true if the program reported success, such as by exit code 0.
	Success bool
	// Unknown is true if it reported neither success nor failure.
	Unknown bool
	// How describes the end, such as "exit code 1".
	How string
	// Output is the end of what the program printed.
	Output string
	// Files is the content of the files of [Goal.Files] that exist.
	Files map[string]string
}

// observation is the state of a world after a run.
type observation struct {
	faultless  bool   // the run was the one without faults
	source     string // of the expectations, if other runs are compared with this one
	calls      []journal.Entry
	unknown    []journal.Entry // requests without a secret key of the world
	requests   []Request       // with the notifications that the program has received
	lint       []journal.Finding
	bought     map[string]int // how often, by document and shipment or invoice
	sent       map[string]int // notifications that the program has caused
	received   map[string]int // notifications that a receiver has accepted
	files      map[string]string
	unfinished []string
	charged    map[string]bool // request ids
	broken     error
	failed     bool // a fault made a document fail
}

// start is the state of a world before a run.
type start struct {
	last       string // request id of the latest call
	deliveries int
	notifier   *notifier
}

// delivered is the state of a delivery that the receiver has accepted.
const delivered = "delivered"

func began(w *mockserver.World) start {
	s := start{deliveries: len(w.Deliveries())}
	if calls := w.Journal(); len(calls) > 0 {
		s.last = calls[len(calls)-1].ID
	}
	return s
}

// observe waits until the world is idle and reads its state.
func observe(ctx context.Context, server *mockserver.Server, s start, out Outcome, limit time.Duration) (*observation, error) {
	w := server.World
	fails := slices.ContainsFunc(w.Faults(), func(r fault.Injected) bool { return r.Point == fault.Generation && r.Struck > 0 })
	w.ClearFaults()
	idle(ctx, server, limit)
	o := &observation{
		source: fromRun, files: out.Files, calls: w.Find(journal.Query{After: s.last}), unknown: server.Unauthenticated(), lint: w.Findings(),
		bought: map[string]int{}, sent: map[string]int{}, received: map[string]int{}, charged: map[string]bool{}, failed: fails,
	}
	o.requests = s.notifier.merge(learn(o.calls))
	deliveries := w.Deliveries()
	for _, d := range deliveries[:max(0, len(deliveries)-s.deliveries)] {
		what := fmt.Sprintf("%s of %s to %s", d.Event, d.ShipmentID, d.WebhookID)
		if !s.notifier.emitted(d.ID) {
			o.sent[what]++
		}
		if d.State == delivered {
			o.received["an accepted "+what]++
		}
	}
	client, err := shipping.NewClient(w.SecretKey, shipping.WithBaseURL(w.URL), shipping.WithPlainHTTP(),
		shipping.WithHTTPClient(&http.Client{Transport: w.Transport()}))
	if err != nil {
		return nil, err
	}
	for _, id := range purchased(o.calls) {
		request, err := client.Regulatory.Get(ctx, id)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			continue // the program named a request that does not exist
		}
		o.add(request)
	}
	o.broken = w.Check()
	return o, nil
}

// add counts the documents of a request.
func (o *observation) add(r *shipping.RegulatoryRequest) {
	if !r.ChargedAmount.Known() || r.ChargedAmount.Sign() <= 0 {
		return
	}
	o.charged[r.RequestID] = true
	subject := r.ShipmentID
	if subject == "" {
		subject = r.FileURL
	}
	for _, d := range r.Documents {
		o.bought[fmt.Sprintf("%s for %s", d.DocumentType, subject)]++
	}
	if r.Status != shipping.StatusCompleted {
		o.unfinished = append(o.unfinished, fmt.Sprintf("%s for %s is %s, and %s %s was spent", r.RequestID, subject, r.Status, r.ChargedAmount, r.Currency))
	}
}

// idle waits until no request is in progress, such as one that the program gave up, and nothing is pending in the world,
// such as a document under generation.
func idle(ctx context.Context, server *mockserver.Server, limit time.Duration) {
	pause, until := time.Millisecond, time.Now().Add(limit)
	for (server.Active() > 0 || server.Pending() > 0) && time.Now().Before(until) && wait.Sleep(ctx, pause) == nil {
		pause = min(2*pause, time.Second)
	}
}

// purchased returns the ids of the requests that were to be purchased, each once.
func purchased(calls []journal.Entry) []string {
	var ids []string
	for _, c := range calls {
		if id := chargedID(c); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// chargedID returns the id of the request that a call charges for, such as a purchase; empty for other calls.
func chargedID(c journal.Entry) string {
	if !operations.Has(c.Operation, operations.Charges) {
		return ""
	}
	for _, text := range []string{c.RequestBody, c.Path} {
		if _, id, _ := regulatory.CutRequestID([]byte(text)); len(id) > 0 {
			return string(id)
		}
	}
	return ""
}

// unknownTo returns the requests whose purchase a fault struck and whose outcome the program did not read. Late responses
// count as lost only if it is known that the program failed. If the purchase took effect after the program had given up, a
// reading that shows a draft is enough: nothing else was to be read.
func (o *observation) unknownTo(failed bool) []string {
	struck, deferred, read, known := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range o.calls {
		switch id := chargedID(c); {
		case id == "" && c.Fault == "" && c.Operation == shipping.OpGetRequest && c.Status == http.StatusOK:
			read[path.Base(c.Path)] = true
			known[path.Base(c.Path)] = known[path.Base(c.Path)] || showsPurchase(c)
		case unfound(c):
			known[path.Base(c.Path)] = true // a program cannot find out more
		case id == "":
		case c.Fault == "":
			known[id] = true
		case strings.Contains(c.Fault, fault.ArriveLate(0).Kind):
			deferred[id] = true
		case failed || !strings.Contains(c.Fault, "latency"):
			struck[id] = true
		}
	}
	maps.DeleteFunc(deferred, func(id string, _ bool) bool { return read[id] })
	maps.Copy(struck, deferred)
	maps.DeleteFunc(struck, func(id string, _ bool) bool { return known[id] })
	return slices.Sorted(maps.Keys(struck))
}

// unfound reports whether a fault made a reading fail with 404.
func unfound(c journal.Entry) bool {
	return c.Fault != "" && c.Status == http.StatusNotFound && c.Operation == shipping.OpGetRequest
}

// showsPurchase reports whether a successful reading shows a request that is no longer a draft. The order of the journal would prove
// less: a purchase that the program gave up is journaled when the server notices, which can be after the reading.
func showsPurchase(c journal.Entry) bool {
	var body struct {
		Data struct {
			Status shipping.RequestStatus `json:"status"`
		} `json:"data"`
	}
	if c.ResponseBytes > len(c.ResponseBody) {
		return true // it may: the journal has only a part of it
	}
	return json.Unmarshal([]byte(c.ResponseBody), &body) == nil && body.Data.Status != shipping.StatusDraft
}

// judge compares a run with the run without faults and returns its findings. restarted is true if the
// program was started a second time.
func judge(c *Config, normal, o *observation, out Outcome, restarted bool) []Finding {
	var found []Finding
	find := func(v Verdict, format string, args ...any) {
		found = append(found, Finding{v, fmt.Sprintf(format, args...)})
	}
	found = append(found, more(PaidTwice, normal, normal.bought, o.bought)...)
	if !o.faultless && !o.failed && len(o.unfinished) > len(normal.unfinished) {
		for _, what := range o.unfinished {
			find(Unfinished, "%s", what)
		}
	}
	if out.Success && !out.Unknown {
		if less := slices.Concat(fewer(normal.bought, o.bought), fewer(normal.sent, o.sent), fewer(normal.received, o.received)); len(less) > 0 {
			find(Missing, "the program succeeded without %s", together(less))
		}
		for _, what := range c.Goal.differing(normal.files, o.files) {
			if !o.failed { // a report can state the failure
				find(Different, "%s", what)
			}
		}
	} else {
		for _, id := range o.unknownTo(!out.Unknown) {
			if o.charged[id] {
				find(Unsettled, "%s was charged, the response to its purchase was lost, and the program did not read the request afterwards", id)
			}
		}
	}
	if !restarted {
		found = append(found, more(SentAgain, normal, normal.sent, o.sent)...)
	}
	for _, f := range newLint(c, normal, o) {
		if f.Rule == journal.LintRepeatedPurchase {
			find(SentAgain, "the purchase of %s was sent again before the request was read", f.Detail)
		} else {
			find(Lint, "%s", f)
		}
	}
	if o.broken != nil {
		find(Broken, "%v", o.broken)
	}
	return found
}

// more returns the findings for keys with larger counts than expected: one for all keys with the same counts. The verdict
// is repeated, or [Different] if a key is not expected at all and has the count 1.
func more(repeated Verdict, normal *observation, want, got map[string]int) []Finding {
	type counts struct{ got, want int }
	groups := map[counts][]string{}
	for _, what := range slices.Sorted(maps.Keys(got)) {
		if got[what] > want[what] {
			c := counts{got[what], want[what]}
			groups[c] = append(groups[c], what)
		}
	}
	var found []Finding
	byCounts := func(a, b counts) int { return cmp.Or(cmp.Compare(b.got, a.got), cmp.Compare(b.want, a.want)) }
	for _, c := range slices.SortedFunc(maps.Keys(groups), byCounts) {
		verdict := repeated
		if c == (counts{1, 0}) {
			verdict = Different
		}
		found = append(found, Finding{verdict, fmt.Sprintf("%s: %s, but %s", together(groups[c]), times(c.got), normal.expected(c.want))})
	}
	return found
}

// expected describes how often something is expected.
func (o *observation) expected(n int) string {
	if n == 0 && o.source == fromGoal {
		return "not in the goal"
	}
	return times(n) + " " + o.source
}

// together joins the documents of a shipment or invoice: "CUSTOMS, FDA for SH-1; CUSTOMS for SH-2".
func together(whats []string) string {
	var order []string
	documents := map[string][]string{}
	for _, what := range whats {
		document, subject, bought := strings.Cut(what, " for ")
		if !bought {
			document, subject = "", what
		}
		if _, known := documents[subject]; !known {
			order = append(order, subject)
		}
		documents[subject] = append(documents[subject], document)
	}
	for i, subject := range order {
		if names := strings.Join(documents[subject], ", "); names != "" {
			order[i] = names + " for " + subject
		}
	}
	return strings.Join(order, "; ")
}

// fewer returns what there is less of than without faults.
func fewer(normal, got map[string]int) []string {
	var less []string
	for _, what := range slices.Sorted(maps.Keys(normal)) {
		if got[what] < normal[what] {
			less = append(less, what)
		}
	}
	return less
}

// newLint returns the findings of lint that are not allowed; in a run with faults also not those that the run without
// faults has.
func newLint(c *Config, normal, o *observation) []journal.Finding {
	var found []journal.Finding
	for _, f := range o.lint {
		known := !o.faultless && slices.ContainsFunc(normal.lint, func(n journal.Finding) bool { return n.Rule == f.Rule && n.Operation == f.Operation })
		// To read again is right if the record exists.
		again := f.Rule == journal.LintRepeatedRefusal && f.Operation == shipping.OpGetRequest && slices.ContainsFunc(o.calls, unfound)
		if !known && !again && !slices.Contains(c.Allow, f.Rule) {
			found = append(found, f)
		}
	}
	return found
}

func times(n int) string {
	switch n {
	case 0:
		return "not at all"
	case 1:
		return "once"
	case 2:
		return "twice"
	default:
		return fmt.Sprintf("%d times", n)
	}
}
