package mockserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// customsTakes is the generation time of the form CUSTOMS in the built-in rules.
const customsTakes = 3 * time.Second

// model is the expected contents of a world, stored in the simplest way: a copy is a complete copy.
type model struct {
	balance  shipping.Amount // of the first wallet
	rows     int             // of its transactions
	webhooks int
	requests map[string]modelRequest
}

type modelRequest struct {
	price  shipping.Amount // of CUSTOMS
	bought bool
	left   time.Duration // until it is generated
}

func (m model) copy() model {
	m.requests = maps.Clone(m.requests)
	return m
}

func (r modelRequest) status() string {
	switch {
	case !r.bought:
		return "draft"
	case r.left > 0:
		return "processing"
	default:
		return "completed"
	}
}

// player does random things to a world and to its model.
type player struct {
	*testing.T
	srv    *mockserver.Server
	world  *mockserver.World
	random *rand.Rand
	now    model
	began  model
	saved  *mockserver.Snapshot
	then   model // of saved
}

// ask sends a request to the world without a connection, and returns the status and the data.
func (p *player) ask(w *mockserver.World, method, path, body string, into any) int {
	p.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+w.SecretKey)
	recorder := httptest.NewRecorder()
	p.srv.ServeHTTP(recorder, r)
	var envelope struct{ Data json.RawMessage }
	err := json.Unmarshal(recorder.Body.Bytes(), &envelope)
	if err == nil && into != nil && len(envelope.Data) > 0 {
		err = json.Unmarshal(envelope.Data, into)
	}
	if err != nil {
		p.Fatalf("%s %s: %v: %s", method, path, err, recorder.Body)
	}
	return recorder.Code
}

// any returns the id of one of the requests, or an unknown id without any.
func (p *player) any() string {
	if len(p.now.requests) == 0 {
		return "RD-NONE"
	}
	ids := slices.Sorted(maps.Keys(p.now.requests))
	return ids[p.random.IntN(len(ids))]
}

// moves are what can happen to a world.
func moves() []func(*player) {
	return []func(*player){(*player).analyze, (*player).analyze, (*player).purchase, (*player).purchase, (*player).advance,
		(*player).subscribe, (*player).save, (*player).restore, (*player).fork, (*player).reset}
}

func (p *player) analyze() {
	var r request
	shipments := p.world.Shipments()
	if status := p.ask(p.world, "POST", regulatoryPath+"/analyze", `{"shipment_id":"`+shipments[p.random.IntN(6)]+`"}`, &r); status != http.StatusOK {
		p.Fatalf("analyze: %d", status)
	}
	for _, offer := range r.AvailableDocuments {
		if offer.Type == "CUSTOMS" {
			p.now.requests[r.ID] = modelRequest{price: offer.Amount}
		}
	}
}

func (p *player) purchase() {
	id := p.any()
	r, known := p.now.requests[id]
	want := http.StatusOK
	switch {
	case !known:
		want = http.StatusNotFound
	case r.bought || p.now.balance.Cmp(r.price) < 0:
		want = http.StatusBadRequest
	}
	if got := p.ask(p.world, "POST", regulatoryPath+"/purchase", `{"request_id":"`+id+`","document_types":["CUSTOMS"]}`, nil); got != want {
		p.Fatalf("purchase of %s: %d, want %d", id, got, want)
	}
	if want != http.StatusOK {
		return
	}
	var err error
	if p.now.balance, err = p.now.balance.Sub(r.price); err != nil {
		p.Fatal(err)
	}
	p.now.rows++
	r.bought, r.left = true, customsTakes
	p.now.requests[id] = r
}

func (p *player) advance() {
	d := time.Duration(p.random.IntN(4)) * time.Second
	if _, err := p.world.Advance(d); err != nil {
		p.Fatal(err)
	}
	for id, r := range p.now.requests {
		if r.bought {
			r.left = max(0, r.left-d)
			p.now.requests[id] = r
		}
	}
}

func (p *player) subscribe() {
	if _, err := p.world.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:9/"}); err != nil {
		p.Fatal(err)
	}
	p.now.webhooks++
}

func (p *player) save() { p.saved, p.then = p.world.Snapshot(), p.now.copy() }

func (p *player) restore() {
	if p.saved == nil {
		return
	}
	p.world.Restore(p.saved)
	p.now = p.then.copy()
}

func (p *player) reset() {
	p.world.Reset()
	p.now = p.began.copy()
}

// fork plays in a copy, which must change nothing here.
func (p *player) fork() {
	w, err := p.world.Fork(fmt.Sprintf("fork-%d-%d", p.random.Uint64(), len(p.now.requests)))
	if err != nil {
		p.Fatal(err)
	}
	there := *p
	there.world, there.now = w, p.now.copy()
	there.analyze()
	there.purchase()
	there.check()
	w.Close()
	p.check()
}

// look returns the world as the model would have it.
func (p *player) look() model {
	got := model{webhooks: len(p.world.Webhooks()), requests: map[string]modelRequest{}}
	wallet := p.world.Wallets()[0]
	got.balance, _ = p.world.Balance(wallet)
	var page struct{ Pagination struct{ Total int } }
	p.ask(p.world, "GET", "/v1/transactions?perPage=1&wallet="+wallet, "", &page)
	got.rows = page.Pagination.Total
	return got
}

func (p *player) check() {
	got := p.look()
	if !got.balance.Equal(p.now.balance) || got.rows != p.now.rows || got.webhooks != p.now.webhooks {
		p.Fatalf("the world holds %s in %d transactions and has %d webhooks; the model %s, %d and %d",
			got.balance, got.rows, got.webhooks, p.now.balance, p.now.rows, p.now.webhooks)
	}
	for id, want := range p.now.requests {
		var r request
		if status := p.ask(p.world, "GET", regulatoryPath+"/request/"+id, "", &r); status != http.StatusOK || r.Status != want.status() {
			p.Fatalf("request %s: %d, %q; the model has %q", id, status, r.Status, want.status())
		}
	}
}

// A thousand worlds at the same time, each with random operations, end in the state of their sequential models.
func TestWorlds_AThousandAtOnceAgreeWithTheirModels(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithJournal(16, 0), realistic())
	seed := randomtest.New(t).Seed()
	scenarios := []string{"virtual", "virtual-seed3", "lowfunds-virtual", "virtual-rows5000"}
	for i := range 1000 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			p := &player{T: t, srv: srv, random: rand.New(rand.NewPCG(seed, uint64(i)))}
			p.world = srv.NewWorld(t, scenarios[i%len(scenarios)])
			p.began = p.look()
			p.now = p.began.copy()
			for range 12 {
				moves()[p.random.IntN(len(moves()))](p)
			}
			p.check()
			if err := p.world.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}
