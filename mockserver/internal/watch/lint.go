package watch

import (
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Lint watches how a client behaves. The cost of a call does not grow with the number of calls: the memory is bounded,
// and a map that is full is emptied.
type Lint struct {
	once       []string                        // the operations that must not be repeated before their outcome was read
	parameters func(operation string) []string // the query parameters in the specification
	fields     func(operation string) []string // the members of the body

	mu        sync.Mutex
	changes   int // of the world
	refused   map[uint64]refusedRequest
	sentOnce  map[string]sentOnce  // the latest requests that must not be repeated, by operation and request_id
	reads     map[string]time.Time // by request_id: when the latest read arrived
	polls     map[string]poll
	redirects map[string]bool // paths of this server to which a redirect led
	findings  []*journal.Finding
	byRequest map[string][]*journal.Finding // by X-Request-Id
}

// refusedRequest is a refused request, which must not be sent again, or not before a time.
type refusedRequest struct {
	status    int
	changes   int
	notBefore time.Time
}

// sentOnce is a request of an operation that must not be repeated before its outcome was read, such as a purchase.
type sentOnce struct {
	arrived time.Time
	read    bool // the request was read afterwards
}

// poll is the latest look-up of a request and the number of consecutive ones that came too soon.
type poll struct {
	at   time.Time
	fast int
}

const (
	maxWatched  = 4096
	pollGap     = 100 * time.Millisecond
	fastPolls   = 5
	maxFindings = 200
)

// NewLint returns a linter. once are the operations that must not be repeated before their outcome was read; parameters
// and fields return the query parameters and the members of the body that the specification lists for an operation.
func NewLint(once []string, parameters, fields func(operation string) []string) *Lint {
	return &Lint{
		once: once, parameters: parameters, fields: fields,
		refused: map[uint64]refusedRequest{}, sentOnce: map[string]sentOnce{}, reads: map[string]time.Time{},
		polls: map[string]poll{}, redirects: map[string]bool{}, byRequest: map[string][]*journal.Finding{},
	}
}

// Clear removes all findings and everything remembered for them.
func (d *Lint) Clear() {
	fresh := NewLint(nil, nil, nil)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changes, d.refused, d.sentOnce, d.reads = 0, fresh.refused, fresh.sentOnce, fresh.reads
	d.polls, d.redirects, d.findings, d.byRequest = fresh.polls, fresh.redirects, nil, fresh.byRequest
}

// Changed records that the world was changed, so that a refused request may be sent again.
func (d *Lint) Changed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changes++
}

// See checks an exchange before the response is sent. If the clock is virtual, rules about elapsed time
// do not apply.
func (d *Lint) See(x *wire.Exchange) {
	if x.FromConsole() {
		return // a person tries something out, and browsers repeat requests
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	find := func(rule journal.LintRule, detail string) { d.find(rule, x.Operation, detail, x.ID) }
	d.watchForm(x, find)
	d.watchRepeats(x, x.At, find)
	switch {
	case x.Operation == shipping.OpGetRequest:
		d.watchPoll(x, x.At, x.Virtual, find)
	case slices.Contains(d.once, x.Operation):
		d.watchOnce(x, find)
	}
	if d.redirects[x.URL.Path] {
		find(journal.LintFollowedRedirect, "to "+x.URL.Path)
	}
	if to := x.Reply.Header.Get("Location"); to != "" {
		if location, err := url.Parse(to); err == nil {
			remember(d.redirects, location.Path, true)
		}
	}
	if x.Method != http.MethodGet && x.Reply.Status >= 200 && x.Reply.Status < 300 {
		d.changes++
	}
}

func (d *Lint) watchForm(x *wire.Exchange, find func(journal.LintRule, string)) {
	if x.Operation == "" {
		return
	}
	if raw := x.URL.RawQuery; raw != "" {
		known := d.parameters(x.Operation)
		for pair := range strings.SplitSeq(raw, "&") {
			name, _, _ := strings.Cut(pair, "=")
			if !x.Stubbed && !slices.Contains(known, name) {
				find(journal.LintUnknownParameter, wire.Redact(name))
			}
		}
		if strings.Contains(raw, wire.KeyPrefix) {
			find(journal.LintSecretInQuery, "")
		}
	}
	for _, name := range x.Unknown {
		find(journal.LintUnknownField, name)
	}
	if len(x.Body) > 0 && x.Operation != shipping.OpReplayWebhook && x.Header.Get("Content-Type") == "" {
		find(journal.LintNoContentType, "")
	}
}

// watchRepeats finds requests that were repeated although the previous response forbids it.
func (d *Lint) watchRepeats(x *wire.Exchange, at time.Time, find func(journal.LintRule, string)) {
	bad := x.Reply.Status >= 400 && x.Reply.Status < 500 || x.Reply.Header.Get("Retry-After") != ""
	if !bad && len(d.refused) == 0 {
		return
	}
	hash := fnv.New64a()
	for _, part := range []string{x.Method, x.RequestURI, x.Header.Get("Authorization")} {
		hash.Write([]byte(part))
		hash.Write([]byte{0})
	}
	hash.Write(x.Body)
	same := hash.Sum64()
	if before, known := d.refused[same]; known {
		switch {
		case at.Before(before.notBefore):
			find(journal.LintIgnoredRetryAfter, "sent "+
				"again "+before.notBefore.Sub(at).Round(time.Millisecond).String()+" too early")
		case before.notBefore.IsZero() && before.changes == d.changes && !d.unsettled(x.PathValue("request_id")):
			find(journal.LintRepeatedRefusal, "refused with "+strconv.Itoa(before.status)+" before")
		}
		delete(d.refused, same)
	}
	if !bad || x.Ending != wire.EndAnswered {
		return
	}
	refusal := refusedRequest{status: x.Reply.Status, changes: d.changes}
	switch until, known := retryAt(x.Reply.Header.Get("Retry-After"), at); {
	case known:
		refusal.notBefore = until
	case x.Reply.Status < 400, x.Reply.Status >= 500, x.Reply.Status == http.StatusTooManyRequests,
		x.Reply.Status == http.StatusRequestTimeout:
		return // may be sent again at any time
	}
	remember(d.refused, same, refusal)
}

func retryAt(value string, now time.Time) (time.Time, bool) {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return now.Add(time.Duration(seconds) * time.Second), seconds > 0
	}
	at, err := http.ParseTime(value)
	return at, err == nil && at.After(now)
}

// watchOnce finds a request that must not be repeated, such as a purchase, but was sent again before its outcome was
// read. Requests are compared in the order in which they arrived: the response to the first can be ready after the
// client has sent the second.
func (d *Lint) watchOnce(x *wire.Exchange, find func(journal.LintRule, string)) {
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if x.Header.Get(name) != "" {
			find(journal.LintIdempotencyKey, name)
		}
	}
	id := regulatory.RequestIDIn(string(x.Body), x.URL.Path)
	if id == "" {
		return
	}
	this := sentOnce{arrived: x.Began, read: d.reads[id].After(x.Began)}
	other, sent := d.sentOnce[x.Operation+" "+id]
	first, latest := other, this
	if this.arrived.Before(other.arrived) {
		first, latest = this, other
	}
	if sent && !first.read {
		find(journal.LintRepeatedPurchase, id)
	}
	// Only after a refusal is it certain that nothing was charged.
	if clear := x.Ending == wire.EndAnswered && len(x.Struck) == 0 && x.Reply.Refusal.Code != ""; !clear {
		remember(d.sentOnce, x.Operation+" "+id, latest)
	}
}

// unsettled reports whether a request about the id was sent, and its response did not show its effect.
func (d *Lint) unsettled(id string) bool {
	return slices.ContainsFunc(d.once, func(operation string) bool {
		_, sent := d.sentOnce[operation+" "+id]
		return sent
	})
}

func (d *Lint) watchPoll(x *wire.Exchange, at time.Time, virtual bool, find func(journal.LintRule, string)) {
	id := x.PathValue("request_id")
	remember(d.reads, id, x.Began)
	for _, operation := range d.once {
		if latest, sent := d.sentOnce[operation+" "+id]; sent {
			latest.read = true
			d.sentOnce[operation+" "+id] = latest
		}
	}
	record := x.Reply.Record
	if record == nil || !record.Status.Working() {
		delete(d.polls, id)
		return
	}
	last, known := d.polls[id]
	gap := at.Sub(last.at)
	next := poll{at: at}
	if known && gap < pollGap && (gap > 0 || !virtual) {
		next.fast = last.fast + 1
	}
	if next.fast == fastPolls {
		find(journal.LintPolledTooFast, id)
		next.fast = 0
	}
	remember(d.polls, id, next)
}

// remember adds to a bounded map. A full map is emptied first.
func remember[K comparable, V any](m map[K]V, key K, value V) {
	if len(m) >= maxWatched {
		clear(m)
	}
	m[key] = value
}

// find records a finding, or counts it again.
func (d *Lint) find(rule journal.LintRule, operation, detail, id string) {
	i := slices.IndexFunc(d.findings, func(f *journal.Finding) bool {
		return f.Rule == rule && f.Operation == operation && (f.Detail == detail || rule == journal.LintIgnoredRetryAfter)
	})
	if i < 0 {
		if i = len(d.findings); i == maxFindings {
			return
		}
		d.findings = append(d.findings, &journal.Finding{Rule: rule, Operation: operation, Detail: detail,
			Advice: advice(rule) + d.meant(rule, operation, detail)})
	}
	found := d.findings[i]
	found.Times++
	found.EntryID = id
	remember(d.byRequest, id, append(d.byRequest[id], found))
}

// meant completes the advice about an unknown name with the name that was perhaps meant.
func (d *Lint) meant(rule journal.LintRule, operation, name string) string {
	switch rule {
	case journal.LintUnknownParameter:
		return spelling.Meant(name, d.parameters(operation))
	case journal.LintUnknownField:
		return spelling.Meant(name, d.fields(operation))
	default:
		return ""
	}
}

// All returns the findings, first found first.
func (d *Lint) All() []journal.Finding {
	d.mu.Lock()
	defer d.mu.Unlock()
	return copied(d.findings)
}

// Of returns the findings about a request, if they are still remembered.
func (d *Lint) Of(requestID string) []journal.Finding {
	d.mu.Lock()
	defer d.mu.Unlock()
	return copied(d.byRequest[requestID])
}

func copied(findings []*journal.Finding) []journal.Finding {
	all := make([]journal.Finding, len(findings))
	for i, f := range findings {
		all[i] = *f
	}
	return all
}

// advice explains why a client should not break the rule, and what to do instead.
func advice(r journal.LintRule) string {
	switch r {
	case journal.LintRepeatedRefusal:
		return "the same request was refused before and nothing has changed since: correct it instead of sending it again"
	case journal.LintIgnoredRetryAfter:
		return "the previous response had a Retry-After: wait that long"
	case journal.LintPolledTooFast:
		return "a request was looked up repeatedly, less than 100 ms apart: generation takes seconds, so increase the " +
			"wait between requests"
	case journal.LintUnknownParameter:
		return "the specification does not list this query parameter for the operation: it may be ignored"
	case journal.LintUnknownField:
		return "the specification does not list this body field for the operation: it may be ignored"
	case journal.LintNoContentType:
		return `a body came without Content-Type: send application/json ("Authentication")`
	case journal.LintRepeatedPurchase:
		return "a purchase was sent again before the request was read: the first may have charged the wallet, so read the " +
			"request first"
	case journal.LintIdempotencyKey:
		return "the service ignores this header, and net/http automatically retries a request that has it"
	case journal.LintFollowedRedirect:
		return "the documented operations never redirect: following one may send the key to another host"
	case journal.LintSecretInQuery:
		return "the URL contains a secret key, and URLs are logged: send the key in Authorization only"
	default:
		return ""
	}
}
