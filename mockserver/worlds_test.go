package mockserver_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/goods"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// as sends a request with a key of the caller's.
func as(t *testing.T, srv *mockserver.Server, key, method, path, body string) answer {
	t.Helper()
	return do(t, srv, method, path, body, "Authorization", "Bearer "+key)
}

// purchaseFirst analyzes the first shipment of a world and purchases a document. It returns the id of the request.
func purchaseFirst(t *testing.T, srv *mockserver.Server, w *mockserver.World) (id string, bought answer) {
	t.Helper()
	id = as(t, srv, w.SecretKey, "POST", regulatoryPath+"/analyze", analyzeFirst(w)).want(t, http.StatusOK).
		text(t, "request_id")
	return id, as(t, srv, w.SecretKey, "POST", regulatoryPath+"/purchase",
		`{"request_id":"`+id+`","document_types":["CUSTOMS"]}`)
}

// buy is purchaseFirst of a purchase that succeeds.
func buy(t *testing.T, srv *mockserver.Server, w *mockserver.World) string {
	t.Helper()
	id, bought := purchaseFirst(t, srv, w)
	bought.want(t, http.StatusOK)
	return id
}

// Two worlds of one plan begin with the same contents, and share nothing that changes. A reset restores the contents.
func TestWorlds_OfOnePlanShareNothing(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	one, other := srv.NewWorld(t), srv.NewWorld(t)
	shown := func(w *mockserver.World) (bodies []string) {
		for _, path := range []string{
			"/v1/rates?perPage=1", "/v1/webhooks?perPage=1", "/v1/transactions?perPage=1&wallet=" + w.Wallets()[0],
			"/_mock/ledger?perPage=1", "/_mock/regulatory-requests",
		} {
			bodies = append(bodies, string(as(t, srv, w.SecretKey, "GET", path, "").want(t, http.StatusOK).body))
		}
		return append(bodies, strings.Join(w.Invoices(), " "))
	}
	before := shown(one)
	_, added := one.AddWebhook(notify.Webhook{URL: receiverURL})
	url, invoiced := one.AddInvoice(goods.Invoice{})
	shippingtest.NoError(t, errors.Join(added, invoiced, one.SetExchangeRate("NGN", amount(t, "2")),
		one.Fund(one.Wallets()[0], amount(t, "1")), one.Inject(fault.Rule{First: 1, Fault: fault.InsertRows(1)})))
	buy(t, srv, one)
	after := shown(one)
	for i := range before {
		if after[i] == before[i] {
			t.Errorf("the first world still shows %s", before[i])
		}
	}
	shippingtest.Diff(t, "the other world", before, shown(other))
	if _, err := other.AddInvoice(goods.Invoice{}); err != nil || !slices.Contains(one.Invoices(), url) {
		t.Errorf("the invoices of the first world are %v, want %s among them: %v", one.Invoices(), url, err)
	}
	one.Reset()
	shippingtest.Diff(t, "after a reset", before, shown(one))
}

func TestWorlds_OtherKeysAreRefused(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for _, test := range []struct{ name, key, want string }{
		{"no scenario", "sk_test_ci42", "unknown secret key"},
		{"no name", "sk_test_default_", "unknown secret key"},
		{"odd name", "sk_test_default_a/b", "unknown secret key"},
		{"long name", "sk_test_default_" + strings.Repeat("x", 65), "unknown secret key"},
		{"live", "sk_live_default_ci", "unknown secret key"},
		{"unknown scenario", "sk_test_lots_ci", `the secret key opens no world: unknown scenario "lots": use one of `},
		{"misspelt scenario", "sk_test_inst4nt_x", `unknown scenario "inst4nt": did you mean "instant"?`},
		{"number too large", "sk_test_rows100000001_ci", "a number out of range: use terms that GET /_mock/"},
		{"number missing", "sk_test_rows_ci", `unknown scenario "rows": did you mean "rowsN"?`},
		{"contradiction", "sk_test_empty-rows5_ci", "the secret key has a contradictory scenario"},
	} {
		as(t, srv, test.key, "GET", "/v1/rates", "").refusal(t, http.StatusUnauthorized, test.want)
		shippingtest.WantError(t, test.name, shippingtest.Err(srv.Open(test.key)), mockserver.ErrNoWorld)
	}
	shippingtest.Diff(t, "open worlds", 1, len(srv.Worlds()))
}

// With one world no world could be opened at all, so all users of a shared server had to use the home world.
func TestWorlds_WithOneWorldOnlyTheTokenOpensMore(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithOneWorld())
	as(t, srv, "sk_test_default_ci", "GET", "/v1/rates", "").
		refusal(t, http.StatusUnauthorized, "open its world with POST /_mock/worlds")
	as(t, srv, "sk_test_default_ci", "GET", "/v1/other", "").want(t, http.StatusNotFound)
	shippingtest.Diff(t, "open worlds", 1, len(srv.Worlds()))
	post(t, srv, "/_mock/worlds", `{"name":"ci"}`).want(t, http.StatusOK)
	as(t, srv, "sk_test_default_ci", "GET", "/v1/rates", "").want(t, http.StatusOK)
}

// Worlds of tests that were killed stayed open until the server was full. A request, one that is under way, and a
// waiting delivery keep a world open, whatever its own clock shows.
func TestServer_CloseIdleClosesWorldsWithoutRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unreachable := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route") }
		srv := mockserver.New(mockserver.WithoutListener(),
			mockserver.WithDeliveryTransport(&http.Transport{DialContext: unreachable}))
		defer srv.Close()
		names := []string{"default_idle", "virtual_idle", "virtual_called", "virtual_controlled", "virtual_calling",
			"virtual_delivering"}
		for _, name := range names {
			shippingtest.Must(srv.Open(name))(t)
		}
		shippingtest.NoError(t, shippingtest.Must(srv.Open("virtual_calling"))(t).
			Inject(fault.Rule{Fault: fault.Latency(time.Second)}))
		delivering := shippingtest.Must(srv.Open("virtual_delivering"))(t)
		shippingtest.Must(delivering.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:9/", Events: []string{"a"}}))(t)
		shippingtest.Must(delivering.Emit(notify.Event{Kind: "a"}))(t)
		ctx, end := context.WithCancel(t.Context())
		calling := newRequest(t, srv, "GET", "/v1/rates", "").WithContext(ctx)
		calling.Header.Set("Authorization", "Bearer sk_test_virtual_calling")
		var running sync.WaitGroup
		running.Go(func() { _, _ = attempt(srv.Transport(), calling) })
		synctest.Wait()
		time.Sleep(50 * time.Minute)
		as(t, srv, "sk_test_virtual_called", "GET", "/v1/rates", "").want(t, http.StatusOK)
		get(t, srv, "/_mock/ledger?world=virtual_controlled").want(t, http.StatusOK)
		time.Sleep(10 * time.Minute)

		shippingtest.Diff(t, "closed", names[:2], srv.CloseIdle(time.Hour))
		end()
		running.Wait()
		synctest.Wait() // the server has noticed that the client left
		time.Sleep(59 * time.Minute)
		do(t, srv, "DELETE", "/_mock/worlds?idle=1h", "").
			has(t, "message=2 worlds closed, data.0.name=virtual_called, data.1.name=virtual_controlled")
		time.Sleep(time.Minute)
		shippingtest.Diff(t, "closed once no request is under way", names[4:5], srv.CloseIdle(time.Hour))
		shippingtest.Diff(t, "open with a waiting delivery", 2, len(srv.Worlds()))
		do(t, srv, "DELETE", "/_mock/worlds", "").refusal(t, http.StatusBadRequest, "idle=10m")
		do(t, srv, "DELETE", "/_mock/worlds?idle=0s", "").refusal(t, http.StatusBadRequest, "a duration")
	})
}

// A computed list is the same whenever it is read: every page, every identifier once, newest first.
func TestRows_AreComputedFromTheirPlace(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithScenario("rows2500"))
	type row struct {
		ID        string          `json:"transactionId"`
		Storage   string          `json:"_id"`
		Amount    shipping.Amount `json:"amount"`
		Flat      int64           `json:"flat_amount"`
		CreatedAt string          `json:"created_at"`
		TxRef     string          `json:"txRef"`
	}
	page := func(query string) (rows []row) {
		get(t, srv, "/v1/transactions?wallet="+srv.Wallets()[0]+query).data(t, &struct{ Transactions any }{&rows})
		return rows
	}
	all := page("&perPage=5000")
	paged := slices.Concat(page("&perPage=999"), page("&perPage=999&page=2"), page("&perPage=999&page=3"))
	if diff := cmp.Diff(all, paged); diff != "" || len(all) != 2500 {
		t.Fatalf("%d rows; three pages and one (-one +three):\n%s", len(all), diff)
	}
	seen, without := map[string]bool{}, 0
	for i, row := range all {
		if row.TxRef == "" {
			without++
		}
		flat, err := row.Amount.Flat()
		if seen[row.ID] || seen[row.Storage] || i > 0 && row.CreatedAt >= all[i-1].CreatedAt || err != nil ||
			flat != row.Flat {
			t.Errorf("row %d is there twice, not older than the one before, or has another flat_amount: %+v", i, row)
		}
		seen[row.ID], seen[row.Storage] = true, true
	}
	if without < 300 || without > 400 {
		t.Errorf("%d of 2,500 rows have no txRef, want every seventh", without)
	}
}

var amount = shippingtest.Amount

// The PDF operation needs no key: the request in the path determines the world.
func TestWorlds_APDFWithoutAKeyIsFound(t *testing.T) {
	t.Parallel()
	srv := start(t)
	w := srv.NewWorld(t, "instant-virtual")
	id := buy(t, srv, w)
	shippingtest.Must(w.Advance(0))(t)
	send(t, srv, "GET {docs}/request/"+id+"/documents/CUSTOMS/pdf\nAuthorization: ").want(t, http.StatusOK)
}

// Many goroutines that use a key for the first time share one world. Without the lock, two of them would each open a
// world, and one would lose what the other does.
func TestWorlds_AreOpenedOnceByManyAtOnce(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	var running sync.WaitGroup
	for range 50 {
		running.Go(func() {
			if _, err := srv.Open("seed11_shared"); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	shippingtest.Diff(t, "open worlds", 2, len(srv.Worlds()))
	srv.Close()
	if _, err := srv.Open("default_x"); err == nil {
		t.Error("a closed server opens a world")
	}
}

func TestAdminWorlds_RefuseWithTheReason(t *testing.T) {
	t.Parallel()
	srv := start(t)
	post(t, srv, "/_mock/worlds", `{"scenario":"virtual","name":"ci"}`).want(t, http.StatusOK)
	for _, test := range []struct {
		send   string
		status int
		want   string
	}{
		{`POST /_mock/worlds {"name":"c i"}`, 400, `its name is "c i": use 1 to 64 letters`},
		{`POST /_mock/worlds {}`, 400, "name is required: send {"},
		{`POST /_mock/worlds/virtual_c/reset`, 404,
			`open it with POST /_mock/worlds {"name":"virtual_c"}, or use one that GET /_mock/worlds lists, such as virtual_ci`},
		{`DELETE /_mock/worlds/home`, 400, "POST /_mock/worlds/home/reset"},
		{`POST /_mock/worlds/unauthenticated/reset`, 404, "no world"},
		{`GET /_mock/journal/req-1`, 404, "?world=NAME"},
	} {
		send(t, srv, test.send).refusal(t, test.status, test.want)
	}
	for scenario, want := range map[string]string{
		"lots":            `unknown scenario "lots": use one of default, `,
		"lowfunds,rows10": `unknown scenario "lowfunds,rows10": join terms with a hyphen: "lowfunds-rows10"`,
		"virtual_instant": `unknown scenario "virtual_instant": join terms with a hyphen: "virtual-instant"`,
		"cap2-cap3":       "capN twice",
		"lowfund":         `unknown scenario "lowfund": did you mean "lowfunds"?`,
		"virtual-row1000": `unknown scenario "row1000": did you mean "rowsN"?`,
		"virtual-real":    "time is virtual or real", "seed1-empty-seed2": "seedN twice",
		"instant-instant": "instant twice", "empty-lowfunds": "contradicts itself",
	} {
		post(t, srv, "/_mock/worlds", `{"scenario":"`+scenario+`","name":"x"}`).refusal(t, 400, want)
	}
}

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
