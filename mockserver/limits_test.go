package mockserver_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/goods"
	"github.com/shipping-go/shipping/mockserver/journal"
	"github.com/shipping-go/shipping/mockserver/notify"
)

func TestLimits_AreExplained(t *testing.T) {
	t.Parallel()
	srv := start(t)
	header := do(t, srv, http.MethodGet, "/v1/rates", "", "X-Long", strings.Repeat("x", 70_000)).
		refusal(t, http.StatusRequestHeaderFieldsTooLarge, "longer than 65536 bytes")
	why := whyAt(t, srv, header.header.Get("X-Mock-Why"))
	if why.ErrorCode == "" || header.text(t, "error_code") != why.ErrorCode ||
		!strings.Contains(why.Specification, "header size limits") {
		t.Errorf("%+v", why)
	}
}

func analyzeFirst(w *mockserver.World) string { return `{"shipment_id":"` + w.Shipments()[0] + `"}` }

func TestLimits_BoundTheLabelsOfWebhooks(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	id, long := srv.Webhooks()[0], strings.Repeat("x", 300_000)
	for _, body := range []string{`{"name":"` + long + `"`, `{"url":"http://127.0.0.1/` + long + `"`,
		`{"events":["` + long + `"]`, `{"events":[` + strings.Repeat(`"x",`, 200) + `"x"]`} {
		add := body + "}"
		if !strings.Contains(body, "url") {
			add = body + `,"url":"http://127.0.0.1:9/"}`
		}
		post(t, srv, "/_mock/webhooks", add).refusal(t, 400, "use at most")
		do(t, srv, "PATCH", "/_mock/webhooks/"+id, body+"}").refusal(t, 400, "use at most")
	}
}

// A client that does not read its response held the page, and its connection, as long as it wanted.
func TestLimits_EndAResponseThatNobodyReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := mockserver.New(mockserver.WithoutListener(), mockserver.WithScenario("rows5000"))
		defer srv.Close()
		client := &http.Client{Transport: srv.Transport()}
		resp := shippingtest.Must(client.Do(newRequest(t, srv, http.MethodGet,
			"/v1/transactions?perPage=5000&wallet="+srv.Wallets()[0], "")))(t)
		defer resp.Body.Close()
		for _, wait := range []struct {
			time time.Duration
			want int
		}{{29 * time.Second, 1}, {2 * time.Second, 0}} {
			<-time.After(wait.time)
			synctest.Wait()
			shippingtest.Diff(t, fmt.Sprint("active requests after another ", wait.time), wait.want, srv.Active())
		}
		if _, err := io.Copy(io.Discard, resp.Body); err == nil {
			t.Error("the response is complete")
		}
		get(t, srv, "/v1/rates").want(t, http.StatusOK)
	})
}

// Everything that a world stores counts for the limit of records, and no longer when the world is reset or closed.
func TestLimits_CountWhatIsStored(t *testing.T) {
	t.Parallel()
	var records atomic.Int64
	srv := start(t, mockserver.WithoutListener(), virtual(), mockserver.WithRecords(&records))
	without := records.Load()
	w, long := srv.NewWorld(t), strings.Repeat("x", 8<<10)
	counted := func() int64 {
		as(t, srv, w.SecretKey, "GET", "/_mock/deliveries?wait=1m&perPage=1", "")
		if err := w.Inject(); err != nil { // no rule, but it counts the records
			t.Fatal(err)
		}
		return records.Load()
	}
	began := counted()
	for _, step := range []struct {
		path, body string
		want       int64
	}{
		{"/_mock/shipments", `{"line_items":[{"description":"` + long + `"}]}`, 9},
		{"/_mock/invoices", `{"line_items":[{"description":"` + long + `"}]}`, 9},
		{"/_mock/webhooks", `{"url":"http://inbox.localhost/","events":["a"` + strings.Repeat(`,"`+long[:200]+`"`, 40) +
			`]}`, 9},
		{"/_mock/faults", `{"rules":[{"nth":9,"fault":{"kind":"respond","status":200,"body":"` + long + `"}}]}`, 8},
		{"/_mock/faults", `{"rules":[{"nth":9,"fault":{"kind":"respond","status":200,"body_base64":"` + long + `"}}]}`, 6},
		{"/_mock/stubs", `{"method":"GET","pattern":"/v1/x","body":"` + long + `"}`, 8},
		{"/_mock/events", `{"event":"a","data":{"a":"` + long + `"}}`, 16},
		{regulatoryPath + "/analyze", analyzeFirst(w), 2},
	} {
		before := counted()
		as(t, srv, w.SecretKey, "POST", step.path, step.body).want(t, http.StatusOK)
		if got := counted() - before; got < step.want || got > step.want+1 {
			t.Errorf("%s counts for %d records, want %d", step.path, got, step.want)
		}
	}
	w.Reset()
	shippingtest.Diff(t, "records after a reset", began, counted())
	if err := w.Fund(w.Wallets()[0], amount(t, "1")); err != nil || counted() != began+1 {
		t.Errorf("a deposit: %v", err)
	}
	w.Close()
	shippingtest.Diff(t, "records after the world was closed", without, records.Load())
	again := shippingtest.Must(srv.Open(w.SecretKey))(t)
	as(t, srv, w.SecretKey, "GET", "/v1/countries", "").want(t, http.StatusOK)
	shippingtest.Diff(t, "requests in the world that the key opens again", 1, len(again.Journal()))
	again.Close()
	shippingtest.Must(srv.Open("empty_x"))(t)
	shippingtest.Diff(t, "records with an empty world, which counted as 380", without, records.Load())
}

// A server that is full has room again for another kind of world when one is closed, and only then.
func TestLimits_AClosedWorldLeavesRoom(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithScenario("empty"), mockserver.WithLimits(200))
	large := goods.Shipment{Items: []goods.Item{{Description: strings.Repeat("x", 1<<20)}}}
	for seed := range 3 {
		w := shippingtest.Must(srv.Open(fmt.Sprintf("seed%d-history900_x", seed+1)))(t)
		if _, err := srv.Open("seed9-history900_y"); err == nil {
			t.Error("two such worlds have room")
		}
		shippingtest.Contains(t, "a shipment without room", shippingtest.Err(w.AddShipment(large)), "full of records")
		w.Close()
		// The records of closed worlds still counted for shipments, but not for worlds.
		if _, err := srv.AddShipment(large); err != nil {
			t.Error(err)
		}
		srv.Reset()
	}
	for i := range 49 {
		shippingtest.Must(srv.Open(fmt.Sprint("empty_", i)))(t)
	}
	// The initial records of a world that was refused counted, too.
	shippingtest.Contains(t, "a world without room", shippingtest.Err(srv.Open("history900_x")), "50 worlds are open")
	if _, err := srv.AddShipment(large); err != nil {
		t.Error(err)
	}
}

// A full server refused everybody, while its health check succeeded and its log was empty.
func TestLimits_AFullServerLogsAndReportsIt(t *testing.T) {
	t.Parallel()
	// Their status was 400, as if the request was wrong.
	refused := map[string][]string{"records": {"/_mock/shipments", "/v1/regulatory-documents/analyze"}}
	for name, fill := range map[string]func(srv *mockserver.Server) error{
		"worlds": func(srv *mockserver.Server) error {
			var err error
			for i := 0; err == nil; i++ {
				_, err = srv.Open(fmt.Sprint("empty_", i))
			}
			return err
		},
		"records": func(srv *mockserver.Server) error {
			for {
				w := shippingtest.Must(srv.Open("empty_1"))(t)
				if _, err := w.AddShipment(goods.Shipment{}); err != nil {
					return err
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var logged bytes.Buffer
			srv := start(t, mockserver.WithoutListener(), mockserver.WithScenario("empty"), mockserver.WithLimits(500),
				mockserver.WithLogger(slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn}))))
			health := func() answer { return get(t, srv, "/_mock/healthz") }
			for range 2 {
				health().want(t, http.StatusOK)
				shippingtest.Contains(t, "a request without room", fill(srv), "full")
				shippingtest.Contains(t, "again", fill(srv), "full")
				health().refusal(t, http.StatusServiceUnavailable, "full")
				get(t, srv, "/v1/rates").want(t, http.StatusOK)
				for _, path := range refused[name] {
					post(t, srv, path, `{}`).refusal(t, http.StatusServiceUnavailable, "full")
				}
				srv.CloseIdle(0)
			}
			shippingtest.Diff(t, "log lines", 2, strings.Count(logged.String(), "level=WARN msg=\"the server is full\""))
		})
	}
}

// memoryLimit ends the process of TestLimits_RefuseWhatWouldTakeAllMemory. The process watches itself: ulimit -v counts
// addresses that Go reserves and never uses, and a cgroup needs rights that tests do not have.
const memoryLimit = 2 << 30

// part is the part of the server's limits that TestLimits_RefuseWhatWouldTakeAllMemory reaches, unless SHIPPING_LIMITS
// is all.
const part = 32

// The server had no limit for the rows of a page (7.4 GB for one request without a token), the bodies of fault rules
// (2.3 GB), responses that nobody reads, and connections to receivers. A process with a limit on its memory asks for
// the most of everything that can grow.
func TestLimits_RefuseWhatWouldTakeAllMemory(t *testing.T) {
	const limited = "MOCKSERVER_LIMITED"
	if os.Getenv(limited) == "" {
		t.Parallel()
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$")
		child.Env = append(os.Environ(), limited+"=1")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		} else {
			t.Logf("%s", out)
		}
		return
	}
	debug.SetGCPercent(100) // as in a program
	debug.SetMemoryLimit(math.MaxInt64)
	most, by := watchMemory(t), part
	if os.Getenv("SHIPPING_LIMITS") == "all" {
		by = 1
	}
	for _, test := range limits(by) {
		srv := mockserver.New(append(test.options, mockserver.WithLimits(by))...)
		shippingtest.Contains(t, test.name, test.ask(t, srv), test.want)
		t.Logf("%-60s %6d MB", test.name, most()>>20)
		// The client repeats a read that fails, such as before the server has seen that a connection is closed.
		shippingtest.Must(srv.Client(t).Rates.List(t.Context(), nil))(t)
		srv.Close()
		debug.FreeOSMemory()
		most()
	}
}

// watchMemory ends the process if it takes more memory than memoryLimit. The function that it returns returns the
// largest memory since the last call.
func watchMemory(t *testing.T) (most func() uint64) {
	var largest atomic.Uint64
	watch := func() {
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		taken := now.Sys - now.HeapReleased
		if taken > memoryLimit {
			fmt.Printf("%d MB of memory, which is more than %d MB\n", taken>>20, memoryLimit>>20)
			os.Exit(3)
		}
		if taken > largest.Load() {
			largest.Store(taken)
		}
	}
	ticks := time.NewTicker(20 * time.Millisecond)
	t.Cleanup(ticks.Stop)
	go func() {
		for range ticks.C {
			watch()
		}
	}()
	return func() uint64 {
		watch()
		return largest.Swap(0)
	}
}

// limit is something that can grow, and the refusal at its limit.
type limit struct {
	name    string
	options []mockserver.Option
	ask     func(t *testing.T, srv *mockserver.Server) error // until it is refused
	want    string
}

// limits returns what can grow, for a server whose limits are divided.
func limits(by int) []limit {
	inMemory := []mockserver.Option{mockserver.WithoutListener()}
	full := fmt.Sprint("at most ", 400_000/by)
	until := func(most int, ask func(n int) error) error {
		for n := range most {
			if err := ask(n); err != nil {
				return err
			}
		}
		return nil
	}
	refused := func(a answer) error {
		if a.status == http.StatusOK {
			return nil
		}
		return fmt.Errorf("%d: %s", a.status, a.body)
	}
	// NewWorld would keep it until the test ends
	open := func(t *testing.T, srv *mockserver.Server, n int) *mockserver.World {
		return shippingtest.Must(srv.Open(fmt.Sprint("default_", n)))(t)
	}
	// grow sends a control request to one world after the other, some times to each, until one is refused.
	grow := func(worlds, times int, path, body string) func(t *testing.T, srv *mockserver.Server) error {
		return func(t *testing.T, srv *mockserver.Server) error {
			return until(worlds, func(n int) error {
				w := open(t, srv, n)
				if err := refused(as(t, srv, w.SecretKey, "POST", "/_mock/webhooks", subscribed("test"))); err != nil {
					return err
				}
				return until(times, func(int) error { return refused(as(t, srv, w.SecretKey, "POST", path, body)) })
			})
		}
	}
	rule := func(bytes int) string {
		return `{"rules":[{"nth":9,"fault":{"kind":"respond","status":200,"body":"` + strings.Repeat("x", bytes) + `"}}]}`
	}
	events := slices.Repeat([]string{strings.Repeat("x", 256)}, 100)
	text := `{"text":"` + strings.Repeat("x", 1<<20-200) + `"}`
	return []limit{
		{"rows of a page, requested by 40 clients that do not read", nil, func(t *testing.T, srv *mockserver.Server) error {
			const key = "sk_test_rows100000000_x"
			w := shippingtest.Must(srv.Open(key))(t)
			path := "/v1/transactions?perPage=3000000&wallet=" + w.Wallets()[0]
			last := ""
			for range 40 / by {
				conn := shippingtest.Must(net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://")))(t)
				defer conn.Close()
				fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: service\r\nAuthorization: Bearer %s\r\n\r\n", path, key)
				last = shippingtest.Must(w.Await(t.Context(), journal.Query{After: last}, 0))(t).ID
			}
			pastEnd := as(t, srv, key, "GET", path+"&page=1000000", "")
			return fmt.Errorf("perPage is %v", pastEnd.at(t, "data.pagination.perPage"))
		}, "perPage is 10000"},
		{"worlds", inMemory, func(t *testing.T, srv *mockserver.Server) error {
			return until(11_000/by, func(n int) error {
				return refused(as(t, srv, fmt.Sprint("sk_test_default_", n), "GET", "/v1/rates?perPage=1", ""))
			})
		}, fmt.Sprint(10_000/by, " worlds are open")},
		{"worlds with many records", inMemory, func(t *testing.T, srv *mockserver.Server) error {
			return until(10, func(n int) error {
				key := fmt.Sprintf("sk_test_seed%d-history%d_x", n+1, 100_000/by)
				return refused(as(t, srv, key, "GET", "/v1/rates?perPage=1", ""))
			})
		}, fmt.Sprint("would exceed ", 400_000/by)},
		{"regulatory requests with long texts", inMemory, func(t *testing.T, srv *mockserver.Server) error {
			item := `{"description":"` + strings.Repeat("x", 1<<20-200) +
				`","hs_code":"490199","quantity":1,"unit_price":1,"currency":"USD"}`
			return until(1_000, func(int) error {
				id := post(t, srv, regulatoryPath+"/analyze", analyzeFirst(srv.World)).text(t, "request_id")
				return refused(do(t, srv, "PUT", regulatoryPath+"/request/"+id+"/items", `{"line_items":[`+item+`]}`))
			})
		}, full},
		{"webhooks with long texts", inMemory, grow(1, 100_000, "/_mock/webhooks", subscribed(events...)), full},
		{"fault rules", inMemory, grow(10, 1_000, "/_mock/faults", rule(64<<10)), full},
		{"the body of a fault rule", inMemory, grow(1, 1, "/_mock/faults", rule(64<<10+1)), "use at most 65536"},
		{"deliveries", inMemory, grow(100, 40, "/_mock/events", `{"event":"test","data":`+text+`}`), full},
		{"notifications in inboxes", inMemory, grow(100, 8, "/_mock/inbox", text), full},
		{"journals", inMemory, func(t *testing.T, srv *mockserver.Server) error {
			long := strings.Repeat("x", 2100)
			entries := 0
			for n := range 1 + 40/by {
				w := open(t, srv, n)
				for range 1024 {
					as(t, srv, w.SecretKey, "GET", regulatoryPath+"/request/"+long+"?"+long, "")
				}
			}
			for _, w := range srv.Worlds() {
				entries += len(w.Journal())
			}
			return fmt.Errorf("%d thousand entries", entries/1000)
		}, fmt.Sprint(32/by, " thousand entries")},
		{"connections", nil, func(t *testing.T, srv *mockserver.Server) (closed error) {
			var conns []net.Conn
			connect := func(int) error {
				conn := shippingtest.Must(net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://")))(t)
				conns = append(conns, conn)
				fmt.Fprint(conn, "GET /_mock/healthz HTTP/1.1\r\nHost: service\r\n\r\n")
				if _, err := conn.Read(make([]byte, 1)); err != nil {
					return fmt.Errorf("connection %d is closed", len(conns))
				}
				return nil
			}
			closed = until(5_000, connect)
			for _, conn := range conns {
				_ = conn.Close()
			}
			for connect(0) != nil { // until the server has seen that they are closed
			}
			return closed
		}, fmt.Sprintf("connection %d is closed", 4096/by+1)},
		{"connections to receivers", inMemory, func(t *testing.T, _ *mockserver.Server) (refused error) {
			synctest.Test(t, func(t *testing.T) {
				var receiver silentReceiver
				srv := mockserver.New(mockserver.WithoutListener(), mockserver.WithDeliveryTransport(&receiver))
				defer srv.Close()
				for range 1_000 {
					subscribe(t, srv.World, receiverURL, "test")
				}
				emit(t, srv.World, notify.Event{Kind: "test"})
				synctest.Wait()
				refused = fmt.Errorf("%d connections", receiver.open.Load())
			})
			return refused
		}, "256 connections"},
	}
}

// subscribed is a webhook that is subscribed to events.
func subscribed(events ...string) string {
	return `{"url":"http://127.0.0.1:9/","events":["` + strings.Join(events, `","`) + `"]}`
}

// silentReceiver counts the notifications that it does not respond to.
type silentReceiver struct{ open atomic.Int64 }

func (r *silentReceiver) RoundTrip(req *http.Request) (*http.Response, error) {
	r.open.Add(1)
	defer r.open.Add(-1)
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// The memory that a request may make the server allocate: a few times its limit while it is read (the race detector
// adds to it), and more for a complete body, for the records that are made from it.
const (
	bodyLimit        = 1 << 20
	mostWhileReading = 8 * bodyLimit
	mostForItsValues = 16 * bodyLimit
)

// TestMemory_NoRequestCostsMoreThanItsLimit sends requests without end until the server has had enough, and
// whole ones that are as large as may be. It is not parallel: nothing else allocates meanwhile.
func TestMemory_NoRequestCostsMoreThanItsLimit(t *testing.T) {
	server := start(t)
	draft := analyzeShipment(t, server, server.Shipments()[0])
	head := func(line, more string) string {
		return line + " HTTP/1.1\r\nHost: service\r\nAuthorization: Bearer " + server.SecretKey +
			"\r\nContent-Type: application/json\r\n" + more
	}
	const (
		chunked, petabyte = "Transfer-Encoding: chunked\r\n\r\n", "Content-Length: 1125899906842624\r\n\r\n"
		analyze, purchase = "POST /v1/regulatory-documents/analyze", "POST /v1/regulatory-documents/purchase"
	)
	items := "PUT /v1/regulatory-documents/request/" + draft.ID + "/items"
	whole := func(line, start, element, end string) string {
		body := start + element + strings.Repeat(","+element, (bodyLimit-len(start+element+end))/len(","+element)) + end
		return head(line, fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
	}
	for name, request := range map[string]struct {
		start, again string
		status       string
		most         uint64
	}{
		"a body without end":            {head(analyze, petabyte) + `{"shipment_id":"`, "x", "413", mostWhileReading},
		"chunks without end":            {head(analyze, chunked), "10\r\n0123456789abcdef\r\n", "413", mostWhileReading},
		"a chunk extension without end": {head(analyze, chunked) + "1;", "x", "400", mostWhileReading},
		"a trailer without end": {head(analyze, chunked) + "2\r\n{}\r\n0\r\n", "X-More: and more\r\n", "400",
			mostWhileReading},
		"headers without end":      {head(analyze, ""), "X-More: and more\r\n", "431", mostWhileReading},
		"a header without end":     {head(analyze, "X-More: "), "x", "431", mostWhileReading},
		"a first line without end": {"GET /", "x", "431", mostWhileReading},
		"arrays to the moon":       {whole(analyze, strings.Repeat("[", bodyLimit/2), "0", ""), "", "400", mostWhileReading},
		"members":                  {whole(analyze, "{", `"":0`, "}"), "", "400", mostForItsValues},
		"document types of numbers": {whole(purchase, `{"request_id":"RD-1","document_types":[`, "0", "]}"), "", "413",
			mostForItsValues},
		"document types of texts": {whole(purchase, `{"request_id":"RD-1","document_types":[`, `""`, "]}"), "", "413",
			mostForItsValues},
		"line items of numbers": {whole(items, `{"line_items":[`, "0", "]}"), "", "413", mostForItsValues},
		"empty line items":      {whole(items, `{"line_items":[`, "{}", "]}"), "", "413", mostForItsValues},
	} {
		t.Run(name, func(t *testing.T) {
			start, again := []byte(request.start), bytes.Repeat([]byte(request.again), 1000)
			answer := make([]byte, len("HTTP/1.1 400"))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			pour(t, server.URL, start, again, answer)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > request.most {
				t.Errorf("it allocated %d bytes, want %d at most", got, request.most)
			}
			shippingtest.Diff(t, "status line", "HTTP/1.1 "+request.status, string(answer))
		})
	}
}

// pour writes the start of a request, and the rest again and again until the server has had enough. It reads
// the start of the answer.
func pour(t *testing.T, url string, start, again, answer []byte) {
	t.Helper()
	conn := shippingtest.Must(net.Dial("tcp", strings.TrimPrefix(url, "http://")))(t)
	defer conn.Close()
	answered := make(chan error)
	go func() {
		_, err := io.ReadFull(conn, answer)
		conn.Close() // else net/http reads on for half a second
		answered <- err
	}()
	_, err := conn.Write(start)
	for err == nil && len(again) > 0 {
		_, err = conn.Write(again)
	}
	if err := <-answered; err != nil {
		t.Errorf("no answer: %v", err)
	}
}
