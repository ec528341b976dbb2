package batchtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// A nightly job over some shipments. Each night has a part of them; half of these were in the previous night, too. Each
// shipment costs price, and the budget of a night, which rises, is not enough for all of them. A draft that is older
// than draftLife cannot be purchased.
const (
	nights    = 30
	shipments = 60
	perNight  = 20
	price     = 100
	draftLife = 12 * time.Hour
)

func budget(night int) int { return (3+night/3)*price + price/2 }

// Machine is the journal of one process. Abandon is called after the process was killed, with the items that it had,
// and ends their claims.
type Machine struct {
	Journal batch.Journal
	Abandon func(keys []string)
}

// Nights runs the job for thirty nights on some machines, in a synctest bubble. Each run may be killed at any record,
// and is begun again; open opens the journal each time. Drafts expire before the next night; the service shows this in
// each possible way. Analyses fail and succeed later, generations fail until a person retries them, responses of
// purchases are lost. Each shipment is charged once, each night stays within its budget, and Report.Err names exactly
// the open items.
func Nights(t *testing.T, seed uint64, machines int, open func() Machine) {
	t.Helper()
	job := &job{t: t, service: &service{requests: map[string]*request{}, analyses: map[string]int{},
		sends: map[string]int{}}, open: open}
	client, err := shipping.NewClient("sk_test_nights", shipping.WithBaseURL("http://nights.test"),
		shipping.WithHTTPClient(&http.Client{Transport: job.service}), shipping.WithDialect(
			shippingtest.Dialect(t, "record.states=expired=expired,refusal.expired_code=expired")))
	if err != nil {
		t.Fatal(err)
	}
	job.client = client
	for night := range nights {
		items := make([]batch.Item, perNight)
		for n := range items {
			items[n].Analyze.ShipmentID = shipment((night*perNight/2 + n) % shipments)
		}
		charges := len(job.service.charges())
		reports := make([]*batch.Report, machines)
		var running sync.WaitGroup
		for machine := range machines {
			random := rand.New(rand.NewPCG(seed, uint64(night*machines+machine)))
			running.Go(func() { reports[machine] = job.untilDone(items, night, random) })
		}
		running.Wait()
		if spent := (len(job.service.charges()) - charges) * price; spent > budget(night) {
			t.Errorf("night %d: %d charged, budget %d", night, spent, budget(night))
		}
		job.check(night, items, reports)
		job.morning(reports[0])
		time.Sleep(24 * time.Hour)
	}
	bought := map[string]int{}
	for _, id := range job.service.charges() {
		bought[id]++
	}
	for n := range shipments {
		if bought[shipment(n)] != 1 {
			t.Errorf("%s was charged %d times", shipment(n), bought[shipment(n)])
		}
	}
	if job.kills < nights {
		t.Errorf("%d kills in %d nights", job.kills, nights)
	}
	t.Logf("%d nights, %d kills, %d charges, %d items opened by hand", nights, job.kills, len(job.service.charges()),
		job.opened)
	t.Attr("cases", fmt.Sprintf("%d kills", job.kills))
}

// morning acts as a person who reads a report.
func (j *job) morning(report *batch.Report) {
	for _, result := range report.Results {
		switch {
		case result.State == batch.StateFailed && len(result.Documents) > 0:
			j.service.retry(result.RequestID)
		case result.Err != nil && strings.Contains(result.Err.Error(), "not analyzed again") &&
			!slices.Contains(j.service.charges(), result.Key):
			machine := j.open()
			err := batch.Resolve(j.t.Context(), machine.Journal, result.Key, shipping.OutcomeNotCharged, "no debit")
			if machine.Abandon(nil); err != nil {
				j.t.Error(err)
			}
			j.opened++
		}
	}
}

func shipment(n int) string { return fmt.Sprintf("SH-%02d", n) }

type job struct {
	t       *testing.T
	client  *shipping.Client
	service *service
	open    func() Machine

	mu            sync.Mutex
	kills, opened int
}

// untilDone runs the job of a night until a run is not killed. The first runs are killed at a random record.
func (j *job) untilDone(items []batch.Item, night int, random *rand.Rand) *batch.Report {
	period := fmt.Sprint("night ", night)
	for attempt := range 4 {
		machine := j.open()
		ctx, kill := context.WithCancel(j.t.Context())
		mortal := &mortal{Journal: machine.Journal, kill: kill, records: -1, held: map[string]bool{}}
		if attempt < 3 {
			mortal.records, mortal.after = 1+random.IntN(12), random.IntN(2) == 0
		}
		report, err := batch.Run(ctx, j.client, items, &batch.Options{
			Select: shipping.SelectAll, Journal: mortal, Period: period,
			Budget: &shipping.Budget{Amount: amount(budget(night)), Currency: "NGN"},
		})
		kill()
		machine.Abandon(mortal.keys())
		if report == nil || report.Committed.Cmp(amount(budget(night))) > 0 {
			j.t.Errorf("%s: %+v, %v", period, report, err)
		}
		if !mortal.dead {
			if err != nil {
				j.t.Errorf("%s: %v", period, err)
			}
			return report
		}
		j.mu.Lock()
		j.kills++
		j.mu.Unlock()
	}
	panic("the last run is not killed")
}

func amount(n int) shipping.Amount {
	a, err := shipping.ParseAmount(strconv.Itoa(n))
	if err != nil {
		panic(err)
	}
	return a
}

// check compares the errors of the reports with the service. An item is open if all machines report it: the budget of
// one machine may have had no room for an item that another machine purchased later.
func (j *job) check(night int, items []batch.Item, reports []*batch.Report) {
	for _, item := range items {
		id, named := item.Analyze.ShipmentID, 0
		for _, report := range reports {
			all := report.Err()
			if slices.ContainsFunc(report.Results, func(r batch.Result) bool {
				return r.Key == id && r.Err != nil && errors.Is(all, r.Err)
			}) {
				named++
			}
		}
		if open := !j.service.completed(id); open != (named == len(reports)) {
			j.t.Errorf("night %d: %s is open: %v, and %d of %d reports name it", night, id, open, named, len(reports))
		}
	}
}

// errKilled is the error of everything that a process tries after it was killed.
var errKilled = errors.New("the process was killed")

// mortal is a journal that kills its process before or after it writes a record. A call that has begun is finished, so
// that the items of the process are known.
type mortal struct {
	batch.Journal
	after bool
	kill  func()

	mu      sync.Mutex
	records int // until it kills; never if negative
	dead    bool
	held    map[string]bool
}

// keys returns the items that the process had when it was killed.
func (m *mortal) keys() (keys []string) {
	for key := range m.held {
		keys = append(keys, key)
	}
	return keys
}

// alive returns an error if the process is dead.
func (m *mortal) alive() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errKilled
	}
	return nil
}

func (m *mortal) hold(key string, held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if delete(m.held, key); held {
		m.held[key] = true
	}
}

func (m *mortal) Claim(ctx context.Context, key string) (batch.Claim, error) {
	if err := m.alive(); err != nil {
		return nil, err
	}
	claim, err := m.Journal.Claim(context.WithoutCancel(ctx), key)
	if err != nil {
		return nil, err
	}
	m.hold(key, true)
	return mortalClaim{claim, m}, nil
}

type mortalClaim struct {
	batch.Claim
	journal *mortal
}

// dies counts a record, and reports whether the process is killed at it.
func (m *mortal) dies() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records--
	m.dead = m.dead || m.records == 0
	return m.dead && m.records == 0
}

func (c mortalClaim) Append(ctx context.Context, record batch.Record, budget *shipping.Budget,
	alone func([]batch.Record) error) (sum shipping.Amount, err error) {
	m := c.journal
	if err := m.alive(); err != nil {
		return sum, err
	}
	dies := m.dies()
	if !dies || m.after {
		sum, err = c.Claim.Append(context.WithoutCancel(ctx), record, budget, alone)
	}
	if dies {
		m.kill()
		return sum, errKilled
	}
	return sum, err
}

func (c mortalClaim) Release(ctx context.Context) error {
	if err := c.journal.alive(); err != nil {
		return err
	}
	c.journal.hold(c.Record().Key, false)
	return c.Claim.Release(context.WithoutCancel(ctx))
}

// service analyzes, sells and generates documents, one for each shipment. Some analyses fail in the first nights, some
// generations fail, and some responses are lost, always for the same shipments.
type service struct {
	mu       sync.Mutex
	requests map[string]*request
	analyses map[string]int // by shipment
	sends    map[string]int // of purchases, by shipment
	ledger   []string       // the shipment of each charge
}

type request struct {
	shipment string
	made     time.Time
	status   shipping.RequestStatus
	ready    time.Time // when the generation ends
	fails    bool      // the generation
}

func (s *service) charges() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger
}

// completed reports whether the documents of a shipment were bought and generated.
func (s *service) completed(shipment string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if r.now(); r.shipment == shipment && r.status == shipping.StatusCompleted {
			return true
		}
	}
	return false
}

// retry generates the documents of a request again.
func (s *service) retry(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[id].status, s.requests[id].fails, s.requests[id].ready = shipping.StatusProcessing, false,
		time.Now().Add(24*time.Hour+time.Minute)
}

// now brings the state up to date.
func (r *request) now() {
	if r.status == shipping.StatusProcessing && !time.Now().Before(r.ready) {
		if r.status = shipping.StatusCompleted; r.fails {
			r.status = shipping.StatusFailed
		}
	}
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	var body struct {
		ShipmentID string `json:"shipment_id"`
		RequestID  string `json:"request_id"`
	}
	if r.Body != nil {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case strings.HasSuffix(r.URL.Path, "/analyze"):
		return respond(s.analyze(body.ShipmentID))
	case strings.HasSuffix(r.URL.Path, "/purchase"):
		return s.purchase(body.RequestID)
	}
	id := path.Base(r.URL.Path)
	found := s.requests[id]
	found.now()
	switch {
	case found.expired() && number(found.shipment)%3 == 0:
		gone := envelope(`{"status":false,"message":"Request not found"}`)
		gone.StatusCode = http.StatusNotFound
		return gone, nil
	case found.expired() && number(found.shipment)%3 == 1:
		shown := *found
		shown.status = "expired"
		return respond(id, &shown)
	}
	return respond(id, found)
}

// expired reports whether a draft can no longer be purchased. The lookup shows it for two of three shipments.
func (r *request) expired() bool {
	return r.status == shipping.StatusDraft && time.Since(r.made) > draftLife
}

// number returns the number in the id of a shipment.
func number(shipment string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(shipment, "SH-"))
	if err != nil {
		panic(err)
	}
	return n
}

func (s *service) analyze(shipment string) (string, *request) {
	s.analyses[shipment]++
	r := &request{shipment: shipment, made: time.Now(), status: shipping.StatusDraft}
	if n := number(shipment); n%5 == 1 && s.analyses[shipment] <= 3 {
		r.status = shipping.StatusFailed
	}
	id := fmt.Sprintf("RD-%s-%d", shipment, s.analyses[shipment])
	s.requests[id] = r
	return id, r
}

var errLost = errors.New("the connection broke")

func (s *service) purchase(id string) (*http.Response, error) {
	r := s.requests[id]
	n := number(r.shipment)
	if s.sends[r.shipment]++; n%6 == 2 && s.sends[r.shipment] == 1 {
		return nil, errLost // before it reached the service
	}
	if r.expired() {
		return envelope(`{"status":false,"message":"expired","data":{"error_code":"expired"}}`), nil
	}
	if r.status != shipping.StatusDraft {
		return envelope(`{"status":false,"message":"the request is not a draft","data":null}`), nil
	}
	s.ledger = append(s.ledger, r.shipment)
	r.status, r.ready, r.fails = shipping.StatusProcessing, time.Now().Add(time.Minute), n%7 == 3
	if n%6 == 4 {
		return nil, errLost
	}
	return respond(id, r)
}

// respond returns the record of a request.
func respond(id string, r *request) (*http.Response, error) {
	bought := ""
	if r.status != shipping.StatusDraft && !r.ready.IsZero() {
		bought = fmt.Sprintf(`,"documents":[{"document_type":"CUSTOMS","status":"generated"}],"charged_amount":%d,`+
			`"currency":"NGN"`, price)
	}
	return envelope(fmt.Sprintf(`{"status":true,"message":"ok","data":{"request_id":%q,"status":%q,"source":"shipment",`+
		`"line_items":[],"available_documents":[{"document_type":"CUSTOMS","amount":%d,"currency":"NGN"}]%s}}`, id,
		r.status, price, bought)), nil
}

func envelope(body string) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}
}
