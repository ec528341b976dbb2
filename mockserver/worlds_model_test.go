package mockserver_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// player makes random requests to worlds.
type player struct {
	*testing.T
	srv    *mockserver.Server
	random *rand.Rand
	ids    []string // of regulatory requests that were made in some world
}

// play makes random requests to a world, some of which are refused.
func (p *player) play(w *mockserver.World) {
	p.Helper()
	for range 4 {
		switch p.random.IntN(5) {
		case 0, 1:
			var made struct{ Data request }
			body := `{"shipment_id":"` + w.Shipments()[p.random.IntN(6)] + `"}`
			ask(p, p.srv, w, "POST", regulatoryPath+"/analyze", body, &made)
			p.ids = append(p.ids, made.Data.ID)
		case 2:
			if len(p.ids) > 0 {
				id := p.ids[p.random.IntN(len(p.ids))]
				ask(p, p.srv, w, "POST", regulatoryPath+"/purchase", `{"request_id":"`+id+`","document_types":["CUSTOMS"]}`, nil)
			}
		case 3:
			if _, err := w.Advance(time.Duration(p.random.IntN(4)) * time.Second); err != nil {
				p.Fatal(err)
			}
		case 4:
			if _, err := w.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:9/"}); err != nil {
				p.Fatal(err)
			}
		}
	}
}

// show returns what the server shows of a world.
func (p *player) show(w *mockserver.World) (shown string) {
	p.Helper()
	wallet := w.Wallets()[0]
	for _, path := range []string{"/_mock/regulatory-requests", "/v1/webhooks?perPage=3", "/v1/transactions?perPage=3&wallet=" + wallet} {
		shown += ask(p, p.srv, w, "GET", path, "", nil).Body.String() + "\n"
	}
	balance, _ := w.Balance(wallet)
	return shown + balance.String()
}

// same fails the test if a world does not show what it must.
func (p *player) same(when string, w *mockserver.World, want string) {
	p.Helper()
	if got := p.show(w); got != want {
		p.Fatalf("%s the world shows\n%s\nwant\n%s", when, got, want)
	}
}

// states returns the states of the regulatory requests of a world, in this and in each of the next three seconds.
func (p *player) states(w *mockserver.World) (all []string) {
	for range 4 {
		var page struct{ Data []request }
		ask(p, p.srv, w, "GET", "/_mock/regulatory-requests", "", &page)
		for _, r := range page.Data {
			all = append(all, r.ID+" "+r.Status)
		}
		if _, err := w.Advance(time.Second); err != nil {
			p.Fatal(err)
		}
	}
	return all
}

// copyOf returns a fork of a world.
func (p *player) copyOf(w *mockserver.World) *mockserver.World {
	fork, err := w.Fork(fmt.Sprint("fork-", p.random.Uint64()))
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(fork.Close)
	return fork
}

// fork plays in a copy of a world, which leaves the world as it is. The same requests then have the same effect there.
func (p *player) fork(w *mockserver.World) {
	fork, before, seed := p.copyOf(w), p.show(w), p.random.Uint64()
	there, here := *p, *p
	there.random, here.random = rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 0))
	there.play(fork)
	p.same("after a fork has changed", w, before)
	here.play(w)
	p.same("after the requests of the fork", w, p.show(fork))
	p.ids = here.ids
}

// A thousand worlds at the same time, each with random requests: a snapshot, a fork and a reset restore or copy everything
// that a world shows, with the time that is left of each generation, and no copy changes another one.
func TestWorlds_AThousandAtOnceKeepTheirContents(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithJournal(16, 0), realistic())
	seed := randomtest.New(t).Seed()
	scenarios := []string{"virtual", "virtual-seed3", "lowfunds-virtual", "virtual-rows5000"}
	for i := range 1000 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			p := &player{T: t, srv: srv, random: rand.New(rand.NewPCG(seed, uint64(i)))}
			w := srv.NewWorld(t, scenarios[i%len(scenarios)])
			began := p.show(w)
			p.play(w)
			p.fork(w)
			snapshot, then, twin := w.Snapshot(), p.show(w), p.copyOf(w)
			for range 2 {
				p.play(w)
				w.Restore(snapshot)
				p.same("after a restore", w, then)
			}
			if diff := cmp.Diff(p.states(twin), p.states(w)); diff != "" {
				t.Errorf("states in the next seconds (-fork +restored):\n%s", diff)
			}
			w.CheckInvariants(t)
			w.Reset()
			p.same("after a reset", w, began)
		})
	}
}
