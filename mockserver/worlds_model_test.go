package mockserver_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
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
	for range 5 {
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
			shippingtest.Must(w.Advance(time.Duration(p.random.IntN(4)) * time.Second))(p)
		case 4:
			subscribe(p.T, w, receiverURL)
		}
	}
}

// show returns the view of a world.
func (p *player) show(w *mockserver.World) (shown string) {
	p.Helper()
	wallet := w.Wallets()[0]
	for _, path := range []string{"/_mock/regulatory-requests", "/v1/webhooks?perPage=3",
		"/v1/transactions?perPage=3&wallet=" + wallet} {
		shown += ask(p, p.srv, w, "GET", path, "", nil).Body.String() + "\n"
	}
	balance, _ := w.Balance(wallet)
	return shown + balance.String()
}

// same fails the test if the view of a world is wrong.
func (p *player) same(when string, w *mockserver.World, want string) {
	p.Helper()
	if got := p.show(w); got != want {
		p.Fatalf("%s the world shows\n%s\nwant\n%s", when, got, want)
	}
}

// A thousand worlds at the same time, each with random requests: another server that gets the same requests shows the
// same, another world of the server does not change, and a reset restores the initial contents. It finds data that two
// worlds share, which only requests at the same time change in both.
func TestWorlds_AThousandAtOnceKeepTheirContents(t *testing.T) {
	t.Parallel()
	options := []mockserver.Option{mockserver.WithoutListener(), mockserver.WithJournal(16, 0),
		dialectOf(t, "time.generation=1")}
	srv, twin := start(t, options...), start(t, options...)
	seed := randomtest.New(t).Seed()
	scenarios := []string{"virtual", "virtual-seed3", "lowfunds-virtual", "virtual-rows5000"}
	open := func(t *testing.T, srv *mockserver.Server, i int, name string) (*player, *mockserver.World) {
		w := shippingtest.Must(srv.Open(scenarios[i%len(scenarios)] + "_" + name))(t)
		return &player{T: t, srv: srv, random: rand.New(rand.NewPCG(seed, uint64(i)))}, w
	}
	for i := range scenarios {
		p, other := open(t, srv, i, "other")
		untouched := p.show(other)
		t.Cleanup(func() { p.same("untouched,", other, untouched) })
	}
	for i := range 1000 {
		t.Run("", func(t *testing.T) {
			p, w := open(t, srv, i, fmt.Sprint(i))
			there, same := open(t, twin, i, fmt.Sprint(i))
			began := p.show(w)
			t.Parallel() // when all worlds are open
			p.play(w)
			there.play(same)
			p.same("after other requests", w, there.show(same))
			w.CheckInvariants(t)
			w.Reset()
			p.same("after a reset", w, began)
		})
	}
}
