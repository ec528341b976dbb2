package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/batchtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// The times of the lease, and for how long a process stalls. A cache is stale, and the copy of a refused
// purchase late, for two seconds each, together less than RefusedFor: beyond that, nobody can distinguish them from the
// service. maxRuns is how often a process runs the batch: for each fault, to
// settle, and once more.
const (
	lease    = 7 * time.Minute
	stall    = 8 * time.Minute
	staleFor = 2 * time.Second
	nextTry  = 40 * time.Second
	maxRuns  = 8
)

// setting is the environment of a sequence.
type setting struct {
	name   string
	items  int
	shared bool // a journal with leases, and a second process; otherwise a journal file
}

// world is a server that many trials use, one after the other.
type world struct {
	t         *testing.T
	setting   setting
	server    *mockserver.Server
	wallet    string
	price     shipping.Amount
	directory string
	journals  int
}

func newWorld(t *testing.T, s setting, directory string) *world {
	w := &world{t: t, setting: s, server: mockserver.New(mockserver.WithoutListener(), mockserver.WithScenario("instant"),
		mockserver.WithJournal(1, 1)), directory: directory}
	t.Cleanup(w.server.Close)
	client := w.server.Client(t)
	w.wallet = w.server.Wallets()[0]
	draft := shippingtest.Draft(t, client, batchItems(1)[0].Analyze.ShipmentID)
	var err error
	if w.price, _, err = draft.Price("CUSTOMS"); err != nil {
		t.Fatal(err)
	}
	return w
}

func batchItems(n int) []batch.Item {
	return []batch.Item{
		{Key: "1", Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-MAGICCUSTOMSONLY"}},
		{Key: "2", Analyze: shipping.AnalyzeRequest{FileURL: "https://invoices.example/match-customs-only.pdf"}},
	}[:n]
}

func itemOfKey(key string) int { return int(key[0] - '1') }

// trial is one sequence of faults, from the first start of the batch until it has ended.
type trial struct {
	*world
	script  script
	journal batch.Journal // of two processes
	path    string        // of the journal file of one
	network sync.WaitGroup
	running sync.WaitGroup // the processes

	mu       sync.Mutex
	monitor  *monitor
	counts   map[string]int // choices so far, by process, item and kind
	struck   int            // faults of the script that happened
	points   []point        // after the last of them
	drafts   map[string]response
	requests sync.Map // items by request
	kept     [items]batch.Record
	debits   [items]int
	charged  [items]time.Time // when the service charged last
	log      []string
	problem  string
	second   bool // the second process was started
	began    time.Time
}

// life is one process from its start until it ends or is killed.
type life struct {
	p        int
	kill     context.CancelFunc
	dead     atomic.Bool
	reserved int // the item whose price was reserved last
	// tries is when the process next tries to claim an item that another has. A batch tries at a random time before that;
	// here the time is fixed, so that a sequence can be replayed.
	tries [items]time.Time
}

func (l *life) isDead() bool { return l.dead.Load() }

// latency is how long a message or a record takes, a different time for each process.
func (l *life) latency() time.Duration {
	return [...]time.Duration{10 * time.Millisecond, 13700 * time.Microsecond}[l.p]
}

// run runs a script and returns the trial.
func (w *world) run(s script) *trial {
	w.server.Reset()
	t := &trial{
		world: w, script: s, monitor: newMonitor(w.setting.items), counts: map[string]int{},
		drafts: map[string]response{}, began: time.Now(),
	}
	if w.setting.shared {
		t.journal = batchtest.NewJournal(lease)
	} else {
		w.journals++
		t.path = filepath.Join(w.directory, fmt.Sprint(w.journals))
	}
	t.running.Go(func() { t.process(0) })
	t.running.Wait()
	t.network.Wait()
	t.finish()
	return t
}

// process runs the batch until nothing is left to do. After a kill it starts again.
func (t *trial) process(p int) {
	start := "starts"
	for range maxRuns {
		life := &life{p: p}
		t.observe(life, 0, start)
		report, err := t.runBatch(life)
		start = "runs again"
		switch {
		case life.isDead():
			start = "starts"
			continue
		case report == nil:
			t.fail("process %c: the batch did not begin: %v", 'A'+p, err)
			return
		case err != nil:
			t.observe(life, 0, "is interrupted")
		}
		if t.isSettled() {
			return
		}
	}
	t.fail("process %c: the batch has not ended after %d runs", 'A'+p, maxRuns)
}

func (t *trial) runBatch(l *life) (*batch.Report, error) {
	ctx, stop := context.WithCancel(t.t.Context())
	defer stop()
	l.kill = stop
	journal := t.journal
	if journal == nil {
		file, err := batch.OpenFile(t.path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		journal = file
	}
	transport := gateway{t, l}.transport()
	defer transport.CloseIdleConnections()
	client, err := shipping.NewClient(t.server.SecretKey, shipping.WithBaseURL(shippingtest.PlainBaseURL),
		shipping.WithHTTPClient(&http.Client{Transport: transport}), shipping.WithObserver(observer()),
		shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 2, MinWait: time.Microsecond, MaxWait: time.Microsecond,
			Burst: 1000}))
	if err != nil {
		return nil, err
	}
	return batch.Run(ctx, client, batchItems(t.setting.items), &batch.Options{
		Concurrency: 1, Select: shipping.SelectAll, Budget: &shipping.Budget{Amount: t.price, Currency: "NGN"},
		Journal: cutJournal{journal, t, l},
		Progress: func(event batch.Event) {
			if l.isDead() {
				return
			}
			t.checkCommitted(event)
			if event.Step == "ended" {
				t.checkResult(l, event.Item)
			}
		},
	})
}

// checkCommitted compares the sum that a process reports with the ledger and the budget. If another process has the
// journal too, the sum can be older.
func (t *trial) checkCommitted(event batch.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var spent shipping.Amount
	for range t.debits[0] + t.debits[1] {
		spent, _ = spent.Add(t.price)
	}
	if event.Committed.Cmp(t.price) > 0 || !t.setting.shared && spent.Cmp(event.Committed) > 0 {
		t.failed("%s is reported as committed, %s is spent, and the budget is %s", event.Committed, spent, t.price)
	}
}

// checkResult compares the report of a process about an item with the ledger.
func (t *trial) checkResult(l *life, result batch.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := itemOfKey(result.Key)
	debits := t.debits[i]
	t.note(l, i, fmt.Sprintf("reports %q", result.State))
	claimed := -1 // nothing
	switch result.State {
	case batch.StateCompleted:
		claimed = 1
	case batch.StateOverBudget, batch.StateError, batch.StateDraft:
		claimed = 0
	}
	if failed, ok := errors.AsType[*shipping.RegulatoryError](result.Err); ok {
		switch failed.Outcome {
		case shipping.OutcomePurchasedBefore:
			claimed = 1
		case shipping.OutcomeNotCharged:
			claimed = 0
		}
	}
	if claimed >= 0 && claimed != debits {
		t.failed("process %c reports item %d as %q (%v), and the ledger has %d debits", 'A'+l.p, i+1, result.State,
			result.Err, debits)
	}
}

// isSettled reports whether the journal has an end for each item.
func (t *trial) isSettled() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	committed := t.committed()
	for _, record := range t.kept[:t.setting.items] {
		if !final(record) && (record.Step != batch.StepAnalyzed || committed.Cmp(t.price) < 0) {
			return false
		}
	}
	return true
}

func (t *trial) committed() (sum shipping.Amount) {
	for _, record := range t.kept {
		if record.Committed() {
			sum, _ = sum.Add(record.Amount)
		}
	}
	return sum
}

// finish compares the end with the ledger.
func (t *trial) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	debits := 0
	for i, record := range t.kept[:t.setting.items] {
		if t.problem == "" && (t.debits[i] == 1) != final(record) {
			t.failed("the batch has ended, item %d is recorded as %q, and the ledger has %d debits", i+1, record.Step,
				t.debits[i])
		}
		debits += t.debits[i]
	}
	balance, _ := t.server.Balance(t.wallet)
	for range debits {
		balance, _ = balance.Add(t.price)
	}
	t.server.Reset()
	if before, _ := t.server.Balance(t.wallet); t.problem == "" && balance != before {
		t.failed("the wallet has lost another sum than %d debits", debits)
	}
}

// observe passes an event to the monitor.
func (t *trial) observe(l *life, i int, events ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.observed(l, i, events...)
}

// observed is observe for a trial that is locked.
func (t *trial) observed(l *life, i int, events ...string) {
	p, onNetwork := l.p, networkEvent(events[0])
	if t.problem != "" || l.isDead() && !onNetwork && events[0] != "is killed" {
		return
	}
	if onNetwork {
		p = 0 // such events belong to an item only
	}
	allowed := t.monitor.observe(p, i, events...)
	if allowed == nil {
		t.note(l, i, strings.Join(events, ", or ")+" (the model does not allow it)")
		t.failed("process %c, item %d: the model does not allow this here: %s", 'A'+l.p, i+1, strings.Join(events, ", or "))
		return
	}
	t.note(l, i, allowed[0])
	committed := t.committed()
	if committed.Cmp(t.price) > 0 {
		t.failed("%s is committed, more than the budget of %s", committed, t.price)
	}
	for i, debits := range t.debits {
		if debits > 1 {
			t.failed("item %d was debited %d times", i+1, debits)
		}
		if debits > 0 && !t.kept[i].Committed() {
			t.failed("item %d was debited, and its last record is %q", i+1, t.kept[i].Step)
		}
	}
}

// networkEvent reports whether an event can happen after the process that caused it has died.
func networkEvent(event string) bool {
	return slices.Contains([]string{"the service charges", "the service ignores a copy", "the network drops it",
		"the network repeats it"}, event)
}

func (t *trial) note(l *life, i int, text string) {
	if t.problem != "" {
		return
	}
	t.log = append(t.log, fmt.Sprintf("%9.3fs  process %c, item %d: %s", time.Since(t.began).Seconds(), 'A'+l.p, i+1,
		text))
}

func (t *trial) fail(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed(format, args...)
}

// failed keeps the first problem.
func (t *trial) failed(format string, args ...any) {
	if t.problem == "" {
		t.problem = fmt.Sprintf(format, args...)
	}
}

// kill ends a process at once: nothing that it still does has an effect.
func (t *trial) kill(l *life) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !l.dead.Swap(true) {
		t.observed(l, 0, "is killed")
		l.kill()
	}
}

// final reports whether a record ends its item.
func final(r batch.Record) bool { return r.Step == batch.StepCompleted || r.Step == batch.StepFailed }

// script is a sequence of faults, in the order in which they happen.
type script []deviation

// deviation is a fault at a point of a run.
type deviation struct{ point, fault string }

// point is the nth exchange or record of a kind, of a process with an item, and the faults that can happen there.
type point struct {
	name   string
	faults []string
}

// faultsAt returns the faults of a kind of point. With "-before" and "-after" they happen before or after what happens
// there.
func faultsAt(kind string) (names []string) {
	switch kind {
	case "analysis":
		return []string{"lost-before", "lost-after", "kill-before", "kill-after"}
	case "record": // full: it cannot be written; stall: for longer than the claim
		return []string{"kill-before", "kill-after", "full", "stall-before", "stall-after"}
	case "read": // of a regulatory request; gateway_test.go has what arrives
		return []string{"lost", "failed", "denied", "missing", "page", "cut", "null", "others", "another", "paused",
			"unlisted",
			"folded", "stale", "kill"}
	}
	for _, way := range purchaseWays()[1:] {
		names = append(names, way.name)
	}
	return names
}

// second starts the second process at any point of the first.
const second = "second"

// faultsIn returns the faults that can happen next at a kind of point.
func (t *trial) faultsIn(kind string, p int) (names []string) {
	for _, name := range faultsAt(kind) {
		if t.setting.shared || !strings.HasPrefix(name, "stall") {
			names = append(names, name)
		}
	}
	if t.setting.shared && p == 0 && !t.second {
		names = append(names, second)
	}
	return names
}

// choose returns the fault of the script at the next point of its kind, or "".
func (t *trial) choose(l *life, i int, kind string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := fmt.Sprintf("%c%d.%s", 'A'+l.p, i+1, kind)
	t.counts[name]++
	name = fmt.Sprintf("%s.%d", name, t.counts[name])
	if l.isDead() {
		return ""
	}
	n := slices.IndexFunc(t.script, func(d deviation) bool { return d.point == name })
	if n < 0 {
		if t.struck == len(t.script) {
			t.points = append(t.points, point{name, t.faultsIn(kind, l.p)})
		}
		return ""
	}
	t.struck++
	fault := t.script[n].fault
	t.note(l, i, "fault at "+name+": "+fault)
	if fault == second {
		t.second = true
		t.running.Go(func() { t.process(1) })
		return ""
	}
	return fault
}

// parseScript reads what String returns.
func parseScript(text string) (script, error) {
	var s script
	for part := range strings.SplitSeq(text, ",") {
		point, fault, ok := strings.Cut(strings.TrimSpace(part), "=")
		if kinds := strings.Split(point, "."); !ok || len(kinds) != 3 ||
			fault != second && !slices.Contains(faultsAt(kinds[1]), fault) {
			return nil, fmt.Errorf("%q is not a fault at a point, such as A1.purchase.1=lost-after", part)
		}
		s = append(s, deviation{point, fault})
	}
	return s, nil
}

func (s script) String() string {
	var parts []string
	for _, d := range s {
		parts = append(parts, d.point+"="+d.fault)
	}
	return strings.Join(parts, ",")
}
